// SPDX-License-Identifier: Apache-2.0
// Tables that people wrote into docs/studies have the numbers of the kept tables, as far as they print digits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/input/csv.h"
#include "support/file_text.h"
#include "support/study_pages.h"

namespace pliant {
namespace {

std::string under_bandwidth(const std::string& cell) {
  return cell == "no limit" ? ", no limit" : ", " + cell + " bytes/cycle";
}

TEST(StudyPages, LanguageModels) {
  const std::map<std::string, double> kept = kept_numbers("llm-future");
  const Cells classes = {"FullFlex-1000", "FullFlex-0100", "FullFlex-0010", "FullFlex-0001",
                         "FullFlex-0011", "FullFlex-1010", "PartFlex-1111", "FullFlex-1111"};
  int rows = 0;
  for (const Cells& row : table_on_page("llm-future", "| era | phase |")) {
    if (!row[0].starts_with("20")) continue;
    ++rows;
    for (std::size_t i = 0; i < classes.size(); ++i)
      expect_printed(row.at(3 + i), kept,
                     fmt::format("{} of {}'s design, {}: speedup, geometric mean{}", classes[i], row[0], row[1],
                                 under_bandwidth(row[2])));
  }
  EXPECT_EQ(rows, 24);
}

TEST(StudyPages, FusedTiles) {
  const std::map<std::string, double> kept = kept_numbers("fusion");
  int rows = 0;
  for (const Cells& row : table_on_page("fusion", "| network | chip |")) {
    if (row[0].starts_with("-") || row[0] == "network") continue;
    ++rows;
    expect_printed(row.at(2), kept, fmt::format("{} on {}, whole tensors: EDP divided by", row[0], row[1]));
    expect_printed(row.at(3), kept, fmt::format("{} on {}, tiles: EDP divided by", row[0], row[1]));
  }
  EXPECT_EQ(rows, 30);
  for (const Cells& row : table_on_page("fusion", "| network | class |")) {
    if (!row[0].starts_with("bert") && !row[0].starts_with("llm")) continue;
    ++rows;
    const std::array<const char*, 3> steps{"outside", "whole tensors", "tiles"};
    for (std::size_t i = 0; i < steps.size(); ++i)
      expect_printed(row.at(2 + i), kept,
                     fmt::format("{} on npu, class {}, {}: EDP divided by", row[0], row[1], steps[i]));
  }
  EXPECT_EQ(rows, 30 + 30);
  EXPECT_EQ(kept.at("by class, entries that are not proven optima"), 0);
  EXPECT_LE(kept.at("by chip, largest gap"), 0.01);
}

TEST(StudyPages, FutureProofing) {
  const std::map<std::string, double> kept = kept_numbers("future-proofing");
  const auto where = [](const std::string& bandwidth) {
    return bandwidth == "409.6" ? "" : under_bandwidth(bandwidth);
  };
  const Cells classes = {"FullFlex-1000", "FullFlex-0100", "FullFlex-0010", "FullFlex-0001", "FullFlex-0011",
                         "FullFlex-1010", "FullFlex-1100", "PartFlex-1111", "FullFlex-1111"};
  int rows = 0;
  for (const Cells& row : table_on_page("future-proofing", "| bytes/cycle | T | O |")) {
    if (row[0] != "no limit" && !row[0].ends_with(".6") && !row[0].ends_with(".4")) continue;
    ++rows;
    for (std::size_t i = 0; i < classes.size(); ++i)
      expect_printed(row.at(1 + i), kept, classes[i] + " speedup, geometric mean of seven networks" + where(row[0]));
  }
  for (const Cells& row : table_on_page("future-proofing", "| bytes/cycle | designs that are optimal")) {
    if (row[0] != "no limit" && !row[0].ends_with(".6") && !row[0].ends_with(".4")) continue;
    ++rows;
    expect_printed(row.at(1), kept, "designs that are as good for AlexNet" + under_bandwidth(row[0]));
    expect_printed(
        row.at(4), kept,
        "AlexNet on a design of the genetic search over the optimum, worst of 20 seeds" + under_bandwidth(row[0]));
  }
  EXPECT_EQ(rows, 8);
}

TEST(StudyPages, Ties) {
  const std::map<std::string, double> alexnet = kept_numbers("future-proofing");
  int rows = 0;
  for (const Cells& row : table_on_page("future-proofing", "| DRAM, bytes/cycle | T | O |")) {
    if (row[0] != "no limit" && row[0].find_first_of("0123456789") != 0) continue;
    ++rows;
    const Cells classes = {"1000", "0100", "0010", "0001", "0011", "1010", "1111"};
    for (std::size_t i = 0; i < classes.size(); ++i)
      expect_three(row.at(1 + i), alexnet,
                   fmt::format("FullFlex-{} speedup over the designs that are as good for AlexNet, ", classes[i]),
                   under_bandwidth(row[0]));
  }
  EXPECT_EQ(rows, 4);
  const std::map<std::string, double> models = kept_numbers("llm-future");
  for (const Cells& row : table_on_page("llm-future", "| era | phase | DRAM, bytes/cycle |")) {
    if (!row[0].starts_with("20")) continue;
    ++rows;
    const Cells classes = {"1000", "0010", "0001", "1010", "1111"};
    for (std::size_t i = 0; i < classes.size(); ++i)
      expect_three(row.at(3 + i), models,
                   fmt::format("FullFlex-{} speedup over the designs that are as good for {}'s networks, {}, ",
                               classes[i], row[0], row[1]),
                   under_bandwidth(row[2]));
  }
  EXPECT_EQ(rows, 4 + 24);
}

TEST(StudyPages, Ladder) {
  const std::map<std::string, double> kept = kept_numbers("ladder");
  const Cells rungs = {"printed", "public tools, as reported", "their mappings, counted again",
                       "their best, holes closed", "proven optimum"};
  int cells = 0;
  for (const Cells& row : table_on_page("ladder", "| layer | printed |")) {
    if (row[0].find("Net ") == std::string::npos) continue;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      const std::string quantity = row[0] + ": " + rungs[i] + ", cycles over MACs / 1024";
      EXPECT_EQ(row.at(1 + i).empty(), !kept.contains(quantity)) << quantity;
      if (row[1 + i].empty()) continue;
      expect_printed(row[1 + i], kept, quantity);
      ++cells;
    }
  }
  EXPECT_EQ(cells, 3 + 10 + 10 + 8 + 10);
  int read = 0;
  const std::map<std::string, std::string> rows = {
      {"L1, runtime saved by tiles", "L01 runtime saved by tiles (%)"},
      {"MnasNet, speedup of T", "model speedup of T"},
      {"MnasNet, speedup of P", "model speedup of P"},
      {"MnasNet, P over two pairs", "model speedup of P over two pairs"},
      {"MnasNet, speedup of S", "model speedup of S"},
      {"MnasNet, FullFlex-1111 over InFlex", "model FullFlex-1111 over InFlex"},
      {"L16, FullFlex-1111 over InFlex", "L16 FullFlex-1111 over InFlex"},
      {"L21, FullFlex-1111 over InFlex", "L21 FullFlex-1111 over InFlex"},
      {"L29, FullFlex-1111 over InFlex", "L29 FullFlex-1111 over InFlex"}};
  for (const Cells& row : table_on_page("ladder", "| | printed | T of a PE |")) {
    const auto known = rows.find(row[0]);
    if (known == rows.end()) continue;
    expect_printed(row.at(2), kept, "T a tile of a PE: " + known->second);
    ++read;
  }
  EXPECT_EQ(read, 9);
}

/// The page's counts, and the rows of the eight that do not hold, against all 192.
TEST(StudyPages, GomaCertificates) {
  Diagnostics problems;
  const std::string text = text_of(std::filesystem::path(PLIANT_SOURCE_DIR) / "results/studies/goma_certificates.csv");
  std::map<std::string, std::array<int, 2>> counts;  // by template: all, and those that hold
  std::map<std::string, int> fallen;                 // template and sizes
  int rows = 0;
  for (const CsvRow& row : parse_csv(text, std::make_shared<const std::string>("kept"), problems)) {
    if (row.fields.size() != 12 || row.fields[0].text == "template") continue;
    ++rows;
    const auto field = [&](std::size_t i) { return row.fields[i].text; };
    const double published = std::stod(field(6)), ours = std::stod(field(7));
    EXPECT_EQ(field(11), "audited");
    EXPECT_EQ(field(10), ours < published * (1 - 1e-11) ? "does not hold" : "holds");
    EXPECT_LE(ours, published * (1 + 1e-11));
    EXPECT_LE(std::stod(field(9)), ours * (1 + 1e-11)) << "idle units never cost";
    ++counts[field(0)][0];
    if (field(10) == "holds")
      ++counts[field(0)][1];
    else
      ++fallen[fmt::format("{} {} {} x {} x {}", field(0), field(2), field(3), field(4), field(5))];
  }
  EXPECT_EQ(rows, 192);
  int shown = 0;
  for (const Cells& row : table_on_page("goma", "| template | published optima |")) {
    const std::string name = row[0].substr(row[0].find('`') + 1, row[0].rfind('`') - row[0].find('`') - 1);
    if (!counts.contains(name)) continue;
    ++shown;
    EXPECT_EQ(row.at(1), std::to_string(counts[name][0]));
    EXPECT_EQ(row.at(2), std::to_string(counts[name][1]));
    EXPECT_EQ(row.at(3), std::to_string(counts[name][0] - counts[name][1]));
  }
  EXPECT_EQ(shown, 4);
  int instances = 0;
  for (const Cells& row : table_on_page("goma", "| template | GEMM (M x N x K) |")) {
    if (!row[0].starts_with("`")) continue;
    const std::string name = row[0].substr(1, row[0].size() - 2) + " " + row.at(1);
    ASSERT_TRUE(fallen.contains(name)) << name;
    EXPECT_EQ(row.at(2), std::to_string(fallen[name]));
    instances += fallen[name];
  }
  EXPECT_EQ(instances, 8);
}

/// FactorFlow's cases, summed over the GEMMs of the kept table as often as the workload has them.
TEST(StudyPages, FactorFlowOnGomaCases) {
  const std::filesystem::path source(PLIANT_SOURCE_DIR);
  const auto rows_of = [](const std::filesystem::path& file) {
    Diagnostics problems;
    return parse_csv(text_of(file), std::make_shared<const std::string>(file.string()), problems);
  };
  std::map<std::string, std::array<double, 3>> edp;  // by sizes: the tool's, the optimum, the optimum that keeps all
  for (const CsvRow& row : rows_of(source / "results/goma_factorflow.csv"))
    if (row.fields[0].text == "goma_a100")
      for (std::size_t i = 0; i < 3; ++i)
        edp[row.fields[1].text + "x" + row.fields[2].text + "x" + row.fields[3].text][i] =
            std::stod(row.fields.at(9 + i).text);
  EXPECT_EQ(edp.size(), 35U);
  std::map<std::string, double> kept;
  double log_sum = 0, log_searched = 0;
  int cases = 0;
  for (const Cells& cells : table_on_page("goma", "| case | FactorFlow |")) {
    if (!cells[0].starts_with("`")) continue;
    const std::string name = cells[0].substr(1, cells[0].size() - 2);
    std::array<double, 3> sum{};
    for (const CsvRow& row : rows_of(source / "configs/workloads" / (name + ".csv"))) {
      if (row.fields[0].text == "name") continue;
      const auto& one = edp.at(row.fields[1].text + "x" + row.fields[2].text + "x" + row.fields[3].text);
      for (std::size_t i = 0; i < 3; ++i) sum[i] += std::stod(row.fields[5].text) * one[i];
    }
    kept = {{"tool", sum[0] / sum[1]}, {"restricted", sum[2] / sum[1]}, {"search", sum[0] / sum[2]}};
    expect_printed(cells.at(1), kept, "tool");
    expect_printed(cells.at(2), kept, "restricted");
    expect_printed(cells.at(3), kept, "search");
    EXPECT_GE(kept["restricted"], 1);
    EXPECT_GE(kept["search"], 1 - 1e-9);
    log_sum += std::log(kept["tool"]);
    log_searched += std::log(kept["search"]);
    ++cases;
  }
  ASSERT_EQ(cases, 6);
  expect_printed("1.49", {{"mean", std::exp(log_sum / cases)}}, "mean");
  expect_printed("1.04", {{"mean", std::exp(log_searched / cases)}}, "mean");
}

TEST(StudyPages, Isolation) {
  const std::map<std::string, double> kept = kept_numbers("isolation");
  int rows = 0;
  for (const Cells& row : table_on_page("isolation", "| bytes/cycle | T (4.8) |")) {
    if (row[0].find_first_of("0123456789u") != 0 || row[0].starts_with("-")) continue;
    if (row[0] == "409.6") continue;  // its quantities have no bandwidth in their names
    ++rows;
    const Cells pairs = {"FullFlex-1000 over InFlex", "FullFlex-1000 over PartFlex-1000", "FullFlex-0100 over InFlex",
                         "FullFlex-0010 over InFlex", "FullFlex-0010 over PartFlex-0010", "FullFlex-0001 over InFlex"};
    for (std::size_t i = 0; i < pairs.size(); ++i)
      expect_printed(row.at(1 + i), kept, fmt::format("model speedup of {}, {} bytes/cycle", pairs[i], row[0]));
  }
  EXPECT_EQ(rows, 11);
}

TEST(StudyPages, ChosenOrders) {
  const std::map<std::string, double> kept = kept_numbers("isolation");
  const Cells bandwidths = {", 102.4 bytes/cycle", ", 204.8 bytes/cycle", ", 256 bytes/cycle", ""};
  int rows = 0;
  for (const Cells& row : table_on_page("isolation", "| layer | design | order |")) {
    if (!row[0].starts_with("L")) continue;
    ++rows;
    for (std::size_t i = 0; i < bandwidths.size(); ++i)
      expect_printed(row.at(4 + i), kept,
                     fmt::format("{} {} runtime with the chosen {}{}", row[1], row[0], row[2], bandwidths[i]));
  }
  EXPECT_EQ(rows, 6);
}

TEST(StudyPages, DeepBenchByDomain) {
  const std::map<std::string, double> kept = kept_numbers("ruby-deepbench");
  const Cells columns = {"workloads", "mean EDP saved (%)", "most EDP saved (%)", "EDP of Ruby-S over PFM, median",
                         "workloads with less than 1 % saved"};
  int rows = 0;
  for (const Cells& row : table_on_page("ruby-deepbench", "| domain | workloads |")) {
    if (!kept.contains(row[0] + ": workloads")) continue;
    ++rows;
    for (std::size_t i = 0; i < columns.size(); ++i) expect_printed(row.at(1 + i), kept, row[0] + ": " + columns[i]);
  }
  EXPECT_EQ(rows, 6);
}

TEST(StudyPages, RubySearches) {
  const std::map<std::string, double> kept = kept_numbers("ruby-resnet50");
  int rows = 0;
  for (const Cells& row : table_on_page("ruby-resnet50", "| | published | 3000 in all |")) {
    std::string design;
    for (const char* name : {"Eyeriss-like", "Simba-like 15 PEs", "Simba-like 9 PEs"})
      if (row[0].find(name) != std::string::npos) design = name;
    if (design.empty()) continue;
    ++rows;
    if (design.ends_with("9 PEs")) design += " of 3x3";
    const bool layers = row[0].starts_with("layers");
    const std::string what = layers ? "layers where Ruby-S is worse" : "EDP saved", unit = layers ? "" : " (%)";
    expect_printed(row.at(2), kept, fmt::format("{}: {}, random search, 3000 in all{}", design, what, unit));
    expect_printed(row.at(3), kept,
                   fmt::format("{}: {}, random search, 3000 of each of 24 threads{}", design, what, unit));
    if (!layers) expect_printed(row.at(4), kept, design + ": EDP saved (%)");
  }
  EXPECT_EQ(rows, 5);
}

TEST(StudyPages, Serving) {
  const std::map<std::string, double> kept = kept_numbers("serving");
  int rows = 0;
  for (const Cells& row : table_on_page("serving", "| chip | served |")) {
    if (!row[1].starts_with("prompt")) continue;
    ++rows;
    const Cells tensors = {"outside", "whole tensors", "tiles"};
    for (std::size_t t = 0; t < tensors.size(); ++t)
      expect_printed(row[2 + t], kept, fmt::format("{}, {}, {}: tokens/J", row[0], row[1], tensors[t]));
  }
  EXPECT_EQ(rows, 12);
}

TEST(StudyPages, Silicon) {
  const std::map<std::string, double> kept = kept_numbers("silicon");
  int rows = 0;
  for (const Cells& row : table_on_page("silicon", "| class | kernels |")) {
    if (row[0] == "class" || row[0].starts_with("-")) continue;
    ++rows;
    const std::string name = "fitted on the other half, " + row[0];
    expect_printed(row[1], kept, name + ": kernels");
    expect_printed(row[2], kept, name + ": measured over bound, median");
    expect_printed(row[3], kept, name + ": mean error of the roofline (%)");
    expect_printed(row[4], kept, name + ": mean error of the prediction (%)");
    if (!row[5].empty()) expect_printed(row[5], kept, name + ": mean error of energy (%)");
  }
  EXPECT_EQ(rows, 10);
  EXPECT_EQ(kept.at("kernels faster than their bound"), 0);
}

}  // namespace
}  // namespace pliant
