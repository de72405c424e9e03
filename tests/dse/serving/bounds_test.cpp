// SPDX-License-Identifier: Apache-2.0
// Lemma 1 of docs/dev/serving.md by itself: with remainders, smaller layers never cost more, so a floor without a
// search holds for all larger layers.
#include <gtest/gtest.h>

#include <random>

#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "dse/mappers/layer_floor.h"
#include "dse/mappers/mapper.h"
#include "support/proof_agreement.h"

namespace pliant::serving {
namespace {

Task ruby_task(const Accelerator& chip, const std::array<Count, 3>& sizes, Objective objective) {
  Task task;
  task.layer = make_gemm("gemm", {.M = sizes[0], .N = sizes[1], .K = sizes[2]});
  task.accelerator = chip;
  task.flexibility = chip.flexibility_of(task.layer);
  task.factorization = Factorization::kRuby;
  task.objective = objective;
  return task;
}

double floor_of(const Task& task) {
  const LayerFloor floor = layer_floor(task);
  return task.objective == Objective::kEnergy ? floor.energy_pj : floor.cycles;
}

/// On a chip: optima of random layers and of the same with one dim a little longer. How many pairs were compared.
std::uint64_t compare(const Accelerator& chip, unsigned seed, std::uint64_t cases) {
  std::uint64_t compared = 0;
  std::mt19937 random(seed);
  const auto draw = [&](Count most) { return std::uniform_int_distribution<Count>(1, most)(random); };
  const auto mapper = make_mapper("exact");
  for (std::uint64_t i = 0; i < cases; ++i) {
    const std::array<Count, 3> sizes{draw(6), draw(20), draw(12)};
    const auto dim = static_cast<std::size_t>(draw(3) - 1);
    for (const Objective objective : {Objective::kRuntime, Objective::kEnergy}) {
      const Task task = ruby_task(chip, sizes, objective);
      const SearchResult small = run_mapper(*mapper, task, {});
      auto longer = sizes;
      longer[dim] += draw(5);
      const Task larger = ruby_task(chip, longer, objective);
      const SearchResult large = run_mapper(*mapper, larger, {});
      if (!small.certified || !large.certified) continue;
      ++compared;
      EXPECT_LE(small.value, large.value * (1 + 1e-12)) << chip.name << " " << sizes[0] << "x" << sizes[1] << "x"
                                                        << sizes[2] << " dim " << dim << " to " << longer[dim];
      EXPECT_LE(floor_of(task), large.value * (1 + 1e-12)) << chip.name;
      EXPECT_GT(floor_of(task), 0) << chip.name;
    }
  }
  return compared;
}

// PLIANT_CASES: layers on each chip.
TEST(ServingBounds, SmallerLayersNeverCostMoreWithRemainders) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const std::uint64_t cases = tests::cases_or(12);
  std::uint64_t compared = 0;
  unsigned seed = 1;
  for (const char* name : {"npu", "eyeriss", "simba", "gemmini", "tpuv1"})
    compared += compare(load_accelerator(library, name), seed++, cases);
  compared += compare(load_accelerator(library, PLIANT_SOURCE_DIR "/bench/chips/edge4.yaml"), seed++, cases);
  RecordProperty("compared", std::to_string(compared));
  EXPECT_GE(compared, 6 * cases) << "half of the pairs at least have two certificates";
}

TEST(ServingBounds, TheSameOnAFixedDesignAndOnASystolicArray) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const std::uint64_t cases = tests::cases_or(12);
  std::uint64_t compared =
      compare(apply_class(load_accelerator(library, "npu"), *parse_flexibility_class("0000")), 11, cases);
  compared += compare(load_accelerator(library, "npu", {{"PEs.systolic", "weights"}}), 12, cases);
  RecordProperty("compared", std::to_string(compared));
  EXPECT_GE(compared, 2 * cases) << "half of the pairs at least have two certificates";
}

}  // namespace
}  // namespace pliant::serving
