// SPDX-License-Identifier: Apache-2.0
// Sweeps whose networks may pass tiles on.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/input/diagnostics.h"
#include "dse/results/data_table.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/verify_dataset.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTwoMemories = R"(pliant: accelerator
name: two_memories
word_bits: 8
conventions: physical
levels:
  - {memory: Main, capacity: unbounded, read_pj: 800, write_pj: 800}
  - {memory: Buffer, capacity: 2048, read_pj: 8, write_pj: 8}
  - {compute: MAC, mac_pj: 1}
)";
constexpr const char* kTwoLayerChains[] = {R"(pliant: workload
name: cubes
layers:
  - {layer: a, gemm: {M: 64, N: 64, K: 64}}
  - {layer: b, from: a, gemm: {M: 64, N: 64, K: 64}}
)",
                                           R"(pliant: workload
name: attention
layers:
  - {layer: a, gemm: {M: 128, N: 128, K: 32}}
  - {layer: b, from: a, gemm: {M: 128, N: 32, K: 128}}
)",
                                           R"(pliant: workload
name: small
layers:
  - {layer: a, gemm: {M: 8, N: 8, K: 8}}
  - {layer: b, from: a, gemm: {M: 8, N: 8, K: 8}}
)"};
constexpr const char* kTilesSweep = R"(pliant: sweep
name: tiles
accelerator: machine.yaml
workloads: [chain0.yaml, chain1.yaml, chain2.yaml]
objective: energy
)";

class FusionSweep : public testing::Test {
 protected:
  Sweep sweep(const std::string& more, const SweepOverrides& overrides = {}) const {
    std::ofstream(path("machine.yaml")) << kTwoMemories;
    for (std::size_t i = 0; i < 3; ++i)
      std::ofstream(path(("chain" + std::to_string(i) + ".yaml").c_str())) << kTwoLayerChains[i];
    std::ofstream(path("tiles.yaml")) << kTilesSweep << more;
    return load_sweep(library(), path("tiles.yaml"), overrides);
  }
  DataTable rows(const Sweep& sweep, const char* dataset) const {
    SweepRunOptions options;
    options.dataset = path(dataset);
    options.cache = path("cache");
    options.threads = 1;
    EXPECT_TRUE(run_sweep(library(), sweep, options).dataset_complete);
    std::vector<std::string> damaged;
    return read_table(path(dataset), TableKind::kDesigns, damaged);
  }
  static double number(const DataTable& table, const char* column, std::size_t row) {
    const Cell& cell = table.find(column)->cells[row];
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    return std::get<double>(cell);
  }
  fs::path path(const char* name) const { return folder_.path() / name; }
  std::string refused(const std::string& more, const SweepOverrides& overrides = {}) const {
    try {
      sweep(more, overrides);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing";
  }

 private:
  TemporaryFolder folder_;
};

/// 47,022,080 and 90,701,824 pJ are what a public tool finds with tiles; of the small chain everything fits whole.
TEST_F(FusionSweep, RowsAreOfTilesAndSayWhatTheyGain) {
  const DataTable whole = rows(sweep("fusion: whole\n"), "whole");
  const DataTable tiles = rows(sweep("fusion: tiles\n"), "tiles");  // what is in the cache answers another question
  const double expected[] = {47022080, 90701824, number(whole, "energy_pj", 2)};
  ASSERT_EQ(tiles.rows(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(number(tiles, "energy_pj", i) / expected[i], 1, 1e-12);
    EXPECT_EQ(to_text(tiles.find("certified")->cells[i]), "true");
    EXPECT_EQ(number(tiles, "whole_energy_pj", i), number(whole, "energy_pj", i));
    EXPECT_EQ(number(tiles, "outside_energy_pj", i), number(whole, "outside_energy_pj", i));
    EXPECT_EQ(number(tiles, "tensors_in_tiles", i), i < 2 ? 1 : 0);
    EXPECT_EQ(number(whole, "tensors_in_tiles", i), 0);
  }
  EXPECT_LT(number(tiles, "energy_pj", 0), number(whole, "energy_pj", 0));
}

TEST_F(FusionSweep, IsVerified) {
  const Sweep asked = sweep("fusion: tiles\n");
  rows(asked, "tiles");
  DatasetProofs proofs;
  proofs.rows = std::nullopt;
  const DatasetVerdict right = verify_dataset(library(), asked, path("tiles"), proofs);
  EXPECT_TRUE(right.wrong.empty()) << (right.wrong.empty() ? "" : right.wrong.front());
  EXPECT_EQ(right.networks_proven, 3);
  EXPECT_THROW(verify_dataset(library(), sweep("fusion: whole\n"), path("tiles"), proofs), InputError);
}

/// A class with F passes tiles, one without has its tensors whole; a design that says nothing passes them.
TEST_F(FusionSweep, ClassesHaveAnF) {
  std::ofstream(path("some.yaml")) << "fusion: {Buffer: {depth: 1}}\n";
  std::ofstream(path("none.yaml")) << "fusion: none\n";
  const DataTable tiles = rows(sweep("fusion: tiles\nflexibility: [own, some.yaml, none.yaml]\n"), "classes");
  ASSERT_EQ(tiles.rows(), 9U);
  for (std::size_t i = 0; i < 9; ++i) {
    const std::string name = to_text(tiles.find("flexibility")->cells[i]);
    EXPECT_EQ(to_text(tiles.find("class")->cells[i]), name == "none" ? "1100" : "1100+F") << name;
    EXPECT_EQ(to_text(tiles.find("certified")->cells[i]), "true");
    const double value = number(tiles, "energy_pj", i), whole = number(tiles, "whole_energy_pj", i);
    EXPECT_LE(value, whole);
    const bool gains = name == "own" && to_text(tiles.find("workload")->cells[i]) == "cubes";
    EXPECT_TRUE(gains ? value < whole : name != "none" || value == whole) << name;
  }
}

/// A limit on time is a deadline of the network.
TEST_F(FusionSweep, KeepsDeadlines) {
  const DataTable free = rows(sweep("fusion: tiles\n"), "free");
  double slow = 0;
  for (std::size_t i = 0; i < 3; ++i) slow = std::max(slow, number(free, "runtime_cycles", i));
  const DataTable kept =
      rows(sweep("fusion: tiles\nconstraints: [runtime_cycles <= " + std::to_string(slow) + "]\n"), "kept");
  ASSERT_EQ(kept.rows(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(number(kept, "energy_pj", i), number(free, "energy_pj", i));
    EXPECT_LE(number(kept, "runtime_cycles", i), slow);
  }
}

TEST_F(FusionSweep, SaysWhatDoesNotWork) {
  const auto expect = [&](const std::string& more, const std::string& why) {
    const std::string told = refused(more);
    EXPECT_NE(told.find(why), std::string::npos) << told;
  };
  expect("fusion: off\n", "whole or tiles");
  expect("fusion: tiles\ninferences: 3\n", "beside layers that pass tiles on");
  expect("fusion: tiles\nmapper: random\n", "the mapper random proves no bounds");
  expect("fusion: tiles\nnetwork: false\n", "beside tensors that all live outside");
  SweepOverrides overrides;
  overrides.fusion = "some";
  EXPECT_NE(refused("", overrides).find("--fusion"), std::string::npos);
  overrides.fusion = "tiles";
  EXPECT_TRUE(sweep("", overrides).tiles);
  EXPECT_TRUE(sweep("fusion: whole\n", overrides).tiles);
}

}  // namespace
}  // namespace pliant
