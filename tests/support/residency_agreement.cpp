// SPDX-License-Identifier: Apache-2.0
#include "support/residency_agreement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/mappers/residency/residency.h"
#include "support/random_graphs.h"

namespace pliant::tests {

namespace {

double best_of(const Pairs& all, Objective objective, double most_cycles) {
  double best = kInfinity;
  for (const auto& [energy, cycles] : all)
    if (cycles <= most_cycles * (1 + 1e-12)) best = std::min(best, network_value(objective, energy, cycles));
  return best;
}

/// The checker finds every mapping legal with the reserved room, and the parts add up.
void expect_sums(const residency::Search& search, const residency::Optimum& found) {
  double energy = 0, cycles = 0;
  for (std::size_t s = 0; s < found.steps.size(); ++s) {
    const residency::StepChoice& step = found.steps[s];
    if (step.variant < 0) {
      energy += step.energy_pj;
      cycles += step.cycles;
      continue;
    }
    const Task& task = search.task(step.variant);
    Count layers = 0;
    for (const residency::StepPart& part : step.parts) {
      EXPECT_TRUE(
          check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, part.mapping).empty());
      const Totals totals = price(task.layer, task.accelerator, part.mapping).totals;
      energy += static_cast<double>(part.count) * totals.energy_pj;
      cycles += static_cast<double>(part.count) * totals.cycles;
      layers += part.count;
    }
    EXPECT_EQ(layers, search.live().steps[s].count);
  }
  EXPECT_NEAR(energy / found.energy_pj, 1, 1e-9);
  EXPECT_NEAR(cycles / found.cycles, 1, 1e-9);
}

/// What lives in a memory at once never exceeds it.
void expect_room(const RandomGraph& graph, const residency::Search& search, const residency::Optimum& found) {
  const residency::LiveTensors& live = search.live();
  const Accelerator& machine = graph.rows.front().accelerator;
  for (std::size_t s = 0; s < live.steps.size(); ++s) {
    std::vector<Count> held(machine.levels.size(), 0);
    for (std::size_t t = 0; t < live.tensors.size(); ++t)
      if (found.homes[t] >= 0 && live.tensors[t].made_by < static_cast<int>(s) &&
          live.tensors[t].last_read >= static_cast<int>(s))
        held[static_cast<std::size_t>(found.homes[t])] +=
            residency::words_at(live, graph.rows, static_cast<int>(t), static_cast<int>(s), found.homes[t]);
    for (std::size_t l = 0; l < held.size(); ++l)
      if (machine.levels[l].is_memory() && machine.levels[l].memory().capacity_words) {
        EXPECT_LE(held[l], *machine.levels[l].memory().capacity_words);
      }
  }
}

}  // namespace

void compare_with_enumeration(std::uint64_t seed, ResidencyCounts& counts) {
  const RandomGraph graph = random_graph(seed);
  SCOPED_TRACE(graph.text);
  const Pairs all = every_choice(graph, true), outside = every_choice(graph, false);
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  residency::Search search(*exact, graph.workload, graph.rows, options);
  if (all.empty()) {
    const residency::Optimum never = search.run({Objective::kEdp}, true);
    EXPECT_TRUE(never.infeasible);
    EXPECT_FALSE(never.found());
    ++counts.infeasible;
    return;
  }
  ++counts.networks;
  for (const Objective objective : {Objective::kRuntime, Objective::kEnergy, Objective::kEdp, Objective::kEd2p}) {
    SCOPED_TRACE(to_string(objective));
    const double truth = best_of(all, objective, kInfinity), apart = best_of(outside, objective, kInfinity);
    const residency::Optimum found = search.run({objective}, true);
    ASSERT_TRUE(found.certified);
    EXPECT_NEAR(found.value / truth, 1, 1e-9);
    EXPECT_EQ(found.lower_bound, found.value);
    expect_sums(search, found);
    expect_room(graph, search, found);
    ++counts.comparisons;
    const residency::Optimum without = search.run({objective}, false);
    if (outside.empty()) {
      EXPECT_FALSE(without.found());
    } else {
      ASSERT_TRUE(without.certified);
      EXPECT_NEAR(without.value / apart, 1, 1e-9);
      EXPECT_LE(found.value, without.value * (1 + 1e-12));
    }
    if (objective != Objective::kEdp) continue;
    (truth < apart * (1 - 1e-9) ? counts.better : counts.equal)++;
  }
  const double slowest = all.front().second, fastest = all.back().second;
  for (const double share : {0.0, 0.4, 0.8}) {
    const double deadline = fastest + share * (slowest - fastest);
    SCOPED_TRACE("deadline " + std::to_string(deadline));
    for (const Objective objective : {Objective::kEdp, Objective::kEd2p}) {
      const residency::Optimum product = search.run({objective, deadline}, true);
      ASSERT_TRUE(product.certified);
      EXPECT_NEAR(product.value / best_of(all, objective, deadline), 1, 1e-9);
      EXPECT_LE(product.cycles, deadline * (1 + 1e-11));
      ++counts.comparisons;
    }
    const residency::Optimum found = search.run({Objective::kEnergy, deadline}, true);
    ASSERT_TRUE(found.certified);
    EXPECT_NEAR(found.value / best_of(all, Objective::kEnergy, deadline), 1, 1e-9);
    EXPECT_LE(found.cycles, deadline * (1 + 1e-11));
    expect_sums(search, found);
    ++counts.comparisons;
  }
}

void compare_weights_with_enumeration(std::uint64_t seed, ResidencyCounts& counts) {
  const RandomGraph graph = random_graph(seed);
  const std::vector<Count> several{2, 5, 100};
  const Count inferences = several[seed % several.size()];
  const std::optional<Pairs> all = every_choice_with_weights(graph, inferences);
  if (!all || all->empty()) return;
  SCOPED_TRACE(graph.text);
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  residency::Search search(*exact, graph.workload, graph.rows, options, inferences),
      single(*exact, graph.workload, graph.rows, options);
  ++counts.networks;
  for (const Objective objective : {Objective::kRuntime, Objective::kEnergy, Objective::kEdp, Objective::kEd2p}) {
    SCOPED_TRACE(to_string(objective));
    const residency::Optimum found = search.run({objective}, true);
    ASSERT_TRUE(found.certified);
    EXPECT_NEAR(found.value / best_of(*all, objective, kInfinity), 1, 1e-9);
    ++counts.comparisons;
    const residency::Optimum one = single.run({objective}, true);
    if (objective == Objective::kEdp) (found.value < one.value * (1 - 1e-9) ? counts.better : counts.equal)++;
    EXPECT_LE(found.value, one.value * (1 + 1e-12)) << "weights may always be fetched again";
  }
}

}  // namespace pliant::tests
