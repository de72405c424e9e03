// SPDX-License-Identifier: Apache-2.0
// `pliant pareto --uncertain`: which designs stay on the frontier when figures are not what the file says.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "dse/sweep/repricing.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

using nlohmann::json;

constexpr const char* kSensitiveSweep = R"(name: small
accelerator: flexref
workloads:
  - {name: one, layers: ["gemm:M=24,N=16,K=32", "conv:M=16,C=8,P=7,Q=7,R=3,S=3"]}
vary: {rows: [2, 4, 8], Buffer.capacity: [512, 2Ki, 8Ki]}
flexibility: ["0000", "1111"]
)";

class Sensitivity : public testing::Test {
 protected:
  void SetUp() override { sweep("small", ""); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void sweep(const std::string& name, const std::string& more) const {
    std::ofstream(path(name + ".yaml")) << kSensitiveSweep << more;
    const Ran ran = run({"sweep", path(name + ".yaml"), "-o", path(name), "--progress", "none"});
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  json group(const std::string& name, std::vector<std::string> more) const {
    std::vector<std::string> args{"pareto", path(name), "--minimize", "area_um2,energy_pj", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(ran.out)["groups"][0];
  }
  std::vector<std::string> uncertain(const std::string& figures, bool remap = false) const {
    std::vector<std::string> args{"--uncertain", figures, "--sweep", path("small.yaml")};
    if (remap) args.emplace_back("--remap");
    return args;
  }
  static std::set<int> ids(const json& rows) {
    std::set<int> all;
    for (const json& row : rows) all.insert(row["design_id"].get<int>());
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(Sensitivity, EveryDesignOfTheFrontierIsCounted) {
  const json found = group("small", uncertain("DRAM.read_pj 30%, Buffer.* 20%"));
  const json& uncertain = found["uncertain"];
  EXPECT_EQ(uncertain["combinations"], 4);
  std::set<int> now;
  for (const json& design : uncertain["designs"]) {
    EXPECT_LE(design["stays_in"].get<int>(), 4);
    if (design["on_frontier"].get<bool>()) now.insert(design["design_id"].get<int>());
  }
  EXPECT_EQ(now, ids(found["frontier"]));
  // The least area stays the least, whatever energies are: Buffer.* moves all buffers by the same factor.
  const json& least = found["frontier"][0];
  for (const json& design : uncertain["designs"])
    if (design["design_id"] == least["design_id"]) {
      EXPECT_EQ(design["stays_in"], 4);
    }
}

/// Searched again, the frontier at an end is the frontier of a sweep with the figures of that end.
TEST_F(Sensitivity, SearchedAgainItIsTheSweepAtThatEnd) {
  sweep("low", "set: {DRAM.read_pj: 6.4, DRAM.write_pj: 6.4}\n");
  sweep("high", "set: {DRAM.read_pj: 121.6, DRAM.write_pj: 121.6}\n");
  const std::set<int> low = ids(group("low", {})["frontier"]), high = ids(group("high", {})["frontier"]);
  std::set<int> both;
  std::ranges::set_intersection(low, high, std::inserter(both, both.begin()));
  const json found = group("small", uncertain("DRAM.* 90%", true));
  std::set<int> stay;
  for (const json& design : found["uncertain"]["designs"])
    if (design["stays_in"] == 2) stay.insert(design["design_id"].get<int>());
  EXPECT_EQ(stay, both);
  EXPECT_FALSE(stay.empty());
}

/// The same of networks, whose tensors stay on chip where that is best.
TEST_F(Sensitivity, OfNetworksToo) {
  std::ofstream(path("net.yaml")) << "name: net\nchain: true\nlayers:\n"
                                     "  - {layer: a, gemm: {M: 16, N: 16, K: 16}}\n"
                                     "  - {layer: b, gemm: {M: 16, N: 8, K: 16}}\n";
  const auto network = [&](const std::string& name, const std::string& more) {
    std::ofstream(path(name + ".yaml")) << "name: nets\naccelerator: flexref\nworkloads: [net.yaml]\nnetwork: true\n"
                                           "vary: {rows: [2, 4], Buffer.capacity: [256, 1Ki, 4Ki]}\n"
                                        << more;
    const Ran ran = run({"sweep", path(name + ".yaml"), "-o", path(name), "--progress", "none"});
    ASSERT_EQ(ran.code, 0) << ran.err;
  };
  network("nets", "");
  network("low", "set: {DRAM.read_pj: 6.4, DRAM.write_pj: 6.4}\n");
  network("high", "set: {DRAM.read_pj: 121.6, DRAM.write_pj: 121.6}\n");
  const Ran rows = run({"query", path("nets"), "--json", "--where", "tensors_on_chip > 0"});
  EXPECT_FALSE(json::parse(rows.out)["rows"].empty());
  const auto asked = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{"--uncertain", "DRAM.* 90%", "--sweep", path("nets.yaml")};
    args.insert(args.end(), more.begin(), more.end());
    return group("nets", args);
  };
  const json kept = asked({});
  EXPECT_EQ(kept["uncertain"]["combinations"], 2);
  std::set<int> now;
  for (const json& design : kept["uncertain"]["designs"])
    if (design["on_frontier"].get<bool>()) now.insert(design["design_id"].get<int>());
  EXPECT_EQ(now, ids(kept["frontier"]));
  const std::set<int> low = ids(group("low", {})["frontier"]), high = ids(group("high", {})["frontier"]);
  std::set<int> both, stay;
  std::ranges::set_intersection(low, high, std::inserter(both, both.begin()));
  const json searched = asked({"--remap"});
  for (const json& design : searched["uncertain"]["designs"])
    if (design["stays_in"] == 2) stay.insert(design["design_id"].get<int>());
  EXPECT_EQ(stay, both);
  EXPECT_FALSE(stay.empty());
}

TEST_F(Sensitivity, PricesAreLinearInWhatIsUncertain) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Sweep sweep = load_sweep(library, path("small.yaml"));
  const auto figures = parse_uncertain("MAC.mac_pj 25%");
  const Repricing repricing(library, sweep, path("small"), std::get<std::vector<UncertainFigures>>(figures));
  const json rows = json::parse(run({"query", path("small"), "--json"}).out)["rows"];
  ASSERT_FALSE(rows.empty());
  const double macs = 24 * 16 * 32 + 16 * 8 * 7 * 7 * 9;  // of both layers, at 0.16 pJ
  int compared = 0;
  for (const json& row : rows) {
    if (row["energy_pj"].is_null()) continue;
    const Repricing::Row name{row["design_id"].get<std::int64_t>(), row["workload"].get<std::string>()};
    const double energy = row["energy_pj"];
    EXPECT_NEAR(repricing.at(name, {1}).energy_pj, energy + 0.25 * 0.16 * macs, 1e-9 * energy);
    EXPECT_NEAR(repricing.at(name, {-1}).energy_pj, energy - 0.25 * 0.16 * macs, 1e-9 * energy);
    EXPECT_EQ(repricing.at(name, {1}).runtime_cycles, row["runtime_cycles"]);
    ++compared;
  }
  EXPECT_GT(compared, 8);
}

TEST_F(Sensitivity, RefusesWhatItCannotUnderstand) {
  for (const char* wrong :
       {"DRAM.read_pj", "DRAM.read_pj 130%", "DRAM 10%", "DRAM.read_pj ten%", "Nope.* 10%", "DRAM.capacity 10%", ""}) {
    std::vector<std::string> args{"pareto", path("small"), "--uncertain", wrong, "--sweep", path("small.yaml")};
    EXPECT_EQ(run(args).code, 2) << wrong;
  }
  EXPECT_EQ(run({"pareto", path("small"), "--remap"}).code, 2);
}

TEST_F(Sensitivity, FindsTheFileOfTheSweepBesideTheDataset) {
  EXPECT_EQ(run({"pareto", path("small"), "--uncertain", "DRAM.* 10%"}).code, 0);
  EXPECT_EQ(run({"verify", path("small")}).code, 0);
  std::ofstream(path("small.yaml"), std::ios::app) << "constraints: rows <= 4\n";
  const Ran changed = run({"verify", path("small")});
  EXPECT_EQ(changed.code, 2);
  EXPECT_NE(changed.err.find("its file is not here unchanged; expected --sweep FILE"), std::string::npos)
      << changed.err;
}

TEST(Corners, AllOfAFewAndEachAloneOfMany) {
  EXPECT_EQ(corners_of(2), (std::vector<Corner>{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}));
  EXPECT_EQ(corners_of(6).size(), 64U);
  EXPECT_EQ(corners_of(7).size(), 16U);
}

}  // namespace
}  // namespace pliant
