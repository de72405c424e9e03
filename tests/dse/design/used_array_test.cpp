// SPDX-License-Identifier: Apache-2.0
// What a layer cannot use of an array changes nothing: the same mappings are legal, cost the same, and the same is
// found.
#include "dse/design/used_array.h"

#include <gtest/gtest.h>

#include <random>

#include "core/flexibility_class.h"
#include "core/input/inline_layer.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "flex/mapspace/enumerate.h"
#include "flex/mapspace/legal_count.h"
#include "flex/mapspace/rules.h"
#include "support/design_spaces.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

Sweep any_sweep(const Library& library) {
  return parse_sweep_text(library,
                          "accelerator: flexref\nworkloads: [{name: w, layers: [\"gemm:M=4,N=4,K=4\"]}]\n"
                          "vary: {rows: [4, 8]}\nflexibility: all-16\nminimize: area_um2\n",
                          "space");
}

DesignPoint design_of(const Task& task, Accelerator accelerator) {
  DesignPoint point;
  accelerator.flexibility = task.flexibility;
  accelerator.flexibility_for.clear();
  point.accelerator = std::make_shared<const Accelerator>(std::move(accelerator));
  point.factorization = task.factorization;
  point.objective = task.objective;
  return point;
}

/// The array as large as the layer can use it; nullopt where the sizes matter.
std::optional<Accelerator> as_used(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility) {
  Accelerator used = accelerator;
  for (std::size_t l = 0; l < used.levels.size(); ++l) {
    if (!used.levels[l].is_fanout()) continue;
    const auto sizes = used_sizes(layer, accelerator, level_rules(flexibility, l), static_cast<int>(l));
    if (!sizes) return std::nullopt;
    used.levels[l].fanout().rows = sizes->rows;
    used.levels[l].fanout().cols = sizes->cols;
  }
  return used;
}

TEST(UsedArray, HasTheSameMappingsAtTheSameCosts) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Sweep sweep = any_sweep(library);
  QuestionsByUse questions(sweep);
  const auto exact = make_mapper("exact");
  int smaller = 0, priced = 0, answered = 0, same_mapping = 0;
  for (std::uint64_t seed = 1; seed <= 240 && !HasFailure(); ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.factorizations = {Factorization::kPerfect}});
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.text);
    const Layer& layer = random.task.layer;
    Accelerator large = random.task.accelerator;
    std::mt19937_64 draw(seed);
    for (Level& level : large.levels) {
      if (!level.is_fanout()) continue;
      level.fanout().rows = 1 + static_cast<Count>(draw() % 7);
      level.fanout().cols = 1 + static_cast<Count>(draw() % 7);
    }
    const DesignPoint design = design_of(random.task, large);
    const auto key = questions.key(design, layer);
    const auto used = as_used(layer, large, random.task.flexibility);
    if (!key || !used) continue;
    const DesignPoint same = design_of(random.task, *used);
    EXPECT_EQ(questions.key(same, layer), key);
    if (used->macs_units() == large.macs_units()) continue;
    ++smaller;
    const Flexibility& rules = random.task.flexibility;
    const auto there = count_legal_mappings(layer, large, rules, Factorization::kPerfect);
    const auto here = count_legal_mappings(layer, *used, rules, Factorization::kPerfect);
    ASSERT_TRUE(there && here);
    // An array of any shape is one row of units here, and loops may stand on either side there.
    const bool shaped = std::ranges::none_of(
        rules.levels, [](const LevelFlexibility& level) { return level.shape.kind == ShapeRule::Kind::kFree; });
    if (shaped) {
      EXPECT_EQ(*there, *here);
    }
    int seen = 0;
    for_each_mapping(layer, large, rules, Factorization::kPerfect, [&](const Mapping& mapping) {
      if (!check_legality(layer, large, rules, Factorization::kPerfect, mapping).empty()) return true;
      EXPECT_TRUE(check_legality(layer, *used, rules, Factorization::kPerfect, mapping).empty());
      const Totals a = price(layer, large, mapping).totals, b = price(layer, *used, mapping).totals;
      EXPECT_EQ(a.energy_pj, b.energy_pj);
      EXPECT_EQ(a.cycles, b.cycles);
      ++priced;
      return ++seen < 500 && !HasFailure();
    });
    const TaskResult own = solve_task(*exact, sweep, design, layer, 1, {});
    const TaskResult other = solve_task(*exact, sweep, same, layer, 1, {});
    ASSERT_EQ(own.status, other.status);
    if (own.status != TaskStatus::kSolved) continue;
    const TaskResult adapted = answer_on(*design.accelerator, layer, other);
    EXPECT_EQ(own.energy_pj, adapted.energy_pj);
    EXPECT_EQ(own.runtime_cycles, adapted.runtime_cycles);
    EXPECT_EQ(own.utilization, adapted.utilization);
    EXPECT_EQ(own.mappings_covered, adapted.mappings_covered);
    ++answered;
    // Of several mappings that are the best the two searches may meet another one first.
    EXPECT_TRUE(check_legality(layer, large, rules, Factorization::kPerfect, adapted.mapping).empty());
    const Totals totals = price(layer, large, adapted.mapping).totals;
    EXPECT_EQ(totals.energy_pj, own.energy_pj);
    EXPECT_EQ(totals.cycles, own.runtime_cycles);
    if (own.mapping != adapted.mapping) continue;
    EXPECT_EQ(own.memories, adapted.memories);
    ++same_mapping;
  }
  EXPECT_GE(smaller, 40);
  EXPECT_GE(priced, 2'000);
  EXPECT_GE(answered, 30);
  EXPECT_GE(same_mapping, answered - 2);
}

TEST(UsedArray, IsWhatProductsOfDivisorsReach) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const auto used = [&](std::string_view layer_text, const std::string& flexibility, const char* rows,
                        const char* cols) {
    const Accelerator flexref = load_accelerator(library, "flexref", {{"rows", rows}, {"cols", cols}});
    const Accelerator accelerator = apply_class(flexref, *parse_flexibility_class(flexibility));
    const Layer layer = parse_layer(layer_text, "layer");
    constexpr int kArray = 2;
    return used_sizes(layer, accelerator, level_rules(accelerator.flexibility_of(layer), kArray), kArray);
  };
  // One dim a side: 6 * 5 = 30 of 35 units; 6 rows of 7 and 5 columns of 5. Fixed dims are K over rows, N over columns.
  EXPECT_EQ(used("gemm:M=5,N=2,K=6", "FullFlex-1111", "7", "5"), (UsedSizes{1, 30}));
  EXPECT_EQ(used("gemm:M=5,N=2,K=6", "FullFlex-1110", "7", "5"), (UsedSizes{6, 5}));
  EXPECT_EQ(used("gemm:M=5,N=2,K=6", "FullFlex-1101", "7", "5"), (UsedSizes{1, 12}));
  EXPECT_EQ(used("gemm:M=5,N=2,K=6", "InFlex-0000", "7", "5"), (UsedSizes{6, 2}));
  EXPECT_EQ(used("gemm:M=5,N=2,K=6", "PartFlex-0001", "32", "32"), std::nullopt);  // whole blocks
}

}  // namespace
}  // namespace pliant
