// SPDX-License-Identifier: Apache-2.0
// Sweeps whose designs are mapped network by network, with tensors that may stay on chip.
#include <gtest/gtest.h>

#include <fstream>

#include "dse/results/data_table.h"
#include "dse/sweep/network_rows.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/verify_dataset.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"
#include "support/toy_sweep.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNetwork = R"(name: net
layers:
  - {layer: a, conv: {M: 16, C: 8, P: 14, Q: 14, R: 3, S: 3}}
  - {layer: b, count: 2, conv: {M: 16, C: 16, P: 14, Q: 14, R: 1, S: 1}}
  - {layer: c, gemm: {M: 4, N: 10, K: 784}}
graph:
  - {layer: a}
  - {repeat: 2, from: a, nodes: [{layer: b, from: previous}, {op: add, name: sum, from: [previous, b]}]}
  - {layer: c, from: sum}
)";

constexpr const char* kStayingSweep = R"(pliant: sweep
name: staying
accelerator: npu
workloads: [net.yaml]
set: {rows: 4, cols: 4}
flexibility: ["1000", "1111"]
objective: [edp, runtime]
)";

Sweep staying(const fs::path& folder, const std::string& more, const char* capacities = "[1KiB, 8KiB, 64KiB]") {
  std::ofstream(folder / "net.yaml") << kNetwork;
  std::ofstream(folder / "staying.yaml") << kStayingSweep << "vary: {SRAM.capacity: " << capacities << "}\n" << more;
  return load_sweep(library(), folder / "staying.yaml");
}

SweepOutcome run(const Sweep& sweep, const fs::path& dataset, int threads = 1, Shard shard = {}) {
  SweepRunOptions options;
  options.dataset = dataset;
  options.threads = threads;
  options.shard = shard;
  return run_sweep(library(), sweep, options);
}

DataTable designs_of(const fs::path& dataset) {
  std::vector<std::string> damaged;
  DataTable table = read_table(dataset, TableKind::kDesigns, damaged);
  EXPECT_TRUE(damaged.empty());
  return table;
}

std::optional<double> number(const DataTable& table, const char* column, std::size_t row) {
  const Cell& cell = table.find(column)->cells[row];
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::nullopt;
}

double value_of(const DataTable& table, std::size_t row, const char* energy, const char* cycles) {
  const double runtime = number(table, cycles, row).value();
  return to_text(table.find("objective")->cells[row]) == "runtime" ? runtime
                                                                   : runtime * number(table, energy, row).value();
}

TEST(ResidencySweep, PowerIsToldByWhereItIsSpent) {
  const TemporaryFolder folder;
  for (const char* network : {"network: true\n", "network: false\n"}) {
    const bool staying_on_chip = std::string_view(network).find("true") != std::string_view::npos;
    const fs::path dataset = folder.path() / (staying_on_chip ? "on" : "off");
    ASSERT_TRUE(run(staying(folder.path(), network), dataset).dataset_complete);
    const DataTable all = designs_of(dataset);
    const Memory dram = load_accelerator(library(), "npu").levels[0].memory();
    int by_hand = 0;
    for (std::size_t i = 0; i < all.rows(); ++i) {
      const double chip = number(all, "chip_power_w", i).value(), beside = number(all, "off_chip_power_w", i).value(),
                   leaks = number(all, "leakage_power_w", i).value(), seconds = number(all, "latency_s", i).value();
      EXPECT_NEAR((chip + beside) / number(all, "power_w", i).value(), 1, 1e-12);
      EXPECT_TRUE(0 < leaks && leaks < chip) << leaks << " of " << chip;
      if (!staying_on_chip || to_text(all.find("class")->cells[i]) != "1111" ||
          to_text(all.find("set_SRAM_capacity_words")->cells[i]) != "65536" || number(all, "tensors_on_chip", i) != 5)
        continue;
      // Everything fits: the image with its border, all weights and the result pass the DRAM once.
      const double words = 8 * 16 * 16 + 16 * 8 * 3 * 3 + 2 * 16 * 16 + 784 * 10 + 4 * 10;
      EXPECT_NEAR(beside * seconds * 1e12 / (words * dram.read_pj), 1, 1e-9);
      ++by_hand;
    }
    EXPECT_EQ(by_hand > 0, staying_on_chip);
  }
}

/// Two sums of 14 x 14 x 16 elements, an operation each: with fewer lanes they take longer, with other energies more;
/// chip and what is beside it still add up.
TEST(ResidencySweep, AVectorUnitIsInTheRows) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "net.yaml") << kNetwork;
  std::string text = kStayingSweep;
  text.replace(text.find("rows: 4"), 0, "vector.lanes: 1, ");
  std::ofstream(folder.path() / "unit.yaml") << text << "vary: {vector.lanes: [1, 2], vector.pj_per_op: [0, 1000]}\n";
  const fs::path dataset = folder.path() / "units";
  ASSERT_TRUE(run(load_sweep(library(), folder.path() / "unit.yaml"), dataset).dataset_complete);
  const DataTable all = designs_of(dataset);
  ASSERT_EQ(all.rows(), 16U);
  const double operations = 2 * 14 * 14 * 16;
  for (std::size_t i = 0; i < all.rows(); ++i) {
    EXPECT_EQ(number(all, "operators_runtime_cycles", i), operations / (i < 8 ? 1 : 2));
    EXPECT_EQ(number(all, "operators_energy_pj", i).value() > operations * 1000, i % 8 >= 4);
    EXPECT_NEAR((number(all, "chip_power_w", i).value() + number(all, "off_chip_power_w", i).value()) /
                    number(all, "power_w", i).value(),
                1, 1e-12);
  }
}

TEST(ResidencySweep, RowsAreOfTheNetworkAndNeverWorseThanWithEverythingOutside) {
  const TemporaryFolder folder;
  const Sweep sweep = staying(folder.path(), "network: true\n");
  ASSERT_TRUE(run(sweep, folder.path() / "on").dataset_complete);
  const DataTable on = designs_of(folder.path() / "on");
  ASSERT_EQ(on.rows(), 3U * 2 * 2);
  int better = 0, none_stays = 0;
  for (std::size_t i = 0; i < on.rows(); ++i) {
    EXPECT_EQ(to_text(on.find("status")->cells[i]), "solved");
    EXPECT_EQ(to_text(on.find("certified")->cells[i]), "true");
    EXPECT_EQ(number(on, "tensors", i), 5);
    const double stay = value_of(on, i, "energy_pj", "runtime_cycles"),
                 outside = value_of(on, i, "outside_energy_pj", "outside_runtime_cycles");
    EXPECT_LE(stay, outside * (1 + 1e-12));
    better += stay < outside * 0.99 ? 1 : 0;
    if (number(on, "tensors_on_chip", i).value() > 0) {
      EXPECT_GT(number(on, "most_on_chip_bits", i).value(), 0);
      continue;
    }
    ++none_stays;
    EXPECT_NEAR(stay / outside, 1, 1e-12);
    EXPECT_EQ(number(on, "most_on_chip_bits", i), 0);
  }
  EXPECT_GT(better, 0);
  EXPECT_GT(none_stays, 0) << "1 KiB holds no tensor of this network";
}

// What decides a buffer: layer by layer a larger one only costs, of a network it keeps tensors.
TEST(ResidencySweep, TheDefaultIsTheNetworkAndTurnsTheBufferRound) {
  const TemporaryFolder folder;
  const auto least = [&](const std::string& more, const char* dataset) {
    const Sweep sweep = staying(folder.path(), more);
    run(sweep, folder.path() / dataset);
    const DataTable table = designs_of(folder.path() / dataset);
    std::size_t best = 0;  // of the EDPs
    for (std::size_t i = 0; i < table.rows(); i += 2)
      if (number(table, "edp_pj_cycles", i).value() < number(table, "edp_pj_cycles", best).value()) best = i;
    return best / 4;
  };
  EXPECT_EQ(least("", "default"), 2U) << "64 KiB hold every tensor";
  EXPECT_EQ(least("network: true\n", "network"), 2U);
  EXPECT_LT(least("network: false\n", "layers"), 2U);
  const Sweep sweep = staying(folder.path(), "");
  EXPECT_NE(mapped_as_words(sweep).find("net: mapped as a network"), std::string::npos);
  SweepOverrides layers;
  layers.network = false;
  EXPECT_NE(
      mapped_as_words(load_sweep(library(), folder.path() / "staying.yaml", layers)).find("mapped layer by layer"),
      std::string::npos);
}

// Workloads with and without a graph in one sweep: each as it can be mapped.
TEST(ResidencySweep, WorkloadsWithoutAGraphAreMappedLayerByLayer) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "net.yaml") << kNetwork;
  std::ofstream(folder.path() / "mixed.yaml") << "accelerator: npu\nset: {rows: 4, cols: 4}\nworkloads: [net.yaml, "
                                                 "{name: toy, layers: [\"gemm:M=64,N=64,K=64\"]}]\n";
  run(load_sweep(library(), folder.path() / "mixed.yaml"), folder.path() / "mixed");
  const DataTable table = designs_of(folder.path() / "mixed");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(to_text(table.find("mapped_as")->cells[0]), "network");
  EXPECT_EQ(to_text(table.find("mapped_as")->cells[1]), "layers");
  EXPECT_GT(number(table, "operators_runtime_cycles", 0).value(), 0);
}

// A class that allows more is never worse, tensors that stay included; nor is a larger memory of the same costs.
TEST(ResidencySweep, MoreFlexibilityIsNeverWorse) {
  const TemporaryFolder folder;
  const Sweep sweep = staying(folder.path(), "network: true\n");
  run(sweep, folder.path() / "on");
  const DataTable on = designs_of(folder.path() / "on");
  for (std::size_t i = 0; i < on.rows(); i += 4)  // by capacity: 1000 and 1111, each for two objectives
    for (std::size_t objective = 0; objective < 2; ++objective)
      EXPECT_LE(value_of(on, i + 2 + objective, "energy_pj", "runtime_cycles"),
                value_of(on, i + objective, "energy_pj", "runtime_cycles") * (1 + 1e-12));
}

TEST(ResidencySweep, LayersStayWhatTheyAreAlone) {
  const TemporaryFolder folder;
  run(staying(folder.path(), ""), folder.path() / "on");
  run(staying(folder.path(), "network: false\n"), folder.path() / "off");
  const DataTable off = designs_of(folder.path() / "off");
  for (std::size_t i = 0; i < off.rows(); ++i) {
    EXPECT_EQ(number(off, "tensors", i), std::nullopt);
    EXPECT_EQ(to_text(off.find("mapped_as")->cells[i]), "layers");
  }
  std::vector<std::string> damaged;
  const DataTable alone = read_table(folder.path() / "off", TableKind::kLayers, damaged),
                  among = read_table(folder.path() / "on", TableKind::kLayers, damaged);
  ASSERT_EQ(among.rows(), alone.rows());
  for (std::size_t i = 0; i < alone.rows(); ++i) {
    EXPECT_EQ(number(among, "energy_pj", i), number(alone, "energy_pj", i));
    EXPECT_EQ(to_text(among.find("task_key")->cells[i]), to_text(alone.find("task_key")->cells[i]));
  }
}

/// The tensor between the two runs of `a` goes through an activation and stays, and so do the weights of `b`.
TEST(ResidencySweep, TheLayersOfANetworkSayWhatStays) {
  const Workload workload = parse_workload_text(R"(name: net
layers:
  - {layer: a, count: 2, gemm: {M: 4, N: 4, K: 4}}
  - {layer: b, gemm: {M: 4, N: 4, K: 4}}
  - {layer: c, gemm: {M: 4, N: 4, K: 4}}
graph:
  - {layer: a, name: first}
  - {op: activation, name: relu, from: first}
  - {layer: a, name: second, from: relu}
  - {layer: b, from: second}
  - {layer: c, from: b}
)",
                                                "net.yaml");
  const Accelerator npu = load_accelerator(library(), "npu");
  ASSERT_EQ(npu.levels[1].name, "SRAM");
  TaskResult found;
  found.network.tensors = {{1, 0, 2, 16}, {-1, 2, 3, 16}, {-1, 3, 4, 16}, {-1, 4, 4, 16}};
  found.network.weights = {{1, 3}};
  EXPECT_EQ(staying_tensors(npu, workload, found),
            (std::vector<std::string>{"Inputs in SRAM (1 of 2), Outputs in SRAM (1 of 2)", "Weights in SRAM", "none"}));
}

TEST(ResidencySweep, RowsOfLayersSayWhatStays) {
  const TemporaryFolder folder;
  const Sweep sweep = staying(folder.path(), "");
  run(sweep, folder.path() / "on");
  run(staying(folder.path(), "network: false\n"), folder.path() / "off");
  std::vector<std::string> damaged;
  const DataTable designs = designs_of(folder.path() / "on"),
                  on = read_table(folder.path() / "on", TableKind::kLayers, damaged),
                  off = read_table(folder.path() / "off", TableKind::kLayers, damaged);
  std::size_t staying = 0;
  for (std::size_t i = 0; i < designs.rows(); ++i) {
    bool any = false;
    for (std::size_t l = 0; l < 3; ++l) any |= to_text(on.find("on_chip")->cells[3 * i + l]) != "none";
    // A layer reads or makes every tensor but the first sum.
    if (number(designs, "tensors_on_chip", i).value() > 1) {
      EXPECT_TRUE(any) << i;
    }
    if (number(designs, "tensors_on_chip", i).value() == 0) {
      EXPECT_FALSE(any) << i;
    }
    staying += any ? 1 : 0;
  }
  EXPECT_GT(staying, 0U);
  EXPECT_LT(staying, designs.rows());
  for (const Cell& cell : off.find("on_chip")->cells) EXPECT_TRUE(std::holds_alternative<std::monostate>(cell));
}

TEST(ResidencySweep, NeitherThreadsNorShardsNorTheCacheShow) {
  const TemporaryFolder folder;
  const Sweep sweep = staying(folder.path(), "network: true\n");
  const fs::path one = folder.path() / "one", two = folder.path() / "two", shards = folder.path() / "shards";
  run(sweep, one);
  run(sweep, two, 2);
  for (int k = 0; k < 2; ++k) run(sweep, shards, 1, {k, 2});
  EXPECT_EQ(dataset_files(two), dataset_files(one));
  EXPECT_EQ(dataset_files(shards), dataset_files(one));
  // The networks come from the cache as the layers do.
  const auto before = dataset_files(one);
  for (const char* table : {"layers", "designs", "checksums"}) fs::remove_all(one / table);
  const SweepOutcome again = run(sweep, one);
  EXPECT_EQ(again.progress.solved, 0);
  EXPECT_EQ(dataset_files(one), before);
}

TEST(ResidencySweep, VerifySolvesTheNetworksOfItsSampleAgain) {
  const TemporaryFolder folder;
  const Sweep sweep = staying(folder.path(), "network: true\n", "[8KiB]");
  run(sweep, folder.path() / "on");
  DatasetProofs proofs;
  proofs.rows = std::nullopt;
  const DatasetVerdict good = verify_dataset(library(), sweep, folder.path() / "on", proofs);
  EXPECT_TRUE(good.good()) << (good.wrong.empty() ? "" : good.wrong.front());
  EXPECT_EQ(good.proven, 3 * 4) << "every layer";
  EXPECT_EQ(good.networks_proven, 4);
  EXPECT_THROW(
      verify_dataset(library(), staying(folder.path(), "network: false\n", "[8KiB]"), folder.path() / "on", proofs),
      InputError);
}

TEST(ResidencySweep, AWorkloadMustKnowItsGraph) {
  const auto problem = [](const std::string& text) {
    try {
      parse_sweep_text(library(), text, "s.yaml");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(
      problem("accelerator: npu\nworkloads: [alexnet]\nresidency: true\n").find("s.yaml:3:12: residency: alexnet"),
      std::string::npos);
  EXPECT_NE(problem("accelerator: npu\nworkloads: [resnet50]\nobjective: edp-over-utilization\nresidency: true\n")
                .find("no utilization of its own"),
            std::string::npos);
  EXPECT_EQ(problem("accelerator: npu\nworkloads: [resnet50]\nresidency: true\n"), "");
  EXPECT_NE(problem("accelerator: npu\nworkloads: [resnet50]\nresidency: true\nnetwork: true\n")
                .find("s.yaml:3:12: residency: the older word for `network`"),
            std::string::npos);
  EXPECT_EQ(problem("accelerator: npu\nworkloads: [alexnet]\n"), "");
  EXPECT_NE(problem("accelerator: npu\nworkloads: [resnet50]\nnetwork: false\ninferences: 2\n")
                .find("s.yaml:4:13: inferences: resnet50: beside tensors that all live outside"),
            std::string::npos);
}

TEST(ResidencySweep, WhoOverridesTheFileIsAskedTheSame) {
  const auto load = [](const std::string& more, std::optional<bool> network, std::optional<Count> inferences) {
    SweepOverrides overrides;
    overrides.network = network;
    overrides.inferences = inferences;
    return parse_sweep_text(library(), "accelerator: npu\n" + more, "s.yaml", overrides);
  };
  EXPECT_EQ(load("workloads: [resnet50]\n", std::nullopt, 7).inferences, 7);
  EXPECT_EQ(load("workloads: [resnet50]\ninferences: 3\n", std::nullopt, 1).inferences, 1);
  EXPECT_FALSE(load("workloads: [resnet50]\n", false, std::nullopt).network);
  EXPECT_THROW(load("workloads: [alexnet]\n", true, std::nullopt), InputError);
  EXPECT_THROW(load("workloads: [resnet50]\nobjective: edp-over-utilization\n", true, std::nullopt), InputError);
  EXPECT_THROW(load("workloads: [resnet50]\n", false, 7), InputError);
  EXPECT_THROW(load("workloads: [resnet50]\n", std::nullopt, 0), InputError);
}

}  // namespace
}  // namespace pliant
