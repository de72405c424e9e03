// SPDX-License-Identifier: Apache-2.0
// The boxes of a design search on their way into the page.
#include "dse/report/closed_space.h"

#include <gtest/gtest.h>

#include "dse/results/data_table.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

TEST(ClosedSpace, IsNothingForASweep) {
  const TemporaryFolder folder;
  EXPECT_TRUE(closed_space(folder.path()).is_null());
}

TEST(ClosedSpace, HasMappedDesignsFirstThenTheLargestBoxes) {
  const TemporaryFolder folder;
  DataTable table;
  table.columns.push_back({"closed_by", {std::string("beaten"), std::string("opened"), std::string("beaten")}});
  table.columns.push_back({"designs", {std::int64_t{7}, std::int64_t{1}, std::int64_t{900}}});
  table.columns.push_back({"least_area_um2", {1.0, 2.0, 3.0}});
  table.columns.push_back({"goal1_energy_pj", {5.5, 2.25, 6.5}});
  write_table(table, folder.path() / "boxes.parquet");
  const nlohmann::ordered_json space = closed_space(folder.path());
  EXPECT_EQ(space["rows"], 3);
  EXPECT_EQ(space["left_out"], 0);
  ASSERT_EQ(space["columns"].size(), 3U);  // what the page does not show stays out
  EXPECT_EQ(space["columns"][2]["name"], "goal1_energy_pj");
  EXPECT_EQ(space["columns"][2]["values"], nlohmann::ordered_json({2.25, 6.5, 5.5}));
}

}  // namespace
}  // namespace pliant
