// SPDX-License-Identifier: Apache-2.0
// Charts as files: specification, points, picture.
#include "dse/report/chart.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "dse/report/render.h"
#include "support/file_text.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

Chart bars() {
  Chart chart{"bars", "Bars", {}, {}};
  chart.spec = {{"mark", "bar"},
                {"encoding", {{"x", {{"field", "name"}}}, {"y", {{"field", "value"}, {"type", "quantitative"}}}}}};
  chart.table.columns = {{"name", {std::string("a,\"b\""), std::string("<script>"), std::string("\xff")}},
                         {"value", {1.5, std::int64_t{2}, std::monostate{}}}};
  return chart;
}

TEST(Chart, WritesSpecificationAndPoints) {
  const TemporaryFolder folder;
  write_charts(folder.path() / "deep", {bars()});
  const auto spec = ordered_json::parse(text_of(folder.path() / "deep/bars.vl.json"));
  EXPECT_EQ(spec["title"], "Bars");
  EXPECT_EQ(spec["mark"], "bar");
  EXPECT_TRUE(spec["config"].contains("range"));
  ASSERT_EQ(spec["data"]["values"].size(), 3U);
  EXPECT_EQ(spec["data"]["values"][0], (ordered_json{{"name", "a,\"b\""}, {"value", 1.5}}));
  EXPECT_TRUE(spec["data"]["values"][2]["value"].is_null());
  EXPECT_EQ(text_of(folder.path() / "deep/bars.csv"), "name,value\n\"a,\"\"b\"\"\",1.5\n<script>,2\n\xff,\n");
}

TEST(Chart, ShippedSpecificationsTakeValuesAndPoints) {
  const ordered_json spec = shipped_spec("loops", {{"width", 42}, {"levels", {"DRAM", "GLB"}}});
  EXPECT_EQ(spec["width"], 42);
  EXPECT_EQ(spec["layer"][0]["encoding"]["color"]["sort"], (ordered_json{"DRAM", "GLB"}));
  const std::string ink = spec["layer"][1]["mark"]["color"];
  EXPECT_EQ(ink.front(), '#');  // a default
  EXPECT_EQ(shipped_spec("loops", {{"ink", "red"}})["layer"][1]["mark"]["color"], "red");
  const ordered_json whole = full_spec("Loops", spec, {{{"depth", 1}}});
  EXPECT_EQ(whole["title"], "Loops");
  EXPECT_EQ(whole["data"]["values"][0]["depth"], 1);
  EXPECT_TRUE(whole["config"].contains("range"));
}

TEST(Chart, DrawsPictures) {
  const TemporaryFolder folder;
  ChartOptions options;
  options.png = true;
  options.scale = 1;
  Chart chart = bars();
  chart.table = chart.table.pick({0, 1});
  try {
    write_charts(folder.path(), {chart}, options);
  } catch (const RenderError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(text_of(folder.path() / "bars.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
}

TEST(Chart, SaysWhatIsMissingForPictures) {
  const TemporaryFolder folder;
  ChartOptions options;
  options.png = true;
  options.python = "no-such-python";
  try {
    write_charts(folder.path(), {bars()}, options);
    FAIL() << "drew a picture without Python";
  } catch (const RenderError& error) {
    EXPECT_NE(std::string(error.what()).find("PLIANT_PYTHON"), std::string::npos) << error.what();
  }
}

TEST(Chart, NamesOfFilesAreHarmless) {
  EXPECT_EQ(file_name("alexnet-2.csv"), "alexnet-2.csv");
  EXPECT_EQ(file_name("../../etc/passwd"), "_._.._etc_passwd");
  EXPECT_EQ(file_name("<script>\"'é"), "_script_____");
  EXPECT_EQ(file_name(""), "_");
  EXPECT_EQ(file_name(std::string(5000, 'x')).size(), 80U);
}

}  // namespace
}  // namespace pliant
