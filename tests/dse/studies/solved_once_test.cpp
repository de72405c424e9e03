// SPDX-License-Identifier: Apache-2.0
// What is not searched again, or taken over from a chip without rules, is what a search of its own finds.
#include "dse/studies/solved_once.h"

#include <gtest/gtest.h>

#include <string>

#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

StudyContext searches_in(const TemporaryFolder& folder) {
  return {library(), folder.path(), folder.path() / "cache", false, 1, {}, {}};
}

Accelerator eyeriss_of(Count rows, Count cols) {
  return load_accelerator(library(), "ruby_eyeriss", {{"rows", std::to_string(rows)}, {"cols", std::to_string(cols)}});
}

TEST(SolvedOnce, AnswersTheSameQuestionOnceAndOthersByThemselves) {
  const TemporaryFolder folder;
  const StudyContext context = searches_in(folder);
  SolvedOnce solved;
  const Layer layer = parse_layer("conv:M=16,C=8,P=7,Q=7,R=3,S=3", "test");
  Layer named = layer;
  named.name = "another name";
  const SearchResult first = solve(context, eyeriss_of(4, 7), {.layer = layer}, solved);
  const SearchResult again = solve(context, eyeriss_of(4, 7), {.layer = named}, solved);
  EXPECT_EQ(solved.searches(), 1U) << "it was searched again";
  EXPECT_EQ(first.value, again.value);
  EXPECT_GT(solve(context, eyeriss_of(2, 7), {.layer = layer}, solved).value, first.value);
  const SearchResult energy =
      solve(context, eyeriss_of(4, 7), {.layer = layer, .objective = Objective::kEnergy}, solved);
  EXPECT_LE(energy.totals.energy_pj, first.totals.energy_pj);
  EXPECT_EQ(energy.value, energy.totals.energy_pj);
}

/// Of npu, by class, in this order.
std::vector<double> values_of(const StudyContext& context, const std::vector<std::string>& classes,
                              const Mapper* mapper) {
  const Accelerator npu = load_accelerator(library(), "npu");
  std::vector<double> values;
  for (const char* text : {"gemm:M=64,N=96,K=128", "conv:M=16,C=8,P=7,Q=7,R=3,S=3"})
    for (const Objective objective : {Objective::kEdp, Objective::kRuntime})
      for (const std::string& name : classes) {
        const Accelerator chip = choose_flexibility(library(), name, npu);
        const StudyTask task{.layer = parse_layer(text, "test"), .objective = objective};
        const SearchResult best = mapper != nullptr ? solve(context, chip, task, *mapper) : solve(context, chip, task);
        EXPECT_TRUE(best.certified) << name;
        values.push_back(best.value);
      }
  return values;
}

TEST(SolvedOnce, TakesOverOptimaOfTheChipWithoutRules) {
  const TemporaryFolder folder;
  const StudyContext context = searches_in(folder);
  const std::vector<std::string> classes{"FullFlex-1111", "FullFlex-1110", "FullFlex-1010", "FullFlex-1000",
                                         "FullFlex-0100", "FullFlex-0011", "InFlex-0000"};
  const SolvedOnce solved;
  const std::vector<double> ours = values_of(context, classes, &solved), alone = values_of(context, classes, nullptr);
  ASSERT_EQ(ours.size(), alone.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_NEAR(ours[i] / alone[i], 1, 1e-12) << classes[i % classes.size()];
  EXPECT_LT(solved.searches(), ours.size()) << "nothing was taken over";
  EXPECT_GT(solved.searches(), ours.size() / classes.size()) << "rules that forbid the optimum were overlooked";
}

}  // namespace
}  // namespace pliant
