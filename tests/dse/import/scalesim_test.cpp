// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/import/formats.h"
#include "support/import_texts.h"

namespace pliant {
namespace {

constexpr std::string_view kConv =
    "\xEF\xBB\xBFLayer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\r\n"
    "Conv1, 224, 224, 7, 7, 3, 64, 2,\r\n"
    ",,,,,,,\r\n"
    "\tConv1, 56, 58, 3, 3, 64, 64, 1,\r\n"
    "Second block,\r\n"
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\r\n"
    "DP2, 14, 14, 3, 3, 32, 1, 1,\r\n";

TEST(ScaleSim, ReadsConvolutionsWithByteOrderMarkHeadingsAndDoubledHeaders) {
  const Imported imported = import_text("auto", "net.csv", kConv);
  ASSERT_EQ(imported.workloads.size(), 1u);
  const auto& layers = imported.workloads[0].layers;
  ASSERT_EQ(layers.size(), 3u);
  // ceil((224 - 7 + 2) / 2) = 110 outputs along each side.
  EXPECT_EQ(layers[0].layer.written_as, "conv:M=64,C=3,P=110,Q=110,R=7,S=7,stride=2");
  EXPECT_EQ(layers[1].layer.name, "Conv1_2");
  EXPECT_EQ(layers[1].layer.written_as, "conv:M=64,C=64,P=54,Q=56,R=3,S=3");
  EXPECT_EQ(layers[2].layer.operation, Operation::kDepthwise);
  EXPECT_EQ(layers[2].layer.macs(), 32 * 12 * 12 * 9);
  EXPECT_EQ(imported.choices.size(), 3u);  // the heading, the second header, the depthwise row
}

TEST(ScaleSim, ReadsGemmsAndTabs) {
  const Imported gemm = import_text("auto", "g.csv", "Layer, M, N, K,\nfc, 5, 7, 9,\n");
  EXPECT_EQ(gemm.workloads.at(0).layers.at(0).layer.written_as, "gemm:M=5,N=7,K=9");
  const Imported tabs = import_text("auto", "t.csv",
                                    "Layer name\tIFMAP Height\tIFMAP Width\tFilter Height\tFilter Width\tChannels\tNum "
                                    "Filter\tStrides\t\nA\t8\t8\t1\t1\t2\t4\t1\t\n");
  EXPECT_EQ(tabs.workloads.at(0).layers.at(0).layer.macs(), 8 * 8 * 2 * 4);
}

TEST(ScaleSim, OurOwnTablesAreNotMistakenForIt) {
  EXPECT_EQ(recognise({"t.csv", "name,M,N,K,B,count\na,1,2,3,1,1\n"}), nullptr);
  EXPECT_EQ(recognise({"t.csv", "name,operation,M,C,P,Q,R,S\na,conv,1,2,3,1,1,1\n"}), nullptr);
}

TEST(ScaleSim, BadRowsHaveAPlace) {
  const std::string header =
      "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Strides,\n";
  EXPECT_EQ(import_error("scalesim", "n.csv", header + "L,1,B,1,1,H,4,1,\n"),
            "n.csv:2:5: IFMAP width: `B` is not a size; expected a whole number of at least 1\n"
            "n.csv:2:11: channels: `H` is not a size; expected a whole number of at least 1\n");
  EXPECT_EQ(import_error("scalesim", "n.csv", header + "L,2,2,3,3,1,4,1,\n"),
            "n.csv:2:7: filter: a 3 x 3 filter does not fit a 2 x 2 input; expected an input that is already padded\n");
  EXPECT_EQ(import_error("scalesim", "n.csv", header + "L,4000000000,4000000000,1,1,4000000000,4,1,\n"),
            "n.csv:2:3: the MACs of this layer are too many; expected fewer than 2^62\n");
  EXPECT_NE(import_error("scalesim", "n.csv", header + "L\xFF,2,2,1,1,1,4,1,\n").find("not UTF-8"), std::string::npos);
}

TEST(ScaleSim, SparseRowsAreRefusedOrListed) {
  const std::string text = "Layer Name, M, N, K, Sparsity,\nA, 3, 5, 16, 3:4,\nB, 3, 5, 16, 4:4,\n";
  EXPECT_EQ(
      import_error("scalesim", "s.csv", text),
      "s.csv:2:14: sparsity: the sparsity 3:4 of `A`; expected a file without it, or --lenient to leave it out\n");
  const Imported lenient = import_text("scalesim", "s.csv", text, {.lenient = true});
  EXPECT_EQ(lenient.workloads.at(0).layers.size(), 1u);
  ASSERT_EQ(lenient.left_out.size(), 1u);
  EXPECT_EQ(lenient.left_out[0].text(), "s.csv:2: sparsity: the sparsity 3:4 of `A`");
}

constexpr std::string_view kConfiguration = R"([general]
run_name = small array
[architecture_presets]
ArrayHeight:    12
ArrayWidth:     14
IfmapSramSzkB:    36
FilterSramSzkB:   18
OfmapSramSzkB:    9
Dataflow : ws
Bandwidth : 10
[run_presets]
InterfaceBandwidth: USER
)";

TEST(ScaleSim, AConfigurationIsASystolicArray) {
  const Imported imported = import_text("auto", "array.cfg", kConfiguration);
  const Accelerator array =
      parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"), imported.accelerators.at(0).yaml, "array");
  EXPECT_EQ(array.name, "small_array");
  EXPECT_EQ(array.macs_units(), 12 * 14);
  EXPECT_EQ(array.levels.at(static_cast<std::size_t>(array.find_level("Array"))).fanout().systolic, Role::kWeight);
  const Memory& weights = array.levels.at(static_cast<std::size_t>(array.find_level("FilterSRAM"))).memory();
  EXPECT_EQ(weights.capacity_words, 18 * 1024);
  EXPECT_EQ(weights.buffers, 2);
  EXPECT_EQ(weights.write_words_per_cycle, 10.0);
  EXPECT_GT(weights.read_pj, 0);
  const Layer gemm = make_gemm("g", {.M = 8, .N = 28, .K = 24});
  const auto& rule = array.flexibility_of(gemm).levels.at(static_cast<std::size_t>(array.find_level("Array"))).parallel;
  ASSERT_EQ(rule.assignments.size(), 1u);
  EXPECT_EQ(rule.assignments[0].rows, std::vector<std::string>{"K"});
  EXPECT_EQ(rule.assignments[0].cols, std::vector<std::string>{"N"});
}

TEST(ScaleSim, BadConfigurationsHaveAPlace) {
  std::string text(kConfiguration);
  text.replace(text.find("ws"), 2, "xy");
  EXPECT_EQ(import_error("auto", "a.cfg", text), "a.cfg:9:1: Dataflow: unknown dataflow `xy`; expected os, ws or is\n");
  EXPECT_NE(import_error("auto", "a.cfg", std::string(kConfiguration) + "[sparsity]\nSparsitySupport : true\n")
                .find("a.cfg:14:1: SparsitySupport: sparse computation"),
            std::string::npos);
}

}  // namespace
}  // namespace pliant
