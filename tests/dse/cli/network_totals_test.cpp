// SPDX-License-Identifier: Apache-2.0
// One meaning of a network's energy and time: the same parts however it is mapped.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

using nlohmann::json;

constexpr const char* kNet = R"(name: net
layers:
  - {layer: a, conv: {M: 16, C: 8, P: 14, Q: 14, R: 3, S: 3}}
  - {layer: b, count: 2, conv: {M: 16, C: 16, P: 14, Q: 14, R: 1, S: 1}}
  - {layer: c, gemm: {M: 4, N: 10, K: 784}}
graph:
  - {layer: a}
  - {repeat: 2, from: a, nodes: [{layer: b, from: previous}, {op: add, name: sum, from: [previous, b]}]}
  - {layer: c, from: sum}
)";

class NetworkTotals : public testing::Test {
 protected:
  NetworkTotals() { std::ofstream(folder_.path() / "net.yaml") << kNet; }
  json told(std::vector<std::string> more) const {
    std::vector<std::string> args = {"map", "--accelerator", "npu", "--workload",
                                     (folder_.path() / "net.yaml").string()};
    args.insert(args.end(), more.begin(), more.end());
    args.emplace_back("--json");
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(ran.out);
  }
  TemporaryFolder folder_;
};

double number(const json& of, const char* key) { return of[key].get<double>(); }

/// Everything that is told of the sums adds up to them.
void expect_sums(const json& total) {
  double energy = 0, cycles = 0, by_level = 0, by_bound = 0;
  for (const auto& part : total["parts"]) {
    energy += number(part, "energy_pj");
    cycles += number(part, "runtime_cycles");
  }
  for (const auto& level : total["energy_by_level"]) by_level += number(level, "energy_pj");
  for (const auto& bound : total["time_by_bound"]) by_bound += number(bound, "runtime_cycles");
  EXPECT_NEAR(energy / number(total, "energy_pj"), 1, 1e-9);
  EXPECT_NEAR(cycles / number(total, "runtime_cycles"), 1, 1e-9);
  EXPECT_NEAR(by_level / number(total, "energy_pj"), 1, 1e-9);
  EXPECT_NEAR(by_bound / number(total, "runtime_cycles"), 1, 1e-9);
}

TEST_F(NetworkTotals, PartsAddUpHoweverItIsMapped) {
  for (const std::vector<std::string>& how : std::vector<std::vector<std::string>>{
           {"--network"}, {"--network", "--residency", "off"}, {"--inferences", "50"}, {"--layers"}, {}}) {
    const json all = told(how);
    expect_sums(all["total"]);
    EXPECT_EQ(all["mapped_as"], how == std::vector<std::string>{"--layers"} ? "layers" : "network");
    if (!all.contains("network")) continue;
    EXPECT_EQ(all["total"]["energy_pj"], all["network"]["energy_pj"]);
    EXPECT_EQ(all["total"]["runtime_cycles"], all["network"]["runtime_cycles"]);
    double steps = 0;
    for (const auto& step : all["network"]["steps"]) steps += number(step, "energy_pj");
    EXPECT_NEAR(steps / number(all["total"], "energy_pj"), 1, 1e-9);
    EXPECT_EQ(all["total"]["parts"]["layers"]["count"], 4);
    EXPECT_EQ(all["total"]["parts"]["operators"]["count"], 2);
  }
  EXPECT_GT(number(told({"--network", "--inferences", "50"})["total"]["parts"]["loads"], "runtime_cycles"), 0);
}

// Two sums of 14 x 14 x 16 elements, an operation each.
TEST_F(NetworkTotals, AVectorUnitIsAPartOfThem) {
  for (const char* fusion : {"whole", "tiles"}) {
    const json total = told({"--network", "--fusion", fusion, "--set", "vector={lanes: 1, pj_per_op: 3}"})["total"];
    expect_sums(total);
    EXPECT_EQ(number(total["energy_by_level"].back(), "vector_pj"), 2 * 14 * 14 * 16 * 3);
    EXPECT_EQ(number(total["parts"]["operators"], "runtime_cycles"), 2 * 14 * 14 * 16);
  }
}

// The fastest layers one by one and what they leave out are the fastest network with every tensor outside.
TEST_F(NetworkTotals, LayersOneByOneSayWhatTheyLeaveOut) {
  const json layers = told({"--objective", "runtime", "--layers"})["total"],
             network = told({"--objective", "runtime", "--network", "--residency", "off"})["total"];
  EXPECT_EQ(layers["parts"]["operators"]["count"], 0);
  EXPECT_GT(number(layers["left_out"]["operators"], "runtime_cycles"), 0);
  EXPECT_EQ(layers["left_out"]["operators"], network["parts"]["operators"]);
  EXPECT_NEAR((number(layers, "runtime_cycles") + number(layers["left_out"]["operators"], "runtime_cycles")) /
                  number(network, "runtime_cycles"),
              1, 1e-9);
  // 2 sums, each reads 2 x 14 x 14 x 16 bytes and writes half of that; DRAM's bus is the slowest on the way, and takes
  // whole cycles: 368 for 367.5.
  const double words = 3 * 14 * 14 * 16;
  const json npu = json::parse(run({"show", "accelerator", "npu", "--json"}).out);
  EXPECT_EQ(number(layers["left_out"]["operators"], "runtime_cycles"),
            2 * std::ceil(words / number(npu["levels"][0], "bus_words_per_cycle")));
}

// A workload that knows its graph is a network unless layers are asked for, or something that only layers have.
TEST_F(NetworkTotals, WhatKnowsItsGraphIsANetwork) {
  EXPECT_EQ(told({})["network"], told({"--network"})["network"]);
  EXPECT_TRUE(told({"--inferences", "20"})["network"].contains("weights"));
  EXPECT_LT(number(told({})["total"], "edp_pj_cycles"), number(told({"--residency", "off"})["total"], "edp_pj_cycles"));
  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{{"--layers"},
                                             {"--mapper", "random", "--mapper-option", "victory=20"},
                                             {"--objective", "edp-over-utilization"}})
    EXPECT_EQ(told(how)["mapped_as"], "layers");
  const std::vector<std::string> words = {"map", "--accelerator", "npu", "--workload",
                                          (folder_.path() / "net.yaml").string()};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run(more);
  };
  EXPECT_NE(with({}).out.find("net as a network: tensors stay on chip where that is best; --layers maps"),
            std::string::npos);
  const std::string layers = with({"--layers"}).out;
  EXPECT_NE(layers.find("not in them: 2 operators without MACs"), std::string::npos) << layers;
  EXPECT_EQ(with({"--layers", "--network"}).code, 2);
  EXPECT_EQ(with({"--layers", "--deadline", "1e9", "--objective", "energy"}).code, 2);
  EXPECT_EQ(with({"--layers", "--inferences", "2"}).code, 2);
}

}  // namespace
}  // namespace pliant
