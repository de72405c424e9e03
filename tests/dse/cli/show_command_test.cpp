// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/input/load.h"
#include "support/ran_command.h"

namespace pliant {
namespace {

TEST(ShowCommand, DrawsTheChainOfAnAccelerator) {
  const Ran shown = run({"show", "accelerator", "eyeriss"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  for (const char* part : {"168 MAC units", "GlobalBuffer", "keeps I . O", "SACols: 1 rows × 14 cols", "×168",
                           "256 KiB", "InRegister: [[S, R, Q, P, C, M]]"}) {
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << "\n" << shown.out;
  }
}

TEST(ShowCommand, TellsOfTheVectorUnitAndTheLinks) {
  const std::string text = run({"show", "accelerator", "h200", "--set", "vector.lanes=77"}).out;
  EXPECT_NE(text.find("lanes: 77"), std::string::npos);
  EXPECT_NE(text.find("gb_per_s: 450"), std::string::npos);
  EXPECT_EQ(run({"show", "accelerator", "npu"}).out.find("vector unit"), std::string::npos);
  const auto json = nlohmann::json::parse(run({"show", "accelerator", "h200", "--json"}).out);
  EXPECT_EQ(json["vector"]["lanes"], 16896);
  EXPECT_EQ(json["vector"]["ops"]["softmax"], 5);
  EXPECT_EQ(json["links"]["topology"], "switch");
}

TEST(ShowCommand, AsciiHasNothingElse) {
  const Ran shown = run({"show", "accelerator", "eyeriss", "--ascii"});
  for (const char c : shown.out) EXPECT_LT(static_cast<unsigned char>(c), 0x80U);
}

TEST(ShowCommand, EveryShippedFileIsRanInEveryForm) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const auto check = [](const std::string& kind, const std::string& name) {
    SCOPED_TRACE(kind + " " + name);
    EXPECT_EQ(run({"show", kind, name}).code, 0);
    EXPECT_EQ(run({"show", kind, name, "--yaml"}).code, 0);
    const Ran json = run({"show", kind, name, "--json"});
    ASSERT_EQ(json.code, 0) << json.err;
    EXPECT_EQ(nlohmann::json::parse(json.out)["schema"], 3);
  };
  for (const std::string& name : library.accelerator_names()) check("accelerator", name);
  for (const std::string& name : library.workload_names()) check("workload", name);
}

TEST(ShowCommand, SettingsScaleEnergies) {
  const auto energy = [](const std::vector<std::string>& more) {
    std::vector<std::string> args{"show", "accelerator", "eyeriss", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    return nlohmann::json::parse(run(args).out)["levels"][1]["read_pj"].get<double>();
  };
  EXPECT_DOUBLE_EQ(energy({}), 2.02);
  EXPECT_LT(energy({"--set", "GlobalBuffer.capacity=64KiB"}), 2.02);
  EXPECT_GT(energy({"--set", "GlobalBuffer.capacity=1MiB"}), 2.02);
  EXPECT_DOUBLE_EQ(energy({"--set", "GlobalBuffer.capacity=1MiB", "--set", "GlobalBuffer.read_pj=7"}), 7);
}

TEST(ShowCommand, LayersByNameAndInPlace) {
  EXPECT_NE(run({"show", "layer", "conv1", "--workload", "resnet50"}).out.find("118013952 MACs"), std::string::npos);
  const Ran in_place = run({"show", "layer", "conv:M=64,C=3,P=112,Q=112,R=7,S=7,stride=2", "--json"});
  EXPECT_EQ(nlohmann::json::parse(in_place.out)["tensors"][0]["words"], 3 * 229 * 229);
}

TEST(ShowCommand, BadInputEndsWithTwoAndNothingOnStandardOutput) {
  const std::vector<std::vector<std::string>> bad{{"show"},
                                                  {"show", "acelerator", "eyeriss"},
                                                  {"show", "accelerator", "eyeris"},
                                                  {"show", "accelerator", "eyeriss", "--set", "GLB.capacity=3"},
                                                  {"show", "accelerator", "eyeriss", "--sett", "a=b"},
                                                  {"show", "layer", "conv:M=1"},
                                                  {"show", "layer", "conv1_x", "--workload", "resnet50"},
                                                  {"shwo", "accelerator"},
                                                  {}};
  for (const auto& args : bad) {
    const Ran shown = run(args);
    EXPECT_EQ(shown.code, 2);
    EXPECT_EQ(shown.out, "");
    EXPECT_NE(shown.err, "");
  }
  EXPECT_NE(run({"shwo"}).err.find("did you mean show?"), std::string::npos);
  EXPECT_NE(run({"show", "accelerator", "eyeris"}).err.find("did you mean eyeriss?"), std::string::npos);
}

TEST(ShowCommand, EveryCommandHasHelpWithAnExample) {
  EXPECT_EQ(run({"--help"}).code, 0);
  for (const Command& command : commands()) {
    const Ran shown = run({std::string(command.name), "--help"});
    EXPECT_EQ(shown.code, 0) << command.name;
    EXPECT_NE(shown.out.find("example"), std::string::npos) << command.name;
  }
}

}  // namespace
}  // namespace pliant
