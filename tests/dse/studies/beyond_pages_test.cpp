// SPDX-License-Identifier: Apache-2.0
// Pages of the studies beyond the papers against their kept tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/study_pages.h"

namespace pliant {
namespace {

/// "T + S": FullFlex-1001; "T in part": PartFlex-1000; "nothing": InFlex-0000.
std::string class_of_words(const std::string& words) {
  if (words == "nothing") return "InFlex-0000";
  const bool part = words.ends_with(" in part");
  std::string bits = "0000";
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (words.find("TOPS"[axis]) != std::string::npos) bits[axis] = '1';
  return (part ? "PartFlex-" : "FullFlex-") + bits;
}

/// Each entry is within 1 % of everything, and no class with less area is.
TEST(BeyondPages, EnoughIsTheLeastThatIsEnough) {
  const std::map<std::string, double> kept = kept_numbers("enough");
  std::map<std::string, double> areas;
  for (const auto& [quantity, value] : kept)
    if (quantity.ends_with(": area added (%)")) areas[quantity.substr(0, quantity.find(':'))] = value;
  EXPECT_EQ(areas.size(), 18U);
  int rows = 0;
  for (const Cells& row : table_on_page("enough", "| era | phase |")) {
    if (!row[0].starts_with("20")) continue;
    ++rows;
    const std::string where = fmt::format(" on language models over the design of {}, {}, {}{}", row[0], row[1], row[2],
                                          row[2] == "no limit" ? "" : " bytes/cycle");
    const std::string chosen = class_of_words(row[3]);
    ASSERT_TRUE(areas.contains(chosen)) << chosen;
    expect_printed(row[4], areas, chosen);
    expect_printed(row[5], kept, chosen + where);
    expect_printed(row[6], kept, "FullFlex-1111" + where);
    const double wanted = 0.99 * kept.at("FullFlex-1111" + where);
    EXPECT_GE(kept.at(chosen + where), wanted) << chosen << where;
    for (const auto& [other, area] : areas)
      if (area < areas[chosen]) {
        EXPECT_LT(kept.at(other + where), wanted) << other << where;
      }
    EXPECT_LT(areas[chosen], areas["FullFlex-0100"] / 2) << "a set with O in part could be cheaper";
  }
  EXPECT_EQ(rows, 24);
  EXPECT_EQ(kept.at("all entries proven"), 1);
}

TEST(BeyondPages, Lacks) {
  const std::map<std::string, double> kept = kept_numbers("lacks");
  int rows = 0;
  for (const Cells& row : table_on_page("lacks", "| network | chip |")) {
    if (row[0] == "network" || row[0].starts_with("-")) continue;
    ++rows;
    const Cells free = {"T", "O", "P", "S", "all"};
    for (std::size_t i = 0; i < free.size(); ++i)
      expect_printed(row.at(2 + i), kept, fmt::format("{} on {}: EDP divided by, {} free", row[0], row[1], free[i]));
  }
  EXPECT_EQ(rows, 28);
  for (const auto& [quantity, gain] : kept) EXPECT_GE(gain, 1) << quantity;
}

TEST(BeyondPages, ServingByClass) {
  const std::map<std::string, double> kept = kept_numbers("serving");
  const Cells asked = {"prompt 1024, batch 1", "prompt 1024, batch 16", "prompt 8192, batch 1",
                       "prompt 8192, batch 16"};
  int rows = 0;
  for (const Cells& row : table_on_page("serving", "| class | prompt")) {
    if (row[0].find_first_of("01") != 0) continue;
    ++rows;
    const bool classes = row[0].size() == 4, large = row[0].ends_with("area");
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (!classes) {
        expect_printed(row.at(1 + i), kept,
                       large ? fmt::format("npu 0000 with as much area, {}: tokens/J over 0000", asked[i])
                             : fmt::format("npu 0000, {}: tokens/J", asked[i]));
        continue;
      }
      const std::string quantity = fmt::format("npu {}, {}: tokens/J over 0000", row[0], asked[i]);
      expect_three(row.at(1 + i), kept, quantity, "", {", least", "", ", most"});
    }
    if (classes) expect_printed(row.at(5), kept, fmt::format("npu {}: area over 0000", row[0]));
  }
  EXPECT_EQ(rows, 8);
  EXPECT_EQ(kept.at("all entries proven"), 1);
}

}  // namespace
}  // namespace pliant
