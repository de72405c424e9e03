// SPDX-License-Identifier: Apache-2.0
// Choices are closed in rounds, best bound first, on as many threads as there are.
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <utility>

#include "core/arithmetic.h"
#include "dse/mappers/exact/search/prover.h"

namespace pliant::exact {

namespace {

/// Choices are closed in rounds of at most this many; each round starts from the incumbent of the round before. So
/// what is found does not depend on how many threads share a round.
constexpr auto kLargestRound = static_cast<std::size_t>(kMostLattices);

/// Threads of the caller are asked for help only by a search that has taken so long already: sharing has its price, and
/// in a sweep the next layer keeps them as busy.
constexpr double kLongSearch = 0.02;

}  // namespace

void Prover::tell(double least_to_come, const std::vector<Candidate>& open) {
  constexpr double kEvery = 0.1;  // seconds
  if (!on_progress_ || limits_.seconds() < told_ + kEvery) return;
  told_ = limits_.seconds();
  double bound = std::min({least_to_come, state_.undecided, state_.incumbent.value});
  for (const auto* more : {&std::as_const(waiting_), &open})
    for (const Candidate& candidate : *more) bound = std::min(bound, candidate.bound);
  for (const Unrolled& unrolled : unrolled_) bound = std::min(bound, unrolled.least.value);
  for (std::size_t i = next_; i < mine_.size(); ++i) bound = std::min(bound, known_of(i));
  on_progress_({state_.incumbent.value, bound, limits_.priced, told_});
}

std::vector<Prover::Candidate> Prover::in_rounds(std::vector<Candidate> candidates, ClosedBy by, double share,
                                                 Close close, std::vector<Candidate>& open) {
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
    tell(candidates[first].bound, open);
    std::vector<Incumbent> found(last - first, Incumbent{std::nullopt, {}, state_.incumbent.value});
    const auto one = [&](std::size_t i) {
      Candidate& candidate = candidates[first + i];
      Spatial spatial;
      choices_->get(candidate.spatial, spatial);
      spatial.durations = durations_[candidate.durations];
      Lattice lattice(resolved_, spatial, bounds_.keeps(candidate.keeps), stores_.local(), limits_);
      lattice.allow(EffortTurns::allowance(left, found.size()));
      lattice.group_beyond(nodes_);
      candidate.bound = std::max(candidate.bound, close(lattice, found[i], limits_, candidate.cycles));
      candidate.spent = lattice.spent() || lattice.may_be_finer();
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

}  // namespace pliant::exact
