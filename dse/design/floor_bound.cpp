// SPDX-License-Identifier: Apache-2.0
#include "dse/design/floor_bound.h"

#include <algorithm>

#include "dse/design/used_array.h"
#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant {

namespace {

/// Units that can work at once.
double most_units(const Layer& layer, const Accelerator& accelerator, Factorization rule) {
  double units = 1;
  const Flexibility& flexibility = accelerator.flexibility_of(layer);
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    if (!accelerator.levels[l].is_fanout()) continue;
    const auto used = rule == Factorization::kPerfect
                          ? used_sizes(layer, accelerator, level_rules(flexibility, l), static_cast<int>(l))
                          : std::nullopt;
    units *= used ? static_cast<double>(used->rows) * static_cast<double>(used->cols)
                  : static_cast<double>(accelerator.levels[l].fanout().units());
  }
  return units;
}

}  // namespace

LayerBound floor_bound(const Layer& layer, const Accelerator& accelerator, Factorization rule) {
  LayerBound bound;
  if (rule == Factorization::kPadding) return bound;  // its bounds are those of padded layers
  const Task task{layer, accelerator, accelerator.flexibility_of(layer), rule, Objective::kEnergy};
  const Problem problem(layer, accelerator);
  const exact::ResolvedTask resolved(task, problem);
  const exact::ChoiceBounds bounds(resolved);
  const double steps = problem.macs * problem.cycles_per_mac / most_units(layer, accelerator, rule);
  bound.cycles = std::max(steps, bounds.floor_cycles());
  bound.energy_pj = bounds.floor(steps);
  bound.edp = bound.energy_pj * bound.cycles;
  return bound;
}

}  // namespace pliant
