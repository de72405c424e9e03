// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/goal_sums.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"

namespace pliant::audit {

namespace {

double leakage(const Accelerator& accelerator) {
  double leak = 0;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    const double own = level.is_memory()    ? level.memory().leak_pj_per_cycle
                       : level.is_compute() ? level.compute().leak_pj_per_cycle
                                            : 0;
    leak += own * static_cast<double>(accelerator.instances(static_cast<int>(l)));
  }
  return leak;
}

}  // namespace

std::vector<Region> GoalSums::floors(const Accelerator& accelerator) const {
  const Compute& compute = accelerator.levels.back().compute();
  const double leak = leakage(accelerator);
  std::vector<Region> regions;
  for (const Layer& layer : task_.layers) {
    const auto macs = static_cast<double>(layer.macs());
    Region& one = regions.emplace_back();
    one.cycles = macs * compute.cycles_per_mac / static_cast<double>(accelerator.macs_units());
    one.energy = macs * compute.mac_pj + leak * one.cycles;
  }
  return regions;
}

std::vector<double> GoalSums::goals(const Accelerator& accelerator, double area, const std::vector<Region>& regions,
                                    const std::vector<double>& enough) const {
  std::vector<double> values;
  for (std::size_t g = 0; g < task_.goals.size(); ++g) {
    const DesignTask::Goal& goal = task_.goals[g];
    if (goal.measure == Measure::kArea) {
      values.push_back(area);
      continue;
    }
    std::vector<double> by_workload;
    for (const auto& uses : task_.workloads) {
      std::vector<Region> own;
      double energy = 0, cycles = 0;
      for (const DesignTask::Use& use : uses) {
        own.push_back(regions[use.layer]);
        own.back().times = static_cast<double>(use.count);
        energy += own.back().times * own.back().energy;
        cycles += own.back().times * own.back().cycles;
      }
      const bool alone = task_.workloads.size() == 1 || goal.workload;
      switch (goal.measure) {
        case Measure::kArea:
        case Measure::kRuntime: by_workload.push_back(cycles); break;
        case Measure::kEnergy: by_workload.push_back(energy); break;
        case Measure::kLatency: by_workload.push_back(cycles / accelerator.clock_hz.value_or(kInfinity)); break;
        case Measure::kEdp: by_workload.push_back(least_product(own, alone ? enough[g] : kInfinity)); break;
      }
    }
    values.push_back(goal.workload ? by_workload[*goal.workload] : mixed(by_workload));
  }
  return values;
}

double GoalSums::mixed(const std::vector<double>& values) const {
  if (values.size() == 1) return values.front();
  double sum = 0, worst = 0, logarithms = 0;
  for (std::size_t w = 0; w < values.size(); ++w) {
    sum += task_.weights[w] * values[w];
    worst = std::max(worst, values[w]);
    logarithms += task_.weights[w] * std::log(values[w]);
  }
  return task_.mix == Mix::kMean ? sum : task_.mix == Mix::kWorst ? worst : std::exp(logarithms);
}

void raise(Region& region, Objective objective, double least) {
  switch (objective) {
    case Objective::kRuntime: region.cycles = std::max(region.cycles, least); break;
    case Objective::kEnergy:
    case Objective::kPerfPerWatt: region.energy = std::max(region.energy, least); break;
    case Objective::kEdp: region.product = std::max(region.product, least); break;
    case Objective::kEd2p:
    case Objective::kEdpOverUtilization: break;
  }
}

}  // namespace pliant::audit
