// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/layer_floor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant {

LayerFloor layer_floor(const Task& task, double most_units) {
  if (!Conventions::preset(task.accelerator.conventions.name())) return {};
  const Problem problem(task.layer, task.accelerator);
  const double steps = problem.macs * problem.cycles_per_mac / most_units;
  // The other bounds of padded layers are those of the layers that padding makes of them.
  if (task.factorization == Factorization::kPadding)
    return {problem.macs * task.accelerator.levels.back().compute().mac_pj, steps};
  const auto floor_of = [&](const Task& energy) -> LayerFloor {
    const exact::ResolvedTask resolved(energy, problem);
    const exact::ChoiceBounds bounds(resolved);
    return {bounds.floor(steps), std::max(steps, bounds.floor_cycles())};
  };
  if (task.objective == Objective::kEnergy && std::isinf(task.most_cycles)) return floor_of(task);
  Task energy = task;
  energy.objective = Objective::kEnergy;
  energy.most_cycles = std::numeric_limits<double>::infinity();
  return floor_of(energy);
}

LayerFloor layer_floor(const Task& task) {
  return layer_floor(task, static_cast<double>(task.accelerator.macs_units()));
}

}  // namespace pliant
