// SPDX-License-Identifier: Apache-2.0
#include "costmodel/report.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "costmodel/area.h"
#include "costmodel/bits.h"
#include "costmodel/whole_cycles.h"

namespace pliant {

namespace {

/// Sums of products of doubles: exact below 2^53, else rounded; invariants allow for the rounding only.
constexpr double kSlack = 1 - 1e-12;

void add_transfers(CostReport& report, const Nest& nest) {
  const Problem& problem = nest.problem();
  double output_fills = 0;
  for (const Transfer& pair : nest.transfers()) {
    TensorCost& parent = report.levels[pair.parent].tensors[pair.tensor];
    TensorCost* child = pair.child < problem.levels ? &report.levels[pair.child].tensors[pair.tensor] : nullptr;
    if (pair.tensor != problem.output) {
      parent.reads += pair.served;
      if (child != nullptr) child->fills += pair.delivered;
      continue;
    }
    parent.reads += pair.served - pair.first_parent;
    parent.updates += pair.served;
    if (nest.sums_whole(pair.parent)) parent.finished_updates = pair.first_parent;
    if (child == nullptr) continue;
    child->fills += pair.delivered - pair.first_child;
    switch (problem.conventions.drain) {
      case Conventions::Drain::kCounted:
        child->drains = pair.delivered;
        if (nest.sums_whole(pair.child)) child->finished_drains = pair.first_child;
        break;
      case Conventions::Drain::kFree: break;
      case Conventions::Drain::kParentWrites:
        child->drains = (pair.served + output_fills) * (pair.delivered / pair.served);
        break;
    }
    child->reads += child->drains;
    output_fills = child->fills;
  }
}

/// How long a port needs for the words that pass it.
void add_port(LevelCost& level, const Port& port, const Totals& totals) {
  double reads = 0, writes = 0;
  for_each_bit(port.reads, [&](int x) { reads += level.tensors[x].words_read; });
  for_each_bit(port.writes, [&](int x) { writes += level.tensors[x].words_written; });
  const double rate = port.bandwidth * level.instances_peak, time = (reads + writes) / rate;
  if (!(totals.cycles >= time * kSlack))
    throw std::logic_error(
        fmt::format("cost model invariant: {} cycles, a port of {} needs {}", totals.cycles, level.name, time));
  level.read_cycles = std::max(level.read_cycles, whole_cycles(reads / rate));
  level.write_cycles = std::max(level.write_cycles, whole_cycles(writes / rate));
  if (port.reads != 0 && port.writes != 0) level.bus_cycles = std::max(level.bus_cycles, whole_cycles(time));
}

/// Energy of a memory's words, and how long its ports need for them.
void add_costs(LevelCost& level, const Nest& nest, int l, const Totals& totals) {
  const Problem& problem = nest.problem();
  for (int x = 0; x < problem.tensors; ++x) {
    TensorCost& tensor = level.tensors[x];
    tensor.kept = nest.keeps(l, x);
    if (!tensor.kept) continue;
    tensor.tile_words = nest.footprint(l, x);
    const double words = problem.element_words[l][x], saved = problem.finished_saves[l];
    level.used_words += tensor.tile_words * words;
    const double filled = tensor.fills * words, updated = tensor.updates * words - tensor.finished_updates * saved;
    tensor.words_read = tensor.reads * words - tensor.finished_drains * saved;
    tensor.words_written = filled + updated;
    tensor.energy_pj =
        tensor.words_read * problem.read_pj[l] + filled * problem.write_pj[l] + updated * problem.update_pj[l];
    level.energy_pj += tensor.energy_pj;
  }
  for (const Port& port : problem.ports)
    if (port.level == l) add_port(level, port, totals);
  level.leakage_pj = problem.leak_pj_per_cycle[l] * level.instances_built * totals.cycles;
}

/// Energy of the networks that the words pass, and the time systolic arrays are filled and drained.
void add_networks(CostReport& report, const Nest& nest) {
  const Problem& problem = nest.problem();
  for (const Transfer& pair : nest.transfers())
    for_each_bit(problem.networks & below(pair.child) & ~below(pair.parent), [&](int l) {
      const double energy = nest.network_energy(pair, l);
      report.levels[l].tensors[pair.tensor].energy_pj += energy;
      report.levels[l].energy_pj += energy;
    });
  for (const Port& port : problem.ports)
    if (port.stationary >= 0)
      report.levels[port.level].fill_cycles = std::max(report.levels[port.level].fill_cycles, nest.fill_cycles(port));
}

}  // namespace

CostReport price(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  if (!mapping.padded.empty()) {
    // Padding: the padded layer is executed and paid for; only the layer's own MACs are useful.
    Layer executed = layer;
    for (std::size_t d = 0; d < executed.dims.size(); ++d) executed.dims[d].size = mapping.padded[d];
    Mapping unpadded = mapping;
    unpadded.padded.clear();
    CostReport report = price(executed, accelerator, unpadded);
    report.totals.utilization *= static_cast<double>(layer.macs()) / report.macs;
    return report;
  }
  const Problem problem(layer, accelerator);
  Nest nest(problem);
  nest.load(flatten(problem, mapping));
  CostReport report;
  report.totals = nest.price();
  if (const std::string broken = broken_invariant(nest, report.totals); !broken.empty())
    throw std::logic_error("cost model invariant: " + broken);
  report.macs = problem.macs;
  report.mac_energy_pj = problem.macs * problem.mac_pj;
  report.units = problem.built[problem.levels];
  report.compute_leakage_pj = problem.compute_leak_pj_per_cycle * report.units * report.totals.cycles;
  report.area_um2 = area_um2(accelerator).total();
  report.levels.resize(problem.levels);
  for (int l = 0; l < problem.levels; ++l) {
    LevelCost& level = report.levels[l];
    level.name = accelerator.levels[l].name;
    level.memory = problem.is_memory[l];
    level.instances_built = problem.built[l];
    level.instances_peak = nest.instances_peak(l);
    level.instances_average = nest.instances_average(l);
    level.capacity_words = problem.capacity[l];
    level.tensors.resize(problem.tensors);
  }
  add_transfers(report, nest);
  for (int l = 0; l < problem.levels; ++l)
    if (report.levels[l].memory) add_costs(report.levels[l], nest, l, report.totals);
  add_networks(report, nest);
  report.bound_by = bound_name(problem, report.totals);
  return report;
}

std::string bound_name(const Problem& problem, const Totals& totals) {
  if (totals.bound.port < 0) return "compute";
  const Port& port = problem.ports[static_cast<std::size_t>(totals.bound.port)];
  if (port.stationary >= 0 && totals.steps >= totals.cycles - totals.steps) return "compute";
  return fmt::format("{} {}", problem.accelerator.levels[static_cast<std::size_t>(port.level)].name, port.name);
}

std::string broken_invariant(const Nest& nest, const Totals& totals) {
  const Problem& problem = nest.problem();
  const double bound = problem.macs * problem.cycles_per_mac / problem.built[problem.levels];
  if (!(totals.cycles >= bound * kSlack)) return fmt::format("{} cycles, compute bound {}", totals.cycles, bound);
  if (!(totals.energy_pj >= problem.macs * problem.mac_pj * kSlack)) return "energy below that of the MACs";
  if (!(totals.utilization <= 1 / kSlack)) return fmt::format("utilization {}", totals.utilization);
  if (!std::isfinite(totals.energy_pj) || !std::isfinite(totals.cycles)) return "a number is not finite";
  for (const Transfer& pair : nest.transfers()) {
    const double whole = problem.tensor_words[pair.tensor] * kSlack;
    if (!(pair.served >= whole) || !(pair.delivered >= whole))
      return fmt::format("{} moves {} and {} words between levels {} and {}, the tensor has {}",
                         problem.layer.tensors[pair.tensor].name, pair.served, pair.delivered, int{pair.parent},
                         int{pair.child}, problem.tensor_words[pair.tensor]);
    if (pair.served < pair.first_parent * kSlack || pair.delivered < pair.first_child * kSlack)
      return "more first arrivals than arrivals";
  }
  return "";
}

}  // namespace pliant
