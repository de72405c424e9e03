// SPDX-License-Identifier: Apache-2.0
// Published chips priced by the technology tables: the column "ours" of docs/chips.md, within the factors it states.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/input/load.h"
#include "costmodel/physical.h"
#include "support/ran_command.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

using nlohmann::json;

constexpr double kPowerFactor = 3, kAreaFactor = 5;

void expect_within(double ours, double published, double factor) {
  EXPECT_GE(ours, published / factor);
  EXPECT_LE(ours, published * factor);
}

json map(std::vector<std::string> args) {
  args.insert(args.begin(), "map");
  args.emplace_back("--json");
  const Ran ran = run(args);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return json::parse(ran.out);
}

TEST(Chips, Eyeriss) {
  double chip_pj = 0, cycles = 0;
  json any;
  const json all = map({"--accelerator", "chip_eyeriss", "--workload", "alexnet"});
  for (const json& layer : all["layers"]) {
    if (!layer["layer"].get<std::string>().starts_with("conv")) continue;
    const double count = layer["count"];
    chip_pj += count * (layer["energy_pj"].get<double>() - layer["levels"][0]["energy_pj"].get<double>());
    cycles += count * layer["runtime_cycles"].get<double>();
    any = layer;
  }
  EXPECT_NEAR(any["peak_tops"].get<double>(), 0.0672, 1e-6);
  expect_within(chip_pj / cycles * 200e6 * 1e-12, 0.278, kPowerFactor);
  expect_within(200e6 / cycles, 34.7, 1.5);
  expect_within(any["area_um2"].get<double>() * 1e-6, 12.25, kAreaFactor);
}

TEST(Chips, Simba) {
  const json all = map({"--accelerator", "chip_simba", "--workload", "resnet50", "--layers"});
  const json& total = all["total"];
  EXPECT_NEAR(total["peak_tops"].get<double>() / 4.01, 1, 0.03);
  const double chip_mj =
      total["energy_mj"].get<double>() - total["energy_by_level"][0]["energy_pj"].get<double>() * 1e-9;
  const double chip_w = chip_mj * 1e-3 / total["latency_s"].get<double>();
  expect_within(total["tops"].get<double>() / chip_w, 6.1, kPowerFactor);
  expect_within(all["layers"][0]["area_um2"].get<double>() * 1e-6, 6, kAreaFactor);
}

TEST(Chips, TpuV1) {
  const json one = map({"--accelerator", "chip_tpuv1", "--layer", "gemm:M=2048,N=4096,K=4096"});
  EXPECT_NEAR(one["peak_tops"].get<double>() / 92, 1, 0.01);
  const double chip_pj = one["energy_pj"].get<double>() - one["levels"][0]["energy_pj"].get<double>();
  expect_within(chip_pj * 1e-12 / one["latency_s"].get<double>(), 40, kPowerFactor);
  expect_within(one["area_um2"].get<double>() * 1e-6, 331, kAreaFactor);
  EXPECT_GT(one["utilization"].get<double>(), 0.7) << "a busy chip";
}

/// What a data sheet says of a chip that can be bought, and the clock at which its peak is meant.
struct DataSheet {
  const char* name;
  double tflops, mhz, highest_mhz, gb_per_s, gib;
};
constexpr std::array kDataSheets{
    DataSheet{"a100", 312, 1410, 1410, 2039, 80},       DataSheet{"h100", 989.4, 1830, 1980, 3350, 80},
    DataSheet{"h200", 989.4, 1830, 1980, 4800, 141},    DataSheet{"b200", 2250, 1856, 1965, 8000, 180},
    DataSheet{"mi300x", 1307.4, 2100, 2100, 5325, 192}, DataSheet{"tpu_v4", 275, 1050, 1050, 1200, 32},
    DataSheet{"tpu_v5e", 197, 1503, 1503, 819, 16},
};

TEST(Chips, PeaksOfDataSheets) {
  for (const DataSheet& sheet : kDataSheets) {
    SCOPED_TRACE(sheet.name);
    const Accelerator chip = load_accelerator(library(), sheet.name);
    EXPECT_NEAR(*peak_tops(sheet.mhz * 1e6, chip.peak_macs_per_cycle()) / sheet.tflops, 1, 2e-3);
    EXPECT_DOUBLE_EQ(*chip.clock_hz, sheet.highest_mhz * 1e6);
    const Memory& hbm = chip.levels.front().memory();
    EXPECT_EQ(chip.levels.front().name, "HBM");
    EXPECT_TRUE(hbm.off_chip);
    EXPECT_NEAR(*hbm.bus_words_per_cycle * 2 * *chip.clock_hz / (sheet.gb_per_s * 1e9), 1, 1e-9);
    // Cards report a little less than the round figure.
    EXPECT_NEAR(static_cast<double>(*hbm.capacity_words) * 2 / (sheet.gib * 1024 * 1024 * 1024), 1, 0.01);
  }
}

// Work comes in whole granules: m16 n8 k16 in 8 cycles. 17 x 17 x 17 needs 2 x 3 x 2 of them on one core, 12 * 8
// cycles; so does everything up to 32 x 24 x 32. Without remainders nothing is padded, and 17 finds no place among 16.
TEST(Granule, RemaindersArePadded) {
  const auto cycles = [](const char* layer, const char* factorization) {
    const json one = map({"--accelerator",   "a100",
                          "--set",           "SMs.rows=1",
                          "--set",           "TensorCores.rows=1",
                          "--layer",         layer,
                          "--factorization", factorization,
                          "--objective",     "runtime",
                          "--set",           "HBM.bandwidth=1e9",
                          "--set",           "L2.read_bandwidth=1e9",
                          "--set",           "SMEM.read_bandwidth=1e9",
                          "--set",           "SMEM.write_bandwidth=1e9"});
    EXPECT_TRUE(one["certified"].get<bool>());
    return one["runtime_cycles"].get<double>();
  };
  for (const char* factorization : {"ruby-s", "ruby", "padding"}) {
    SCOPED_TRACE(factorization);
    EXPECT_EQ(cycles("gemm:M=16,N=8,K=16", factorization), 8);
    EXPECT_EQ(cycles("gemm:M=1,N=1,K=1", factorization), 8);
    EXPECT_EQ(cycles("gemm:M=17,N=17,K=17", factorization), 96);
    EXPECT_EQ(cycles("gemm:M=32,N=24,K=32", factorization), 96);
    EXPECT_EQ(cycles("gemm:M=17,N=9,K=17", factorization), 48) << "9 are the rows: 3 x 1 x 2";
    EXPECT_EQ(cycles("gemm:M=32,N=16,K=32", factorization), 64);
    EXPECT_EQ(cycles("gemm:M=8,N=16,K=16", factorization), 8) << "rows and columns change places";
  }
  EXPECT_EQ(cycles("gemm:M=32,N=16,K=32", "pfm"), 64);
  EXPECT_GT(cycles("gemm:M=17,N=17,K=17", "pfm"), 96);
}

}  // namespace
}  // namespace pliant
