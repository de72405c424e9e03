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

std::string random_gemms(Draw& draw, const std::string& products, bool four) {
  const Count count = draw.chance(0.35) ? 3 : 2, rows = draw.from(2, four ? 2 : 4);
  const std::vector<Count> widths = four ? std::vector<Count>{1, 2} : std::vector<Count>{1, 2, 2, 3, 4};
  std::string layers, graph;
  Count K = draw.of(widths);
  for (Count i = 0; i < (four ? 4 : count); ++i) {
    const Count N = draw.of(widths);
    layers += fmt::format("  - {{layer: l{}, gemm: {{M: {}, N: {}, K: {}{}}}}}\n", i, rows, N, K, products);
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

/// What the memories of some machines may hold of tensors between layers.
void draw_fusion_rules(std::uint64_t seed, Accelerator& machine) {
  if (seed % 5 != 0) return;
  Draw draw(seed * 15485863 + 5);
  machine.fusion.assign(machine.levels.size(), {});
  for (FusionRule& rule : machine.fusion) {
    if (draw.chance(0.15)) rule.tiles = false;
    if (draw.chance(0.4)) rule.depth = 1;
    if (!draw.chance(0.6)) continue;
    rule.dims.emplace();
    for (const char* dim : {"B", "M", "N", "P", "Q", "C"})
      if (draw.chance(0.5)) rule.dims->emplace_back(dim);
  }
}

double best_of(const Pairs& all, Objective objective) {
  double best = kInfinity;
  for (const auto& [energy, cycles] : all) best = std::min(best, network_value(objective, energy, cycles));
  return best;
}

/// The group as the walker describes it: axes by where its layers have them.
reference::WalkedPlan walked_plan(const fusion::Setting& setting, const fusion::Plan& of,
                                  const reference::WalkedChain& chain) {
  reference::WalkedPlan plan;
  plan.home = setting.home;
  plan.result_in = setting.places.back()[static_cast<std::size_t>(Role::kOutput)];
  const auto name_of = [&](int axis) {
    if (axis == setting.chain->groups) return std::string("groups");
    if (axis == setting.chain->heads) return std::string("heads");
    for (const auto& [name, size] : chain.sizes) {
      bool same = !chain.same.contains(name);
      for (std::size_t l = 0; l < chain.places.size(); ++l) {
        const auto at = chain.places[l].find(name);
        const fusion::Place& place = setting.chain->axes[static_cast<std::size_t>(axis)].at[l];
        same &= (at == chain.places[l].end() ? -1 : at->second.dim) == place.dim;
      }
      if (same) return name;
    }
    ADD_FAILURE() << "an axis that nobody knows";
    return std::string("m");
  };
  for (const fusion::Stack& stack : of.stacks) {
    auto& loops = plan.stacks.emplace_back();
    for (const fusion::TileLoop& loop : stack) loops.push_back({name_of(loop.axis), loop.tile});
  }
  for (const fusion::Held& held : of.held) plan.held.push_back({held.layer, held.tensor, held.depth});
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
    for (const auto& [axis, same] : chain.walked.same) own.same[axis].assign(static_cast<std::size_t>(count), 0);
    const reference::WalkedGroup walked =
        reference::walk_group(own, chain.rows.front().accelerator, walked_plan(group.setting, group.plan, own));
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
      energy += static_cast<double>(part.count) * one.energy_pj;
      cycles += static_cast<double>(part.count) * one.cycles;
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
  const bool products = !convs && seed % 7 == 0;  // two side by side
  chain.workload = parse_workload_text(
      convs ? random_convs(draw) : random_gemms(draw, products ? ", B: 2" : "", seed % 11 == 0), "net.yaml");
  if (convs || products)
    for (LevelFlexibility& rules : machine.flexibility.levels) {
      if (rules.loops.dims) continue;
      std::vector<std::string> dims{"M", "C", "P", "Q", "R", "S"};
      if (products) dims = {"B", "M", "N", "K"};
      draw.shuffle(dims);
      rules.order.allowed.clear();
      rules.order.allowed.push_back({dims, std::nullopt});
    }
  if (draw.chance(0.2)) machine.levels[1].memory().may_bypass[static_cast<std::size_t>(Role::kOutput)] = true;
  if (draw.chance(0.15)) machine.levels[1].memory().bits.partial_sums = 0;  // takes finished outputs only
  draw_fusion_rules(seed, machine);
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
  chain.walked = convs ? reference::walked_convs(std::move(layers)) : reference::walked_gemms(std::move(layers));
  if (draw.chance(0.2)) {  // every node is so many layers
    chain.count = draw.from(2, 3);
    for (Workload::Entry& entry : chain.workload.layers) entry.count = chain.count;
    for (WorkloadGraph::Node& node : chain.workload.graph->nodes) {
      node.count = chain.count;
      node.words *= chain.count;
    }
    reference::count_layers(chain.walked, chain.count, 1, {});
  }
  chain.text += fmt::format("{} of each, seed {}\n", chain.count, seed);
  return chain;
}

namespace {

/// What a softmax or a norm takes that reads and writes every word of a tensor in a memory, and works on it meanwhile.
std::pair<double, double> rows_cost(const Accelerator& machine, int home, const Layer& made, Count elements,
                                    double ops_each) {
  const Memory& memory = machine.levels[static_cast<std::size_t>(home)].memory();
  const int before = machine.element_bits(home, made, made.output()), after = machine.element_bits(home, Role::kOutput);
  const auto words = [&](int bits) { return static_cast<double>(elements) * bits / memory.word_bits; };
  double leak = 0;
  Count copies = 1;
  for (const Level& level : machine.levels) {
    if (level.is_fanout()) copies *= level.fanout().units();
    if (level.is_memory()) leak += static_cast<double>(copies) * level.memory().leak_pj_per_cycle;
  }
  const double moving = memory.bus_words_per_cycle ? (words(before) + words(after)) / *memory.bus_words_per_cycle : 0;
  const double ops = machine.vector ? static_cast<double>(elements) * ops_each : 0;
  const double cycles = std::max(std::ceil(moving - 1e-9), machine.vector ? std::ceil(ops / machine.vector->lanes) : 0);
  const double worked = machine.vector ? ops * machine.vector->pj_per_op : 0;
  return {words(before) * memory.read_pj + words(after) * memory.write_pj + worked + cycles * leak, cycles};
}

}  // namespace

void compare_operators_with_enumeration(std::uint64_t seed, FusionCounts& counts) {
  RandomChain chain = random_chain(seed);
  if (chain.rows.size() != 2 || chain.rows.front().layer.operation != Operation::kGemm) return;
  // Of two that both take whole rows, and one that takes them part by part.
  const bool norm = seed % 3 == 0, online = seed % 3 == 1;
  if (seed % 4 == 1)
    for (Task& task : chain.rows) {
      task.accelerator.vector.emplace();
      task.accelerator.vector->lanes = 1 + static_cast<double>(seed % 7);
      task.accelerator.vector->pj_per_op = 0.25;
    }
  SCOPED_TRACE(chain.text + (norm ? "norm" : online ? "online softmax" : "softmax"));
  WorkloadGraph& graph = *chain.workload.graph;
  WorkloadGraph::Node rows;
  rows.name = "rows";
  rows.work = norm ? WorkloadGraph::Operator::kNorm : WorkloadGraph::Operator::kSoftmax;
  rows.online = online;
  rows.from = {{0, 0}};
  rows.words = graph.nodes[0].words;
  graph.nodes[1].from[0].node = 1;
  graph.nodes.insert(graph.nodes.begin() + 1, rows);
  if (online)
    chain.walked.online = {"n1"};
  else
    for (auto& places : chain.walked.places) places.erase("n1");  // a row is whole
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  fusion::Search search(*exact, chain.workload, chain.rows, options);
  residency::Search whole(*exact, chain.workload, chain.rows, options);
  const Accelerator& machine = chain.rows.front().accelerator;
  Pairs tiles;
  for (int home = 1;
       machine.levels[static_cast<std::size_t>(home)].is_memory() && home + 1 < static_cast<int>(machine.levels.size());
       ++home) {
    const bool fits = std::ranges::all_of(chain.rows, [&](const Task& task) {
      return machine.element_bits(home, Role::kOutput) <= machine.element_bits(home, task.layer, task.layer.output());
    });
    if (!fits) continue;  // the result would not fit where the operand was
    const auto [energy, cycles] = rows_cost(machine, home, chain.rows.front().layer, rows.words, norm ? 4 : 5);
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
    for (const fusion::GroupChoice& group : found.groups)
      counts.parts += online && std::ranges::find(group.plan.stacks[0], group.setting.chain->links[0].online,
                                                  &fusion::TileLoop::axis) != group.plan.stacks[0].end()
                          ? 1
                          : 0;
  }
  ++counts.networks;
}

namespace {

/// Rows so long, and so little room, that they pass in parts rather than whole.
void lengthen_rows(RandomChain& chain, Draw& draw) {
  const Count M = draw.from(1, 2), K = draw.from(1, 2), N = draw.from(1, 2), length = draw.chance(0.5) ? 6 : 8;
  chain.rows[0].layer = make_gemm("l0", {.M = M, .N = length, .K = K});
  chain.rows[1].layer = make_gemm("l1", {.M = M, .N = N, .K = length});
  const Count words = draw.from(6, 16);
  for (Task& row : chain.rows) row.accelerator.levels[1].memory().capacity_words = words;
  chain.walked = reference::walked_gemms({chain.rows[0].layer, chain.rows[1].layer});
  chain.text +=
      fmt::format("{}\n{}\n{} words\n", chain.rows[0].layer.written_as, chain.rows[1].layer.written_as, words);
}

}  // namespace

void compare_heads_with_enumeration(std::uint64_t seed, FusionCounts& counts) {
  RandomChain chain = random_chain(seed);
  if (chain.count > 1 || chain.rows.front().layer.operation != Operation::kGemm) return;
  Draw draw(seed * 104729 + 7);
  const bool long_rows = chain.rows.size() == 2 && draw.chance(0.5);
  if (long_rows) lengthen_rows(chain, draw);
  fusion::Heads heads;
  heads.shared = draw.from(1, 2) + 1;
  heads.count = heads.shared * draw.from(1, 2);
  for (const Task& row : chain.rows)
    heads.same.push_back(draw.chance(0.7) ? TensorSet{1} << row.layer.find_tensor("Weights") : 0);
  if (heads.shared == heads.count && draw.chance(0.5))
    heads.same[0] |= TensorSet{1} << chain.rows[0].layer.find_tensor("Inputs");
  std::vector<fusion::Between> between;
  std::vector<const Task*> layers;
  for (std::size_t l = 0; l < chain.rows.size(); ++l) {
    layers.push_back(&chain.rows[l]);
    if (l == 0) continue;
    between.push_back({chain.walked.reads[l - 1], false, long_rows || draw.chance(0.4)});
    chain.walked.online.push_back(between.back().online ? fmt::format("n{}", l) : "");
  }
  reference::count_layers(chain.walked, heads.count / heads.shared, heads.shared, heads.same);
  SCOPED_TRACE(chain.text + fmt::format("{} layers, {} share", heads.count, heads.shared));
  const fusion::Chain described = fusion::make_chain(layers, between, heads);
  const Accelerator& machine = chain.rows.front().accelerator;
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  for (int home = 1;
       machine.levels[static_cast<std::size_t>(home)].is_memory() && home + 1 < static_cast<int>(machine.levels.size());
       ++home) {
    const Pairs every = every_group(chain, home);
    if (every.empty()) continue;
    fusion::Setting setting;
    setting.chain = &described;
    setting.home = home;
    setting.places.assign(chain.rows.size(), {residency::kOutside, residency::kOutside, residency::kOutside});
    setting.taken.assign(machine.levels.size(), {});
    fusion::TileLines tiles(*exact, options);
    fusion::GroupLines lines(setting, tiles);
    ++counts.networks;
    for (const double slope : {0.0, 3.0, 50.0, kInfinity}) {
      double truth = kInfinity;
      for (const auto& [energy, cycles] : every)
        truth = std::min(truth, std::isinf(slope) ? cycles : energy + slope * cycles);
      while (lines.solved(slope) == nullptr && !std::isinf(lines.bound(slope))) ASSERT_TRUE(lines.refine(slope));
      const fusion::Plan* plan = lines.solved(slope);
      ASSERT_NE(plan, nullptr);
      EXPECT_NEAR(lines.bound(slope) / truth, 1, 1e-9);
      const reference::WalkedGroup walked =
          reference::walk_group(chain.walked, machine, walked_plan(setting, *plan, chain.walked));
      EXPECT_EQ(walked.wrong, "");
      EXPECT_EQ(walked.taken, plan->tile_words);
      ++counts.comparisons;
      for (const fusion::Held& held : plan->held)
        counts.shared += heads.same[static_cast<std::size_t>(held.layer)] >> held.tensor & 1U ? 1 : 0;
      for (std::size_t i = 0; i < plan->stacks.size(); ++i)
        counts.parts +=
            described.links[i].online >= 0 && std::ranges::find(plan->stacks[i], described.links[i].online,
                                                                &fusion::TileLoop::axis) != plan->stacks[i].end()
                ? 1
                : 0;
    }
  }
}

void compare_graphs_with_enumeration(std::uint64_t seed, FusionCounts& counts) {
  RandomGraph graph = random_graph(seed);
  if (graph.workload.layers.size() > 4) return;
  for (Task& row : graph.rows) draw_fusion_rules(seed, row.accelerator);
  SCOPED_TRACE(graph.text);
  const Pairs every = every_choice_of_graph(graph);
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  fusion::Search search(*exact, graph.workload, graph.rows, options);
  for (const Objective objective : {Objective::kEnergy, Objective::kRuntime, Objective::kEdp}) {
    SCOPED_TRACE(to_string(objective));
    const fusion::Optimum found = search.run({objective});
    if (every.empty()) {
      EXPECT_TRUE(found.infeasible);
      ++counts.infeasible;
      return;
    }
    ASSERT_TRUE(found.certified);
    EXPECT_NEAR(found.value / best_of(every, objective), 1, 1e-9);
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
