// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/prove.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "core/arithmetic.h"
#include "dse/mappers/exact/choices/listed.h"
#include "dse/mappers/exact/search/first_mapping.h"
#include "dse/mappers/exact/search/padded_sizes.h"
#include "dse/mappers/exact/search/prover.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

namespace {

/// Unrollings of several fanouts are taken to be many from so many ways to split the dims on.
constexpr double kManySplits = 1e6;

/// So many unrollings are listed at once, at most. Before that a few with the least floors, with so much effort: the
/// mapping that they give leaves fewer of the others to list.
constexpr std::size_t kMostAtOnce = 65'536, kFirstAtOnce = 64;
constexpr std::uint64_t kEffortOfFirst = 400'000'000;

/// How far their floors may be above the least there is, or above those that were listed before: further where these
/// were few.
constexpr double kFirstBand = 1.1, kNextBand = 1.1, kWiderBand = 1.3;
constexpr std::size_t kFewAtOnce = 4'096;

/// Before that, a first look at so many with low floors, found along so many branches of each fanout.
constexpr std::size_t kMostScouted = 32, kBeam = 4;

bool may_be_many(const Task& task, const Problem& problem) {
  if (std::popcount(problem.fanouts) < 2) return false;
  double ways = 1;
  for (const Dim& dim : task.layer.dims) ways *= static_cast<double>(divisors(dim.size).size());
  return std::pow(ways, std::popcount(problem.fanouts)) > kManySplits;
}

}  // namespace

SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent,
                   std::uint64_t effort, std::uint64_t* used) {
  SearchLimits limits(options);
  SearchState state{std::move(incumbent), limits};
  ProofRecord record;
  if (options.record_parts) state.record = &record;
  Prover prover(task, problem, limits, options, effort, state);
  // With remainders there may be millions of unrollings, most of them slow; an easier task has shown what is too slow.
  // With perfect factors those that keep all units busy show it, unless a certificate is to count them all.
  const bool perfect = task.factorization == Factorization::kPerfect, count_all = perfect && options.record_parts;
  // Where listing them takes long, a first mapping comes before.
  if (state.incumbent.value == kInfinity && may_be_many(task, problem)) {
    state.incumbent = first_mapping(task, kMostOfFirst, limits);
    state.rough = state.incumbent.mapping.has_value();
  }
  std::optional<SpatialChoices> busy;
  if (perfect && !count_all && (state.incumbent.value == kInfinity || state.rough)) {
    busy.emplace(task, problem, limits, problem.busy_cycles * (1 + kRounding));
    if (busy->size() > 0) state.rough = false;
    prover.dive_into(*busy);
  }
  // Where there are many, those with the least floors first; then, while there is effort, the next ones.
  std::optional<SpatialChoices> scouted, choices;
  std::shared_ptr<const FanoutLists> lists;  // of the fanouts, the same for all bands
  if (!options.record_parts) {
    SpatialChoices::LeftOut left_out = prover.left_out();
    left_out.beam = kBeam;
    left_out.most = kMostScouted;
    scouted.emplace(task, problem, limits, left_out);
    lists = scouted->lists();
    if (scouted->has_floors())
      prover.dive_into(*scouted);
    else
      choices = std::move(scouted);  // they are few, and all
  }
  ListedBefore listed;
  std::size_t most = options.record_parts ? std::numeric_limits<std::size_t>::max() : kFirstAtOnce;
  double from = 0, upto = options.record_parts ? kInfinity : kFirstBand * prover.lowest();
  for (bool more = true; more;) {
    SpatialChoices::LeftOut left_out = count_all ? SpatialChoices::LeftOut{.count_all = true} : prover.left_out();
    left_out.before = options.record_parts ? nullptr : &listed;  // then all are listed at once
    left_out.upto = upto;
    left_out.most = most;
    left_out.lists = lists;
    if (!choices || choices->has_floors()) choices.emplace(task, problem, limits, left_out);
    lists = choices->lists();
    if (choices->slow() < kInfinity) {
      const double floor = prover.floor(choices->slow());
      if (!state.close(floor)) state.leave_unseen(floor);
      if (options.record_parts) record.floor(choices->slow(), floor);
    }
    state.close_unlisted(choices->dear());
    std::vector<std::uint32_t> all(choices->size());
    std::iota(all.begin(), all.end(), 0);
    if (most != kFirstAtOnce || !choices->has_floors()) {
      prover.run(*choices, std::move(all));
    } else if (most = kMostAtOnce; !prover.try_first(*choices, std::move(all), kEffortOfFirst)) {
      listed = {};
      continue;
    }
    if (const double steps = choices->unlisted(); steps < kInfinity)
      state.close_unlisted(options.record_parts ? prover.floor(steps) : prover.sharper_floor(steps));
    const double rest = choices->unlisted_floor();
    if (choices->listed_below() <= from) most *= 2;  // as many have the same floor
    from = choices->listed_below();
    more = rest >= from && !state.hopeless(rest) && state.undecided == kInfinity && prover.has_effort();
    if (!more) state.close_unlisted(rest);
    upto = std::max(from, rest) * (choices->size() < kFewAtOnce ? kWiderBand : kNextBand);
  }
  if (used != nullptr) *used += limits.effort;
  SearchResult result = result_of(std::move(state), limits);
  if (options.record_parts)
    result.parts = record.parts(task, problem, *choices, prover.keep_choices(),
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
    Prover(padded, executed, limits, options, effort, here).run(choices, std::move(group->choices));
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
