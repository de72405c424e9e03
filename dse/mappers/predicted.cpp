// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/predicted.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"

namespace pliant {

namespace {

/// A faster mapping takes at least this share less: cycles are whole numbers far below its inverse.
constexpr double kNextFaster = 1e-9;

/// Sums in another order differ by less.
constexpr double kSame = 1e-12;

/// An interval is bounded piece by piece.
constexpr int kPieces = 16;

/// Then what is left is told as a gap.
constexpr int kMostSearches = 64;

/// Of the mappings of so many cycles each has at least so much energy and slope times its cycles together.
struct Interval {
  double from = 0, to = 0, line_pj = 0;
  double bound = 0;  ///< what the objective is at least
};

class Divided {
 public:
  Divided(const Mapper& mapper, const Task& task, const PredictionFigures& prediction, const SearchOptions& options)
      : mapper_(mapper),
        options_(options),
        started_(options.clock->wall_seconds()),
        predictor_(task.accelerator, prediction),
        objective_(task.objective),
        task_(task) {
    task_.accelerator = achievable_accelerator(task.accelerator, prediction);
  }

  PredictedOptimum run() {
    const SearchResult fastest = search(Objective::kRuntime, kInfinity);
    if (!fastest.mapping) {
      best_.result = fastest;
      return best_;
    }
    fastest_ = fastest.totals.cycles;
    tilt(fastest.totals);
    // Where energy does not count, as of a runtime that no limit throttles, the fastest is the best.
    const double least = predictor_.value(objective_, 0, fastest.lower_bound);
    if (close_enough(least)) {
      proven_ = least;
      return told();
    }
    // Slower mappings are worse, whatever their energy.
    cut({fastest.lower_bound, slope_ > 0 ? slowest(0, fastest.lower_bound) : kInfinity, 0, 0}, kInfinity);
    while (!open_.empty() && best_.searches < kMostSearches && !options_.stop.stop_requested() && time_left()) {
      const auto next = std::ranges::min_element(open_, {}, &Interval::bound);
      const Interval interval = *next;
      if (close_enough(interval.bound)) break;
      open_.erase(next);
      cut(interval, where(interval));
    }
    return told();
  }

 private:
  bool time_left() const {
    return options_.budget.seconds <= 0 || options_.clock->wall_seconds() - started_ < options_.budget.seconds;
  }

  SearchResult search(Objective objective, double most_cycles) {
    task_.objective = objective;
    task_.most_cycles = most_cycles;
    SearchOptions options = options_;
    options.record_parts = false;
    if (options.budget.seconds > 0)
      options.budget.seconds = std::max(1e-3, options.budget.seconds - (options.clock->wall_seconds() - started_));
    SearchResult result = run_mapper(mapper_, task_, options);
    ++best_.searches;
    evaluations_ += result.evaluations, cpu_seconds_ += result.cpu_seconds;
    if (result.mapping) look_at(result);
    return result;
  }

  void look_at(const SearchResult& result) {
    const double energy_pj = result.totals.energy_pj - slope_ * result.totals.cycles;
    const double value = predictor_.value(objective_, energy_pj, result.totals.cycles);
    if (best_.result.mapping && value >= best_.result.value) return;
    best_.result = result;
    best_.result.totals.energy_pj = energy_pj;
    best_.result.value = value;
    best_.predicted = predictor_.of(energy_pj, result.totals.cycles);
  }

  /// Mappings of least energy alone may take for ever, and there are many of them. Where a gap is allowed, a share of
  /// it makes time cost some energy: leakage, as far as the searches know.
  void tilt(const Totals& fastest) {
    const bool time_counts = predictor_.value(objective_, 1, 2) > predictor_.value(objective_, 1, 1);
    slope_ = time_counts ? options_.gap / 2 * fastest.energy_pj / fastest.cycles : 0;
    task_.accelerator.levels.front().memory().leak_pj_per_cycle =
        slope_ / static_cast<double>(task_.accelerator.instances(0));
  }

  /// The least of E + slope T of the interval's mappings that take up to so many cycles.
  void cut(const Interval& interval, double most_cycles) {
    const SearchResult result = search(Objective::kEnergy, most_cycles);
    if (most_cycles < interval.to) add({most_cycles, interval.to, interval.line_pj, 0});
    if (result.infeasible) return;
    const double line = std::max(result.lower_bound, interval.line_pj), to = std::min(most_cycles, interval.to);
    if (!result.mapping) return add({interval.from, to, line, 0}, true);
    // As much on the line, and around the cycles that were found nothing is gained by a search of the same line.
    const double cycles = std::clamp(result.totals.cycles, interval.from, to);
    add({cycles, to, line, 0}, slope_ == 0);
    if (cycles * (1 - kNextFaster) >= interval.from) add({interval.from, cycles * (1 - kNextFaster), line, 0});
  }

  /// `decided`: nothing is gained by looking at it again.
  void add(Interval interval, bool decided = false) {
    if (interval.to < interval.from) return;
    interval.bound = bound(interval);
    if (decided || interval.to <= interval.from * (1 + kNextFaster))
      proven_ = std::min(proven_, interval.bound);
    else
      open_.push_back(interval);
  }

  double bound(const Interval& interval) const {
    if (slope_ == 0 || std::isinf(interval.to)) return predictor_.value(objective_, interval.line_pj, interval.from);
    double least = kInfinity;
    const double step = (interval.to - interval.from) / kPieces;
    for (int i = 0; i < kPieces; ++i) {
      const double energy = std::max(0.0, interval.line_pj - slope_ * (interval.from + step * (i + 1)));
      least = std::min(least, predictor_.value(objective_, energy, interval.from + step * i));
    }
    return least;
  }

  bool close_enough(double bound) const { return bound >= best_.result.value * (1 - std::max(options_.gap, kSame)); }

  /// First the fastest mappings, which often are the best. Then the middle of what is open.
  double where(const Interval& interval) const {
    if (best_.searches == 2) return std::clamp(fastest_, interval.from, interval.to);
    const double energy = std::max(0.0, interval.line_pj - slope_ * interval.to);
    const double to = std::min(interval.to, slowest(energy, interval.from));
    return std::clamp(std::sqrt(interval.from) * std::sqrt(to), interval.from, interval.to);
  }

  /// The most cycles at which so much energy is as good as the incumbent.
  double slowest(double energy_pj, double from) const {
    double low = from, high = 2 * from + 1;
    while (predictor_.value(objective_, energy_pj, high) < best_.result.value && high < 1e18) high *= 2;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (predictor_.value(objective_, energy_pj, middle) < best_.result.value ? low : high) = middle;
    }
    return high;
  }

  PredictedOptimum told() {
    double bound = proven_;
    for (const Interval& interval : open_) bound = std::min(bound, interval.bound);
    SearchResult& result = best_.result;
    result.lower_bound = std::min(bound, result.value);
    result.certified = result.lower_bound >= result.value * (1 - kSame);
    if (result.certified) result.lower_bound = result.value;
    result.ended_by = result.certified                   ? EndedBy::kProof
                      : close_enough(result.lower_bound) ? EndedBy::kProofWithinGap
                      : options_.stop.stop_requested()   ? EndedBy::kStopped
                      : !time_left()                     ? EndedBy::kBudget
                                                         : EndedBy::kEffort;
    result.evaluations = evaluations_, result.cpu_seconds = cpu_seconds_;
    result.seconds = options_.clock->wall_seconds() - started_;
    result.parts.clear();
    return best_;
  }

  const Mapper& mapper_;
  const SearchOptions& options_;
  double started_;
  Predictor predictor_;
  Objective objective_;
  Task task_;
  std::vector<Interval> open_;
  PredictedOptimum best_;
  double fastest_ = 0, slope_ = 0, proven_ = kInfinity;
  std::uint64_t evaluations_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace

PredictedOptimum search_predicted(const Mapper& mapper, const Task& task, const PredictionFigures& prediction,
                                  const SearchOptions& options) {
  return Divided(mapper, task, prediction, options).run();
}

}  // namespace pliant
