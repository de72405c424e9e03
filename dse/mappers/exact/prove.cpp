// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/prove.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "dse/mappers/exact/choice_bounds.h"

namespace pliant::exact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-11;

/// Choices are closed in rounds of at most this many; each round starts from the incumbent of the round before. So
/// what is found does not depend on how many threads share a round.
constexpr std::size_t kLargestRound = 16;

struct Candidate {
  double bound;
  std::uint32_t spatial, keeps;
  bool operator<(const Candidate& other) const {
    return std::tie(bound, spatial, keeps) < std::tie(other.bound, other.spatial, other.keeps);
  }
};

class Proof {
 public:
  Proof(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent)
      : meter_(options),
        setting_(task, problem),
        choices_(task, problem, meter_),
        bounds_(setting_),
        threads_(options.threads),
        incumbent_(std::move(incumbent)) {}

  SearchResult run() {
    if (meter_.expired()) leave(bounds_.floor(setting_.problem.busy_cycles));  // not all choices are known
    // 1. A first mapping.
    if (incumbent_.value == kInfinity) dive();
    // 2. All choices that could be better, by the bounds that need no lattice.
    std::vector<Candidate> candidates = worth_a_lattice();
    std::sort(candidates.begin(), candidates.end());
    // 3. Tables of one choice after the other until the bound says the rest cannot be better; then search what the
    //    tables could not decide, for by now the incumbent is good.
    std::vector<Candidate> open = in_rounds(std::move(candidates), bound_choice);
    std::sort(open.begin(), open.end());
    in_rounds(std::move(open), close_choice);
    SearchResult result;
    const bool expired = meter_.expired();
    result.evaluations = meter_.priced;
    result.seconds = meter_.seconds();
    result.mapping = incumbent_.mapping;
    result.totals = incumbent_.totals;
    result.value = incumbent_.value;
    result.infeasible = !incumbent_.mapping && !expired;
    result.certified = incumbent_.mapping && !expired;
    result.lower_bound = result.certified ? incumbent_.value : std::min(undecided_, incumbent_.value);
    result.ended_by = !expired ? "proof" : meter_.stopped() ? "stopped" : "budget";
    return result;
  }

 private:
  using Close = double (*)(Lattice&, Incumbent&, Meter&);

  bool hopeless(double bound) const { return bound >= incumbent_.value * (1 - kRounding); }
  void leave(double bound) { undecided_ = std::min(undecided_, bound); }

  /// Of the unrollings with the fewest steps, the choice with the least bound.
  void dive() {
    double fewest = kInfinity;
    for (std::size_t i = 0; i < choices_.size(); ++i) fewest = std::min(fewest, choices_.steps(i));
    std::vector<Candidate> group;
    for (std::size_t i = 0; i < choices_.size() && !meter_.expired(); ++i) {
      if (choices_.steps(i) > fewest) continue;
      look_at(i);
      group.push_back({bounds_.least(), static_cast<std::uint32_t>(i), 0});
    }
    std::sort(group.begin(), group.end());
    Candidate best{kInfinity, 0, 0};
    for (const Candidate& unrolling : group) {
      if (unrolling.bound >= best.bound || meter_.expired()) break;
      look_at(unrolling.spatial);
      bounds_.keeps_below(best.bound, [&](std::size_t keeps, double bound) {
        best = std::min(best, {bound, unrolling.spatial, static_cast<std::uint32_t>(keeps)});
      });
    }
    if (best.bound == kInfinity) return;
    look_at(best.spatial);
    Lattice lattice(setting_, spatial_, bounds_.keeps(best.keeps), stores_.local(), meter_);
    bound_choice(lattice, incumbent_, meter_);
  }

  void look_at(std::size_t spatial) {
    choices_.get(spatial, spatial_);
    bounds_.look_at(spatial_);
  }

  std::vector<Candidate> worth_a_lattice() {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const double floor = bounds_.floor(choices_.steps(i));
      if (hopeless(floor)) continue;
      if (meter_.expired() || meter_.too_large(static_cast<double>(found.size() * sizeof(Candidate)))) {
        leave(floor);
        continue;
      }
      look_at(i);
      if (hopeless(bounds_.least())) continue;
      bounds_.keeps_below(incumbent_.value, [&](std::size_t keeps, double bound) {
        if (!hopeless(bound))
          found.push_back({bound, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(keeps)});
      });
    }
    return found;
  }

  /// Closes candidates, best bound first, and returns those that stay undecided.
  std::vector<Candidate> in_rounds(std::vector<Candidate> candidates, Close close) {
    std::vector<Candidate> open;
    std::size_t round = 1;
    for (std::size_t first = 0; first < candidates.size();) {
      std::size_t last = first;
      while (last < candidates.size() && last - first < round && !hopeless(candidates[last].bound)) ++last;
      if (first == last) break;
      if (meter_.expired()) {
        leave(candidates[first].bound);
        break;
      }
      std::vector<Incumbent> found(last - first, Incumbent{std::nullopt, {}, incumbent_.value});
      const auto one = [&](std::size_t i) {
        Candidate& candidate = candidates[first + i];
        Spatial spatial;
        choices_.get(candidate.spatial, spatial);
        Lattice lattice(setting_, spatial, bounds_.keeps(candidate.keeps), stores_.local(), meter_);
        candidate.bound = std::max(candidate.bound, close(lattice, found[i], meter_));
      };
      if (threads_ == 1 || last - first == 1)
        for (std::size_t i = 0; i < found.size(); ++i) one(i);
      else
        tbb::task_arena(threads_).execute([&] { tbb::parallel_for(std::size_t{0}, found.size(), one); });
      for (Incumbent& better : found)
        if (better.mapping && better.value < incumbent_.value) incumbent_ = std::move(better);
      for (std::size_t i = first; i < last; ++i) {
        if (hopeless(candidates[i].bound)) continue;
        open.push_back(candidates[i]);
        if (meter_.expired()) leave(candidates[i].bound);
      }
      first = last;
      round = std::min(2 * round, kLargestRound);
    }
    return open;
  }

  Meter meter_;
  const Setting setting_;
  const SpatialChoices choices_;
  ChoiceBounds bounds_;
  int threads_;
  Incumbent incumbent_;
  double undecided_ = kInfinity;  // least bound of what the budget left over
  Spatial spatial_;
  tbb::enumerable_thread_specific<ArrayStore> stores_;
};

}  // namespace

SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent) {
  return Proof(task, problem, options, std::move(incumbent)).run();
}

}  // namespace pliant::exact
