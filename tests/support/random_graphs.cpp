// SPDX-License-Identifier: Apache-2.0
#include "support/random_graphs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/load.h"
#include "support/draw.h"

namespace pliant::tests {

namespace {

Memory memory(Draw& draw, std::optional<Count> capacity, double pj) {
  Memory m;
  m.capacity_words = capacity;
  m.read_pj = pj;
  m.write_pj = pj * static_cast<double>(draw.from(1, 2));
  m.update_pj = m.write_pj;
  if (draw.chance(0.5)) m.bus_words_per_cycle = static_cast<double>(draw.from(1, 4));
  if (draw.chance(0.2)) m.leak_pj_per_cycle = static_cast<double>(draw.from(1, 3));
  return m;
}

/// DRAM, one or two shared memories, sometimes a row of units, a latch for each unit.
Accelerator random_machine(Draw& draw) {
  Accelerator a;
  a.name = "small";
  a.conventions = Conventions::physical();
  const bool two = draw.chance(0.6);
  Memory dram = memory(draw, std::nullopt, static_cast<double>(draw.from(8, 40)));
  dram.bus_words_per_cycle = static_cast<double>(draw.from(1, 3)) / 2;
  a.levels.push_back({"DRAM", dram});
  Memory outer = memory(draw, draw.from(8, 60), static_cast<double>(draw.from(2, 6)));
  if (draw.chance(0.2)) outer.buffers = 2;
  if (draw.chance(0.15)) outer.may_keep[static_cast<std::size_t>(draw.from(0, 2))] = false;
  a.levels.push_back({"L2", outer});
  if (two) a.levels.push_back({"L1", memory(draw, draw.from(4, 30), 1)});
  if (draw.chance(0.4)) a.levels.push_back({"PEs", Fanout{1, draw.from(2, 3)}});
  Memory latch = memory(draw, 3, 0.125);
  latch.bus_words_per_cycle.reset();
  a.levels.push_back({"Latch", latch});
  a.levels.push_back({"MAC", Compute{static_cast<double>(draw.from(0, 2))}});
  // One order at most memories keeps the enumeration small; the innermost holds one word of each tensor.
  a.flexibility.levels.resize(a.levels.size());
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    LevelFlexibility& rules = a.flexibility.levels[l];
    if (a.levels[l].name == "Latch") rules.loops.dims.emplace();
    if (a.levels[l].is_memory() && !draw.chance(l == 0 ? 0.5 : 0.15)) {
      std::vector<std::string> dims{"M", "N", "K"};
      draw.shuffle(dims);
      rules.order.allowed.push_back({dims, std::nullopt});
    }
    if (l == 1 && draw.chance(0.2)) rules.tile.partition = {1.0, static_cast<double>(draw.from(1, 2)), 1.0};
  }
  return a;
}

/// Elements that are not as wide as words, in some of the networks: of the machine, of memories and of layers. Drawn
/// after everything else.
void draw_widths(Draw& draw, Accelerator& machine, Workload& workload) {
  if (!draw.chance(0.5)) return;
  static const std::vector<int> kElements{4, 8, 12, 16, 24}, kSums{16, 20, 32};
  const auto said = [&](double share) {
    ElementBits bits;
    for (auto& of_role : bits.of)
      if (draw.chance(share)) of_role = draw.of(kElements);
    if (draw.chance(share)) bits.partial_sums = draw.of(kSums);
    return bits;
  };
  machine.bits = said(0.5);
  for (Level& level : machine.levels)
    if (level.is_memory() && draw.chance(0.2)) level.memory().bits = said(0.4);
  for (Workload::Entry& entry : workload.layers)
    if (draw.chance(0.2)) entry.layer.bits = said(0.5);
  for (Level& level : machine.levels) {
    if (level.name == "Latch") level.memory().capacity_words = 6;  // of 16 bits: one of each, of any width
    if (!level.is_fanout()) continue;
    if (draw.chance(0.4)) level.fanout().pj_per_bit = static_cast<double>(draw.from(1, 20)) / 64;
    if (draw.chance(0.3)) level.fanout().systolic = static_cast<Role>(draw.from(0, 2));
    if (draw.chance(0.1)) level.fanout().wired_sums[static_cast<std::size_t>(Side::kCols)] = true;
  }
}

/// A network of up to six layers, written as a file would be.
std::string random_network(Draw& draw) {
  std::string layers, graph;
  struct Made {
    std::string name;
    Count rows, cols;
  };
  std::vector<Made> made;
  const Count count = draw.from(2, 6), rows = draw.from(1, 3);
  std::vector<Count> widths{1, 2, 3, 4};
  for (Count i = 0; i < count; ++i) {
    const std::string name = fmt::format("l{}", i);
    // Mostly what was made last; sometimes an older tensor (a branch), or what comes from outside.
    const Made* source = made.empty() || draw.chance(0.08) ? nullptr : &made.back();
    if (source != nullptr && draw.chance(0.25)) source = &draw.of(made);
    const Count K = source != nullptr ? source->cols : draw.of(widths), N = draw.of(widths);
    std::string from = source != nullptr ? source->name : "input";
    if (source != nullptr && draw.chance(0.2))
      for (const Made& other : made)
        if (other.rows * other.cols == K * N) {  // both operands were made by the network
          from = fmt::format("[{}, {}]", source->name, other.name);
          break;
        }
    layers += fmt::format("  - {{layer: {}, gemm: {{M: {}, N: {}, K: {}}}}}\n", name, rows, N, K);
    graph += fmt::format("  - {{layer: {}, from: {}}}\n", name, from);
    made.push_back({name, rows, N});
    if (draw.chance(0.15)) graph += fmt::format("  - {{op: output, name: g{}, from: {}}}\n", i, name);
    if (N > 1 && draw.chance(0.15)) {
      const Count part = draw.from(1, N - 1);
      graph += fmt::format("  - {{op: part, name: p{}, words: {}, from: {}}}\n", i, rows * part, name);
      made.push_back({fmt::format("p{}", i), rows, part});
    }
    if (!draw.chance(0.35)) continue;
    const std::string op = fmt::format("o{}", i);
    std::string second;
    for (const Made& other : made)
      if (other.name != name && other.cols == N && draw.chance(0.7)) second = other.name;
    static const std::vector<std::string> kAlone{"activation", "softmax", "norm"};
    graph += second.empty() ? fmt::format("  - {{op: {}, name: {}, from: {}}}\n", draw.of(kAlone), op, name)
                            : fmt::format("  - {{op: add, name: {}, from: [{}, {}]}}\n", op, second, name);
    made.push_back({op, rows, N});
  }
  return "name: net\nlayers:\n" + layers + "graph:\n" + graph;
}

}  // namespace

RandomGraph random_graph(std::uint64_t seed) {
  Draw draw(seed);
  RandomGraph graph;
  Accelerator machine = random_machine(draw);
  graph.workload = parse_workload_text(random_network(draw), "net.yaml");
  draw_widths(draw, machine, graph.workload);
  if (draw.chance(0.3)) {
    VectorUnit& unit = machine.vector.emplace();
    unit.lanes = static_cast<double>(draw.from(1, 4));
    unit.pj_per_op = static_cast<double>(draw.from(0, 2)) / 4;
  }
  for (const Workload::Entry& entry : graph.workload.layers) {
    Task task;
    task.layer = entry.layer;
    task.accelerator = machine;
    task.flexibility = machine.flexibility;
    graph.rows.push_back(std::move(task));
  }
  graph.text = fmt::format("seed {}\n{}\n{}", seed, write_workload(graph.workload), write_accelerator(machine));
  return graph;
}

}  // namespace pliant::tests
