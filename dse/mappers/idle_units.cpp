// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/idle_units.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "costmodel/bits.h"
#include "costmodel/problem.h"
#include "flex/mapspace/rules.h"

namespace pliant {

namespace {

/// Less is not worth a word.
constexpr double kLeastGain = 1.01;

/// The largest product of so many sizes of these dims, at most `limit`.
double largest_product(const Problem& problem, DimSet dims, int many, double limit) {
  std::vector<double> sizes;
  for_each_bit(dims, [&](int d) { sizes.push_back(problem.size[d]); });
  std::ranges::sort(sizes, std::ranges::greater{});
  double product = 1;
  for (std::size_t i = 0; i < sizes.size() && static_cast<int>(i) < many && product < limit; ++i) product *= sizes[i];
  return std::min(product, limit);
}

/// Units that can work at once, whatever the bounds: those of the dims that a fanout takes on each side.
double most_busy_units(const Problem& problem, const MapSpaceRules& rules) {
  double busy = 1;
  for (const FanoutRules& fanout : rules.fanouts) {
    double most = 1;
    for (const FanoutRules::Sides& sides : fanout.assignments) {
      const auto along = [&](DimSet dims, Side side) {
        return largest_product(problem, dims & below(problem.dims), fanout.max_dims_per_side,
                               static_cast<double>(fanout.longest(side)));
      };
      // A dim on both sides has its values but once.
      const double values = largest_product(problem, (sides.rows | sides.cols) & below(problem.dims), kMaxDims,
                                            static_cast<double>(fanout.units()));
      most = std::max(most, std::min(values, along(sides.rows, Side::kRows) * along(sides.cols, Side::kCols)));
    }
    busy *= std::min(most, static_cast<double>(fanout.units()));
  }
  return std::min(busy, problem.macs);
}

/// Cycles of the outermost memories when every element passes each of them once.
double longest_port(const Problem& problem) {
  double longest = 0;
  for (const Port& port : problem.ports) {
    if (port.stationary >= 0) continue;
    double words = 0;
    for (int x = 0; x < problem.tensors; ++x) {
      bool outermost = (problem.may_keep[port.level] >> x & 1U) != 0;
      for (int l = 0; l < port.level; ++l) outermost &= (problem.may_keep[l] >> x & 1U) == 0;
      const bool passes = ((x == problem.output ? port.writes : port.reads) >> x & 1U) != 0;
      if (!outermost || !passes) continue;
      words += problem.tensor_words[x] *
               (problem.element_words[port.level][x] - (x == problem.output ? problem.finished_saves[port.level] : 0));
    }
    if (problem.built[port.level] == 1) longest = std::max(longest, words / port.bandwidth);
  }
  return longest;
}

}  // namespace

std::optional<IdleUnits> idle_units(const Task& task, const Mapping& mapping, const Totals& totals) {
  if (task.factorization != Factorization::kPerfect) return std::nullopt;
  double used = 1;
  for (const LevelMapping& level : mapping.levels)
    for (const SpatialLoop& loop : level.spatial) used *= static_cast<double>(loop.bound);
  const Problem problem(task.layer, task.accelerator);
  const MapSpaceRules rules(task.layer, task.accelerator, task.flexibility, Factorization::kRubyS);
  IdleUnits idle;
  idle.share = 1 - used / problem.built[problem.levels];
  idle.cycles = totals.cycles;
  idle.least_cycles =
      std::max(problem.macs * problem.cycles_per_mac / most_busy_units(problem, rules), longest_port(problem));
  if (!(idle.share > 0) || !(idle.gain_at_most() >= kLeastGain)) return std::nullopt;
  return idle;
}

std::string idle_text(const IdleUnits& idle) {
  return fmt::format(
      "perfect factors leave {:.0f} % of the units idle; with `--factorization ruby-s` at most {:.3g} times as fast",
      100 * idle.share, idle.gain_at_most());
}

}  // namespace pliant
