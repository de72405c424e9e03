// SPDX-License-Identifier: Apache-2.0
// The 16 classes and their partial variants, all from one shipped accelerator.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "core/legality.h"
#include "support/checked_space.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

using testing::CheckedSpace;

const Accelerator& reference() {
  static const Accelerator flexref = load_accelerator(library(), "flexref");
  return flexref;
}

std::string bits_of(int n) {
  std::string bits;
  for (int a = 3; a >= 0; --a) bits += (n >> a & 1) != 0 ? '1' : '0';
  return bits;
}

bool is_subset(const Flexibility& small, const Flexibility& large, const Layer& layer) {
  const CheckedSpace inner{layer, reference(), small}, outer{layer, reference(), large};
  bool inside = true;
  inner.enumerate([&](const Mapping& mapping) { return inside = outer.contains(mapping); });
  return inside;
}

TEST(Classes, AllSixteenLoadInEveryDegree) {
  for (int n = 0; n < 16; ++n) {
    const std::string bits = bits_of(n);
    const Accelerator full = choose_flexibility(library(), "FullFlex-" + bits, reference());
    EXPECT_EQ(choose_flexibility(library(), bits, reference()), full);
    // With every axis fixed nothing is full.
    EXPECT_EQ(full.flexibility.name, (n == 0 ? "InFlex-" : "FullFlex-") + bits);
    const Accelerator part = choose_flexibility(library(), "PartFlex-" + bits, reference());
    const Accelerator none = choose_flexibility(library(), "InFlex-" + bits, reference());
    const auto freedom = [&](const Accelerator& a) { return axis_freedom(a, a.flexibility); };
    for (std::size_t a = 0; a < kAxisCount; ++a) {
      const bool set = bits[a] == '1';
      EXPECT_EQ(freedom(full)[a], set ? Freedom::kFull : Freedom::kFixed) << bits << " " << a;
      EXPECT_EQ(freedom(part)[a], set ? Freedom::kPartial : Freedom::kFixed) << bits << " " << a;
      EXPECT_EQ(freedom(none)[a], Freedom::kFixed) << bits << " " << a;
    }
    EXPECT_EQ(class_of(full, full.flexibility).bits(), bits);
    EXPECT_EQ(class_of(part, part.flexibility).bits(), bits);
    EXPECT_EQ(class_of(none, none.flexibility).bits(), "0000");
    // What is not an axis stays.
    EXPECT_EQ(full.flexibility.levels[3].loops, reference().flexibility.levels[3].loops);
    EXPECT_EQ(part.flexibility.levels[2].parallel.max_dims_per_side, 1);
  }
  EXPECT_EQ(choose_flexibility(library(), "PartFlex-0001-B", reference()).flexibility.levels[2].shape.block_rows, 4);
  EXPECT_EQ(choose_flexibility(library(), "PartFlex-0001-A", reference()).flexibility.levels[2].shape.block_rows, 16);
}

TEST(Classes, EachDegreeHoldsTheOneBelow) {
  const Layer layers[] = {make_conv("conv", {.M = 4, .C = 4, .P = 2, .Q = 2, .R = 1, .S = 1}),
                          make_gemm("gemm", {.M = 2, .N = 4, .K = 4}),
                          make_conv("depthwise", {.M = 4, .C = 4, .P = 2, .Q = 2, .R = 2, .groups = 4})};
  for (int n = 0; n < 16; ++n) {
    const std::string bits = bits_of(n);
    const Accelerator none = choose_flexibility(library(), "InFlex-" + bits, reference());
    const Accelerator part = choose_flexibility(library(), "PartFlex-" + bits, reference());
    const Accelerator full = choose_flexibility(library(), "FullFlex-" + bits, reference());
    for (const Layer& layer : layers) {
      EXPECT_TRUE(is_subset(none.flexibility_of(layer), part.flexibility_of(layer), layer)) << bits << layer.name;
      EXPECT_TRUE(is_subset(part.flexibility_of(layer), full.flexibility_of(layer), layer)) << bits << layer.name;
    }
  }
}

TEST(Classes, AClassIsPartOfEveryClassWithMoreBits) {
  const Layer layer = make_conv("conv", {.M = 4, .C = 2, .P = 2, .Q = 1, .R = 2, .S = 1});
  for (int n = 0; n < 16; ++n) {
    for (int more = 0; more < 16; ++more) {
      if ((n & more) != n || n == more) continue;
      const Accelerator small = choose_flexibility(library(), bits_of(n), reference());
      const Accelerator large = choose_flexibility(library(), bits_of(more), reference());
      EXPECT_LE((*CheckedSpace{layer, reference(), small.flexibility_of(layer)}.count()),
                (*CheckedSpace{layer, reference(), large.flexibility_of(layer)}.count()));
      EXPECT_TRUE(is_subset(small.flexibility_of(layer), large.flexibility_of(layer), layer));
    }
  }
}

TEST(Classes, NothingFlexibleLeavesOneTileVectorAndOneOrder) {
  const Accelerator none = choose_flexibility(library(), "0000", reference());
  const Layer layer = make_conv("conv", {.M = 128, .C = 32, .P = 6, .Q = 6, .R = 3, .S = 3});
  const CheckedSpace space{layer, reference(), none.flexibility_of(layer)};
  std::set<std::string> outer;
  ASSERT_TRUE(space.enumerate([&](const Mapping& mapping) {
    std::string key;
    for (const Loop& loop : mapping.levels[0].temporal) key += layer.dims[static_cast<std::size_t>(loop.dim)].name;
    outer.insert(key);
    return true;
  }));
  EXPECT_EQ(outer, std::set<std::string>{"PQMC"});
}

TEST(Classes, NamesAreReadAndWritten) {
  for (const char* name : {"FullFlex-1011", "PartFlex-0001-B", "InFlex-0000", "PartFlex-1111"})
    EXPECT_EQ(parse_flexibility_class(name)->name(), name);
  EXPECT_EQ(parse_flexibility_class("0101")->name(), "FullFlex-0101");
  for (const char* name : {"", "101", "10111", "1012", "Flex-1011", "PartFlex-", "FullFlex-1011-B", "PartFlex-1011-"})
    EXPECT_FALSE(parse_flexibility_class(name).has_value()) << name;
}

std::string refusal(const std::string& text, const Accelerator& accelerator) {
  try {
    choose_flexibility(library(), text, accelerator);
  } catch (const InputError& error) {
    return error.diagnostics()[0].text();
  }
  return "accepted";
}

TEST(Classes, WhatIsMissingIsNamed) {
  EXPECT_NE(refusal("1012", reference()).find("is not a class"), std::string::npos);
  EXPECT_NE(refusal("PartFlex-0001-C", reference()).find("one of A, B"), std::string::npos);
  const Accelerator eyeriss = load_accelerator(library(), "eyeriss");
  EXPECT_NE(refusal("0111", eyeriss).find("tiles"), std::string::npos) << refusal("0111", eyeriss);
  EXPECT_NE(refusal("PartFlex-1111", eyeriss).find("partial"), std::string::npos);
  EXPECT_EQ(refusal("1111", eyeriss), "accepted");
  const Accelerator small = load_accelerator(library(), "flexref", {{"rows", "8"}, {"cols", "8"}});
  EXPECT_NE(refusal("PartFlex-0001", small).find("larger than the 64 units"), std::string::npos);
  EXPECT_EQ(refusal("PartFlex-1110", small), "accepted");
  const Accelerator tiny = load_accelerator(library(), "flexref", {{"Buffer.capacity", "1KiB"}});
  EXPECT_NE(refusal("0111", tiny).find("the fixed tile needs"), std::string::npos);
}

TEST(Classes, FilesMayNameAClassAndRefineIt) {
  const auto read = [](const std::string& text) {
    return parse_flexibility_text(text, "test.yaml", reference()).flexibility;
  };
  const Flexibility refined = read("class: PartFlex-0001\nshape: {PEs: {block: [8, 8]}}\n");
  EXPECT_EQ(refined.levels[2].shape.block_rows, 8);
  EXPECT_EQ(refined.levels[1].tile.fixed.size(), 6u);
  EXPECT_TRUE(refined.levels[3].loops.dims->empty());
  EXPECT_THROW(read("class: \"0001\"\norders: {Buffer: any}\n"), InputError);
  EXPECT_THROW(read("class: \"1111\"\nshape: {PEs: fixed}\n"), InputError);
}

}  // namespace
}  // namespace pliant
