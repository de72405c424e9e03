// SPDX-License-Identifier: Apache-2.0
// What docs/studies/area.md says of parts, networks and configurations, against the kept table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/study_pages.h"

namespace pliant {
namespace {

TEST(CostPages, PartsByTheNode) {
  const std::map<std::string, double> kept = kept_numbers("area");
  int rows = 0;
  for (const Cells& row : table_on_page("area", "| axis | Table 3 (um2) |")) {
    if (kept.contains(row[0] + ": parts at the node's area of a bit (um2)")) {
      ++rows;
      expect_printed(row.at(2), kept, row[0] + ": parts at the node's area of a bit (um2)");
      expect_printed(row.at(3), kept, row[0] + ": energy of the parts, every bit switching (pJ a MAC)");
    } else if (row[0].starts_with("all")) {
      expect_printed(row.at(1), kept, "FullFlex overhead (%)");
      expect_printed(row.at(2), kept, "FullFlex overhead, parts at the node's area of a bit (%)");
      expect_printed(row.at(3), kept, "energy of all parts, every bit switching (pJ a MAC)");
    }
  }
  EXPECT_EQ(rows, 4);
  for (const Cells& row : table_on_page("area", "| network | switches |")) {
    if (!kept.contains("FullFlex overhead with a " + row[0] + " (%)")) continue;
    ++rows;
    expect_printed(row.at(2), kept, fmt::format("distribution by a {}: area (um2)", row[0]));
    expect_printed(row.at(3), kept, fmt::format("FullFlex overhead with a {} (%)", row[0]));
    expect_printed(row.at(4), kept, fmt::format("distribution by a {}: energy (pJ a MAC)", row[0]));
  }
  EXPECT_EQ(rows, 4 + 2);
}

TEST(CostPages, Reconfiguration) {
  const std::map<std::string, double> kept = kept_numbers("area");
  int rows = 0;
  for (const Cells& row : table_on_page("area", "| network | layers |")) {
    if (!kept.contains(row[0] + ": layers")) continue;
    ++rows;
    expect_printed(row.at(1), kept, row[0] + ": layers");
    expect_printed(row.at(2), kept, row[0] + ": cycles of FullFlex-1111");
    expect_printed(row.at(3), kept, row[0] + ": configurations over runtime, written once (%)");
    expect_printed(row.at(4), kept, row[0] + ": configurations over runtime, PE by PE (%)");
  }
  EXPECT_EQ(rows, 7);
}

}  // namespace
}  // namespace pliant
