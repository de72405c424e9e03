// SPDX-License-Identifier: Apache-2.0
// Reports: what is derived from a dataset, how it is packed, and what is said about datasets that are not there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "dse/report/compact_json.h"
#include "dse/report/layer_details.h"
#include "dse/report/measures.h"
#include "dse/report/page.h"
#include "dse/report/report_charts.h"
#include "dse/report/report_data.h"
#include "dse/results/part_file.h"
#include "dse/sweep/run_sweep.h"
#include "support/file_text.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweep = R"(accelerator: flexref
name: reported
workloads:
  - {name: one, layers: ["conv:M=16,C=8,P=7,Q=7,R=3,S=3", "gemm:M=12,N=20,K=16"]}
  - {name: two, layers: ["gemm:M=8,N=8,K=8"]}
vary: {rows: [4, 16], Buffer.capacity: [2Ki, 64Ki]}
flexibility: ["0000", "1011", PartFlex-1111]
)";

/// A small sweep, run once for all tests.
const fs::path& dataset() {
  static const TemporaryFolder folder;
  static const bool done = [] {
    const Library library(fs::path(PLIANT_SOURCE_DIR) / "configs");
    SweepRunOptions options;
    options.dataset = folder.path() / "data";
    run_sweep(library, parse_sweep_text(library, kSweep, "reported.yaml"), options);
    return true;
  }();
  static const fs::path path = folder.path() / "data";
  EXPECT_TRUE(done);
  return path;
}

Ran pliant_report(const std::vector<std::string>& words) {
  std::vector<std::string> all{"report"};
  all.insert(all.end(), words.begin(), words.end());
  return run(all);
}

TEST(Report, DividesByTheInflexibleDesignThatIsEqualInEverythingElse) {
  const ReportData data = read_report_data(dataset());
  ASSERT_EQ(data.designs.rows(), 2U * 2 * 3 * 2);
  EXPECT_EQ(data.varied, (std::vector<std::string>{"set_rows", "set_Buffer_capacity_words"}));
  EXPECT_EQ(data.workloads(), (std::vector<std::string>{"one", "two"}));
  std::size_t compared = 0;
  for (std::size_t row = 0; row < data.designs.rows(); ++row) {
    const auto relative = data.number("rel_runtime", row);
    const bool small = data.text("set_Buffer_capacity_words", row) == "2048";
    // The fixed tile does not fit the small buffer, so there is no inflexible design to compare with.
    EXPECT_EQ(relative.has_value(), !small) << row;
    if (!relative) continue;
    ++compared;
    for (std::size_t base = 0; base < data.designs.rows(); ++base) {
      if (data.text("class", base) != "0000" || data.text("workload", base) != data.text("workload", row) ||
          data.text("set_rows", base) != data.text("set_rows", row))
        continue;
      EXPECT_EQ(*relative, *data.number("runtime_cycles", row) / *data.number("runtime_cycles", base));
      EXPECT_EQ(*data.number("rel_area", row), *data.number("area_um2", row) / *data.number("area_um2", base));
    }
    if (data.text("class", row) == "0000") {
      EXPECT_EQ(*relative, 1);
    }
  }
  EXPECT_EQ(compared, 12U);
  EXPECT_EQ(data.text("label", 0), "0000");
  EXPECT_EQ(data.text("label", 4), "Part 1111");
  EXPECT_EQ(data.text("axes", 2), "3");
  EXPECT_EQ(data.text("array", 2), "4 x 64");
}

TEST(Report, SummarizesCertificatesAndReasons) {
  const ReportData data = read_report_data(dataset());
  const CertificateSummary& all = data.certificates;
  EXPECT_EQ(all.layers, 2 * 2 * 3 * 3);
  EXPECT_EQ(all.by_status.at("invalid_design"), 2 * 3);
  EXPECT_EQ(all.solved + all.by_status.at("invalid_design"), all.layers);
  EXPECT_EQ(all.certified, all.solved);
  ASSERT_FALSE(all.reasons.empty());
  EXPECT_NE(all.reasons[0].example.find("design "), std::string::npos);
  EXPECT_EQ(data.parts_missing, 0);
}

TEST(Report, FrontiersComeFirst) {
  const ReportData data = read_report_data(dataset());
  const std::vector<std::size_t> order = rows_by_interest(data);
  std::set<std::size_t> all(order.begin(), order.end());
  EXPECT_EQ(all.size(), data.designs.rows()) << "every row once";
  EXPECT_EQ(order.size(), all.size());
  // The smallest design with the least EDP among equals is on the frontier of its workload.
  std::size_t smallest = order[0];
  for (const std::size_t row : data.rows_of("one", {"edp_pj_cycles"}))
    if (std::pair{*data.number("area_um2", row), *data.number("edp_pj_cycles", row)} <
        std::pair{*data.number("area_um2", smallest), *data.number("edp_pj_cycles", smallest)})
      smallest = row;
  EXPECT_LT(std::ranges::find(order, smallest) - order.begin(), 6);
  const LayerDetails few = read_layer_details(dataset(), data, order, 5);
  EXPECT_LE(few.layer_rows, 5U);
  EXPECT_TRUE(few.json["rows"].contains(std::to_string(order[0])));
  const LayerDetails whole = read_layer_details(dataset(), data, order, 1000);
  EXPECT_EQ(whole.designs, data.designs.rows());
  EXPECT_EQ(whole.layer_rows, 36U);
  std::size_t without = 0;
  for (const auto& [row, layers] : whole.json["rows"].items()) {
    for (const auto& layer : layers) {
      without += layer[1] == -1 ? 1 : 0;
      EXPECT_EQ(layer.size(), layer[1] == -1 ? 3U : 2U) << "those without a mapping say why";
    }
  }
  EXPECT_EQ(without, 6U);
}

TEST(Report, ThePageIsWhole) {
  const ReportData data = read_report_data(dataset());
  const std::string page = report_page(data, read_layer_details(dataset(), data, rows_by_interest(data), 1000));
  EXPECT_NE(page.find("script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-eval"), std::string::npos);
  for (const char* mark : {"@policy@", "@designs@", "@details@", "@vega@"})
    EXPECT_EQ(page.find(mark), std::string::npos);
  for (const char* outside : {"<link", "<script src", "@import", "url(http"})
    EXPECT_EQ(page.find(outside), std::string::npos);
  EXPECT_LT(page.size(), 3'000'000U);
}

TEST(Report, PacksNumbersAndColumns) {
  EXPECT_EQ(compact_number(1.0 / 3).dump(), "0.3333333");
  EXPECT_EQ(compact_number(1234567890.0).dump(), "1234567890");
  EXPECT_EQ(compact_number(INFINITY).dump(), "null");
  const DataColumn repeated{"c",
                            {std::string("a"), std::string("b"), std::string("a"), std::string("a"), Cell(),
                             std::string("a"), std::string("a"), std::string("a"), std::string("a")}};
  EXPECT_EQ(compact_column(repeated).dump(), R"({"name":"c","values":["a","b",null],"codes":[0,1,0,0,2,0,0,0,0]})");
  const DataColumn different{"c", {1.5, 2.5}};
  EXPECT_EQ(compact_column(different).dump(), R"({"name":"c","values":[1.5,2.5]})");
  // RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(gzip("x").substr(0, 2), "\x1f\x8b");
}

TEST(Report, EveryMeasureIsAColumn) {
  const ReportData data = read_report_data(dataset());
  for (const auto& one : measures()["metrics"])
    EXPECT_NE(data.designs.find(one["name"].get<std::string>()), nullptr) << one.dump();
}

TEST(Report, ChartsHaveTheFieldsTheyName) {
  const ReportData data = read_report_data(dataset());
  const std::vector<Chart> charts = report_charts(dataset(), data);
  std::set<std::string> names;
  for (const Chart& chart : charts) {
    EXPECT_TRUE(names.insert(chart.name).second) << chart.name;
    EXPECT_GT(chart.table.rows(), 0U) << chart.name;
    const std::string spec = chart.spec.dump();
    EXPECT_EQ(spec.find("{{"), std::string::npos) << chart.name << ": " << spec;
    for (std::size_t at = 0; (at = spec.find("\"field\":\"", at)) != std::string::npos;) {
      at += std::string_view("\"field\":\"").size();
      const std::string field = spec.substr(at, spec.find('"', at) - at);
      EXPECT_NE(chart.table.find(field), nullptr) << chart.name << " lacks " << field;
    }
  }
  for (const char* name :
       {"frontier_edp_one", "classes_runtime", "isolation_runtime", "overhead_edp", "flexion_two", "array_one",
        "buffer_one", "units_two", "energy_one", "traffic_one", "utilization_one", "roofline_two"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Report, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "r.html").string();
  const auto fails = [&](const fs::path& where, const std::string& words) {
    const Ran answer = pliant_report({where.string(), "-o", page});
    EXPECT_EQ(answer.code, 2) << answer.err;
    EXPECT_NE(answer.err.find(words), std::string::npos) << answer.err;
    EXPECT_FALSE(fs::exists(page));
  };
  EXPECT_EQ(pliant_report({}).code, 2);
  fails(folder.path() / "nowhere", "does not exist");
  fails(folder.path(), "holds no dataset");
  fs::create_directories(folder.path() / "begun");
  fs::copy(manifest_path(dataset()), manifest_path(folder.path() / "begun"));
  fails(folder.path() / "begun", "holds no part yet");
  std::ofstream(folder.path() / "file") << "x";
  fails(folder.path() / "file", "is a file");
  const Ran scale = pliant_report({dataset().string(), "--scale", "-3"});
  EXPECT_EQ(scale.code, 2);
  EXPECT_EQ(pliant_report({"--help"}).code, 0);
}

TEST(Report, DamagedAndMissingPartsAreNamed) {
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / "data";
  fs::copy(dataset(), copy, fs::copy_options::recursive);
  // As if there were three parts: one whole, one damaged, one not yet there.
  Manifest manifest = *read_manifest(copy);
  manifest.parts = 3;
  write_manifest(copy, manifest);
  fs::copy(part_path(copy, TableKind::kLayers, 0), part_path(copy, TableKind::kLayers, 1));
  std::ofstream(part_path(copy, TableKind::kDesigns, 1), std::ios::binary) << "no Parquet";
  const std::string page = (folder.path() / "r.html").string();
  const Ran answer = pliant_report({copy.string(), "-o", page});
  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_EQ(pliant_report({copy.string(), "-o", page, "--partial"}).code, 0);
  EXPECT_NE(answer.err.find("part-000001.parquet"), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("the answer is of the other parts only"), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("1 of 3 parts are not there yet"), std::string::npos) << answer.err;
  EXPECT_GT(text_of(page).size(), 900'000U);
  // Parts that are all damaged are not a dataset.
  std::ofstream(part_path(copy, TableKind::kDesigns, 0), std::ios::binary) << "no Parquet";
  const Ran nothing = pliant_report({copy.string(), "-o", page});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("holds no design"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace pliant
