// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "dse/mappers/network_deadline.h"
#include "dse/mappers/network_lines.h"

namespace pliant {
namespace {

/// A hull has as many corners as its layers have; this many lines are never needed unless searches end without a proof.
constexpr int kMostLines = 400;

class NetworkSearch {
 public:
  NetworkSearch(const Mapper& mapper, const std::vector<NetworkLayer>& layers, const NetworkGoal& goal,
                const SearchOptions& options)
      : mapper_(mapper), layers_(layers), goal_(goal), options_(options) {
    for (const NetworkLayer& layer : layers) lines_of_.emplace_back(mapper, layer, options);
  }

  NetworkOptimum run() {
    const bool runtime_only = goal_.objective == Objective::kRuntime;
    if (!add_line(kFastest) || (!runtime_only && !add_line(0))) return finish();
    best_.fastest_cycles = lines_.back().least;
    if (lines_.back().least > goal_.most_cycles * (1 + kNetworkRounding)) {
      best_.infeasible = true;
      return finish();
    }
    for (const NetworkLine& line : lines_) consider(line);
    if (!runtime_only) close();
    best_.lower_bound = runtime_only ? lines_.back().least : lower_bound();
    if (has_deadline() && !proven()) combine();
    return finish();
  }

 private:
  static constexpr double kFastest = kInfinity;  ///< a slope

  bool has_deadline() const { return goal_.most_cycles < kFastest; }

  double value(double energy, double cycles) const {
    if (cycles > goal_.most_cycles) return kInfinity;
    return network_value(goal_.objective, energy, cycles);
  }

  bool add_line(double slope) {
    NetworkLine line;
    line.slope = slope;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const LayerLines::Line* found = lines_of_[i].at(slope);
      if (found == nullptr) {
        best_.without_mapping = i;
        best_.infeasible = lines_of_[i].infeasible();
        return false;
      }
      const auto count = static_cast<double>(layers_[i].count);
      line.least += count * found->least;
      line.energy_pj += count * found->point.totals.energy_pj;
      line.cycles += count * found->point.totals.cycles;
      line.points.push_back(found->point);
    }
    lines_.insert(std::ranges::upper_bound(lines_, slope, {}, &NetworkLine::slope), std::move(line));
    return true;
  }

  void consider(const NetworkLine& line) {
    const double found = value(line.energy_pj, line.cycles);
    if (std::isinf(found) || (!best_.parts.empty() && found >= best_.value)) return;
    best_.value = found;
    best_.energy_pj = line.energy_pj;
    best_.cycles = line.cycles;
    best_.parts.clear();
    for (std::size_t i = 0; i < layers_.size(); ++i)
      best_.parts.push_back({i, layers_[i].count, line.points[i].mapping, line.points[i].totals});
  }

  bool reaches(double bound) const { return bound >= best_.value * (1 - kNetworkRounding); }
  bool proven() const { return !best_.parts.empty() && reaches(best_.lower_bound); }

  /// Every objective is quasi-concave in energy and cycles: over what the lines leave it is least at a corner. A
  /// deadline cuts the region; its least energy is then where the highest of the lines meets the deadline.
  double corner_value(std::size_t k) const {
    const Corner corner = meet(lines_[k], lines_[k + 1]);
    return network_value(goal_.objective, corner.energy_pj, corner.cycles);
  }
  double energy_at_deadline() const {
    double least = 0;
    for (const NetworkLine& line : lines_)
      if (!std::isinf(line.slope)) least = std::max(least, line.least - line.slope * goal_.most_cycles);
    return least;
  }
  double lower_bound() const {
    if (has_deadline()) return std::max(energy_at_deadline(), lines_.front().least);
    double least = kInfinity;
    for (std::size_t k = 0; k + 1 < lines_.size(); ++k) least = std::min(least, corner_value(k));
    return least;
  }

  /// Adds lines where one can still matter, until none can.
  void close() {
    while (lines_.size() < kMostLines && !options_.stop.stop_requested()) {
      std::optional<double> next;
      double least = kInfinity;
      for (std::size_t k = 0; k + 1 < lines_.size(); ++k) {
        const bool open = has_deadline()
                              ? lines_[k].cycles > goal_.most_cycles && lines_[k + 1].cycles <= goal_.most_cycles
                              : !reaches(corner_value(k));
        const auto slope = open ? chord(lines_[k], lines_[k + 1]) : std::nullopt;
        if (!slope || is_edge(k, *slope)) continue;
        if (const double corner = has_deadline() ? 0 : corner_value(k); !next || corner < least) {
          next = slope;
          least = corner;
        }
      }
      if (!next || !add_line(*next)) return;
      for (const NetworkLine& line : lines_) consider(line);
    }
  }

  /// The chord is proven to have nothing below it: one of its ends lies on a line of (nearly) its slope.
  bool is_edge(std::size_t k, double slope) const {
    const auto near = [&](const NetworkLine& line) { return std::abs(line.slope - slope) <= 1e-9 * slope; };
    return near(lines_[k]) || near(lines_[k + 1]);
  }

  /// A deadline between two corners of the hull: the layers' frontiers, combined.
  void combine() {
    const NetworkLine* highest = &lines_.front();
    for (const NetworkLine& line : lines_)
      if (!std::isinf(line.slope) &&
          line.least - line.slope * goal_.most_cycles >= highest->least - highest->slope * goal_.most_cycles)
        highest = &line;
    DeadlineCombination combination(mapper_, layers_, options_, goal_.most_cycles, *highest);
    const bool complete = combination.improve(best_);
    best_.searches += combination.searches();
    if (complete) best_.lower_bound = best_.value;
  }

  NetworkOptimum finish() {
    best_.certified = proven();
    if (best_.certified) best_.lower_bound = best_.value;
    for (const LayerLines& lines : lines_of_) best_.searches += lines.searches();
    return std::move(best_);
  }

  const Mapper& mapper_;
  const std::vector<NetworkLayer>& layers_;
  const NetworkGoal goal_;
  const SearchOptions& options_;
  std::vector<LayerLines> lines_of_;  ///< by layer
  std::vector<NetworkLine> lines_;    ///< by slope
  NetworkOptimum best_;
};

}  // namespace

double network_value(Objective objective, double energy_pj, double cycles) {
  Totals sums;
  sums.energy_pj = energy_pj;
  sums.cycles = cycles;
  return objective_value(objective, sums);
}

NetworkOptimum search_network(const Mapper& mapper, const std::vector<NetworkLayer>& layers, const NetworkGoal& goal,
                              const SearchOptions& options) {
  if (goal.objective == Objective::kEdpOverUtilization)
    throw std::invalid_argument("a network has no utilization of its own");
  return NetworkSearch(mapper, layers, goal, options).run();
}

}  // namespace pliant
