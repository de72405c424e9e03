// SPDX-License-Identifier: Apache-2.0
#include "dse/design/bounded_space.h"

#include <algorithm>
#include <map>

namespace pliant {

namespace {

double measure_of(DesignMeasure measure, double area_um2, const NetworkBound& network) {
  switch (measure) {
    case DesignMeasure::kArea: return area_um2;
    case DesignMeasure::kRuntime: return network.cycles;
    case DesignMeasure::kEnergy: return network.energy_pj;
    case DesignMeasure::kEdp: return network.edp;
  }
  return 0;
}

NetworkBound costs_of(const DesignRow& row) {
  return {row.cost->energy_pj, row.cost->runtime_cycles, row.cost->edp_pj_cycles};
}

}  // namespace

DistinctLayers::DistinctLayers(const Sweep& sweep) {
  std::map<std::string, std::size_t> known;
  for (const Workload& workload : sweep.workloads) {
    std::vector<Use>& uses = workloads.emplace_back();
    for (const Workload::Entry& entry : workload.layers) {
      Layer plain = entry.layer;
      plain.name = "l";
      const auto [place, fresh] = known.try_emplace(write_layer(plain), layers.size());
      if (fresh) layers.push_back(std::make_shared<const Layer>(entry.layer));
      uses.push_back({place->second, entry.count});
    }
  }
}

GoalBounds::ByWorkload GoalBounds::networks(const LayerBounds& bounds) const {
  ByWorkload all;
  for (const auto& uses : layers_.workloads) {
    std::vector<RepeatedBound> repeated;
    for (const DistinctLayers::Use& use : uses) repeated.push_back({bounds[use.layer], use.count});
    all.push_back(bound_network(repeated));
  }
  return all;
}

Point GoalBounds::combine(double area_um2, const ByWorkload& networks) const {
  Point point;
  for (const DesignGoals::Goal& goal : goals_.minimize) {
    if (goal.measure == DesignMeasure::kArea) {
      point.push_back(area_um2);
    } else if (goal.workload) {
      point.push_back(measure_of(goal.measure, area_um2, networks[*goal.workload]));
    } else {
      std::vector<double> by_workload;
      for (const NetworkBound& network : networks) by_workload.push_back(measure_of(goal.measure, area_um2, network));
      point.push_back(goals_.mixed(by_workload));
    }
  }
  return point;
}

Point GoalBounds::least(double area_um2, const LayerBounds& bounds) const {
  return combine(area_um2, networks(bounds));
}

Point GoalBounds::hoped(double area_um2, const LayerBounds& bounds, const LayerBounds& found) const {
  ByWorkload all = networks(bounds);
  for (std::size_t w = 0; w < all.size(); ++w) {
    double energy = 0, cycles = 0;
    for (const DistinctLayers::Use& use : layers_.workloads[w]) {
      energy += static_cast<double>(use.count) * found[use.layer].energy_pj;
      cycles += static_cast<double>(use.count) * found[use.layer].cycles;
    }
    all[w].edp = std::max(all[w].edp, energy * cycles);
  }
  return combine(area_um2, all);
}

bool GoalBounds::beyond_limits(double area_um2, const LayerBounds& bounds) const {
  if (goals_.limits.empty()) return false;
  const ByWorkload all = networks(bounds);
  return std::ranges::any_of(goals_.limits, [&](const DesignGoals::Limit& limit) {
    return std::ranges::any_of(all, [&](const NetworkBound& network) {
      return measure_of(limit.measure, area_um2, network) > limit.most * (1 + 1e-9);
    });
  });
}

Point GoalBounds::values(const std::vector<DesignRow>& rows) const {
  ByWorkload all;
  for (const DesignRow& row : rows) all.push_back(costs_of(row));
  return combine(rows.front().hardware->area_um2, all);
}

bool GoalBounds::within_limits(const std::vector<DesignRow>& rows) const {
  return std::ranges::all_of(goals_.limits, [&](const DesignGoals::Limit& limit) {
    return std::ranges::all_of(rows, [&](const DesignRow& row) {
      return measure_of(limit.measure, row.hardware->area_um2, costs_of(row)) <= limit.most;
    });
  });
}

LayerBound compute_bound(const Layer& layer, const Accelerator& ideal) {
  const Compute& compute = ideal.levels.back().compute();
  const auto macs = static_cast<double>(layer.macs());
  double leak = compute.leak_pj_per_cycle * static_cast<double>(ideal.macs_units());
  for (std::size_t l = 0; l < ideal.levels.size(); ++l)
    if (ideal.levels[l].is_memory())
      leak += ideal.levels[l].memory().leak_pj_per_cycle * static_cast<double>(ideal.instances(static_cast<int>(l)));
  LayerBound bound;
  bound.cycles = macs * compute.cycles_per_mac / static_cast<double>(ideal.macs_units());
  bound.energy_pj = macs * compute.mac_pj + leak * bound.cycles;
  bound.edp = bound.energy_pj * bound.cycles;
  return bound;
}

LayerBound proven_bound(Objective objective, const TaskResult& result) {
  LayerBound bound;
  if (result.status != TaskStatus::kSolved) return bound;
  switch (objective) {
    case Objective::kRuntime: bound.cycles = result.lower_bound; break;
    case Objective::kEnergy:
    case Objective::kPerfPerWatt: bound.energy_pj = result.lower_bound; break;
    case Objective::kEdp: bound.edp = result.lower_bound; break;
    case Objective::kEd2p:
    case Objective::kEdpOverUtilization: break;
  }
  return bound;
}

}  // namespace pliant
