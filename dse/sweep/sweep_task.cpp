// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/sweep_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>

#include "core/arithmetic.h"
#include "core/input/machine_parts.h"
#include "core/input/source_text.h"
#include "core/version.h"
#include "core/workload_graph.h"
#include "costmodel/area.h"
#include "costmodel/report.h"
#include "dse/mappers/infeasible.h"
#include "dse/results/content_hash.h"
#include "dse/sweep/network_rows.h"
#include "dse/sweep/source_hash.h"
#include "flex/flexion/flexion.h"

namespace pliant {
namespace {

/// The accelerator without what no answer depends on. It lists what does not count, not what does: a field that is
/// added later counts until it is listed here, and a cache never answers for a design that differs in it.
std::string essential(const Accelerator& accelerator, const Flexibility& flexibility) {
  Accelerator plain = accelerator;
  plain.name = "a";
  plain.description.clear();
  plain.clock_hz.reset();  // bandwidths and leakage per cycle are resolved; seconds come after the answer
  plain.flexibility = flexibility;
  plain.flexibility.name.clear();
  plain.flexibility_for.clear();
  plain.fusion.clear();  // of layers together: the key of a network has it, and the vector unit
  plain.vector.reset();
  plain.links.reset();
  plain.baseline = {};
  plain.partial.clear();
  plain.base_area_um2 = 0;
  plain.flexibility_area_um2 = {};
  plain.flexibility_area_from.clear();
  for (std::size_t l = 0; l < plain.levels.size(); ++l) {
    Level& level = plain.levels[l];
    if (level.is_memory()) {
      level.memory().area_um2 = 0;
      level.memory().technology.clear();
    } else if (level.is_fanout()) {
      Fanout& fanout = level.fanout();
      fanout.area_um2 = 0;
      // An array whose shape is not fixed is its number of units: 4 x 64 and 16 x 16 are one question.
      // Not of a systolic array, which is filled and drained along its rows and columns.
      if (l < plain.flexibility.levels.size() && plain.flexibility.levels[l].shape.kind != ShapeRule::Kind::kFixed &&
          !fanout.systolic) {
        fanout.cols = fanout.units();
        fanout.rows = 1;
      }
    } else {
      level.compute().area_um2 = 0;
    }
  }
  return write_accelerator(plain);
}

std::string essential(const Layer& layer) {
  Layer plain = layer;
  plain.name = "l";
  return write_layer(plain);
}

/// The smallest set of limits that conflict, and how far the nearest mapping is from legal.
std::string conflict_of(const Task& task) {
  const auto why = why_nothing_fits(task);
  if (!why || why->conflict.empty()) return "no mapping meets all limits of this design";
  std::string text;
  for (const Limit& limit : why->conflict) text += (text.empty() ? "" : "; ") + limit.text;
  for (const Violation& miss : why->nearest_miss) text += "; nearest miss: " + miss.message;
  return text;
}

}  // namespace

TaskNamer::TaskNamer(const Sweep& sweep) : sweep_(sweep) {
  mapper_ = fmt::format("pliant {} {}\nmapper {}\nseed {}\nbudget {}\n", version(), source_hash(), sweep.mapper,
                        sweep.seed, sweep.budget_seconds);
  if (sweep.gap > 0) mapper_ += fmt::format("gap {}\n", sweep.gap);
  for (const auto& [key, value] : sweep.mapper_options) mapper_ += fmt::format("option {}={}\n", key, value);
}

const std::string& TaskNamer::accelerator_text(const DesignPoint& design, const Layer& layer) {
  if (last_ != design.accelerator.get()) {
    held_ = design.accelerator;
    last_ = held_.get();
    accelerator_text_.clear();
  }
  std::string& accelerator = accelerator_text_[layer.operation];
  if (accelerator.empty()) accelerator = essential(*design.accelerator, design.accelerator->flexibility_of(layer));
  return accelerator;
}

const std::string& TaskNamer::layer_text(const Layer& layer) {
  std::string& text = layer_text_[&layer];
  if (text.empty()) text = essential(layer);
  return text;
}

TaskKey TaskNamer::key(const DesignPoint& design, const Layer& layer) {
  return *TaskKey::parse(
      sha256(fmt::format("{}factorization {}\nobjective {}\n{}{}", mapper_, to_string(design.factorization),
                         to_string(design.objective), accelerator_text(design, layer), layer_text(layer))));
}

TaskKey TaskNamer::key(const DesignPoint& design, const Workload& workload) {
  std::string text = fmt::format("{}network\nfactorization {}\nobjective {}\n", mapper_,
                                 to_string(design.factorization), to_string(design.objective));
  if (const double most = design.deadline_of(sweep_, workload); most < kInfinity)
    text += fmt::format("within {}\n", most);
  if (sweep_.tiles) text += "tiles\n" + write_fusion(*design.accelerator);
  if (sweep_.inferences > 1) text += fmt::format("inferences {}\n", sweep_.inferences);
  if (const auto& unit = design.accelerator->vector) text += "vector " + write_vector_unit(*unit) + "\n";
  std::set<Operation> written;
  for (const Workload::Entry& entry : workload.layers) {
    if (written.insert(entry.layer.operation).second)
      text += fmt::format("{}\n{}", to_string(entry.layer.operation), accelerator_text(design, entry.layer));
    text += layer_text(entry.layer);
  }
  // What is no part of an accelerator's answer to a layer: which memories are on the chip.
  for (const Level& level : design.accelerator->levels)
    text += level.is_memory() && level.memory().off_chip ? "beside the chip\n" : "on the chip\n";
  return *TaskKey::parse(sha256(text + write_run(workload)));
}

TaskKey TaskNamer::key(const Task& task, double gap) const {
  return *TaskKey::parse(
      sha256(fmt::format("{}factorization {}\nobjective {}\nwithin {} cycles\nwithin {}\n{}{}", mapper_,
                         to_string(task.factorization), to_string(task.objective), task.most_cycles, gap,
                         essential(task.accelerator, task.flexibility), essential(task.layer))));
}

SearchOptions search_options(const Sweep& sweep, int threads, const std::stop_token& stop, const Clock& clock) {
  SearchOptions options;
  options.threads = threads;
  options.budget.seconds = sweep.budget_seconds;
  options.gap = sweep.gap;
  options.seed = sweep.seed;
  options.stop = stop;
  options.extra = sweep.mapper_options;
  options.clock = &clock;
  return options;
}

std::vector<TaskResult::LevelEnergy> energy_of_levels(const CostReport& report, const Accelerator& accelerator) {
  std::vector<TaskResult::LevelEnergy> all;
  for (const LevelCost& level : report.levels)
    if (level.memory || level.energy_pj > 0) all.push_back({level.name, level.energy_pj + level.leakage_pj});
  all.push_back({accelerator.levels.back().name, report.mac_energy_pj + report.compute_leakage_pj});
  return all;
}

TaskResult solve_task(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Layer& layer,
                      int threads, const std::stop_token& stop, const Clock& clock) {
  TaskResult result;
  try {
    const Task task{layer, *design.accelerator, design.accelerator->flexibility_of(layer), design.factorization,
                    design.objective};
    CostReport report;
    const SearchResult found = run_mapper(mapper, task, search_options(sweep, threads, stop, clock), &report);
    result.mappings_covered = found.mappings_covered;
    result.evaluations = found.evaluations;
    result.ended_by = found.ended_by;
    result.solve_seconds = found.seconds;
    if (!found.mapping) {
      result.status = TaskStatus::kNothingFound;
      result.reason =
          fmt::format("the {} mapper found no legal mapping (ended by {})", mapper.name(), to_string(found.ended_by));
      if (!found.infeasible) return result;
      result.status = TaskStatus::kNoLegalMapping;
      result.reason = conflict_of(task);
      return result;
    }
    result.status = TaskStatus::kSolved;
    result.mapping = *found.mapping;
    result.energy_pj = found.totals.energy_pj;
    result.runtime_cycles = found.totals.cycles;
    result.compute_cycles = found.totals.steps;
    result.utilization = found.totals.utilization;
    result.bound_by = report.bound_by;
    for (std::size_t l = 0; l < report.levels.size(); ++l) {
      const LevelCost& level = report.levels[l];
      if (!level.memory) continue;
      result.memories.push_back({static_cast<int>(l),
                                 level.instances_built,
                                 level.capacity_words,
                                 level.used_words,
                                 level.read_cycles,
                                 level.write_cycles,
                                 level.bus_cycles,
                                 level.leakage_pj,
                                 {}});
      for (std::size_t t = 0; t < level.tensors.size(); ++t) {
        const TensorCost& tensor = level.tensors[t];
        if (tensor.kept)
          result.memories.back().tensors.push_back({static_cast<int>(t), tensor.reads, tensor.fills, tensor.updates,
                                                    tensor.words_read, tensor.words_written, tensor.energy_pj});
      }
    }
    result.energy_by_level = energy_of_levels(report, *design.accelerator);
    result.value = found.value;
    result.lower_bound = found.lower_bound;
    result.gap = found.gap();
    result.certified = found.certified;
  } catch (const InputError&) {
    throw;  // a mapper's option: the same for every task
  } catch (const std::exception& error) {
    result = {};
    result.status = TaskStatus::kFailed;
    result.reason = error.what();
  }
  return result;
}

std::optional<DesignRow::Flexion> design_flexion(const Workload& workload, const DesignPoint& design) {
  if (!design.accelerator) return std::nullopt;
  FlexionOptions options;
  options.tile_tuples = false;
  const WorkloadFlexion all = workload_flexion(workload, *design.accelerator, options);
  DesignRow::Flexion flexion;
  constexpr std::array kAxes = {Measure::kTileVolume, Measure::kOrders, Measure::kPairs, Measure::kShapes};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    flexion.h_f[i] = all.of(kAxes[i]).h_f;
    flexion.w_f[i] = all.of(kAxes[i]).w_f;
    const WorkloadFlexion::Mean& mean = all.of(kAxes[i]);
    flexion.sets[i] = {mean.c, mean.a, mean.w, mean.a_and_w, mean.c_and_w};
  }
  double repetitions = 0, h_f = 0, w_f = 0;
  for (const LayerFlexion& layer : all.layers) {
    const auto count = static_cast<double>(layer.count);
    repetitions += count;
    h_f += count * layer.h_f({true, true, true, true});
    w_f += count * layer.w_f({true, true, true, true});
  }
  flexion.h_f[4] = h_f / repetitions;
  flexion.w_f[4] = w_f / repetitions;
  return flexion;
}

namespace {

std::vector<std::pair<std::string, double>> by_component(const Accelerator& accelerator, const Area& area) {
  std::vector<std::pair<std::string, double>> parts;
  const auto add = [&](std::string name, double value) {
    if (value > 0) parts.emplace_back(std::move(name), value);
  };
  for (std::size_t l = 0; l < area.levels.size(); ++l) add(accelerator.levels[l].name, area.levels[l]);
  for (std::size_t a = 0; a < area.flexibility.size(); ++a)
    add(fmt::format("flexibility {}", "TOPS"[a]), area.flexibility[a]);
  add("other parts", area.base);
  return parts;
}

/// Energy by where it is spent. Levels leak for as long as the run takes, idle copies included.
EnergyParts energy_parts(const Accelerator& accelerator, const DesignRow::Cost& cost) {
  EnergyParts parts;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    const auto spent = std::ranges::find(cost.energy_by_level, level.name, &TaskResult::LevelEnergy::level);
    const double leaks = level.is_memory()    ? level.memory().leak_pj_per_cycle
                         : level.is_compute() ? level.compute().leak_pj_per_cycle
                                              : 0;
    const double leaked = leaks * static_cast<double>(accelerator.instances(static_cast<int>(l))) * cost.runtime_cycles;
    if (spent != cost.energy_by_level.end()) parts.add(level, spent->energy_pj - leaked, leaked);
  }
  return parts;
}

void add_seconds(DesignRow& row, const DesignPoint& design, const Workload::Pass& pass) {
  const auto figures = physical(design.accelerator->clock_hz, row.cost->energy_pj, row.cost->runtime_cycles,
                                static_cast<double>(row.macs));
  if (!figures) return;
  DesignRow::InTime& in_time = row.in_time.emplace(DesignRow::InTime{});
  in_time.physical = *figures;
  in_time.power = *power_parts(energy_parts(*design.accelerator, *row.cost), figures->latency_s);
  in_time.inferences_per_s = static_cast<double>(pass.inferences) / figures->latency_s;
  if (pass.tokens) in_time.tokens_per_s = static_cast<double>(*pass.tokens) / figures->latency_s;
}

}  // namespace

namespace {

/// A fanout is among the levels of a layer only if words that pass it cost something.
void add_levels(const std::vector<TaskResult::LevelEnergy>& levels, double times,
                std::vector<TaskResult::LevelEnergy>& sums) {
  auto at = sums.begin();
  for (const TaskResult::LevelEnergy& one : levels) {
    const auto known = std::find_if(at, sums.end(), [&](const auto& sum) { return sum.level == one.level; });
    at = known == sums.end() ? sums.insert(at, {one.level, 0}) : known;
    (at++)->energy_pj += times * one.energy_pj;
  }
}

/// Sums of the layers by themselves.
void add_layers(const LayerRow* rows, std::size_t count, DesignRow& all) {
  DesignRow::Cost cost;
  cost.certified = true;
  double busy = 0;
  for (const LayerRow* row = rows; row != rows + count; ++row) {
    all.macs += row->layer->macs() * row->count;
    const TaskResult& result = *row->result;
    if (result.status != TaskStatus::kSolved) {
      if (all.layers_without_mapping++ == 0) {
        all.status = to_string(result.status);
        all.reason = result.status == TaskStatus::kInvalidDesign
                         ? result.reason
                         : fmt::format("{}: {}", row->layer->name, result.reason);
      }
      continue;
    }
    const auto times = static_cast<double>(row->count);
    cost.energy_pj += times * result.energy_pj;
    cost.runtime_cycles += times * result.runtime_cycles;
    cost.sum_layer_edp_pj_cycles += times * result.energy_pj * result.runtime_cycles;
    busy += times * result.utilization * result.runtime_cycles;
    cost.certified = cost.certified && result.certified;
    cost.max_gap = std::max(cost.max_gap, result.gap);
    add_levels(result.energy_by_level, times, cost.energy_by_level);
  }
  if (all.layers_without_mapping > 0) return;
  cost.edp_pj_cycles = cost.energy_pj * cost.runtime_cycles;
  cost.utilization = busy / cost.runtime_cycles;
  all.cost = cost;
}

/// The sums of the workload as a whole instead: of a network with operators and with tensors that stay on chip.
void take_network(const DesignPoint& design, const Workload& workload, const std::shared_ptr<const TaskResult>& network,
                  DesignRow& all) {
  all.status = to_string(network->status);
  all.reason = network->reason;
  all.cost.reset();
  if (network->status != TaskStatus::kSolved) return;
  all.residency = residency_of(design, workload, network);
  DesignRow::Cost& cost = all.cost.emplace(DesignRow::Cost{});
  cost.energy_pj = network->energy_pj;
  cost.runtime_cycles = network->runtime_cycles;
  cost.edp_pj_cycles = cost.energy_pj * cost.runtime_cycles;
  const std::vector<GraphStep> run = run_of(*workload.graph);
  for (std::size_t s = 0; s < network->network.steps.size(); ++s) {
    const TaskResult::Network::Step& step = network->network.steps[s];
    const Count count = workload.graph->nodes[static_cast<std::size_t>(run[s].node)].count;
    cost.sum_layer_edp_pj_cycles += step.energy_pj * step.runtime_cycles / static_cast<double>(count);
  }
  const auto units = static_cast<double>(design.accelerator->macs_units());
  cost.utilization = static_cast<double>(all.macs) * design.accelerator->levels.back().compute().cycles_per_mac /
                     (units * cost.runtime_cycles);
  cost.certified = network->certified;
  cost.max_gap = network->gap;
  cost.energy_by_level = network->energy_by_level;
}

}  // namespace

DesignRow summarize(const DesignPoint& design, const Workload& workload, const LayerRow* rows, std::size_t count,
                    const std::shared_ptr<const TaskResult>& network) {
  DesignRow all;
  all.design = design.key;
  all.workload = workload.name;
  all.layers = static_cast<std::int32_t>(count);
  all.status = to_string(TaskStatus::kSolved);
  add_layers(rows, count, all);
  if (network) take_network(design, workload, network, all);
  if (all.cost) add_seconds(all, design, workload.pass);
  if (design.accelerator) {
    const Area area = area_um2(*design.accelerator);
    DesignRow::Hardware hardware;
    hardware.area_um2 = area.total();
    hardware.area_by_component = by_component(*design.accelerator, area);
    for (const double part : area.flexibility) hardware.flexibility_area_um2 += part;
    for (const Level& level : design.accelerator->levels) {
      if (!level.is_fanout()) continue;
      hardware.array_rows *= level.fanout().rows;
      hardware.array_cols *= level.fanout().cols;
    }
    hardware.compute_units = design.accelerator->macs_units();
    hardware.buffer_bits = buffer_bits(*design.accelerator);
    hardware.flexibility_area_from = design.accelerator->flexibility_area_from;
    hardware.clock_hz = design.accelerator->clock_hz;
    hardware.peak_tops = peak_tops(hardware.clock_hz, design.accelerator->peak_macs_per_cycle());
    all.hardware = hardware;
  }
  return all;
}

}  // namespace pliant
