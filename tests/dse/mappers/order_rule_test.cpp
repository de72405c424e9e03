// SPDX-License-Identifier: Apache-2.0
// Stationary orders where a role has no tensor, or several: free einsums choose the roles of their tensors.
#include <gtest/gtest.h>

#include <random>

#include "core/input/load.h"
#include "dse/mappers/mapper.h"

namespace pliant {
namespace {

Task einsum_task(Layer layer) {
  Task task;
  task.layer = std::move(layer);
  Memory dram, buffer;
  dram.read_pj = dram.write_pj = dram.update_pj = 100;
  buffer.read_pj = buffer.write_pj = buffer.update_pj = 1;
  buffer.capacity_words = 12;
  task.accelerator.name = "two memories";
  task.accelerator.levels = {{"DRAM", dram}, {"Buffer", buffer}, {"MAC", Compute{}}};
  task.flexibility.levels.resize(3);
  task.objective = Objective::kEnergy;
  return task;
}

TEST(StationaryOrders, OfARoleWithoutATensorAllowEveryOrder) {
  Task task =
      einsum_task(parse_layer_text("pliant: layer\nlayer: row_sums\neinsum:\n  dims: {A: 1, C: 2}\n  tensors:\n"
                                   "    - {name: O, role: outputs, projection: [A]}\n"
                                   "    - {name: X, role: inputs, projection: [A, C]}\n",
                                   "row_sums.yaml"));
  const double free = run_mapper(*make_mapper("exact"), task, {}).value;
  for (LevelFlexibility& rules : task.flexibility.levels) rules.order.allowed = {{{}, Role::kWeight}};
  const SearchResult exact = run_mapper(*make_mapper("exact"), task, {});
  EXPECT_TRUE(exact.certified);
  EXPECT_EQ(exact.value, free);
}

TEST(StationaryOrders, OfSeveralTensorsHoldForAllOfThem) {
  std::mt19937_64 random(21);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  int infeasible = 0, several = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const char* roles[] = {"inputs", "weights"};
    std::string text = "pliant: layer\nlayer: einsum\neinsum:\n  dims: {";
    for (const char dim : {'A', 'B', 'C', 'D'})
      text += (dim == 'A' ? "" : ", ") + std::string(1, dim) + ": " + std::to_string(1 + below(3));
    text += "}\n  tensors:\n    - {name: O, role: outputs, projection: [A, B]}\n";
    int inputs = 0;
    const char* projections[] = {"[A, C]", "[C, B]", "[B, D]"};
    const unsigned operands = 2 + below(2);
    for (unsigned x = 0; x < operands; ++x) {
      const unsigned role = below(2);
      inputs += role == 0 ? 1 : 0;
      text +=
          "    - {name: X" + std::to_string(x) + ", role: " + roles[role] + ", projection: " + projections[x] + "}\n";
    }
    if (text.find("D]") == std::string::npos)
      text += std::string("    - {name: Y, role: ") + roles[below(2)] + ", projection: [A, D]}\n";
    several += inputs > 1 ? 1 : 0;
    Task task = einsum_task(parse_layer_text(text, "einsum.yaml"));
    for (std::size_t l = 0; l < 2; ++l) {
      OrderRule& rule = task.flexibility.levels[l].order;
      for (unsigned n = below(3); n > 0; --n) rule.allowed.push_back({{}, static_cast<Role>(below(3))});
      if (below(4) == 0) rule.allowed.push_back({{"B", "A", "C"}, std::nullopt});
    }
    const SearchResult truth = run_mapper(*make_mapper("exhaustive"), task, {});
    const SearchResult exact = run_mapper(*make_mapper("exact"), task, {});
    ASSERT_EQ(exact.infeasible, truth.infeasible) << text;
    infeasible += truth.infeasible ? 1 : 0;
    if (truth.infeasible) continue;
    ASSERT_TRUE(exact.certified) << text;
    ASSERT_NEAR(exact.value / truth.value, 1, 1e-9) << text;
  }
  EXPECT_GT(several, 50);
  EXPECT_LT(infeasible, 150);
}

// B stays while I and K run inside, C while I and J do: J and K cannot both loop at one memory, so no order of all
// dims is right and one has to be made for the loops that are there.
TEST(StationaryOrders, OfTwoTensorsAreKeptByEveryMapper) {
  Task task =
      einsum_task(parse_layer_text("pliant: layer\nlayer: e\neinsum:\n  dims: {I: 9, J: 7, K: 3, R: 7}\n  tensors:\n"
                                   "    - {name: A, role: outputs, projection: [I, R]}\n"
                                   "    - {name: X, role: inputs, projection: [I, J, K]}\n"
                                   "    - {name: B, role: weights, projection: [J, R]}\n"
                                   "    - {name: C, role: weights, projection: [K, R]}\n",
                                   "e.yaml"));
  task.accelerator.levels[1].memory().capacity_words = 64;
  task.flexibility.levels[0].order.allowed = {{{}, Role::kWeight}};
  const double best = run_mapper(*make_mapper("exact"), task, {}).value;
  for (const char* mapper : {"genetic", "local", "random"})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SearchOptions options;
      options.seed = seed;
      options.extra = mapper == std::string("genetic")
                          ? std::vector<std::pair<std::string, std::string>>{{"generations", "10"}}
                          : std::vector<std::pair<std::string, std::string>>{};
      options.budget.evaluations = 2000;
      const SearchResult found = run_mapper(*make_mapper(mapper), task, options);  // throws what is not legal
      ASSERT_TRUE(found.mapping) << mapper << " " << seed;
      EXPECT_GE(found.value, best * (1 - 1e-9)) << mapper << " " << seed;
    }
}

}  // namespace
}  // namespace pliant
