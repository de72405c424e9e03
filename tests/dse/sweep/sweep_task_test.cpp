// SPDX-License-Identifier: Apache-2.0
// What makes two tasks of a sweep the same question.
#include "dse/sweep/sweep_task.h"

#include <gtest/gtest.h>

#include "dse/sweep/run_sweep.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

struct Answer {
  TaskKey key;
  TaskResult result;
};

/// The one layer on every design, each solved by itself.
std::vector<Answer> answers(const std::string& more) {
  const auto sweep = std::make_shared<const Sweep>(parse_sweep_text(
      library(),
      "accelerator: flexref\nworkloads: [{layers: [\"conv:M=24,C=10,P=7,Q=7,R=3,S=3\"], name: toy}]\n" + more,
      "toy.yaml"));
  DesignSpace space(library(), sweep);
  TaskNamer namer(*sweep);
  const auto mapper = make_mapper(sweep->mapper);
  const Layer& layer = sweep->workloads[0].layers[0].layer;
  std::vector<Answer> all;
  for (std::int64_t i = 0; i < space.size(); ++i) {
    const DesignPoint design = space.design(i);
    all.push_back({namer.key(design, layer), solve_task(*mapper, *sweep, design, layer, 1, {})});
  }
  return all;
}

constexpr const char* kShapes = "vary: {pairs: {keys: [rows, cols], values: [[8, 32], [16, 16], [256, 1]]}}\n";

TEST(SweepTask, ArraysOfAnyShapeAreOneQuestionWithOneAnswer) {
  for (const char* flexibility : {"flexibility: [\"1111\"]\n", "flexibility: [PartFlex-1111]\n",
                                  "flexibility: [\"0001\"]\nset: {Buffer.capacity: 2Mi}\n"}) {
    for (const char* mapper : {"", "mapper: {name: random, options: {victory: 50}}\n"}) {
      SCOPED_TRACE(std::string(flexibility) + mapper);
      const auto all = answers(std::string(kShapes) + flexibility + mapper);
      ASSERT_EQ(all.size(), 3U);
      for (const Answer& one : all) {
        EXPECT_EQ(one.key, all[0].key);
        EXPECT_EQ(one.result.status, all[0].result.status);
        EXPECT_EQ(one.result.reason, all[0].result.reason);
        EXPECT_EQ(one.result.mapping, all[0].result.mapping);
        EXPECT_EQ(one.result.value, all[0].result.value);
        EXPECT_EQ(one.result.evaluations, all[0].result.evaluations);
        EXPECT_EQ(one.result.mappings_covered, all[0].result.mappings_covered);
      }
    }
  }
}

TEST(SweepTask, FixedShapesAndSizesAreQuestionsOfTheirOwn) {
  const auto fixed = answers(std::string(kShapes) + "flexibility: [\"1110\"]\n");
  EXPECT_NE(fixed[0].key, fixed[1].key);
  EXPECT_NE(fixed[1].key, fixed[2].key);
  const auto sizes = answers("vary: {rows: [8, 16]}\nflexibility: [\"1111\"]\nobjective: [edp, energy]\n");
  EXPECT_NE(sizes[0].key, sizes[1].key) << "another objective";
  EXPECT_NE(sizes[0].key, sizes[2].key) << "more units";
}

TEST(SweepTask, NamesAndAreasAskNothing) {
  const auto all = answers("vary: {MAC.area_um2: [100, 200]}\n");
  EXPECT_EQ(all[0].key, all[1].key);
}

}  // namespace
}  // namespace pliant
