// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/prove.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "core/arithmetic.h"
#include "dse/mappers/exact/bounds/choice_bounds.h"
#include "dse/mappers/exact/choices/durations.h"
#include "dse/mappers/exact/search/padded_sizes.h"
#include "dse/mappers/exact/search/search_state.h"

namespace pliant::exact {

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Choices are closed in rounds of at most this many; each round starts from the incumbent of the round before. So
/// what is found does not depend on how many threads share a round.
constexpr std::size_t kLargestRound = 16;

/// Threads of the caller are asked for help only by a search that has taken so long already: sharing has its price, and
/// in a sweep the next layer keeps them as busy.
constexpr double kLongSearch = 0.02;

/// Of a limited effort so much may go into listing choices, and so much into that and tables; the rest is for the
/// search, which finds the better mappings. One choice may take half of what is left.
constexpr double kShareOfListing = 0.4, kShareOfTables = 0.8, kShareOfOne = 0.5;

/// Looking at one unrolling, at one way to keep, and at one tile for its bounds.
constexpr std::uint64_t kEffortOfUnrolling = 1'000, kEffortOfKeeps = 300, kEffortOfTile = 40;

/// Unrollings that the first dive remembers.
constexpr std::size_t kMostSeen = 128;

/// So many unrollings get tables before durations are chosen for all, where there are so many times more of them.
constexpr std::size_t kTriedFirst = 8, kWorthTrying = 16;

/// Steps are chosen before the lattice where twice as many make the objective worse by this factor.
constexpr double kStepsMatter = 1.1;

struct Candidate {
  double bound;
  std::uint32_t spatial, keeps, durations = 0;
  double cycles = 0;  // certain before the lattice
  bool operator<(const Candidate& other) const {
    return std::tie(bound, spatial, durations, keeps) <
           std::tie(other.bound, other.spatial, other.durations, other.keeps);
  }
};

/// The choices of one task, or some of them.
class Prover {
 public:
  Prover(const Task& task, const Problem& problem, const SpatialChoices& choices, std::vector<std::uint32_t> mine,
         SearchLimits& limits, const SearchOptions& options, std::uint64_t effort, SearchState& state)
      : resolved_(task, problem),
        choices_(choices),
        mine_(std::move(mine)),
        bounds_(resolved_),
        duration_choices_(resolved_),
        limits_(limits),
        threads_(std::min(options.threads, tbb::info::default_concurrency())),
        on_progress_(options.on_progress),
        effort_(effort > 0 ? effort : kNoLimit),
        state_(state) {
    // Where twice the steps hardly change the objective, one lattice for all durations is cheaper than one for each.
    const double steps = std::max(problem.busy_cycles, bounds_.floor_cycles());
    choose_durations_ =
        task.factorization == Factorization::kRubyS && bounds_.floor(2 * steps) > kStepsMatter * bounds_.floor(steps);
  }

  std::size_t keep_choices() const { return bounds_.keep_choices(); }

  void run() {
    // 1. A first mapping.
    if (state_.incumbent.value == kInfinity) dive();
    // 2. All choices that could be better, by the bounds that need no lattice.
    std::vector<Candidate> candidates = worth_a_lattice();
    std::sort(candidates.begin(), candidates.end());
    // 3. Tables of one choice after the other until the bound says the rest cannot be better; then search what the
    //    tables could not decide, for by now the incumbent is good.
    std::vector<Candidate> open = in_rounds(std::move(candidates), ClosedBy::kTables, kShareOfTables, bound_choice);
    std::sort(open.begin(), open.end());
    open = in_rounds(std::move(open), ClosedBy::kSearch, 1, close_choice);
    for (const Candidate& candidate : open) {
      const bool closed = state_.close(candidate.bound);
      if (!closed) state_.leave(candidate.bound);
      record(candidate, closed ? ClosedBy::kSearch : ClosedBy::kLeft);
    }
  }

 private:
  using Close = double (*)(Lattice&, Incumbent&, SearchLimits&, double cycles);
  using ClosedBy = audit::ClosedBy;

  /// Tables are cut off at the incumbent, so nothing above it is certain.
  void record(const Candidate& candidate, ClosedBy by) const {
    if (state_.record == nullptr) return;
    const double bound = std::min(candidate.bound, state_.incumbent.value);
    if (by == ClosedBy::kChoiceBounds)
      state_.record->bounded(bound);
    else
      state_.record->choice(candidate.spatial, bounds_.keeps(candidate.keeps), by, bound);
  }
  /// Closes what a bound without a lattice is enough for.
  bool closed_by(double bound) {
    const bool closed = state_.close(bound);
    if (closed) record_bounded(bound);
    return closed;
  }
  void record_bounded(double bound) const {
    if (state_.record != nullptr) state_.record->bounded(std::min(bound, state_.incumbent.value));
  }

  std::uint64_t effort_left(double share = 1) const {
    if (effort_ == kNoLimit) return kNoLimit;
    const auto most = static_cast<std::uint64_t>(share * static_cast<double>(effort_));
    const std::uint64_t used = limits_.effort;
    return most > used ? most - used : 0;
  }
  /// For each of so many choices.
  std::uint64_t allowance(std::uint64_t left, std::size_t choices) const {
    return left == kNoLimit
               ? kNoLimit
               : static_cast<std::uint64_t>(kShareOfOne * static_cast<double>(left) / static_cast<double>(choices));
  }

  /// Of the unrollings with the fewest steps, the choice with the least bound.
  void dive() {
    double fewest = kInfinity;
    for (const std::uint32_t i : mine_) fewest = std::min(fewest, choices_.steps(i));
    std::vector<Candidate> group;
    for (const std::uint32_t i : mine_) {
      if (choices_.steps(i) > fewest || limits_.expired() || effort_left(kShareOfListing) == 0) continue;
      group.push_back({look_at(i, kInfinity), i, 0});
      if (!bounds_.looks_quickly() && seen_.size() < kMostSeen) seen_.emplace(i, bounds_.seen());
    }
    std::sort(group.begin(), group.end());
    Candidate best{kInfinity, 0, 0};
    for (const Candidate& unrolling : group) {
      if (unrolling.bound >= best.bound || limits_.expired()) break;
      look_at(unrolling.spatial, kInfinity);
      bounds_.keeps_below(best.bound, [&](std::size_t keeps, const ChoiceBounds::Shared& bound) {
        best = std::min(best, {bound.value, unrolling.spatial, static_cast<std::uint32_t>(keeps), 0, bound.cycles});
      });
    }
    if (best.bound == kInfinity) return;
    look_at(best.spatial, kInfinity);
    Lattice lattice(resolved_, spatial_, bounds_.keeps(best.keeps), stores_.local(), limits_);
    lattice.allow(allowance(effort_left(), 1));
    dived_ = best;
    dived_.bound = bound_choice(lattice, state_.incumbent, limits_, best.cycles);
  }

  /// Of the unrolling and the durations, at least; where this is below the limit, bounds_ knows about them.
  double look_at(std::uint32_t spatial, double limit, const Durations& durations = {}) {
    choices_.get(spatial, spatial_);
    spatial_.durations = durations;
    const auto seen = !seen_.empty() && durations == Durations{} ? seen_.find(spatial) : seen_.end();
    if (seen == seen_.end()) {
      limits_.effort += kEffortOfUnrolling;
      return bounds_.look_at(spatial_, limit);
    }
    return bounds_.look_again(spatial_, seen->second);
  }

  std::vector<Candidate> worth_a_lattice() {
    std::vector<Candidate> found;
    std::vector<Unrolled> unrolled;
    for (const std::uint32_t i : mine_) {
      const double floor = bounds_.floor(choices_.steps(i));
      if (state_.close(floor)) {
        if (state_.record != nullptr) state_.record->floor(choices_.steps(i), floor);
        continue;
      }
      if (limits_.expired() || effort_left(kShareOfListing) == 0) {
        state_.out_of_effort |= !limits_.expired();
        state_.leave_unseen(floor);
        continue;
      }
      const double least = look_at(i, state_.incumbent.value);
      // An unrolling that stays open is closed by the same bounds for whatever it is not a candidate with.
      const bool closed = state_.close(least);
      record_bounded(closed ? least : kInfinity);
      if (closed) continue;
      if (limits_.too_large(
              static_cast<double>(found.size() * sizeof(Candidate) + unrolled.size() * sizeof(Unrolled)))) {
        state_.leave_unseen(least);
        continue;
      }
      if (!choose_durations_ || bounds_.port_cycles() >= duration_choices_.most_steps(spatial_)) {
        add_candidates(i, 0, found);
        continue;
      }
      const ChoiceBounds::Shared shared = bounds_.least_shared(state_.incumbent.value);
      count_tiles();
      if (shared.value < kInfinity && !closed_by(shared.value)) unrolled.push_back({shared, i});
    }
    choose_durations(std::move(unrolled), found);
    return found;
  }

  void add_candidates(std::uint32_t spatial, std::uint32_t durations, std::vector<Candidate>& found) {
    bounds_.keeps_below(state_.incumbent.value, [&](std::size_t keeps, const ChoiceBounds::Shared& bound) {
      limits_.effort += kEffortOfKeeps;
      if (closed_by(bound.value)) return;
      Candidate candidate{bound.value, spatial, static_cast<std::uint32_t>(keeps), durations, bound.cycles};
      // The dive has made tables of one choice, whatever its durations.
      if (spatial == dived_.spatial && keeps == dived_.keeps) candidate.bound = std::max(bound.value, dived_.bound);
      if (state_.close(candidate.bound)) return record(candidate, ClosedBy::kTables);
      found.push_back(candidate);
    });
    count_tiles();
  }
  void count_tiles() { limits_.effort += bounds_.newly_looked() * kEffortOfTile; }
  /// An unrolling whose durations are still to be chosen.
  struct Unrolled {
    ChoiceBounds::Shared least;
    std::uint32_t spatial;
  };
  /// Tables of the best of an unrolling, whatever its durations: a better mapping leaves fewer candidates.
  void improve_with(const Unrolled& unrolled) {
    Candidate best{kInfinity, unrolled.spatial, 0};
    Spatial spatial;
    choices_.get(unrolled.spatial, spatial);
    const auto worth = [&](double steps) {
      return !limits_.expired() && !state_.hopeless(bounds_.with_steps(unrolled.least, steps));
    };
    duration_choices_.of(spatial, worth, [&](const Durations& durations) {
      look_at(unrolled.spatial, kInfinity, durations);
      bounds_.keeps_below(best.bound, [&](std::size_t keeps, const ChoiceBounds::Shared& bound) {
        if (bound.value >= best.bound) return;
        best = {bound.value, unrolled.spatial, static_cast<std::uint32_t>(keeps), 0, bound.cycles};
        spatial.durations = durations;
      });
    });
    count_tiles();
    if (state_.hopeless(best.bound)) return;
    Lattice lattice(resolved_, spatial, bounds_.keeps(best.keeps), stores_.local(), limits_);
    lattice.allow(allowance(effort_left(kShareOfListing), kTriedFirst));
    bound_choice(lattice, state_.incumbent, limits_, best.cycles);
  }
  /// Best bound first, so that what the limits leave has the best bound it can.
  void choose_durations(std::vector<Unrolled> unrolled, std::vector<Candidate>& found) {
    std::sort(unrolled.begin(), unrolled.end(), [](const Unrolled& a, const Unrolled& b) {
      return std::tie(a.least.value, a.spatial) < std::tie(b.least.value, b.spatial);
    });
    for (std::size_t i = 0; i < kTriedFirst && kWorthTrying * kTriedFirst < unrolled.size(); ++i)
      improve_with(unrolled[i]);
    for (const auto& [least, spatial] : unrolled) {
      const bool too_many =
          limits_.too_large(static_cast<double>(found.size() * (sizeof(Candidate) + sizeof(Durations))));
      if (limits_.expired() || too_many || effort_left(kShareOfListing) == 0) {
        state_.out_of_effort |= !limits_.expired() && !too_many;
        return state_.leave_unseen(least.value);
      }
      const auto worth = [&, &least = least](double steps) {
        if (limits_.expired()) state_.leave_unseen(least.value);
        return !limits_.expired() && !closed_by(bounds_.with_steps(least, steps));
      };
      choices_.get(spatial, spatial_);
      duration_choices_.of(spatial_, worth, [&, spatial = spatial](const Durations& durations) {
        look_at(spatial, kInfinity, durations);
        const std::size_t before = found.size();
        add_candidates(spatial, static_cast<std::uint32_t>(durations_.size()), found);
        if (found.size() > before) durations_.push_back(durations);
      });
    }
  }

  /// How far the search is, a few times a second.
  void tell(double least_to_come, const std::vector<Candidate>& open) {
    constexpr double kEvery = 0.1;  // seconds
    if (!on_progress_ || limits_.seconds() < told_ + kEvery) return;
    told_ = limits_.seconds();
    double bound = std::min({least_to_come, state_.undecided, state_.incumbent.value});
    for (const Candidate& candidate : open) bound = std::min(bound, candidate.bound);
    on_progress_({state_.incumbent.value, bound, limits_.priced, told_});
  }

  /// Closes candidates, best bound first, and returns those that stay undecided.
  std::vector<Candidate> in_rounds(std::vector<Candidate> candidates, ClosedBy by, double share, Close close) {
    // What closes a candidate that the incumbent has overtaken before its turn.
    const ClosedBy before = by == ClosedBy::kTables ? ClosedBy::kChoiceBounds : ClosedBy::kTables;
    std::vector<Candidate> open;
    std::size_t round = 1, first = 0;
    while (first < candidates.size()) {
      std::size_t last = first;
      while (last < candidates.size() && last - first < round && !state_.hopeless(candidates[last].bound)) ++last;
      if (first == last) break;
      const std::uint64_t left = effort_left(share);
      if (limits_.expired() || left == 0) {
        state_.out_of_effort |= left == 0;
        state_.leave(candidates[first].bound);
        break;
      }
      tell(candidates[first].bound, open);
      std::vector<Incumbent> found(last - first, Incumbent{std::nullopt, {}, state_.incumbent.value});
      std::vector<char> spent(found.size());
      const auto one = [&](std::size_t i) {
        Candidate& candidate = candidates[first + i];
        Spatial spatial;
        choices_.get(candidate.spatial, spatial);
        spatial.durations = durations_[candidate.durations];
        Lattice lattice(resolved_, spatial, bounds_.keeps(candidate.keeps), stores_.local(), limits_);
        lattice.allow(allowance(left, found.size()));
        candidate.bound = std::max(candidate.bound, close(lattice, found[i], limits_, candidate.cycles));
        spent[i] = lattice.spent() ? 1 : 0;
      };
      const auto together = [&] { tbb::parallel_for(std::size_t{0}, found.size(), one); };
      const bool alone = threads_ == kThreadsOfCaller ? limits_.seconds() < kLongSearch : threads_ == 1;
      if (alone || found.size() == 1)
        for (std::size_t i = 0; i < found.size(); ++i) one(i);
      else if (threads_ == kThreadsOfCaller)
        tbb::this_task_arena::isolate(together);  // a thread that waits must not begin another search
      else
        tbb::task_arena(threads_).execute(together);
      for (Incumbent& better : found)
        if (better.mapping && better.value < state_.incumbent.value) state_.incumbent = std::move(better);
      for (std::size_t i = first; i < last; ++i)
        if (state_.close(candidates[i].bound))
          record(candidates[i], by);
        else
          open.push_back(candidates[i]);
      state_.out_of_effort |= by == ClosedBy::kSearch && std::find(spent.begin(), spent.end(), 1) != spent.end();
      first = last;
      round = std::min(2 * round, kLargestRound);
    }
    for (; first < candidates.size(); ++first)
      record(candidates[first], state_.close(candidates[first].bound) ? before : ClosedBy::kLeft);
    return open;
  }

  const ResolvedTask resolved_;
  const SpatialChoices& choices_;
  const std::vector<std::uint32_t> mine_;
  ChoiceBounds bounds_;
  DurationChoices duration_choices_;
  std::vector<Durations> durations_{{}};  // of candidates; number 0 is none
  bool choose_durations_ = false;
  SearchLimits& limits_;
  int threads_;
  const std::function<void(const Progress&)>& on_progress_;
  double told_ = 0;  // seconds
  std::uint64_t effort_;
  SearchState& state_;
  Spatial spatial_;
  Candidate dived_{-kInfinity, 0, 0};                           // what the tables of the dive say
  std::unordered_map<std::uint32_t, ChoiceBounds::Seen> seen_;  // by the dive, which looks at many twice
  tbb::enumerable_thread_specific<ArrayStore> stores_;
};

}  // namespace

SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent,
                   std::uint64_t effort) {
  SearchLimits limits(options);
  SearchState state{std::move(incumbent), limits};
  ProofRecord record;
  if (options.record_parts) state.record = &record;
  // With remainders there may be millions of unrollings, most of them slow; an easier task has shown what is too slow.
  const bool perfect = task.factorization == Factorization::kPerfect;
  const SpatialChoices choices(task, problem, limits, perfect ? kInfinity : most_steps(task, problem, state));
  if (choices.slow() < kInfinity) {
    const double floor = floor_of_all(task, problem, choices.slow());
    if (!state.close(floor)) state.leave_unseen(floor);
    if (options.record_parts) record.floor(choices.slow(), floor);
  }
  std::vector<std::uint32_t> all(choices.size());
  std::iota(all.begin(), all.end(), 0);
  Prover prover(task, problem, choices, std::move(all), limits, options, effort, state);
  prover.run();
  if (!choices.complete()) state.close_unlisted(floor_of_all(task, problem, choices.unlisted()));
  SearchResult result = result_of(std::move(state), limits);
  if (options.record_parts)
    result.parts = record.parts(task, problem, choices, prover.keep_choices(),
                                result.ended_by == EndedBy::kProofWithinGap ? result.lower_bound : result.value);
  return result;
}

SearchResult prove_padded(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent,
                          std::uint64_t effort) {
  SearchLimits limits(options);
  SearchState state{std::move(incumbent), limits};
  const SpatialChoices choices(task, problem, limits);
  if (!choices.complete()) state.leave(floor_of_all(task, problem, choices.unlisted()));
  // 1. Unrollings by the sizes they pad the dims to, the least work first.
  std::map<std::vector<Count>, PaddedSize> groups = by_padded_size(task, problem, choices, limits);
  if (limits.expired()) state.leave(floor_of_all(task, problem, problem.busy_cycles));
  std::vector<std::pair<const std::vector<Count>*, PaddedSize*>> order;
  for (auto& [sizes, group] : groups) order.emplace_back(&sizes, &group);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->floor < b.second->floor; });
  // 2. Each padded layer with perfect factors.
  Task padded = task;
  padded.factorization = Factorization::kPerfect;
  for (const auto& [sizes, group] : order) {
    if (state.close(group->floor)) break;
    if (limits.expired()) {
      state.leave(group->floor);
      break;
    }
    for (int d = 0; d < problem.dims; ++d) padded.layer.dims[d].size = (*sizes)[d];
    const Problem executed(padded.layer, task.accelerator);
    // Padded work does not count as useful: only this objective knows.
    const double scale = task.objective == Objective::kEdpOverUtilization ? executed.macs / problem.macs : 1;
    SearchState here{{std::nullopt, {}, state.incumbent.value / scale}, limits};
    Prover(padded, executed, choices, std::move(group->choices), limits, options, effort, here).run();
    state.leave(here.undecided * scale);
    state.closed = std::min(state.closed, here.closed * scale);
    state.out_of_effort |= here.out_of_effort;
    if (!here.incumbent.mapping) continue;
    state.incumbent = std::move(here.incumbent);
    state.incumbent.value *= scale;
    state.incumbent.totals.utilization *= problem.macs / executed.macs;
    state.incumbent.mapping->padded = *sizes;
  }
  SearchResult result = result_of(std::move(state), limits);
  // Unrollings are closed by padded size, not one by one: all of the map-space is one part.
  const auto by = proven(result) ? audit::ClosedBy::kSearch : audit::ClosedBy::kLeft;
  if (options.record_parts) result.parts.push_back({by, result.lower_bound, audit::Part::Scope::kRest, 0, {}, {}});
  return result;
}

}  // namespace pliant::exact
