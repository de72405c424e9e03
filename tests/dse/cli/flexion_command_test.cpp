// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

Ran flexion(std::vector<std::string> args) {
  args.insert(args.begin(), "flexion");
  return run(args);
}

TEST(FlexionCommand, JsonHasPublishedValuesForEveryLayerAndTheModel) {
  const Ran answer = flexion({"--accelerator", "flexref", "--workload", "flexpaper_mnasnet", "--no-tuples", "--json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["schema"], 3);
  std::map<std::string, nlohmann::json> designs;
  for (const auto& design : json["designs"]) designs[design["flexibility"]] = design;
  ASSERT_EQ(designs.size(), 13u);
  const std::map<std::string, double> model{
      {"InFlex-0001", 0.018}, {"PartFlex-0001", 0.0395}, {"PartFlex-0001-B", 0.1966}, {"FullFlex-0001", 0.983}};
  for (const auto& [name, w_f] : model) {
    const auto& axis = designs.at(name)["mean"]["axes"][0];
    EXPECT_EQ(axis["axis"], "S");
    EXPECT_NEAR(axis["w_f"].get<double>(), w_f, 1e-4) << name;
    EXPECT_EQ(designs.at(name)["layers"].size(), 52u);
  }
  const auto& layer = designs.at("PartFlex-0100")["layers"][15];
  EXPECT_EQ(layer["layer"], "L16");
  EXPECT_EQ(layer["axes"][0]["size_c"], "720");
  EXPECT_EQ(layer["axes"][0]["size_a"], "3");
  EXPECT_EQ(layer["axes"][0]["size_w"], "24");
  EXPECT_EQ(layer["axes"][0]["size_a_and_w"], "3");
  EXPECT_DOUBLE_EQ(layer["axes"][0]["w_f"].get<double>(), 3.0 / 24);
}

TEST(FlexionCommand, OneDesignShowsItsAxesAndItsClass) {
  const Ran answer =
      flexion({"--accelerator", "flexref", "--flexibility", "PartFlex-0101", "--layer", "gemm:M=64,N=32,K=16"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("class 0101, O x S: H-F"), std::string::npos) << answer.out;
  const Ran preset = flexion({"--accelerator", "flexref", "--flexibility", "maeri", "--layer", "gemm:M=64,N=32,K=16"});
  EXPECT_EQ(preset.code, 0) << preset.err;
}

TEST(FlexionCommand, DrawsOneFileForEachAxis) {
  const TemporaryFolder temporary;
  const auto folder = temporary.path() / "venn";
  const Ran answer =
      flexion({"--accelerator", "flexref", "--workload", "flexpaper_mnasnet", "--no-tuples", "--svg", folder.string()});
  ASSERT_EQ(answer.code, 0) << answer.err;
  for (const char* file : {"tile_volume.svg", "order.svg", "parallel.svg", "shape.svg"})
    EXPECT_GT(std::filesystem::file_size(folder / file), 1000u) << file;
}

TEST(FlexionCommand, BadInputEndsWithTwo) {
  EXPECT_EQ(flexion({}).code, 2);
  EXPECT_EQ(flexion({"--accelerator", "flexref"}).code, 2);
  EXPECT_EQ(flexion({"--accelerator", "flexref", "--layer", "gemm:M=4,N=4,K=4", "--flexibility", "10"}).code, 2);
  const Ran none = flexion({"--accelerator", "eyeriss", "--layer", "gemm:M=4,N=4,K=4", "--flexibility", "0000"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("baseline"), std::string::npos);
  EXPECT_EQ(flexion({"--help"}).code, 0);
}

}  // namespace
}  // namespace pliant
