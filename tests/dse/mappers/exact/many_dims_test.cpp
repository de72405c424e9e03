// SPDX-License-Identifier: Apache-2.0
// Einsums of as many dims as there may be. A GEMM whose dims are split has every mapping of the GEMM, with the loops of
// a dim as loops over its parts, and more orders: its optimum is no worse.
#include <gtest/gtest.h>

#include <string>

#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {
namespace {

/// A GEMM, each dim split into so many parts of one size.
Task split_gemm(int parts, int size, const std::string& array = "rows: 4, cols: 4") {
  std::string dims;
  std::array<std::string, 3> group;  // of outputs and inputs, of outputs and weights, summed
  for (std::size_t g = 0; g < group.size(); ++g) {
    for (int i = 0; i < parts; ++i) {
      const std::string name(1, static_cast<char>('A' + static_cast<int>(g) * parts + i));
      dims += (dims.empty() ? "" : ", ") + name + ": " + std::to_string(size);
      group[g] += (i == 0 ? "" : ", ") + name;
    }
  }
  return task_of(R"(
word_bits: 8
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 40, write_pj: 40, bandwidth: 4 B/cycle}
  - {memory: SRAM, capacity: 256 B, read_pj: 4, write_pj: 4}
  - {fanout: PEs, )" +
                     array + R"(}
  - {memory: Reg, capacity: 16 B, read_pj: 0.5, write_pj: 0.5}
  - {compute: MAC, mac_pj: 0.1}
)",
                 "  dims: {" + dims + "}\n  tensors:\n    - {name: X, role: inputs, projection: [" + group[0] + ", " +
                     group[2] + "]}\n    - {name: W, role: weights, projection: [" + group[1] + ", " + group[2] +
                     "]}\n    - {name: O, role: outputs, projection: [" + group[0] + ", " + group[1] + "]}\n");
}

TEST(ManyDims, AGemmSplitIntoTwelveDimsIsProvenAndNoWorse) {
  double before = kInfinity;
  for (const auto& [parts, size] : {std::pair{1, 16}, {2, 4}, {4, 2}}) {
    const Task task = split_gemm(parts, size);
    ASSERT_EQ(task.layer.dims.size(), static_cast<std::size_t>(3 * parts));
    const SearchResult proven = run_mapper(*make_mapper("exact"), task, {});
    EXPECT_TRUE(proven.certified) << parts;
    EXPECT_LE(proven.value, before * (1 + kSame)) << parts;
    SearchOptions few;
    few.extra = {{"tries", "2000"}};
    EXPECT_GE(run_mapper(*make_mapper("random"), task, few).value, proven.value * (1 - kSame)) << parts;
    before = proven.value;
  }
}

// Nine dims of 4 have tens of millions of layouts on 64x64 units and thousands of different factors. Where there is no
// memory for these either there is still a mapping, and what is said of the rest holds. (The least is too little for
// any table as well: there the mapping is drawn.)
TEST(ManyDims, UnrollingsThatMemoryCannotListAreBounded) {
  const Task task = split_gemm(3, 4, "rows: 64, cols: 64");
  const SearchResult truth = run_mapper(*make_mapper("exact"), task, {});
  ASSERT_TRUE(truth.certified);
  int bounded = 0;
  for (const std::size_t memory : {60'000, 1'000'000}) {
    SearchOptions options;
    options.budget.memory_bytes = memory;
    const SearchResult found = run_mapper(*make_mapper("exact"), task, options);
    ASSERT_TRUE(found.mapping.has_value());
    EXPECT_GE(found.value, truth.value * (1 - kSame));
    EXPECT_LE(found.lower_bound, truth.value * (1 + kSame));
    EXPECT_GT(found.lower_bound, 0);
    EXPECT_EQ(found.certified, found.ended_by == EndedBy::kProof);
    bounded += found.certified ? 0 : 1;
  }
  EXPECT_GT(bounded, 0);
}

}  // namespace
}  // namespace pliant::exact
