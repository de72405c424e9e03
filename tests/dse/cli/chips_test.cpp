// SPDX-License-Identifier: Apache-2.0
// Published chips priced by the technology tables: the column "ours" of docs/chips.md, within the factors it states.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/ran_command.h"

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

}  // namespace
}  // namespace pliant
