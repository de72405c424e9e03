// SPDX-License-Identifier: Apache-2.0
// A baseline that names a stationarity means one order of each family.
#include <gtest/gtest.h>

#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "core/input/load_accelerator.h"

namespace pliant {
namespace {

Accelerator with_orders(const std::string& orders) {
  static const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  const std::string text = R"(name: small
word_bits: 16
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 64, write_pj: 64}
  - {memory: GLB, capacity: 64KiB, read_pj: 2, write_pj: 2}
  - {fanout: PEs, rows: 4, cols: 8}
  - {compute: MAC, mac_pj: 0.2}
baseline:
  orders: )" + orders;
  return parse_accelerator_text(library, text, "small.yaml");
}

std::vector<std::string> order_of(const Accelerator& accelerator, Operation family) {
  const auto& allowed = accelerator.baseline.of(family).rules.levels[1].order.allowed;
  EXPECT_EQ(allowed.size(), 1U);
  EXPECT_FALSE(allowed.at(0).stationary);
  return allowed.at(0).dims;
}

using Dims = std::vector<std::string>;

TEST(Baseline, AStationarityIsItsCanonicalOrder) {
  const Accelerator weights = with_orders("{GLB: weight-stationary}");
  EXPECT_EQ(order_of(weights, Operation::kConv), (Dims{"G", "M", "C", "R", "S", "B", "P", "Q"}));
  EXPECT_EQ(order_of(weights, Operation::kDepthwise), (Dims{"C", "R", "S", "B", "P", "Q"}));
  EXPECT_EQ(order_of(weights, Operation::kGemm), (Dims{"B", "N", "K", "M"})) << "every product has weights of its own";
  const Accelerator outputs = with_orders("{GLB: [output-stationary]}");
  EXPECT_EQ(order_of(outputs, Operation::kConv), (Dims{"B", "G", "M", "P", "Q", "C", "R", "S"}));
  EXPECT_EQ(order_of(outputs, Operation::kDepthwise), (Dims{"B", "C", "P", "Q", "R", "S"}));
  EXPECT_EQ(order_of(outputs, Operation::kGemm), (Dims{"B", "M", "N", "K"}));
}

TEST(Baseline, OneWordIsTheRuleOfAllMemories) {
  const Accelerator word = with_orders("weight-stationary");
  const Accelerator each = with_orders("{DRAM: weight-stationary, GLB: weight-stationary}");
  EXPECT_EQ(order_of(word, Operation::kConv), order_of(each, Operation::kConv));
  EXPECT_EQ(write_accelerator(word), write_accelerator(each));
  try {
    with_orders("still");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 1U) << error.what();  // not one for every memory
  }
}

TEST(Baseline, ListsStayAsTheyAre) {
  const Accelerator listed = with_orders("{GLB: [[M, C, P, Q, R, S]]}");
  EXPECT_EQ(order_of(listed, Operation::kConv), (Dims{"M", "C", "P", "Q", "R", "S"}));
  EXPECT_TRUE(listed.baseline.by_family.empty());
}

TEST(Baseline, NothingFreeIsNotCalledFull) {
  for (const char* name : {"0000", "FullFlex-0000", "PartFlex-0000"})
    EXPECT_EQ(parse_flexibility_class(name)->name(), "InFlex-0000") << name;
  EXPECT_EQ(parse_flexibility_class("1010")->name(), "FullFlex-1010");
}

}  // namespace
}  // namespace pliant
