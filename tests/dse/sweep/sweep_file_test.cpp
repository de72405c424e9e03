// SPDX-License-Identifier: Apache-2.0
// What sweep files mean. tests/cases/bad/sweep_*.yaml must be refused with exactly the diagnostics beside them;
// PLIANT_RECORD_CASES=1 writes those, to be read before they are committed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/input/source_text.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/sweep.h"
#include "support/file_text.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = PLIANT_SOURCE_DIR;
const Library kLibrary(kSource / "configs");

Sweep parse(const std::string& text) { return parse_sweep_text(kLibrary, text, "toy.yaml"); }

/// rows x cols of every design, "8x16".
std::vector<std::string> arrays(const std::string& vary, const std::string& more = "") {
  const auto sweep =
      std::make_shared<const Sweep>(parse("accelerator: flexref\nworkloads: [alexnet]\nvary: " + vary + "\n" + more));
  DesignSpace space(kLibrary, sweep);
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < space.size(); ++i) {
    if (!space.allowed(i)) continue;
    const DesignPoint design = space.design(i);
    const Fanout& pes = design.accelerator->levels[2].fanout();
    all.push_back(std::to_string(pes.rows) + "x" + std::to_string(pes.cols));
  }
  return all;
}

using Names = std::vector<std::string>;

TEST(SweepFile, AxesMultiply) {
  EXPECT_EQ(arrays("{rows: [8, 16], cols: [32, 64]}"), (Names{"8x32", "8x64", "16x32", "16x64"}));
  EXPECT_EQ(arrays("[{rows: [8, 16]}, {cols: 4}]"), (Names{"8x4", "16x4"}));
  EXPECT_EQ(arrays("{PEs.rows: [2, 4]}"), (Names{"2x64", "4x64"}));
}

TEST(SweepFile, RangesZipsPairsAndShapes) {
  EXPECT_EQ(arrays("{rows: {from: 4, to: 12, step: 4}}"), (Names{"4x64", "8x64", "12x64"}));
  EXPECT_EQ(arrays("{rows: {from: 2, to: 20, times: 3}}"), (Names{"2x64", "6x64", "18x64"}));
  EXPECT_EQ(arrays("{zip: {rows: [2, 3], cols: [7, 8]}}"), (Names{"2x7", "3x8"}));
  EXPECT_EQ(arrays("{pairs: {keys: [cols, rows], values: [[2, 7], [4, 9]]}}"), (Names{"7x2", "9x4"}));
  EXPECT_EQ(arrays("{shapes: {units: 12}}"), (Names{"1x12", "2x6", "3x4", "4x3", "6x2", "12x1"}));
  EXPECT_EQ(arrays("{shapes: {units: 16, min_side: 2}}"), (Names{"2x8", "4x4", "8x2"}));
}

TEST(SweepFile, ConstraintsLeaveDesignsOut) {
  const std::string vary = "{rows: [8, 16], cols: [32, 64]}";
  EXPECT_EQ(arrays(vary, "constraints: rows*cols <= 512"), (Names{"8x32", "8x64", "16x32"}));
  EXPECT_EQ(arrays(vary, "constraints: [rows*cols <= 512, 2*rows + cols > 48]"), (Names{"8x64", "16x32"}));
  EXPECT_EQ(arrays(vary, "constraints: compute_units == PEs.units"), (Names{"8x32", "8x64", "16x32", "16x64"}));
  EXPECT_EQ(arrays(vary, "constraints: (rows + cols) / 2 >= 36"), (Names{"8x64", "16x64"}));
  // 736843 um2 is the published area of 16x64 PEs without flexibility.
  EXPECT_EQ(arrays(vary, "constraints: area_um2 <= 736843\nflexibility: [\"0000\"]").size(), 4U);
  EXPECT_EQ(arrays(vary, "constraints: area_um2 <= 736842\nflexibility: [\"0000\"]").size(), 3U);
  EXPECT_EQ(arrays("{Buffer.capacity: [64KiB, 100KiB]}", "constraints: Buffer.capacity_bytes <= 64Ki").size(), 1U);
}

TEST(SweepFile, ColumnsAreTyped) {
  const Sweep sweep = parse(
      "accelerator: flexref\nworkloads: [alexnet]\nvary: {rows: [8, 1Ki], Buffer.capacity: [64KiB, 4096], MAC.mac_pj: "
      "[0.5, 1], Buffer.partition: [\"1:1:1\", \"2:1:1\"]}");
  ASSERT_EQ(sweep.columns.size(), 4U);
  EXPECT_EQ(sweep.columns[0], (AxisColumn{"rows", "set_rows", AxisColumn::Kind::kInteger}));
  EXPECT_EQ(sweep.columns[1], (AxisColumn{"Buffer.capacity", "set_Buffer_capacity_words", AxisColumn::Kind::kInteger}));
  EXPECT_EQ(sweep.columns[2].kind, AxisColumn::Kind::kReal);
  EXPECT_EQ(sweep.columns[3].kind, AxisColumn::Kind::kText);
  EXPECT_EQ(std::get<std::int64_t>(sweep.cells[0][1][0]), 1024);
  EXPECT_EQ(std::get<std::int64_t>(sweep.cells[1][0][0]), 65536);
}

/// An accelerator with a parameter of its own for a size.
std::string with_sram(const std::string& vary, const std::string& more = "") {
  return "accelerator: " + (kSource / "tests/data/sweeps/sized.yaml").string() +
         "\nworkloads: [{name: one, layers: [\"gemm:M=4,N=4,K=4\"]}]\nvary: " + vary + "\n" + more;
}

TEST(SweepFile, SizesWithUnitsAreNumbers) {
  const Sweep sweep = parse(with_sram("{sram: [256KiB, 1MiB]}"));
  ASSERT_EQ(sweep.columns.size(), 1U);
  EXPECT_EQ(sweep.columns[0], (AxisColumn{"sram", "set_sram", AxisColumn::Kind::kInteger, "B"}));
  EXPECT_EQ(std::get<std::int64_t>(sweep.cells[0][0][0]), 256 * 1024);
  EXPECT_EQ(std::get<std::int64_t>(sweep.cells[0][1][0]), 1024 * 1024);
  const Sweep range = parse(with_sram("{sram: {from: 256KiB, to: 4MiB, times: 2}}"));
  ASSERT_EQ(range.cells[0].size(), 5U);
  EXPECT_EQ(std::get<std::int64_t>(range.cells[0][4][0]), 4 * 1024 * 1024);
  const Sweep steps = parse(with_sram("{sram: {from: 1KiB, to: 3KiB, step: 1KiB}}"));
  EXPECT_EQ(steps.cells[0].size(), 3U);
  EXPECT_THROW(parse(with_sram("{sram: {from: 1KiB, to: 4096, times: 2}}")), InputError);
  EXPECT_THROW(parse(with_sram("{sram: {from: 1KiB, to: 4KiB}}")), InputError);
  // The design has the buffer that the size says, and constraints know sizes.
  const auto limited = std::make_shared<const Sweep>(
      parse(with_sram("{sram: {from: 256KiB, to: 4MiB, times: 2}}", "constraints: sram <= 1MiB")));
  DesignSpace space(kLibrary, limited);
  std::vector<double> bytes;
  for (std::int64_t i = 0; i < space.size(); ++i)
    if (space.allowed(i)) bytes.push_back(*space.value(i, "SRAM.capacity_bytes"));
  EXPECT_EQ(bytes, (std::vector<double>{262144, 524288, 1048576}));
}

TEST(SweepFile, AcceleratorsAreAnAxis) {
  const auto sweep = std::make_shared<const Sweep>(
      parse("accelerator: [flexref, eyeriss]\nworkloads: [{name: one, layers: [\"gemm:M=4,N=4,K=4\"]}]\n"
            "constraints: compute_units <= 2000\n"));
  ASSERT_EQ(sweep->columns.size(), 1U);
  EXPECT_EQ(sweep->columns[0].column, "set_accelerator");
  DesignSpace space(kLibrary, sweep);
  ASSERT_EQ(space.size(), 2);
  for (std::int64_t i = 0; i < 2; ++i) {
    const DesignPoint design = space.design(i);
    ASSERT_TRUE(design.accelerator) << design.problem;
    EXPECT_EQ(design.accelerator->name, i == 0 ? "flexref" : "eyeriss");
    EXPECT_EQ(std::get<std::string>(design.key->axes[0]), i == 0 ? "flexref" : "eyeriss");
  }
  EXPECT_EQ(std::ranges::count(sweep->inputs, "accelerator", &Manifest::Input::what), 2);
  // A key that one of them lacks is refused, as is an accelerator named twice or in `vary:`.
  for (const char* bad : {"accelerator: [flexref, eyeriss]\nworkloads: [alexnet]\nvary: {Buffer.capacity: [64KiB]}",
                          "accelerator: [flexref, flexref]\nworkloads: [alexnet]",
                          "accelerator: flexref\nworkloads: [alexnet]\nvary: {accelerator: [flexref, eyeriss]}"})
    EXPECT_THROW(parse(bad), InputError) << bad;
}

TEST(SweepFile, BatchSizesMakeWorkloads) {
  const Sweep sweep = parse(
      "accelerator: flexref\nworkloads: [{name: net, batch: [1, 8], layers: [\"conv:M=4,C=3,P=5,Q=5,R=3,S=3\", "
      "\"gemm:M=2,N=6,K=4\", \"gemm:M=2,N=6,K=4,B=3\", \"depthwise:C=4,P=5,Q=5,R=3,S=3\"]}]");
  ASSERT_EQ(sweep.workloads.size(), 2U);
  EXPECT_EQ(sweep.workloads[0].name, "net_batch1");
  EXPECT_EQ(sweep.workloads[1].name, "net_batch8");
  const auto size = [&](std::size_t layer, const char* dim) {
    const Layer& found = sweep.workloads[1].layers[layer].layer;
    const int index = found.find_dim(dim);
    return index < 0 ? Count{0} : found.dims[static_cast<std::size_t>(index)].size;
  };
  for (std::size_t l = 0; l < 4; ++l)
    EXPECT_EQ(sweep.workloads[1].layers[l].layer.macs(), 8 * sweep.workloads[0].layers[l].layer.macs()) << l;
  EXPECT_EQ(size(0, "B"), 8);
  EXPECT_EQ(size(1, "M"), 16) << "the weights serve all inputs";
  EXPECT_EQ(size(1, "B"), 0);
  EXPECT_EQ(size(2, "B"), 24) << "independent products";
  EXPECT_EQ(size(3, "B"), 8);
  // A batch of one is the workload itself.
  EXPECT_EQ(sweep.workloads[0].layers[0].layer.dims, parse_layer("conv:M=4,C=3,P=5,Q=5,R=3,S=3", "test").dims);
}

/// Most designs are judged by their hardware alone; the answer is that of each design on its own.
TEST(SweepFile, HardwareIsJudgedAsEveryDesignWouldBe) {
  for (const char* constraint :
       {"area_um2 <= 740000", "area_um2 > 745000", "2e6 / area_um2 >= 2.7", "area_um2 != 736843",
        "area_um2 * area_um2 <= 5.5e11", "area_um2 - 700*PEs.units <= 25000"}) {
    const auto sweep = std::make_shared<const Sweep>(parse(
        "accelerator: flexref\nworkloads: [alexnet]\nvary: {rows: [15, 16, 17], cols: [60, 64]}\nflexibility: all-16\n"
        "constraints: " +
        std::string(constraint)));
    DesignSpace space(kLibrary, sweep), single(kLibrary, sweep);
    int allowed = 0, refused = 0;
    for (std::int64_t i = 0; i < space.size(); ++i) {
      const auto holds = sweep->constraints[0].holds([&](const std::string& name) { return single.value(i, name); });
      ASSERT_TRUE(holds.has_value());
      EXPECT_EQ(space.allowed(i), *holds) << constraint << ", design " << i;
      ++(*holds ? allowed : refused);
    }
    EXPECT_GT(allowed, 0) << constraint;
    EXPECT_GT(refused, 0) << constraint;
  }
}

TEST(SweepFile, SaysWhatNoDesignMeets) {
  const auto sweep = std::make_shared<const Sweep>(parse(
      "accelerator: flexref\nworkloads: [alexnet]\nvary: {rows: [8, 16]}\nconstraints: [area_um2 <= 5, rows > 2]"));
  const std::string text = no_design_left(kLibrary, sweep).what();
  EXPECT_NE(text.find("no design meets `area_um2 <= 5`; here area_um2 runs from "), std::string::npos) << text;
  EXPECT_EQ(text.find("rows > 2"), std::string::npos) << text;
}

/// On every accelerator, also one whose baseline leaves a level without a rule.
TEST(SweepFile, EveryClassIsNamedByItsBits) {
  for (const char* accelerator : {"flexref", "npu"}) {
    const auto sweep = std::make_shared<const Sweep>(
        parse("accelerator: " + std::string(accelerator) + "\nworkloads: [alexnet]\nflexibility: all-16\n"));
    DesignSpace space(kLibrary, sweep);
    for (std::int64_t i = 0; i < space.size(); ++i) {
      const DesignPoint design = space.design(i);
      EXPECT_EQ(design.key->flexibility.substr(design.key->flexibility.find('-') + 1), design.key->class_bits);
    }
    EXPECT_EQ(space.design(0).key->class_bits, "0000") << accelerator;
  }
}

TEST(SweepFile, AllSixteenClasses) {
  const Sweep sweep = parse("accelerator: flexref\nworkloads: [alexnet]\nflexibility: [all-16, PartFlex-1011]\n");
  ASSERT_EQ(sweep.flexibilities.size(), 17U);
  EXPECT_EQ(sweep.flexibilities[0], "InFlex-0000") << "what is fixed is not called full";
  EXPECT_EQ(sweep.flexibilities[11], "FullFlex-1011");
  EXPECT_EQ(sweep.flexibilities[16], "PartFlex-1011");
  // The class of a row is the one that was asked for; the npu's baseline leaves its innermost memories some tiles.
  const auto npu =
      std::make_shared<const Sweep>(parse("accelerator: npu\nworkloads: [alexnet]\nflexibility: all-16\n"));
  DesignSpace space(kLibrary, npu);
  ASSERT_EQ(space.size(), 16);
  EXPECT_EQ(space.design(0).key->class_bits, "0000");
  EXPECT_EQ(space.design(11).key->class_bits, "1011");
}

TEST(SweepFile, LayersByNameAndPattern) {
  const Sweep sweep = parse(
      "accelerator: flexref\nworkloads: [{workload: alexnet, layers: [\"conv*\"], name: convs}, {layers: "
      "[\"gemm:M=4,N=4,K=4\"], name: toy}]");
  ASSERT_EQ(sweep.workloads.size(), 2U);
  EXPECT_EQ(sweep.workloads[0].name, "convs");
  EXPECT_EQ(sweep.workloads[0].layers.size(), 5U);
  EXPECT_EQ(sweep.workloads[1].layers.size(), 1U);
}

TEST(SweepFile, ShippedSweepsLoad) {
  int count = 0;
  SweepOverrides overrides;
  overrides.most_designs = 1'000'000'000'000;  // some are for design searches
  for (const auto& entry : fs::directory_iterator(kSource / "configs" / "sweeps")) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_NO_THROW(load_sweep(kLibrary, entry.path(), overrides)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 2);
}

TEST(SweepFile, BadFilesAreRefusedWithTheExpectedDiagnostics) {
  std::vector<fs::path> files;
  const fs::path folder = kSource / "tests" / "cases" / "bad";
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("sweep_") && entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  EXPECT_GE(files.size(), 20U);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    try {
      load_sweep(kLibrary, file);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      std::string text = error.what() + std::string("\n");
      for (const std::string& prefix : {folder.string() + "/", kSource.string() + "/"})
        for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
          text.erase(at, prefix.size());
      // What is shipped grows; its names are not the point of a case.
      text = std::regex_replace(text, std::regex("one of [0-9]+, such as [^;]+"), "one of <shipped names>");
      const fs::path expected = fs::path(file).replace_extension(".expected");
      if (std::getenv("PLIANT_RECORD_CASES") != nullptr) {
        std::ofstream(expected, std::ios::binary) << text;
      } else {
        EXPECT_EQ(text, text_of(expected));
      }
    }
  }
}

}  // namespace
}  // namespace pliant
