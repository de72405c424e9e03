// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/best_division.h"

#include <algorithm>

#include "dse/serving/shard.h"

namespace pliant::serving {

namespace {

/// Where memory sets no limit, so many sequences are the most that is tried.
constexpr Count kMostTried = 4096;

std::vector<Count> batches_of(const MemoryNeed& need, const std::vector<Count>& asked) {
  if (!asked.empty()) return asked;
  std::vector<Count> all;
  const Count most = need.largest_batch.value_or(kMostTried);
  for (Count batch = 1; batch < most; batch *= 2) all.push_back(batch);
  if (most > 0) all.push_back(most);
  return all;
}

/// What is to be large: tokens per second, or per joule.
double worth(const Request& request, const Served& served) {
  return request.objective == Objective::kEnergy ? served.tokens_per_j : served.tokens_per_s;
}

/// What no mappings exceed, by the phases' bounds.
double worth_bound(const Request& request, const Served& served) {
  const double least = served.prefill.spent.least + served.decode.spent.least;
  const double unit = request.objective == Objective::kEnergy ? 1e-12 : 1 / *request.accelerator.clock_hz;
  return static_cast<double>(request.batch) * static_cast<double>(request.output) / (least * unit);
}

/// No mappings meet the limits; or those found do not.
bool cannot_meet(const Limits& limits, const Served& served) {
  return (limits.ttft_s && served.ttft_bound_s > *limits.ttft_s) ||
         (limits.tpot_s && served.tpot_bound_s.value_or(0) > *limits.tpot_s);
}
bool misses(const Limits& limits, const Served& served) {
  return (limits.ttft_s && served.ttft_s > *limits.ttft_s) ||
         (limits.tpot_s && served.tpot_s.value_or(0) > *limits.tpot_s);
}

Request with(const Request& request, const ServingWay& way) {
  Request one = request;
  one.division = way.division;
  one.batch = way.batch;
  return one;
}

}  // namespace

BestDivision best_division(const Request& request, Count chips, std::vector<Count> batches, const Limits& limits) {
  BestDivision all;
  const auto known = std::make_shared<KnownRows>();
  for (const Division& division : divisions_of(request.model, chips)) {
    Request one = request;
    one.division = division;
    one.batch = 1;
    for (const Count batch : batches_of(memory_need(one), batches)) {
      if (batch < division.ep) continue;
      ServingWay way{division, batch, 0, WayEnd::kBounded, {}};
      one.batch = batch;
      RowCosts bounds(one, known, true);
      const Served least = serve(bounds);
      way.bound = worth_bound(one, least);
      if (!least.memory.fits())
        way.end = WayEnd::kDoesNotFit;
      else if (cannot_meet(limits, least))
        way.end = WayEnd::kTooSlow;
      all.ways.push_back(std::move(way));
      if (request.search.stop.stop_requested()) return all;
    }
  }
  std::ranges::stable_sort(all.ways, std::greater{}, &ServingWay::bound);
  for (std::size_t i = 0; i < all.ways.size() && !request.search.stop.stop_requested(); ++i) {
    ServingWay& way = all.ways[i];
    if (way.end != WayEnd::kBounded) continue;
    if (all.best && way.bound <= worth(request, *all.ways[*all.best].served)) break;
    const Request one = with(request, way);
    RowCosts costs(one, known);
    way.served = serve(costs);
    way.bound = std::min(way.bound, worth_bound(one, *way.served));
    way.end = cannot_meet(limits, *way.served) ? WayEnd::kTooSlow
              : misses(limits, *way.served)    ? WayEnd::kUndecided
                                               : WayEnd::kSearched;
    if (way.end == WayEnd::kSearched &&
        (!all.best || worth(request, *way.served) > worth(request, *all.ways[*all.best].served)))
      all.best = i;
  }
  all.searches = known->searches;
  if (!all.best) return all;
  const double found = worth(request, *all.ways[*all.best].served);
  all.bound = found;
  for (const ServingWay& way : all.ways)
    if (way.end != WayEnd::kDoesNotFit && way.end != WayEnd::kTooSlow) all.bound = std::max(all.bound, way.bound);
  all.gap = (all.bound - found) / all.bound;
  return all;
}

}  // namespace pliant::serving
