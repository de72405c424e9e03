// SPDX-License-Identifier: Apache-2.0
// Files of other tools, named where a command or a sweep takes an accelerator or a workload.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/ran_command.h"

namespace pliant {
namespace {

class ForeignFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("pliant-foreign-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    write("array.cfg",
          "[architecture_presets]\nArrayHeight: 4\nArrayWidth: 4\nIfmapSramSzkB: 1\nFilterSramSzkB: 1\n"
          "OfmapSramSzkB: 1\nDataflow: os\n");
    write("net.csv", "Layer, M, N, K,\nfirst, 4, 8, 8,\nsecond, 4, 4, 8,\n");
    write("einsums.yaml",
          "workload:\n  rank_sizes: {M: {{M}}, N: 8, K: 8}\n  einsums:\n  - \"T[m, n] = A[m, k] * W[k, n]\"\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(ForeignFiles, EveryCommandTakesThem) {
  const std::string chip = file("array.cfg"), net = file("net.csv");
  const std::string best = file("best.yaml");
  const std::vector<std::vector<std::string>> commands{
      {"map", "--accelerator", chip, "--workload", net, "--json"},
      {"map", "--accelerator", chip, "--workload", net, "--layer", "first", "--save", best},
      {"eval", "--accelerator", chip, "--workload", net, "--layer", "first", "--mapping", best},
      {"flexion", "--accelerator", chip, "--workload", net, "--layer", "first"},
      {"count", "--accelerator", chip, "--workload", net, "--layer", "first", "--legal"},
      {"show", "accelerator", chip},
      {"show", "workload", net},
      {"export", "c", "--accelerator", chip, "--workload", net, "--layer", "first", "--mapping", best, "-o",
       file("loops")},
      {"import", "auto", chip, net, "-o", file("own")},
  };
  for (const auto& command : commands) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.code, 0) << command[0] << ": " << ran.err;
  }
  // The files written are the same network: 4*8*8 + 4*4*8 MACs.
  const Ran ours = run({"map", "--accelerator", file("own/array.accelerator.yaml"), "--workload",
                        file("own/net.workload.yaml"), "--json"});
  const Ran theirs = run(commands[0]);
  ASSERT_EQ(ours.code, 0) << ours.err;
  const auto energy = [](const Ran& ran) { return nlohmann::json::parse(ran.out).at("total").at("energy_pj"); };
  EXPECT_EQ(energy(ours), energy(theirs));
}

TEST_F(ForeignFiles, ASweepFindsThemBesideItself) {
  write("sweep.yaml", "accelerator: array.cfg\nworkloads: [net.csv]\nflexion: false\n");
  const Ran ran = run({"sweep", file("sweep.yaml"), "-o", file("dataset"), "--threads", "1"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Ran rows = run({"query", file("dataset"), "--select", "workload,layers,macs"});
  EXPECT_EQ(rows.code, 0) << rows.err;
  EXPECT_NE(rows.out.find("384"), std::string::npos) << rows.out;  // 4*8*8 + 4*4*8 MACs
}

TEST_F(ForeignFiles, TemplatesGetTheirValuesBehindTheName) {
  const Ran good = run({"show", "workload", file("einsums.yaml") + ":M=4"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("256"), std::string::npos) << good.out;
  const Ran open = run({"show", "workload", file("einsums.yaml")});
  EXPECT_EQ(open.code, 2);
  EXPECT_NE(open.err.find("einsums.yaml:2:19: `M` has no value"), std::string::npos) << open.err;
  const Ran wrong = run({"show", "workload", file("net.csv") + ":M=4"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("`M` after the name of a scalesim file"), std::string::npos) << wrong.err;
  const Ran set = run({"import", "accelforge", file("einsums.yaml"), "--set", "M"});
  EXPECT_EQ(set.code, 2);
  EXPECT_NE(set.err.find("NAME=VALUE"), std::string::npos) << set.err;
  EXPECT_EQ(run({"import", "accelforge", file("einsums.yaml"), "--set", "M=4"}).code, 0);
}

TEST_F(ForeignFiles, LenientListsWhatIsLeftOut) {
  write("sparse.csv", "Layer, M, N, K, Sparsity,\nfc, 4, 8, 8, 2:4,\ndense, 4, 8, 8, 4:4,\n");
  const Ran strict = run({"import", "auto", file("sparse.csv")});
  EXPECT_EQ(strict.code, 2);
  EXPECT_NE(strict.err.find("sparse.csv:2:"), std::string::npos) << strict.err;
  const Ran lenient = run({"import", "auto", file("sparse.csv"), "--lenient"});
  EXPECT_EQ(lenient.code, 0) << lenient.err;
  EXPECT_NE(lenient.out.find("left out: "), std::string::npos) << lenient.out;
}

}  // namespace
}  // namespace pliant
