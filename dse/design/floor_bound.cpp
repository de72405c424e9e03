// SPDX-License-Identifier: Apache-2.0
#include "dse/design/floor_bound.h"

#include "dse/design/used_array.h"
#include "dse/mappers/layer_floor.h"
#include "flex/mapspace/rules.h"

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
  const LayerFloor floor = layer_floor(task, most_units(layer, accelerator, rule));
  bound.cycles = floor.cycles;
  bound.energy_pj = floor.energy_pj;
  bound.edp = bound.energy_pj * bound.cycles;
  return bound;
}

}  // namespace pliant
