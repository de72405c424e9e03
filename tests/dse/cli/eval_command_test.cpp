// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/layer.h"
#include "support/ran_command.h"

namespace pliant {
namespace {

using nlohmann::json;

class EvalCommand : public ::testing::Test {
 protected:
  static Ran run(std::vector<std::string> args) {
    args.insert(args.begin(), "eval");
    return pliant::run(args);
  }
  static std::string written(const std::string& name, const std::string& text) {
    const std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) / (std::to_string(::getpid()) + "-" + name);
    std::ofstream(path) << text;
    return path.string();
  }
  static std::string mapping(Count n_at_dram = 8) {
    return written("mapping" + std::to_string(n_at_dram) + ".yaml",
                   "pliant: mapping\nlevels:\n"
                   "  - level: DRAM\n    temporal: [{K: 4}, {N: " +
                       std::to_string(n_at_dram) +
                       "}]\n"
                       "  - level: GlobalBuffer\n    temporal: [{M: 16}, {K: 4}]\n"
                       "  - level: SACols\n    cols: [{N: 8}]\n");
  }
  static std::vector<std::string> with(const std::string& file, std::vector<std::string> more = {}) {
    std::vector<std::string> args{"--accelerator", "eyeriss", "--layer", "gemm:M=16,N=64,K=16", "--mapping", file};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
};

TEST_F(EvalCommand, TableForPeople) {
  const Ran ran = run(with(mapping(), {"--ascii"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {"bound by", "utilization", "EDP", "where energy goes", "where time goes",
                           "how full the buffers are", "loop nest", "GlobalBuffer", "Weights", "#"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  for (const char c : ran.out) EXPECT_EQ(static_cast<unsigned char>(c) & 0x80, 0);
}

TEST_F(EvalCommand, JsonIsTheContract) {
  const Ran ran = run(with(mapping(), {"--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json result = json::parse(ran.out);
  EXPECT_EQ(result.at("schema"), 3);
  EXPECT_EQ(result.at("macs"), 16 * 64 * 16);
  EXPECT_EQ(result.at("compute_steps"), 16 * 8 * 16);
  EXPECT_DOUBLE_EQ(result.at("edp_pj_cycles").get<double>(),
                   result.at("energy_pj").get<double>() * result.at("runtime_cycles").get<double>());
  for (const char* key : {"area_um2", "utilization", "bound_by", "levels", "mapping", "conventions"})
    EXPECT_TRUE(result.contains(key)) << key;
  double energy = result.at("compute").at("energy_pj").get<double>();
  for (const json& level : result.at("levels")) {
    if (level.at("kind") != "memory") continue;
    double of_level = 0;
    for (const auto& [tensor, counts] : level.at("tensors").items()) of_level += counts.at("energy_pj").get<double>();
    EXPECT_NEAR(of_level, level.at("energy_pj").get<double>(), 1e-6);
    energy += of_level;
  }
  EXPECT_NEAR(energy, result.at("energy_pj").get<double>(), 1e-6 * energy);
  // The mapping of a result is a mapping file.
  const Ran again = run(with(written("again.json", result.at("mapping").dump()), {"--json"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, ran.out);
}

TEST_F(EvalCommand, ConventionsAndSettings) {
  const json physical = json::parse(run(with(mapping(), {"--json"})).out);
  const json timeloop = json::parse(run(with(mapping(), {"--json", "--conventions", "timeloop"})).out);
  EXPECT_EQ(timeloop.at("conventions"), "timeloop");
  EXPECT_LT(timeloop.at("energy_pj"), physical.at("energy_pj"));  // draining is free there
  const json costly = json::parse(run(with(mapping(), {"--json", "--set", "DRAM.read_pj=640"})).out);
  EXPECT_GT(costly.at("energy_pj"), physical.at("energy_pj"));
}

TEST_F(EvalCommand, IllegalMappingsNameEveryLimit) {
  const Ran short_of = run(with(mapping(4)));
  EXPECT_EQ(short_of.code, 3);
  EXPECT_NE(short_of.err.find("not legal"), std::string::npos);
  EXPECT_NE(short_of.err.find("N"), std::string::npos);
  EXPECT_TRUE(short_of.out.empty());
  const Ran as_json = run(with(mapping(4), {"--json"}));
  EXPECT_EQ(as_json.code, 3);
  EXPECT_FALSE(json::parse(as_json.out).at("violations").empty());
  const Ran tight = run(with(mapping(), {"--set", "GlobalBuffer.capacity=8"}));
  EXPECT_EQ(tight.code, 3);
  EXPECT_NE(tight.err.find("GlobalBuffer"), std::string::npos) << tight.err;
}

TEST_F(EvalCommand, RemaindersNeedTheirRule) {
  const std::string file =
      written("odd.yaml",
              "pliant: mapping\nlevels:\n  - level: DRAM\n    temporal: [{K: 16}, {M: 16}, {N: 5}]\n"
              "  - level: SACols\n    cols: [{N: 14}]\n");
  EXPECT_EQ(run(with(file)).code, 3);
  EXPECT_EQ(run(with(file, {"--factorization", "ruby-s"})).code, 0);
}

TEST_F(EvalCommand, BadInput) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"--help"}).code, 0);
  EXPECT_EQ(run({"--nonsense"}).code, 2);
  EXPECT_EQ(run(with("absent.yaml")).code, 2);
  EXPECT_NE(run(with(mapping(), {"--conventions", "timeloup"})).err.find("did you mean"), std::string::npos);
  EXPECT_NE(run(with(mapping(), {"--factorization", "rubys"})).err.find("unknown rule"), std::string::npos);
  const Ran unknown = run({"--accelerator", "eyris", "--layer", "gemm:M=4,N=4,K=4", "--mapping", mapping()});
  EXPECT_EQ(unknown.code, 2);
}

}  // namespace
}  // namespace pliant
