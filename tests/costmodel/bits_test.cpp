// SPDX-License-Identifier: Apache-2.0
// Elements that are not as wide as words, on paper. The walker compares random ones.
#include <gtest/gtest.h>

#include <optional>

#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant {
namespace {

/// A GEMM on DRAM, SRAM and registers with two units between the last two; words of 16, 8 and 8 bits.
class Bits : public testing::Test {
 protected:
  Bits() {
    accelerator.name = "bits";
    for (const char* name : {"DRAM", "SRAM", "PEs", "RF"}) {
      if (std::string_view(name) == "PEs") {
        accelerator.levels.push_back({name, Fanout{.cols = 2}});
        continue;
      }
      Memory memory;
      memory.read_pj = memory.write_pj = memory.update_pj = 1;
      memory.may_bypass = {true, true, true};
      memory.word_bits = accelerator.levels.empty() ? 16 : 8;
      accelerator.levels.push_back({name, memory});
    }
    accelerator.levels.push_back({"MAC", Compute{}});
    accelerator.flexibility.levels.resize(accelerator.levels.size());
    accelerator.bits.of = {8, 4, 8};
    accelerator.bits.partial_sums = 32;
  }

  void gemm(const GemmShape& shape) {
    layer = make_gemm("gemm", shape);
    mapping = empty_mapping(layer, accelerator);
  }
  void temporal(std::size_t level, const char* dim, Count bound) {
    mapping.levels[level].temporal.push_back({layer.find_dim(dim), bound});
  }
  CostReport priced() const { return price(layer, accelerator, mapping); }
  const TensorCost& outputs(const CostReport& report, std::size_t level) const {
    return report.levels[level].tensors[static_cast<std::size_t>(layer.output())];
  }

  Accelerator accelerator;
  Layer layer;
  Mapping mapping;
};

// RF holds the whole layer, so each of 4 x 2 outputs leaves it once, finished.
TEST_F(Bits, ElementsTakeSharesOfWords) {
  accelerator.levels[0].memory().bus_words_per_cycle = 0.25;
  gemm({.M = 4, .N = 2, .K = 4});
  mapping.levels[1].keeps = 0;
  temporal(3, "M", 4);
  temporal(3, "N", 2);
  temporal(3, "K", 4);
  const CostReport report = priced();
  // DRAM: 16 inputs of half a word, 8 weights of a quarter, 8 finished outputs of half a word.
  double read = 0, written = 0;
  for (const TensorCost& tensor : report.levels[0].tensors) {
    read += tensor.words_read;
    written += tensor.words_written;
  }
  EXPECT_EQ(read, 16 * 0.5 + 8 * 0.25);
  EXPECT_EQ(written, 8 * 0.5);
  EXPECT_EQ(report.levels[0].energy_pj, read + written);
  EXPECT_EQ(report.totals.cycles, (read + written) / 0.25);
  // RF: 32 sums arrive from the MAC, the last of each output finished; 24 old values are read, 8 outputs drained.
  EXPECT_EQ(outputs(report, 3).updates, 32);
  EXPECT_EQ(outputs(report, 3).words_written, 24 * 4 + 8 * 1);
  EXPECT_EQ(outputs(report, 3).words_read, 24 * 4 + 8 * 1);
  // Its tile: 16 inputs of a word, 8 weights of half a word, room for 8 partial sums of four.
  EXPECT_EQ(report.levels[3].used_words, 16 + 4 + 32);
  // A memory that says otherwise, and a layer: the memory counts first.
  accelerator.levels[3].memory().bits.partial_sums = 8;
  EXPECT_EQ(priced().levels[3].used_words, 16 + 4 + 8);
  layer.bits.of[static_cast<std::size_t>(Role::kWeight)] = 16;
  layer.bits.partial_sums = 24;
  EXPECT_EQ(priced().levels[3].used_words, 16 + 16 + 8);
}

// K over two units, and two visits of every output: what leaves a unit is never finished, what arrives outside is the
// second time.
TEST_F(Bits, PartialSumsAreWideUntilTheLast) {
  gemm({.M = 3, .N = 1, .K = 4});
  temporal(0, "K", 2);
  temporal(1, "M", 3);
  mapping.levels[2].spatial.push_back({layer.find_dim("K"), 2, Side::kCols});
  const CostReport report = priced();
  // SRAM: 3 outputs arrive twice, reduced, first as partial sums, then finished; each old value is read back once.
  EXPECT_EQ(outputs(report, 1).updates, 6);
  EXPECT_EQ(outputs(report, 1).words_written, 3 * 4 + 3 * 1);
  EXPECT_EQ(outputs(report, 1).words_read, 3 * 4 + 3 * 1);
  EXPECT_EQ(outputs(report, 0).words_written, 3 * 0.5);
  // RF: the outputs of a unit stay partial sums.
  EXPECT_EQ(outputs(report, 3).updates, 12);
  EXPECT_EQ(outputs(report, 3).words_written, (12 + outputs(report, 3).fills) * 4);
  EXPECT_EQ(outputs(report, 3).words_read, outputs(report, 3).reads * 4);
}

// 16 inputs, 8 weights and 8 partial sums are 52 words of 8 bits in RF.
TEST_F(Bits, TheCheckerCountsBits) {
  gemm({.M = 4, .N = 2, .K = 4});
  temporal(3, "M", 4);
  temporal(3, "N", 2);
  temporal(3, "K", 4);
  const auto violations = [&](Count words) {
    accelerator.levels[3].memory().capacity_words = words;
    return check_legality(layer, accelerator, accelerator.flexibility, Factorization::kPerfect, mapping);
  };
  EXPECT_TRUE(violations(52).empty());
  ASSERT_EQ(violations(51).size(), 1U);
  EXPECT_EQ(violations(51)[0].message, "tiles at RF need 416 bits (Inputs 128, Weights 32, Outputs 256); it holds 408");
}

}  // namespace
}  // namespace pliant
