// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/rounds.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <utility>

#include "core/arithmetic.h"

namespace pliant::exact {

namespace {

/// Choices are closed in rounds of at most this many; each round starts from the incumbent of the round before. So
/// what is found does not depend on how many threads share a round.
constexpr auto kLargestRound = static_cast<std::size_t>(kMostLattices);

/// Threads of the caller are asked for help only by a search that has taken so long already: sharing has its price, and
/// in a sweep the next layer keeps them as busy.
constexpr double kLongSearch = 0.02;

/// Groups become narrower by this factor with every search.
constexpr double kNarrower = 6;

}  // namespace

void Rounds::narrow_groups() { nodes_ *= kNarrower; }

double Rounds::close_one(const Spatial& spatial, Candidate& candidate, std::uint64_t effort, Close close,
                         Incumbent& incumbent) {
  Lattice lattice(resolved_, spatial, bounds_.keeps(candidate.keeps), stores_.local(), limits_);
  lattice.work().allow(effort);
  lattice.group_beyond(nodes_);
  const double bound = close(lattice, incumbent, limits_, candidate.cycles);
  candidate.spent = lattice.work().spent() || lattice.boxes().may_be_finer();
  return bound;
}

double Rounds::bound_one(const Spatial& spatial, std::uint32_t keeps, double cycles, std::uint64_t effort) {
  Candidate candidate{0, 0, keeps, 0, cycles};
  return close_one(spatial, candidate, effort, bound_choice, state_.incumbent);
}

std::vector<Candidate> Rounds::run(std::vector<Candidate> candidates, ClosedBy by, double share, Close close,
                                   std::vector<Candidate>& open, const std::function<void(double)>& tell) {
  std::sort(candidates.begin(), candidates.end());
  // What closes a candidate that the incumbent has overtaken before its turn.
  const ClosedBy before = by == ClosedBy::kTables ? ClosedBy::kChoiceBounds : ClosedBy::kTables;
  std::size_t round = 1, first = 0;
  while (first < candidates.size()) {
    std::size_t last = first;
    while (last < candidates.size() && last - first < round && !state_.hopeless(candidates[last].bound)) ++last;
    if (first == last) break;
    const std::uint64_t left = turns_.left(share);
    if (limits_.expired() || left == 0) break;
    tell(candidates[first].bound);
    std::vector<Incumbent> found(last - first, Incumbent{std::nullopt, {}, state_.incumbent.value});
    const auto one = [&](std::size_t i) {
      Candidate& candidate = candidates[first + i];
      Spatial spatial;
      choices_->get(candidate.spatial, spatial);
      spatial.durations = durations_[candidate.durations];
      const std::uint64_t effort = EffortTurns::allowance(left, found.size());
      candidate.bound = std::max(candidate.bound, close_one(spatial, candidate, effort, close, found[i]));
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
    first = last;
    round = std::min(2 * round, kLargestRound);
  }
  std::vector<Candidate> unsearched;
  for (; first < candidates.size(); ++first)
    if (state_.close(candidates[first].bound))
      record(candidates[first], before);
    else
      unsearched.push_back(candidates[first]);
  return unsearched;
}

void Rounds::record(const Candidate& candidate, ClosedBy by) const {
  if (state_.record == nullptr) return;
  const double bound = std::min(candidate.bound, state_.incumbent.value);
  if (by == ClosedBy::kChoiceBounds)
    state_.record->bounded(bound);
  else
    state_.record->choice(candidate.spatial, bounds_.keeps(candidate.keeps), by, bound);
}

bool Rounds::leave(const std::vector<Candidate>& candidates, ClosedBy by) const {
  bool any = false;
  for (const Candidate& candidate : candidates) {
    const bool closed = state_.close(candidate.bound);
    if (!closed) state_.leave(candidate.bound);
    record(candidate, closed ? by : ClosedBy::kLeft);
    any |= !closed;
  }
  return any;
}

}  // namespace pliant::exact
