// SPDX-License-Identifier: Apache-2.0
// The axis F: which tiles of tensors between layers memories may hold, as files and classes say it.
#include <gtest/gtest.h>

#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "core/input/load_accelerator.h"

namespace pliant {
namespace {

const Library& configs() {
  static const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  return library;
}

Accelerator with(const std::string& more) {
  return parse_accelerator_text(configs(), R"(name: small
word_bits: 16
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 64, write_pj: 64}
  - {memory: L2, capacity: 256KiB, read_pj: 4, write_pj: 4}
  - {memory: L1, capacity: 64KiB, read_pj: 2, write_pj: 2}
  - {fanout: PEs, rows: 4, cols: 8}
  - {memory: RF, capacity: 64, read_pj: 0.1, write_pj: 0.1}
  - {compute: MAC, mac_pj: 0.2}
)" + more,
                                "small.yaml");
}

/// Nothing loops at RF, so the baseline leaves no memory a choice.
constexpr const char* kClasses = R"(flexibility: {loops: {RF: []}}
baseline:
  tiles: {L2: {fixed: {M: 8, C: 8, P: 8, Q: 8, R: 1, S: 1}}, L1: {fixed: {M: 4, C: 4, P: 4, Q: 4, R: 1, S: 1}}}
  orders: {DRAM: [[M, C, P, Q, R, S]], L2: [[M, C, P, Q, R, S]], L1: [[M, C, P, Q, R, S]]}
  parallel: {PEs: {rows: [C], cols: [M]}}
partial:
  fusion: {L2: {dims: [P], depth: 1}, L1: none}
  variants: {B: {fusion: {L2: none, L1: {dims: [M, N]}}}}
)";

std::string refused(const std::string& more) {
  try {
    with(more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(FusionRules, SayWhichMemoriesHoldWhichTiles) {
  EXPECT_TRUE(with("").fusion.empty());
  EXPECT_EQ(fusion_freedom(with("")), Freedom::kFull);
  EXPECT_EQ(tile_homes(with("")), (std::vector<int>{1, 2}));  // on chip, outside the array
  const Accelerator some = with("flexibility: {fusion: {L2: {dims: [P, M], depth: 1}, L1: none}}\n");
  ASSERT_EQ(some.fusion.size(), some.levels.size());
  EXPECT_EQ(some.fusion[1], (FusionRule{true, std::vector<std::string>{"P", "M"}, 1}));
  EXPECT_EQ(some.fusion[2], (FusionRule{false, std::nullopt, 0}));
  EXPECT_EQ(fusion_freedom(some), Freedom::kPartial);
  EXPECT_EQ(fusion_freedom(with("flexibility: {fusion: none}\n")), Freedom::kFixed);
  EXPECT_EQ(fusion_freedom(with("flexibility: {fusion: {L2: none}}\n")), Freedom::kFull);  // L1 is not restricted
  EXPECT_EQ(class_of(some, some.flexibility).bits(), "1110+F");
  EXPECT_EQ(class_of(with(""), with("").flexibility).bits(), "1110");  // nothing is said of F
}

TEST(FusionRules, AreWrittenAsTheyAreRead) {
  for (const char* rules : {"", "flexibility: {fusion: any}\n", "flexibility: {fusion: none}\n",
                            "flexibility: {fusion: {L2: {dims: [P, M], depth: 1}, L1: none}}\n",
                            "flexibility: {fusion: {L1: {depth: 2}}, orders: {L2: weight-stationary}}\n"}) {
    const Accelerator read = with(rules);
    EXPECT_TRUE(parse_accelerator_text(configs(), write_accelerator(read), "again.yaml") == read)
        << write_accelerator(read);
  }
  for (const char* name :
       {"1111", "1111+F", "0000", "0000+F", "PartFlex-0000+F", "PartFlex-0000+F-B", "InFlex-0000+F"}) {
    const Accelerator made = choose_flexibility(configs(), name, with(kClasses));
    EXPECT_TRUE(parse_accelerator_text(configs(), write_accelerator(made), "again.yaml") == made)
        << write_accelerator(made);
  }
}

TEST(FusionRules, AClassHasThemOrNot) {
  const auto made = [](const char* name) { return choose_flexibility(configs(), name, with(kClasses)); };
  EXPECT_EQ(made("1111").flexibility.name, "FullFlex-1111");
  EXPECT_EQ(made("1111+F").flexibility.name, "FullFlex-1111+F");
  EXPECT_EQ(made("0000+F").flexibility.name, "FullFlex-0000+F");
  EXPECT_EQ(made("0000").flexibility.name, "InFlex-0000");
  EXPECT_EQ(fusion_freedom(made("1111")), Freedom::kFixed);
  EXPECT_EQ(fusion_freedom(made("0000+F")), Freedom::kFull);
  EXPECT_EQ(fusion_freedom(made("InFlex-0000+F")), Freedom::kFixed);
  EXPECT_EQ(fusion_freedom(made("PartFlex-0000+F")), Freedom::kPartial);
  EXPECT_EQ(made("PartFlex-0000+F").fusion[1].depth, 1);
  EXPECT_EQ(made("PartFlex-0000+F-B").fusion[2].dims, (std::vector<std::string>{"M", "N"}));
  EXPECT_EQ(class_of(made("0000+F"), made("0000+F").flexibility).name(), "FullFlex-0000+F");
  EXPECT_EQ(class_of(made("1111+F"), made("1111+F").flexibility).bits(), "1111+F");
  for (const char* wrong : {"111+F", "1111+G", "1111+", "1111F", "PartFlex-0000+G-B"})
    EXPECT_FALSE(parse_flexibility_class(wrong)) << wrong;
  EXPECT_TRUE(looks_like_class("1111+G"));  // a slip, no file
  EXPECT_THROW(choose_flexibility(configs(), "PartFlex-0000+F", with(R"(baseline:
  tiles: {L1: {fixed: {M: 4, C: 4, P: 4, Q: 4, R: 1, S: 1}}}
  orders: {DRAM: [[M, C, P, Q, R, S]]}
  parallel: {PEs: {rows: [C], cols: [M]}}
)")),
               InputError);
}

TEST(FusionRules, MistakesAreLocated) {
  const auto expect = [](const std::string& rules, const std::string& where, const std::string& what) {
    const std::string told = refused(rules);
    EXPECT_NE(told.find(where), std::string::npos) << told;
    EXPECT_NE(told.find(what), std::string::npos) << told;
  };
  expect("flexibility: {fusion: some}\n", "small.yaml:10:", "any");
  expect("flexibility:\n  fusion: {L3: any}\n", "small.yaml:11:", "no level `L3`");
  expect("flexibility: {fusion: {PEs: any}}\n", "fusion", "`PEs` is not a memory");
  expect("flexibility: {fusion: {L1: {dims: []}}}\n", "fusion.L1.dims", "no dim at all");
  expect("flexibility: {fusion: {L1: {}}}\n", "fusion.L1", "an empty rule");
  expect("flexibility: {fusion: {L1: {depth: 0}}}\n", "fusion.L1.depth", "0");
  expect("flexibility: {fusion: {L1: {deep: 1}}}\n", "fusion.L1", "depth");
  expect("flexibility: {conv: {fusion: none}}\n", "flexibility.conv", "fusion");
  const auto with_class = [](const std::string& rules) {
    std::string text = kClasses;
    return text.replace(text.find("loops"), 0, rules + ", ");
  };
  expect(with_class("class: \"1111+F\", fusion: none"), "flexibility.fusion", "the fused tiles can change");
  expect(with_class("class: \"1111\", fusion: any"), "flexibility.fusion", "an entry that agrees, or class 1111+F");
}

}  // namespace
}  // namespace pliant
