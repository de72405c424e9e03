// SPDX-License-Identifier: Apache-2.0
// Dims that can change places: which are found, and that no optimum is lost by looking at one of two mirror images.
#include "dse/mappers/exact/choices/mirror.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "costmodel/short_windows.h"
#include "dse/audit/choices.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {
namespace {

Task image(const std::string& dims, const std::string& index, const std::string& rules = "") {
  return task_of(R"(
word_bits: 8
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 40, write_pj: 40, bandwidth: 2 B/cycle}
  - {fanout: PEs, rows: 2, cols: 3}
  - {memory: Reg, capacity: 12 B, read_pj: 1, write_pj: 1}
  - {compute: MAC, mac_pj: 0.1}
)" + rules,
                 "  dims: {" + dims + "}\n  tensors:\n    - {name: X, role: inputs, projection: [" + index +
                     "]}\n    - {name: W, role: weights, projection: [R, S]}\n"
                     "    - {name: O, role: outputs, projection: [P, Q]}\n");
}

const std::string kSquare = "P: 5, Q: 5, R: 2, S: 2", kEven = "2*P + R, 2*Q + S";

std::optional<Mirror> mirror_of(const Task& task) {
  return find_mirror(task.layer, MapSpaceRules(task.layer, task.accelerator, task.flexibility, task.factorization));
}

TEST(Mirror, IsFoundWhereNothingTellsTheDimsApart) {
  const std::optional<Mirror> both = mirror_of(image(kSquare, kEven));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ((std::vector<int>(both->begin(), both->begin() + 4)), (std::vector<int>{1, 0, 3, 2}));
  EXPECT_TRUE(mirror_of(image(kSquare, kEven,
                              "flexibility: {einsum: {parallel: {PEs: {any_of: "
                              "[{rows: [P], cols: [R]}, {rows: [Q], cols: [S]}]}}}}\n")));
  EXPECT_TRUE(mirror_of(image(kSquare, kEven, "flexibility: {einsum: {tiles: {Reg: {fixed: {P: 1, Q: 1}}}}}\n")));
}

TEST(Mirror, IsNotFoundWhereAnythingDoes) {
  EXPECT_FALSE(mirror_of(image("P: 5, Q: 6, R: 2, S: 2", kEven)));
  EXPECT_FALSE(mirror_of(image("P: 5, Q: 5, R: 2, S: 3", kEven)));
  EXPECT_FALSE(mirror_of(image(kSquare, "2*P + R, Q + S")));
  EXPECT_FALSE(mirror_of(image(kSquare, "2*P + R, 2*Q + 2*S")));
  EXPECT_FALSE(
      mirror_of(image(kSquare, kEven, "flexibility: {einsum: {parallel: {PEs: {rows: [P], cols: [R, S]}}}}\n")));
  EXPECT_FALSE(mirror_of(image(kSquare, kEven, "flexibility: {einsum: {tiles: {Reg: {fixed: {P: 1}}}}}\n")));
  EXPECT_FALSE(mirror_of(image(kSquare, kEven, "flexibility: {einsum: {orders: {DRAM: [[P, Q, R, S]]}}}\n")));
}

// Under Ruby all bounds are tried, so whatever fits is listed, or its image is.
TEST(Mirror, OfTwoImagesOneIsListed) {
  for (const std::string dims : {"P: 3, Q: 3, R: 2, S: 2", "P: 5, Q: 5, R: 1, S: 1"}) {
    Task task = image(dims, kEven);
    task.factorization = Factorization::kRuby;
    const Problem problem(task.layer, task.accelerator);
    const audit::SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
    SearchLimits limits{SearchOptions{}};
    const SpatialChoices choices(task, problem, limits);
    std::set<audit::Factors> listed;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      Spatial spatial;
      choices.get(i, spatial);
      listed.emplace(spatial.factor[1].begin(), spatial.factor[1].begin() + problem.dims);
    }
    const std::optional<audit::Choices> truth = audit::list_choices(task, rules, 1'000'000);
    ASSERT_TRUE(truth.has_value());
    int compared = 0;
    for (const audit::Factors& u : truth->unrollings) {
      // More units than iterations: those of one for each stand for them.
      bool idle = false;
      for (std::size_t d = 0; d < u.size(); ++d) idle |= u[d] > task.layer.dims[d].size;
      if (idle) continue;
      ++compared;
      EXPECT_NE(listed.contains(u), listed.contains({u[1], u[0], u[3], u[2]}) && (u[0] != u[1] || u[2] != u[3]));
    }
    EXPECT_GT(compared, 5);
  }
}

TEST(Mirror, TheOptimumIsAmongThoseListed) {
  int once = 0;
  for (const std::string index : {"P + R, Q + S", "2*P + R, 2*Q + S"})
    for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby})
      for (const std::string dims : {"P: 3, Q: 3, R: 2, S: 2", "P: 5, Q: 5, R: 1, S: 1"})
        for (const Objective objective : {Objective::kEdp, Objective::kEnergy}) {
          Task task = image(dims, index);
          task.factorization = factorization;
          task.objective = objective;
          const Problem problem(task.layer, task.accelerator);
          SearchLimits limits{SearchOptions{}};
          const SpatialChoices choices(task, problem, limits);
          Spatial spatial;
          bool all = true;  // of those that are not their own image, is the other listed?
          for (std::size_t i = 0; i < choices.size(); ++i) {
            choices.get(i, spatial);
            all &= spatial.factor[1][0] >= spatial.factor[1][1];
          }
          once += all ? 1 : 0;
          const SearchResult found = run_mapper(*make_mapper("exact"), task, {});
          const SearchResult truth = run_mapper(*make_mapper("exhaustive"), task, {});
          ASSERT_TRUE(found.certified && truth.certified);
          EXPECT_NEAR(found.value, truth.value, kSame * truth.value);
        }
  EXPECT_EQ(once, 24);
}

// Words that were counted for one mapping are those of every other that asks for them.
TEST(ShortWindows, RememberedWordsOfWindowsAreThoseCountedAfresh) {
  int compared = 0;
  for_each_task(
      150,
      [&](const Truth& truth, const ResolvedTask&) {
        ShortWindowMemory memory;
        for (const Choice& choice : truth.choices)
          for (const Priced& mapping : choice.mappings) {
            Nest nest(truth.problem);
            nest.remember_windows(memory);
            nest.load(flatten(truth.problem, mapping.mapping));
            nest.price();
            for (const Transfer& words : nest.transfers()) {
              const Transfer& fresh = mapping.words.at({words.tensor, words.parent, words.child});
              EXPECT_EQ(words.served, fresh.served);
              EXPECT_EQ(words.delivered, fresh.delivered);
              ++compared;
            }
          }
      },
      [](const Task& task) { return task.factorization != Factorization::kPerfect; });
  EXPECT_GT(compared, 10000);
}

}  // namespace
}  // namespace pliant::exact
