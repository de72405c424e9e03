// SPDX-License-Identifier: Apache-2.0
// Tensors that pass a memory on their way to one inside it (docs/dev/proof, L3): they come again with the tiles of
// the memory that they pass, unless their own memory holds all that its units work on.
#include <gtest/gtest.h>

#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/truth_by_choice.h"

namespace pliant::exact {
namespace {

/// A matrix product whose outputs go past the SRAM to registers of so many words, maybe on two units.
Task product_with(int registers, const std::string& units = "") {
  return task_of(
      "word_bits: 8\nlevels:\n"
      "  - {memory: DRAM, capacity: unbounded, read_pj: 100, write_pj: 100}\n"
      "  - {memory: SRAM, capacity: 4 B, read_pj: 1, write_pj: 1, keeps: [inputs, weights]}\n" +
          units + "  - {memory: Reg, capacity: " + std::to_string(registers) +
          " B, read_pj: 0.1, write_pj: 0.1, keeps: [outputs]}\n"
          "  - {compute: MAC, mac_pj: 1}\n",
      "  dims: {M: 2, N: 2, K: 2}\n  tensors:\n"
      "    - {name: I, role: inputs, projection: [M, K]}\n"
      "    - {name: W, role: weights, projection: [K, N]}\n"
      "    - {name: O, role: outputs, projection: [M, N]}\n");
}

/// Energies of every choice: at least, by the bound, and the least of all its mappings.
std::vector<std::pair<double, double>> energies(const Task& task) {
  const Truth truth(task);
  EXPECT_TRUE(truth.complete);
  const ResolvedTask resolved(truth.task, truth.problem);
  ChoiceBounds bounds(resolved);
  std::vector<std::pair<double, double>> all;
  for (const Choice& choice : truth.choices) {
    const auto looked = bounds.look_at(choice.spatial).bounds;
    std::size_t keeps = 0;
    while (bounds.keeps(keeps) != choice.keeps) ++keeps;
    all.emplace_back(looked->shared(keeps, {1, 0, 0}), choice.least([](const Priced& m) { return m.energy; }));
  }
  return all;
}

// Rows of I and columns of W would fit with K outside, but then every output comes twice.
TEST(PassingTensors, ComeAgainWhereTheirMemoryHoldsAPart) {
  const auto few = energies(product_with(1)), all = energies(product_with(4));
  ASSERT_EQ(few.size(), 1u);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NEAR(few[0].first, few[0].second, kSame * few[0].second);
  EXPECT_NEAR(all[0].first, all[0].second, kSame * all[0].second);
  // Four words more of one tensor from the DRAM, at least.
  EXPECT_GT(few[0].first, all[0].first + 4 * 100);
}

// Two units hold two outputs each: spread over M or N these are all.
TEST(PassingTensors, StayWhereTheMemoriesOfAllUnitsHoldThem) {
  int stay = 0;
  const auto all = energies(product_with(2, "  - {fanout: PEs, cols: 2}\n"));
  for (const auto& [bound, least] : all) {
    EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
    stay += std::abs(bound - least) <= kSame * least;
  }
  EXPECT_EQ(all.size(), 4u);  // no dim spread, or one of three
  EXPECT_GE(stay, 3);
}

// Windows of P + R go past the weights' memory. Four values are all that there are; with fewer the windows come again
// for every tile along M.
TEST(PassingTensors, WindowsComeAgainWhereTheirMemoryHoldsAPart) {
  const auto windows_with = [](int registers) {
    return task_of(
        "word_bits: 8\nlevels:\n"
        "  - {memory: DRAM, capacity: unbounded, read_pj: 100, write_pj: 100}\n"
        "  - {memory: SRAM, capacity: 5 B, read_pj: 1, write_pj: 1, keeps: [weights, outputs]}\n"
        "  - {memory: Reg, capacity: " +
            std::to_string(registers) +
            " B, read_pj: 0.1, write_pj: 0.1, keeps: [inputs]}\n"
            "  - {compute: MAC, mac_pj: 1}\n",
        "  dims: {M: 2, P: 3, R: 2}\n  tensors:\n"
        "    - {name: I, role: inputs, projection: [P + R]}\n"
        "    - {name: W, role: weights, projection: [M, R]}\n"
        "    - {name: O, role: outputs, projection: [M, P]}\n");
  };
  for (int registers = 1; registers <= 4; ++registers) {
    const auto [bound, least] = energies(windows_with(registers)).front();
    EXPECT_TRUE(at_most(bound, least)) << registers << ": " << bound << " " << least;
    if (registers > 1) {
      EXPECT_NEAR(bound, least, kSame * least) << registers;
    }
  }
  // Four words more from the DRAM.
  EXPECT_GE(energies(windows_with(3)).front().first, energies(windows_with(4)).front().first + 4 * 100);
}

}  // namespace
}  // namespace pliant::exact
