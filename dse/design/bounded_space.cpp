// SPDX-License-Identifier: Apache-2.0
#include "dse/design/bounded_space.h"

#include <algorithm>
#include <map>

#include "core/arithmetic.h"
#include "costmodel/physical.h"
#include "dse/sweep/result_limits.h"

namespace pliant {

namespace {

double measure_of(DesignMeasure measure, const HardwareFacts& facts, std::size_t workload,
                  const NetworkBound& network) {
  if (of_serving(measure))
    return facts.serving != nullptr && !facts.serving->empty() ? (*facts.serving)[workload].of(measure) : 0;
  switch (measure) {
    case DesignMeasure::kArea: return facts.least_area_um2;
    case DesignMeasure::kRuntime: return network.cycles;
    case DesignMeasure::kEnergy: return network.energy_pj;
    case DesignMeasure::kEdp: return network.edp;
    case DesignMeasure::kLatency: return facts.clock_hz ? network.cycles / *facts.clock_hz : 0;
    // However slow a mapping is, what leaks leaks in every cycle.
    case DesignMeasure::kPower: return facts.clock_hz ? facts.least_leak_pj_per_cycle * *facts.clock_hz * 1e-12 : 0;
    default: break;
  }
  return 0;
}

double leak_of(const Accelerator& accelerator) {
  double leak = accelerator.levels.back().compute().leak_pj_per_cycle * static_cast<double>(accelerator.macs_units());
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l)
    if (accelerator.levels[l].is_memory())
      leak += accelerator.levels[l].memory().leak_pj_per_cycle *
              static_cast<double>(accelerator.instances(static_cast<int>(l)));
  return leak;
}

}  // namespace

HardwareFacts facts_of(const IdealDesign& ideal) {
  return {ideal.least_area_um2,
          ideal.accelerator->clock_hz,
          leak_of(*ideal.accelerator),
          [&ideal](const std::string& name) -> std::optional<Constraint::Interval> {
            const auto found = ideal.numbers.find(name);
            return found == ideal.numbers.end() ? std::nullopt : std::optional(found->second);
          },
          &ideal.deadlines,
          &ideal.serving};
}

namespace {

/// Bounds of the compute units see nothing of a layer but its multiply-accumulates.
std::shared_ptr<const Layer> whole_network(const Workload& workload) {
  Count macs = 0;
  for (const Workload::Entry& entry : workload.layers) macs += entry.count * entry.layer.macs();
  auto all = std::make_shared<Layer>();
  all->name = workload.name;
  all->dims.push_back({"all", macs});
  return all;
}

}  // namespace

DistinctLayers::DistinctLayers(const Sweep& sweep, Ask ask) {
  std::map<std::string, std::size_t> known;
  for (const Workload& workload : sweep.workloads) {
    std::vector<Use>& uses = workloads.emplace_back();
    if (Sweep::asked_whole(workload) && ask == Ask::kAsTheSweep) {
      uses.push_back({layers.size(), 1});
      layers.push_back(whole_network(workload));
      networks.push_back(&workload);
      continue;
    }
    for (const Workload::Entry& entry : workload.layers) {
      Layer plain = entry.layer;
      plain.name = "l";
      const auto [place, fresh] = known.try_emplace(write_layer(plain), layers.size());
      if (fresh) layers.push_back(std::make_shared<const Layer>(entry.layer));
      uses.push_back({place->second, entry.count});
    }
  }
  networks.resize(layers.size(), nullptr);
  std::vector<double> work(layers.size(), 0);
  for (const auto& uses : workloads)
    for (const Use& use : uses)
      work[use.layer] += static_cast<double>(use.count) * static_cast<double>(layers[use.layer]->macs());
  for (std::size_t i = 0; i < work.size(); ++i) by_work.push_back(i);
  std::ranges::stable_sort(by_work, std::greater{}, [&](std::size_t i) { return work[i]; });
}

double DistinctLayers::deadline(std::size_t layer, const std::vector<double>& deadlines) const {
  for (std::size_t w = 0; w < workloads.size() && !deadlines.empty(); ++w)
    if (workloads[w].front().layer == layer && networks[layer] != nullptr) return deadlines[w];
  return kInfinity;
}

std::vector<double> DistinctLayers::gains(const std::vector<double>& from, const std::vector<double>& to) const {
  std::vector<double> gains(layers.size(), 0);
  for (const auto& uses : workloads) {
    double all = 0;
    for (const Use& use : uses) all += static_cast<double>(use.count) * to[use.layer];
    if (all <= 0) continue;
    std::vector<double> here(layers.size(), 0);
    for (const Use& use : uses)
      here[use.layer] += static_cast<double>(use.count) * (to[use.layer] - from[use.layer]) / all;
    for (std::size_t i = 0; i < here.size(); ++i) gains[i] = std::max(gains[i], here[i]);
  }
  return gains;
}

GoalBounds::GoalBounds(const Sweep& sweep, const DistinctLayers& layers)
    : sweep_(sweep), goals_(*sweep.goals), layers_(layers) {
  for (const DesignGoals::Goal& goal : goals_.minimize)
    fixed_.push_back(goal.measure == DesignMeasure::kArea || goal.measure == DesignMeasure::kPower ||
                     of_serving(goal.measure));
  for (const auto& uses : layers.workloads) {
    double& macs = macs_.emplace_back(0);
    for (const DistinctLayers::Use& use : uses)
      macs += static_cast<double>(use.count) * static_cast<double>(layers.layers[use.layer]->macs());
  }
}

GoalBounds::ByWorkload GoalBounds::networks(const HardwareFacts& facts, const LayerBounds& bounds) const {
  ByWorkload all;
  for (const auto& uses : layers_.workloads) {
    if (layers_.networks[uses.front().layer] != nullptr) {
      const bool limited = facts.deadlines != nullptr && !facts.deadlines->empty();
      all.push_back(bound_whole(bounds[uses.front().layer], limited ? (*facts.deadlines)[all.size()] : kInfinity));
      continue;
    }
    std::vector<RepeatedBound> repeated;
    for (const DistinctLayers::Use& use : uses) repeated.push_back({bounds[use.layer], use.count});
    all.push_back(bound_network(repeated));
  }
  return all;
}

Point GoalBounds::combine(const HardwareFacts& facts, const ByWorkload& networks) const {
  Point point;
  for (const DesignGoals::Goal& goal : goals_.minimize) {
    if (goal.measure == DesignMeasure::kArea) {
      point.push_back(facts.least_area_um2);
    } else if (goal.workload) {
      point.push_back(measure_of(goal.measure, facts, *goal.workload, networks[*goal.workload]));
    } else {
      std::vector<double> by_workload;
      for (std::size_t w = 0; w < networks.size(); ++w)
        by_workload.push_back(measure_of(goal.measure, facts, w, networks[w]));
      point.push_back(goals_.mixed(by_workload));
    }
  }
  return point;
}

Point GoalBounds::least(const HardwareFacts& facts, const LayerBounds& bounds) const {
  return combine(facts, networks(facts, bounds));
}

Point GoalBounds::hoped(const HardwareFacts& facts, const LayerBounds& bounds, const LayerBounds& found) const {
  ByWorkload all = networks(facts, bounds);
  for (std::size_t w = 0; w < all.size(); ++w) {
    double energy = 0, cycles = 0;
    for (const DistinctLayers::Use& use : layers_.workloads[w]) {
      energy += static_cast<double>(use.count) * found[use.layer].energy_pj;
      cycles += static_cast<double>(use.count) * found[use.layer].cycles;
    }
    all[w].edp = std::max(all[w].edp, energy * cycles);
  }
  return combine(facts, all);
}

std::optional<Constraint::Interval> GoalBounds::result_range(std::string_view name, const HardwareFacts& facts,
                                                             std::size_t workload, const NetworkBound& network) const {
  const auto at_least = [](double value) { return Constraint::Interval(value, kInfinity); };
  const auto at_most = [](double value) { return Constraint::Interval(0, value); };
  if (const auto measure = parse_design_measure(name); measure && *measure != DesignMeasure::kArea) {
    const double least = measure_of(*measure, facts, workload, network);
    return is_maximized(*measure) ? at_most(column_value(*measure, least)) : at_least(least);
  }
  if (!facts.clock_hz || network.cycles <= 0 || network.energy_pj <= 0) return std::nullopt;
  // No mapping is faster or takes less: the best of these figures would have both.
  const auto best = physical(facts.clock_hz, network.energy_pj, network.cycles, macs_[workload]);
  const Workload::Pass& pass = sweep_.workloads[workload].pass;
  if (name == "energy_mj") return at_least(best->energy_mj);
  if (name == "tops") return at_most(best->tops);
  if (name == "tops_per_w") return at_most(best->tops_per_w);
  if (name == "inferences_per_s") return at_most(static_cast<double>(pass.inferences) / best->latency_s);
  if (name == "tokens_per_s" && pass.tokens) return at_most(static_cast<double>(*pass.tokens) / best->latency_s);
  return std::nullopt;
}

bool GoalBounds::beyond_limits(const HardwareFacts& facts, const LayerBounds& bounds) const {
  if (facts.serving != nullptr && std::ranges::any_of(*facts.serving, &ServingLeast::none_serves)) return true;
  if (sweep_.result_limits.empty()) return false;
  const ByWorkload all = networks(facts, bounds);
  for (std::size_t w = 0; w < all.size(); ++w) {
    const auto range = [&](const std::string& name) {
      const bool result = std::ranges::find(result_names(), name) != result_names().end();
      return result ? result_range(name, facts, w, all[w]) : facts.numbers ? facts.numbers(name) : std::nullopt;
    };
    if (std::ranges::any_of(sweep_.result_limits, [&](const Constraint& limit) { return limit.never_holds(range); }))
      return true;
  }
  return false;
}

Point GoalBounds::values(const std::vector<DesignRow>& rows) const {
  Point point;
  for (const DesignGoals::Goal& goal : goals_.minimize) {
    if (goal.measure == DesignMeasure::kArea) {
      if (!rows.front().hardware) return {};
      point.push_back(rows.front().hardware->area_um2);
      continue;
    }
    std::vector<double> by_workload;
    for (const DesignRow& row : rows) {
      const auto value = result_value(row, column_of(goal.measure));
      if (!value) return {};
      by_workload.push_back(column_value(goal.measure, *value));
    }
    point.push_back(goal.workload ? by_workload[*goal.workload] : goals_.mixed(by_workload));
  }
  return point;
}

LayerBound compute_bound(const Layer& layer, const Accelerator& ideal) {
  const Compute& compute = ideal.levels.back().compute();
  const auto macs = static_cast<double>(layer.macs());
  LayerBound bound;
  bound.cycles = macs * compute.cycles_per_mac / static_cast<double>(ideal.macs_units());
  bound.energy_pj = macs * compute.mac_pj + leak_of(ideal) * bound.cycles;
  bound.edp = bound.energy_pj * bound.cycles;
  return bound;
}

LayerBound proven_bound(Objective objective, const TaskResult& result, std::int32_t number) {
  LayerBound bound;
  bound.rests_on = {number, number, number};
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
