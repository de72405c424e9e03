// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/prove.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/search/first_mapping.h"
#include "dse/mappers/exact/search/padded_sizes.h"
#include "dse/mappers/exact/search/prover.h"
#include "dse/mappers/exact/task/ledger.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

namespace {

/// Unrollings of several fanouts are taken to be many from so many ways to spread the dims on, each by itself.
constexpr double kManyWays = 1e6;

/// Where there are many unrollings, a band of floors is proven after the other, which begins with the least floor that
/// is left, each with so much effort: a better mapping leaves fewer of the others to list. Where that is not enough,
/// all others are listed at once, for their bounds then decide which come first.
constexpr double kBand = 1.02;
constexpr std::size_t kMostAtOnce = 65'536, kMostOfAll = 1'048'576;
constexpr std::uint64_t kEffortOfBand = 400'000'000;
/// The first list is short, for any mapping is better than none.
constexpr double kFirstBand = 1.1;
constexpr std::size_t kFirstAtOnce = 64;

bool may_be_many(const Task& task, const Problem& problem) {
  if (std::popcount(problem.fanouts) < 2) return false;
  const MapSpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  double ways = 1;
  for (const int l : members(problem.fanouts)) {
    const FanoutRules& fanout = rules.fanout(l);
    for (int d = 0; d < problem.dims; ++d) {
      const std::vector<Count>& factors = divisors(task.layer.dims[d].size);
      for (const Side side : {Side::kRows, Side::kCols})
        if (fanout.may_run_over(side, d))
          ways *= static_cast<double>(std::ranges::upper_bound(factors, fanout.longest(side)) - factors.begin());
    }
  }
  return ways > kManyWays;
}

/// Where unrollings are not listed one by one, the whole map-space is one part of a certificate.
std::vector<audit::Part> one_part(const SearchResult& result) {
  const auto by = proven(result) ? audit::ClosedBy::kSearch : audit::ClosedBy::kLeft;
  return {{by, result.lower_bound, audit::Part::Scope::kRest, 0, {}, {}}};
}

}  // namespace

SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent,
                   std::uint64_t effort, std::uint64_t* used) {
  SearchLimits limits(options);
  SearchState state{std::move(incumbent), limits};
  ProofRecord record;
  const bool many = may_be_many(task, problem), record_parts = options.record_parts && !many;
  if (record_parts) state.record = &record;
  Prover prover(task, problem, limits, options, effort, state);
  // With remainders there may be millions of unrollings, most of them slow; an easier task has shown what is too slow.
  // With perfect factors those that keep all units busy show it, unless a certificate is to count them all.
  const bool perfect = task.factorization == Factorization::kPerfect, count_all = perfect && record_parts;
  // Where listing them takes long, a first mapping comes before.
  if (state.incumbent.value == kInfinity && many) {
    state.incumbent = first_mapping(task, kMostOfFirst, limits);
    state.rough = state.incumbent.mapping.has_value();
  }
  std::optional<SpatialChoices> busy;
  if (perfect && !count_all && (state.incumbent.value == kInfinity || state.rough)) {
    busy.emplace(task, problem, limits, problem.busy_cycles * (1 + kRounding));
    if (busy->size() > 0) state.rough = false;
    prover.dive_into(*busy);
  }
  SpatialChoices::LeftOut left_out = count_all ? SpatialChoices::LeftOut{.count_all = true} : prover.left_out();
  bool in_bands = !record_parts;  // where choices are recorded, all are listed at once
  if (in_bands) {
    left_out.band = kFirstBand;
    left_out.most = length(kFirstAtOnce, 2);
  }
  SpatialChoices choices(task, problem, limits, left_out);
  in_bands &= choices.has_floors();
  bool first = true;
  for (;;) {
    if (choices.slow() < kInfinity) {
      const double floor = prover.floor(choices.slow());
      if (!state.close(floor)) state.leave_unseen(floor);
      if (record_parts) record.floor(choices.slow(), floor);
    }
    state.close_unlisted(choices.dear());
    std::vector<std::uint32_t> all(choices.size());
    std::iota(all.begin(), all.end(), 0);
    if (!in_bands) {
      prover.run(choices, std::move(all));
    } else {
      if (!prover.try_first(choices, std::move(all), kEffortOfBand)) {
        in_bands = first;
        choices.put_back();
      }
      first = false;
    }
    if (const double steps = choices.unlisted(); steps < kInfinity)
      state.close_unlisted(record_parts ? prover.floor(steps) : prover.sharper_floor(steps));
    const double rest = choices.unlisted_floor();
    if (!choices.more() || state.hopeless(rest) || state.undecided < kInfinity || !prover.has_effort()) {
      state.close_unlisted(rest);
      break;
    }
    left_out = prover.left_out();
    if (in_bands) left_out.band = kBand;
    left_out.most = in_bands ? length(kMostAtOnce, 3) : length(kMostOfAll, 5);
    choices.list_next(left_out);
  }
  if (used != nullptr) *used += limits.effort;
  SearchResult result = result_of(std::move(state), limits);
  if (record_parts)
    result.parts = record.parts(task, problem, choices, prover.keep_choices(),
                                result.ended_by == EndedBy::kProofWithinGap ? result.lower_bound : result.value);
  else if (options.record_parts)
    result.parts = one_part(result);
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
  if (options.record_parts) result.parts = one_part(result);  // unrollings are closed by padded size
  return result;
}

}  // namespace pliant::exact
