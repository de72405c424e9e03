// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/input/load.h"
#include "core/legality.h"
#include "dse/mappers/fusion/fusion.h"
#include "support/draw.h"
#include "support/enumerated_fusion.h"
#include "support/reference_walker.h"

namespace pliant::tests {

namespace {

std::string random_gemms(Draw& draw) {
  const Count count = draw.chance(0.35) ? 3 : 2, rows = draw.from(2, 4);
  const std::vector<Count> widths{1, 2, 2, 3, 4};
  std::string layers, graph;
  Count K = draw.of(widths);
  for (Count i = 0; i < count; ++i) {
    const Count N = draw.of(widths);
    layers += fmt::format("  - {{layer: l{}, gemm: {{M: {}, N: {}, K: {}}}}}\n", i, rows, N, K);
    graph += i == 0 ? "  - {layer: l0}\n" : fmt::format("  - {{layer: l{}, from: l{}}}\n", i, i - 1);
    K = N;
  }
  return "name: net\nlayers:\n" + layers + "graph:\n" + graph;
}

/// The last layers have windows, so that earlier ones make more rows than they.
std::string random_convs(Draw& draw) {
  const Count count = draw.chance(0.35) ? 3 : 2;
  std::vector<Count> channels, filters, strides;
  for (Count i = 0; i <= count; ++i) channels.push_back(draw.from(1, 2));
  for (Count i = 0; i < count; ++i) {
    filters.push_back(i == 0 ? 1 : draw.from(1, 3));
    strides.push_back(i > 0 && filters.back() > 1 && draw.chance(0.3) ? 2 : 1);
  }
  std::vector<Count> rows(static_cast<std::size_t>(count), draw.chance(0.5) ? 2 : 4);
  for (std::size_t i = rows.size() - 1; i-- > 0;) {
    const Count seen = strides[i + 1] * rows[i + 1] + filters[i + 1] - strides[i + 1];
    rows[i] = seen - (draw.chance(0.5) ? draw.from(0, std::min(seen - 1, filters[i + 1] - 1)) : 0);  // with padding
  }
  std::string layers, graph;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    layers += fmt::format("  - {{layer: l{}, conv: {{M: {}, C: {}, P: {}, Q: 1, R: {}, S: 1, stride_p: {}}}}}\n", i,
                          channels[i + 1], channels[i], rows[i], filters[i], strides[i]);
    graph += i == 0 ? "  - {layer: l0}\n" : fmt::format("  - {{layer: l{}, from: l{}}}\n", i, i - 1);
  }
  return "name: net\nlayers:\n" + layers + "graph:\n" + graph;
}

double best_of(const Pairs& all, Objective objective) {
  double best = kInfinity;
  for (const auto& [energy, cycles] : all) best = std::min(best, network_value(objective, energy, cycles));
  return best;
}

/// The group as the walker describes it: axes by where its layers have them.
reference::WalkedPlan walked_plan(const fusion::GroupChoice& group, const reference::WalkedChain& chain) {
  reference::WalkedPlan plan;
  plan.home = group.setting.home;
  plan.result_in = group.setting.places.back()[static_cast<std::size_t>(Role::kOutput)];
  const auto name_of = [&](int axis) {
    for (const auto& [name, size] : chain.sizes) {
      bool same = true;
      for (std::size_t l = 0; l < chain.places.size(); ++l) {
        const auto at = chain.places[l].find(name);
        const fusion::Place& place = group.setting.chain->axes[static_cast<std::size_t>(axis)].at[l];
        same &= (at == chain.places[l].end() ? -1 : at->second.dim) == place.dim;
      }
      if (same) return name;
    }
    ADD_FAILURE() << "an axis that nobody knows";
    return std::string("m");
  };
  for (const fusion::Stack& stack : group.plan.stacks) {
    auto& loops = plan.stacks.emplace_back();
    for (const fusion::TileLoop& loop : stack) loops.push_back({name_of(loop.axis), loop.tile});
  }
  for (const fusion::Held& held : group.plan.held) plan.held.push_back({held.layer, held.tensor, held.depth});
  return plan;
}

/// Runs the groups tile by tile and every run's loop nest step by step: what is told is what happens.
void walk_found(const RandomChain& chain, const fusion::Search& search, const fusion::Optimum& found,
                FusionCounts& counts) {
  double energy = 0, cycles = 0;
  std::vector<bool> in_group(found.steps.size(), false);
  for (const fusion::GroupChoice& group : found.groups) {
    const auto first = static_cast<std::ptrdiff_t>(group.steps.front());
    const auto count = static_cast<std::ptrdiff_t>(group.steps.size());
    reference::WalkedChain own;
    own.layers.assign(chain.walked.layers.begin() + first, chain.walked.layers.begin() + first + count);
    own.reads.assign(chain.walked.reads.begin() + first, chain.walked.reads.begin() + first + count - 1);
    if (!chain.walked.padded.empty())
      own.padded.assign(chain.walked.padded.begin() + first, chain.walked.padded.begin() + first + count - 1);
    own.places.assign(chain.walked.places.begin() + first, chain.walked.places.begin() + first + count);
    own.sizes = chain.walked.sizes;
    const reference::WalkedGroup walked =
        reference::walk_group(own, chain.rows.front().accelerator, walked_plan(group, own));
    EXPECT_EQ(walked.wrong, "");
    EXPECT_EQ(walked.taken, group.plan.tile_words);
    energy += walked.energy_pj;
    cycles += walked.cycles;
    std::vector<std::map<std::vector<Count>, Count>> runs(own.layers.size());
    for (const fusion::RunChoice& run : group.runs) {
      std::vector<Count> sizes;
      for (const Dim& dim : run.task.layer.dims) sizes.push_back(dim.size);
      runs[static_cast<std::size_t>(run.layer)][sizes] += static_cast<Count>(run.times);
      EXPECT_TRUE(check_legality(run.task.layer, run.task.accelerator, run.task.flexibility, run.task.factorization,
                                 run.mapping)
                      .empty());
      const reference::Walked one = reference::walk(run.task.layer, run.task.accelerator, run.mapping);
      energy += run.times * one.energy_pj;
      cycles += run.times * one.cycles;
      if (walked.sums_come_back[static_cast<std::size_t>(run.layer)]) ++counts.splits;
    }
    EXPECT_EQ(runs, walked.runs);
    for (const auto& of_layer : walked.runs) counts.windows += of_layer.size() > 1 ? 1 : 0;
    counts.nested += group.plan.stacks.front() != group.plan.stacks.back() ? 1 : 0;
    for (const int step : group.steps) in_group[static_cast<std::size_t>(step)] = true;
  }
  for (std::size_t s = 0; s < found.steps.size(); ++s) {
    if (in_group[s]) continue;
    const residency::StepChoice& step = found.steps[s];
    const Task& task = search.task(step.variant);
    for (const residency::StepPart& part : step.parts) {
      EXPECT_TRUE(
          check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, part.mapping).empty());
      const reference::Walked one = reference::walk(task.layer, task.accelerator, part.mapping);
      energy += one.energy_pj;
      cycles += one.cycles;
    }
  }
  EXPECT_NEAR(energy / found.energy_pj, 1, 1e-9);
  EXPECT_NEAR(cycles / found.cycles, 1, 1e-9);
}

}  // namespace

RandomChain random_chain(std::uint64_t seed) {
  Draw draw(seed * 7919 + 13);
  const RandomGraph graph = random_graph(seed);
  Accelerator machine = graph.rows.front().accelerator;
  RandomChain chain;
  const bool convs = draw.chance(0.3);
  chain.workload = parse_workload_text(convs ? random_convs(draw) : random_gemms(draw), "net.yaml");
  if (convs)
    for (LevelFlexibility& rules : machine.flexibility.levels) {
      if (rules.loops.dims) continue;
      std::vector<std::string> dims{"M", "C", "P", "Q", "R", "S"};
      draw.shuffle(dims);
      rules.order.allowed.clear();
      rules.order.allowed.push_back({dims, std::nullopt});
    }
  if (draw.chance(0.2)) machine.levels[1].memory().may_bypass[static_cast<std::size_t>(Role::kOutput)] = true;
  if (draw.chance(0.15)) machine.levels[1].memory().bits.partial_sums = 0;  // takes finished outputs only
  std::vector<Layer> layers;
  for (const Workload::Entry& entry : chain.workload.layers) {
    Task task;
    task.layer = entry.layer;
    task.accelerator = machine;
    task.flexibility = machine.flexibility;
    chain.rows.push_back(std::move(task));
    layers.push_back(entry.layer);
    chain.text += entry.layer.written_as + "\n";
  }
  chain.text += fmt::format("seed {}\n", seed);
  chain.walked = convs ? reference::walked_convs(std::move(layers)) : reference::walked_gemms(std::move(layers));
  return chain;
}

void compare_operators_with_enumeration(std::uint64_t seed, FusionCounts& counts) {
  RandomChain chain = random_chain(seed);
  if (chain.rows.size() != 2 || chain.rows.front().layer.operation != Operation::kGemm) return;
  const std::string op = seed % 2 == 0 ? "softmax" : "norm";
  SCOPED_TRACE(chain.text + op);
  WorkloadGraph& graph = *chain.workload.graph;
  WorkloadGraph::Node rows;
  rows.name = op;
  rows.work = seed % 2 == 0 ? WorkloadGraph::Operator::kSoftmax : WorkloadGraph::Operator::kNorm;
  rows.from = {{0, 0}};
  rows.words = graph.nodes[0].words;
  graph.nodes[1].from[0].node = 1;
  graph.nodes.insert(graph.nodes.begin() + 1, rows);
  for (auto& places : chain.walked.places) places.erase("n1");  // a row is whole
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  fusion::Search search(*exact, chain.workload, chain.rows, options);
  residency::Search whole(*exact, chain.workload, chain.rows, options);
  const Accelerator& machine = chain.rows.front().accelerator;
  const Layer& made = chain.rows.front().layer;
  Pairs tiles;
  for (int home = 1;
       machine.levels[static_cast<std::size_t>(home)].is_memory() && home + 1 < static_cast<int>(machine.levels.size());
       ++home) {
    const Memory& memory = machine.levels[static_cast<std::size_t>(home)].memory();
    const int before = machine.element_bits(home, made, made.output()),
              after = machine.element_bits(home, Role::kOutput);
    const bool fits = std::ranges::all_of(chain.rows, [&](const Task& task) {
      return after <= machine.element_bits(home, task.layer, task.layer.output());
    });
    if (!fits) continue;  // the result would not fit where the operand was
    const auto words = [&](int bits) { return static_cast<double>(rows.words) * bits / memory.word_bits; };
    double leak = 0;
    Count copies = 1;
    for (const Level& level : machine.levels) {
      if (level.is_fanout()) copies *= level.fanout().units();
      if (level.is_memory()) leak += static_cast<double>(copies) * level.memory().leak_pj_per_cycle;
    }
    const double moving = memory.bus_words_per_cycle ? (words(before) + words(after)) / *memory.bus_words_per_cycle : 0;
    const double cycles = std::ceil(moving - 1e-9);
    const double energy = words(before) * memory.read_pj + words(after) * memory.write_pj + cycles * leak;
    for (const auto& [e, t] : every_group(chain, home)) tiles.emplace_back(e + energy, t + cycles);
  }
  for (const Objective objective : {Objective::kEnergy, Objective::kRuntime, Objective::kEdp}) {
    SCOPED_TRACE(to_string(objective));
    const residency::Optimum on_chip = whole.run({objective}, true);
    const fusion::Optimum found = search.run({objective});
    const double truth = std::min(on_chip.found() ? on_chip.value : kInfinity, best_of(tiles, objective));
    if (std::isinf(truth)) {
      EXPECT_TRUE(found.infeasible);
      return;
    }
    ASSERT_TRUE(found.certified);
    EXPECT_NEAR(found.value / truth, 1, 1e-9);
    ++counts.comparisons;
    if (objective == Objective::kEdp && !found.groups.empty()) ++counts.better;
  }
  ++counts.networks;
}

void compare_fusion_with_enumeration(std::uint64_t seed, FusionCounts& counts) {
  const RandomChain chain = random_chain(seed);
  SCOPED_TRACE(chain.text);
  const EveryFusion every = every_fusion(chain);
  counts.plans += every.plans;
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  fusion::Search search(*exact, chain.workload, chain.rows, options);
  if (every.all.empty()) {
    const fusion::Optimum never = search.run({Objective::kEdp});
    EXPECT_TRUE(never.infeasible);
    EXPECT_FALSE(never.found());
    ++counts.infeasible;
    return;
  }
  ++counts.networks;
  for (const Objective objective : {Objective::kEnergy, Objective::kRuntime, Objective::kEdp, Objective::kEd2p}) {
    SCOPED_TRACE(to_string(objective));
    const double truth = best_of(every.all, objective);
    const fusion::Optimum found = search.run({objective});
    ASSERT_TRUE(found.certified);
    EXPECT_EQ(found.lower_bound, found.value);
    EXPECT_NEAR(found.value / truth, 1, 1e-9);
    walk_found(chain, search, found, counts);
    ++counts.comparisons;
    if (objective == Objective::kEdp && truth < best_of(every.whole, objective) * (1 - 1e-9)) ++counts.better;
  }
}

}  // namespace pliant::tests
