// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/batch_dim.h"

#include <algorithm>
#include <bit>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

/// Are words, energies and loads sums over the iterations of such a dim, whatever units and rounds these belong to?
bool counts_by_iteration(const Task& task, const Problem& problem) {
  const Conventions& conventions = problem.conventions;
  if (conventions.drain == Conventions::Drain::kParentWrites ||
      conventions.stationarity != Conventions::Stationarity::kAcrossLevels ||
      conventions.halo != Conventions::Halo::kRun || conventions.compute_reuse != Conventions::ComputeReuse::kNone ||
      conventions.first_time != Conventions::FirstTime::kDistinctElements ||
      conventions.stall_rounding != Conventions::StallRounding::kExact ||
      (conventions.footprint == Conventions::Footprint::kBoundingBox && !problem.affine[problem.output].empty()))
    return false;
  if (std::popcount(problem.fanouts) != 1 || task.accelerator.hints.min_utilization > 0) return false;
  // A port of the units' memories has the load of one of them, and a systolic array is filled tile by tile.
  const int fanout = std::countr_zero(problem.fanouts);
  return std::ranges::none_of(problem.ports,
                              [&](const Port& port) { return port.level > fanout || port.stationary >= 0; });
}

/// May all loops over the dim be one loop at the outermost memory, outside all others?
bool may_loop_outside_all(const MapSpaceRules& rules, int d) {
  const MemoryRules& outermost = rules.memories.front();
  return contains(outermost.may_loop, d) && outermost.orders.any_order() && rules.allows_smaller_tiles(d) &&
         std::ranges::all_of(rules.memories, [](const MemoryRules& memory) { return memory.resident == 0; });
}

Count fitting_iterations(const Problem& problem, const MapSpaceRules& rules, int d) {
  const int fanout = std::countr_zero(problem.fanouts);
  const auto fit = [&](Count iterations) {
    const auto tile = [&](int e) { return e == d ? iterations : static_cast<Count>(problem.size[e]); };
    return std::ranges::none_of(rules.memories, [&](const MemoryRules& memory) {
      return memory.level < fanout &&
             memory.overflows(memory.may_keep, [&](int x) { return rules.footprint.words(x, tile); });
    });
  };
  Count fits = 0;
  for (Count more = static_cast<Count>(problem.size[d]); more > 0; more /= 2)
    while (fits + more <= static_cast<Count>(problem.size[d]) && fit(fits + more)) fits += more;
  return fits;
}

}  // namespace

std::optional<BatchDim> find_batch_dim(const Task& task, const Problem& problem, const MapSpaceRules& rules) {
  if (task.factorization == Factorization::kRubyT || task.factorization == Factorization::kPadding) return std::nullopt;
  if (!sure<"L9.4">(counts_by_iteration(task, problem))) return std::nullopt;
  std::optional<BatchDim> longest;
  // Where sums run along a dim, if only by an index such as Q + S with one Q, units that it is spread over finish none.
  for (int d = 0; d < problem.dims; ++d)
    if (problem.size[d] > 1 && problem.not_simple[d] == 0 && !contains(problem.summing, d) &&
        may_loop_outside_all(rules, d) && (!longest || problem.size[longest->dim] < problem.size[d]))
      longest = {d,
                 static_cast<Count>(at_least<"L9.5">(static_cast<double>(fitting_iterations(problem, rules, d)), 0))};
  return longest;
}

}  // namespace pliant::exact
