// SPDX-License-Identifier: Apache-2.0
// Counted by hand from docs/model.md, "Reconfiguration".
#include "costmodel/reconfiguration.h"

#include <gtest/gtest.h>

#include "core/flexibility_class.h"
#include "core/input/load.h"

namespace pliant {
namespace {

ConfigurationBits bits_of_class(const char* accelerator, const char* name, int dims) {
  const Accelerator design =
      apply_class(load_accelerator(Library(PLIANT_SOURCE_DIR "/configs"), accelerator), *parse_flexibility_class(name));
  return configuration_bits(design, design.flexibility, dims);
}

/// 100 KiB have 17 address bits. T: 6 sizes, base and bound of three tensors. O: 6 places of 3 bits and the count of a
/// PE. P: one of 6 dims or none, for two sides. S: 1 to 1024 rows.
TEST(Reconfiguration, TheReferenceByHand) {
  const ConfigurationBits all = bits_of_class("flexref", "FullFlex-1111", 6);
  EXPECT_EQ(all.shared, (PerAxis<double>{17 * (6 + 6), 6 * 3 + 17, 2 * 3, 10}));
  EXPECT_EQ(all.each, (PerAxis<double>{17 * (6 + 6), 6 * 3 + 1024 * 17, 2 * 3 + 1024, 10 + 1024}));
  EXPECT_EQ(all.total_shared(), 204 + 35 + 6 + 10);
  EXPECT_EQ(reconfiguration_cycles(all.total_shared(), 32), 8);  // 255 bits
  EXPECT_EQ(reconfiguration_cycles(256, 32), 8);
  EXPECT_EQ(reconfiguration_cycles(257, 32), 9);
}

TEST(Reconfiguration, WhatIsFixedNeedsNone) {
  EXPECT_EQ(bits_of_class("flexref", "InFlex-0000", 6).total_each(), 0);
  EXPECT_EQ(reconfiguration_cycles(0, 32), 0);
  const ConfigurationBits shape = bits_of_class("flexref", "FullFlex-0001", 6);
  EXPECT_EQ(shape.shared, (PerAxis<double>{0, 0, 0, 10}));
  EXPECT_EQ(bits_of_class("flexref", "PartFlex-0001", 6).shared, shape.shared);
}

/// npu: SRAM (2 MiB, 21 address bits) and in each of 1024 units the memory of sums (256 words, 8 bits, one role), the
/// only one of three at which loops may stand.
TEST(Reconfiguration, MemoriesOfUnitsAreWrittenOnceOrEach) {
  const ConfigurationBits all = bits_of_class("npu", "FullFlex-1111", 6);
  EXPECT_EQ(all.shared[0], 21 * (6 + 6) + 8 * (6 + 2));
  EXPECT_EQ(all.each[0], 21 * (6 + 6) + 1024 * 8 * (6 + 2));
  EXPECT_EQ(all.shared[1], 2 * 6 * 3 + 21);
  EXPECT_EQ(all.each[1], 6 * 3 + 1024 * 6 * 3 + 1024 * 21);
}

}  // namespace
}  // namespace pliant
