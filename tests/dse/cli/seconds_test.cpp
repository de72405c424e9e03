// SPDX-License-Identifier: Apache-2.0
// Seconds, watts and operations per second, from the accelerator's clock to every command that shows them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

using nlohmann::json;

constexpr const char* kWorkload = R"(name: steps
inferences: 2
tokens: 6
layers:
  - {layer: one, gemm: {M: 8, N: 16, K: 8}}
  - {layer: two, count: 3, gemm: {M: 4, N: 4, K: 64}}
)";

constexpr const char* kLimitedSweep = R"(name: limited
accelerator: flexref
set: {clock: 500 MHz, DRAM.bandwidth: 640 GB/s}
workloads: steps.yaml
vary: {rows: [2, 4, 8]}
flexibility: ["1111"]
)";

class Seconds : public testing::Test {
 protected:
  void SetUp() override { write("steps.yaml", kWorkload); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  json answer(const std::vector<std::string>& args) const {
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(ran.out);
  }
  TemporaryFolder folder_;
};

TEST_F(Seconds, WithoutAClockEverythingIsNull) {
  const json map = answer({"map", "--accelerator", "flexref", "--layer", "gemm:M=8,N=8,K=8", "--json"});
  for (const char* key : {"clock_hz", "latency_s", "power_w", "tops", "peak_tops", "tops_per_w", "energy_mj",
                          "chip_power_w", "off_chip_power_w", "leakage_power_w"})
    EXPECT_TRUE(map.contains(key) && map[key].is_null()) << key;
  EXPECT_TRUE(map["levels"][0]["gb_per_s"].is_null());
  EXPECT_EQ(run({"map", "--accelerator", "flexref", "--layer", "gemm:M=8,N=8,K=8"}).out.find("TOPS"),
            std::string::npos);
}

TEST_F(Seconds, OfOneLayerFollowFromCyclesAndPicojoules) {
  const json map =
      answer({"map", "--accelerator", "flexref", "--layer", "gemm:M=8,N=8,K=8", "--set", "clock=2 GHz", "--json"});
  const double cycles = map["runtime_cycles"], pj = map["energy_pj"], seconds = map["latency_s"];
  EXPECT_DOUBLE_EQ(seconds, cycles / 2e9);
  EXPECT_DOUBLE_EQ(map["power_w"], pj * 1e-12 / seconds);
  EXPECT_DOUBLE_EQ(map["tops"], 2 * 512 / seconds * 1e-12);
  EXPECT_DOUBLE_EQ(map["tops_per_w"].get<double>(), map["tops"].get<double>() / map["power_w"].get<double>());
  EXPECT_DOUBLE_EQ(map["peak_tops"], 2 * 1024 * 2e9 * 1e-12);
  // DRAM: inputs, weights and outputs once each, 64 words of a byte.
  EXPECT_DOUBLE_EQ(map["levels"][0]["gb_per_s"], 3 * 64 / seconds * 1e-9);
}

TEST_F(Seconds, PowerIsTheChipsAndThatOfTheMemoryBesideIt) {
  const json map = answer({"map", "--accelerator", "npu", "--layer", "gemm:M=64,N=64,K=64", "--json"});
  const double seconds = map["latency_s"];
  double off_chip = 0, leaks = map["compute"]["leakage_pj"];
  for (const json& level : map["levels"]) {
    if (level["name"] == "DRAM") off_chip += level["energy_pj"].get<double>();
    if (level["kind"] == "memory") leaks += level["leakage_pj"].get<double>();
  }
  EXPECT_GT(leaks, 0);
  EXPECT_DOUBLE_EQ(map["off_chip_power_w"], off_chip * 1e-12 / seconds);
  EXPECT_NEAR(map["chip_power_w"].get<double>() + map["off_chip_power_w"].get<double>(), map["power_w"].get<double>(),
              1e-12);
  EXPECT_NEAR(map["leakage_power_w"].get<double>(), leaks * 1e-12 / seconds, 1e-12);
  EXPECT_NE(run({"map", "--accelerator", "npu", "--layer", "gemm:M=64,N=64,K=64"}).out.find("DRAM "),
            std::string::npos);
}

/// Where no technology is named; a technology's leakage counts as soon as there is a clock.
TEST_F(Seconds, TheClockChangesNoMapping) {
  write(
      "plain.yaml",
      "pliant: accelerator\nname: plain\nlevels:\n  - {memory: DRAM, capacity: unbounded, read_pj: 64, write_pj: 64}\n"
      "  - {memory: Buffer, capacity: 24, read_pj: 2, write_pj: 2}\n  - {compute: MAC, mac_pj: 1}\n");
  const std::vector<std::string> args{"map",     "--accelerator",    path("plain.yaml"),
                                      "--layer", "gemm:M=6,N=4,K=4", "--json"};
  json without = answer(args);
  std::vector<std::string> clocked = args;
  clocked.insert(clocked.end(), {"--set", "clock=1 GHz"});
  const json with = answer(clocked);
  for (const char* key : {"mapping", "runtime_cycles", "value"}) EXPECT_EQ(with[key], without[key]) << key;
}

TEST_F(Seconds, NetworkTotalsAddUp) {
  const json map =
      answer({"map", "--accelerator", "flexref", "--workload", path("steps.yaml"), "--set", "clock=1 GHz", "--json"});
  const json& total = map["total"];
  double pj = 0, cycles = 0, macs = 0;
  for (const json& layer : map["layers"]) {
    pj += layer["count"].get<double>() * layer["energy_pj"].get<double>();
    cycles += layer["count"].get<double>() * layer["runtime_cycles"].get<double>();
    macs += layer["count"].get<double>() * layer["macs"].get<double>();
  }
  EXPECT_DOUBLE_EQ(total["energy_pj"], pj);
  EXPECT_DOUBLE_EQ(total["latency_s"], cycles / 1e9);
  EXPECT_DOUBLE_EQ(total["tops"], 2 * macs / cycles * 1e-3);
  EXPECT_DOUBLE_EQ(total["inferences_per_s"], 2e9 / cycles);
  EXPECT_DOUBLE_EQ(total["tokens_per_s"], 6e9 / cycles);
  double by_level = 0, by_tensor = 0, by_bound = 0;
  for (const json& level : total["energy_by_level"]) {
    by_level += level["energy_pj"].get<double>();
    for (const char* part : {"inputs_pj", "weights_pj", "outputs_pj", "macs_pj", "leakage_pj"})
      by_tensor += level[part].get<double>();
  }
  for (const json& bound : total["time_by_bound"]) by_bound += bound["runtime_cycles"].get<double>();
  EXPECT_NEAR(by_level, pj, 1e-9 * pj);
  EXPECT_NEAR(by_tensor, pj, 1e-9 * pj);
  EXPECT_DOUBLE_EQ(by_bound, cycles);
  const Ran text = run({"map", "--accelerator", "flexref", "--workload", path("steps.yaml"), "--set", "clock=1 GHz"});
  for (const char* words : {"inferences/s", "tokens/s", "TOPS/W", "where the network's energy goes", "what bounds its"})
    EXPECT_NE(text.out.find(words), std::string::npos) << words;
}

/// The NPU of docs/formats.md: 25 lines that answer in ms, W and TOPS/W.
TEST_F(Seconds, TheNpuOfTheDocs) {
  std::ifstream stream(PLIANT_SOURCE_DIR "/docs/formats.md");
  std::string listing;
  int lines = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line == "```") {
      if (listing.find("name: my_npu") != std::string::npos) break;
      listing.clear();
    } else if (line == "```yaml") {
      listing.clear();
      lines = 0;
    } else {
      listing += line + "\n";
      ++lines;
    }
  }
  ASSERT_NE(listing.find("name: my_npu"), std::string::npos);
  EXPECT_LE(lines, 25);
  write("npu.yaml", listing);
  struct Network {
    const char* name;
    double macs;
    double weights;
  };
  for (const Network& network : {Network{"mobilenet_v2", 300.8e6, 3.47e6}, Network{"bert_base_seq512", 48.32e9, 0}}) {
    const json total = answer(
        {"map", "--accelerator", path("npu.yaml"), "--workload", network.name, "--budget", "500ms", "--json"})["total"];
    EXPECT_EQ(total["complete"], true) << network.name;
    // 1024 units at 1 GHz; every weight is read once at 25.6 GB/s.
    EXPECT_GE(total["latency_s"].get<double>(), 0.999 * network.macs / 1024e9) << network.name;
    EXPECT_GE(total["latency_s"].get<double>(), network.weights / 25.6e9) << network.name;
    EXPECT_LE(total["tops"].get<double>(), 2.048) << network.name;
    // At least the MACs' own 0.1 pJ each; at most what every operand from DRAM at 5.6 pJ/bit would cost.
    EXPECT_GE(total["energy_mj"].get<double>(), 0.999 * network.macs * 0.1e-9) << network.name;
    EXPECT_LE(total["energy_mj"].get<double>(), network.macs * 4 * 44.8e-9) << network.name;
    EXPECT_GT(total["power_w"].get<double>(), 0) << network.name;
    EXPECT_GT(total["tops_per_w"].get<double>(), 0) << network.name;
  }
}

TEST_F(Seconds, ConstraintsOnResultsFilterRowsAndFrontiers) {
  write("open.yaml", kLimitedSweep);
  ASSERT_EQ(run({"sweep", path("open.yaml"), "-o", path("open"), "--progress", "none"}).code, 0);
  const json all = answer({"query", path("open"), "--sort", "latency_s", "--json"})["rows"];
  ASSERT_EQ(all.size(), 3U);
  const double fastest = all[0]["latency_s"], slowest = all[2]["latency_s"];
  ASSERT_LT(fastest, slowest);
  EXPECT_GE(slowest, 4096.0 / (2 * 64) / 500e6) << "4,096 MACs on 2 x 64 units";

  const json asked = answer({"pareto", path("open"), "--minimize", "area_um2", "--where",
                             "latency_s <= " + json(fastest * 1.0001).dump(), "--json"});
  ASSERT_EQ(asked["groups"][0]["frontier"].size(), 1U);
  EXPECT_EQ(asked["groups"][0]["frontier"][0]["latency_s"], fastest);
  EXPECT_EQ(run({"pareto", path("open"), "--where", "latency_s < 1e-12"}).code, 2);

  write("closed.yaml", std::string(kLimitedSweep) + "constraints: [latency_s < " + all[2]["latency_s"].dump() + "]\n");
  const Ran swept = run({"sweep", path("closed.yaml"), "-o", path("closed"), "--progress", "none"});
  ASSERT_EQ(swept.code, 0) << swept.err;
  const json left = answer({"query", path("closed"), "--json"})["rows"];
  const json over =
      answer({"query", path("closed"), "--where", "status == over_limit", "--json", "--select", "all"})["rows"];
  ASSERT_FALSE(over.empty());
  EXPECT_EQ(left.size() + over.size(), 3U);
  for (const json& row : left) EXPECT_LT(row["latency_s"].get<double>(), all[2]["latency_s"].get<double>());
  EXPECT_NE(over[0]["reason"].get<std::string>().find("latency_s"), std::string::npos);
  const json frontier = answer({"pareto", path("closed"), "--minimize", "area_um2", "--json"});
  EXPECT_EQ(frontier["over_limit"], over.size());
  for (const json& row : frontier["groups"][0]["frontier"]) EXPECT_EQ(row["status"], "solved");
  EXPECT_EQ(run({"verify", path("closed"), "--sweep", path("closed.yaml"), "--prove", "0"}).code, 0);

  write("unclocked.yaml", "name: u\naccelerator: flexref\nworkloads: steps.yaml\nconstraints: [power_w <= 2]\n");
  const Ran refused = run({"sweep", path("unclocked.yaml"), "-o", path("u"), "--progress", "none"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("has no clock"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace pliant
