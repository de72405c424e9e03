// SPDX-License-Identifier: Apache-2.0
// The promise of the exact mapper: on every map-space small enough to enumerate, its certified value is the best value.
#include "dse/mappers/exact/exact_mapper.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/input/load.h"
#include "core/legality.h"
#include "support/driven_clock.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

struct Tally {
  int cases = 0, infeasible = 0, uncertified = 0, missed = 0;
};

void compare(std::uint64_t seed, const tests::CaseOptions& options, Tally& tally) {
  const tests::RandomCase random = tests::random_case(seed, options);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.text);
  const SearchResult truth = make_mapper("exhaustive")->search(random.task, {});
  const SearchResult exact = make_mapper("exact")->search(random.task, {});
  ++tally.cases;
  ASSERT_EQ(truth.mapping.has_value(), exact.mapping.has_value());
  if (!truth.mapping) {
    ++tally.infeasible;
    EXPECT_FALSE(exact.certified);
    return;
  }
  for (const Violation& violation : check_legality(random.task.layer, random.task.accelerator, random.task.flexibility,
                                                   random.task.factorization, *exact.mapping))
    ADD_FAILURE() << violation.message;
  // The bound never exceeds the truth, and what is called certified is the truth.
  EXPECT_LE(exact.lower_bound, truth.value * (1 + 1e-9));
  EXPECT_GE(exact.value, truth.value * (1 - 1e-9));
  if (exact.certified) {
    EXPECT_NEAR(exact.value / truth.value, 1, 1e-9);
  } else {
    ++tally.uncertified;
    if (exact.value > truth.value * (1 + 1e-9)) ++tally.missed;
  }
}

/// So many cases, or as many as PLIANT_CASES says.
Tally compare_many(std::uint64_t cases, const tests::CaseOptions& options) {
  if (const char* many = std::getenv("PLIANT_CASES")) cases = std::strtoull(many, nullptr, 10);
  Tally tally;
  for (std::uint64_t seed = 1; seed <= cases && !testing::Test::HasFatalFailure(); ++seed)
    compare(seed, options, tally);
  return tally;
}

constexpr auto kPerfect = Factorization::kPerfect;
constexpr auto kRubyS = Factorization::kRubyS;
constexpr auto kRubyT = Factorization::kRubyT;
constexpr auto kRuby = Factorization::kRuby;
constexpr auto kPadding = Factorization::kPadding;

TEST(ExactMapper, EqualsExhaustiveOnRandomSmallCases) {
  const Tally tally = compare_many(640, {});
  EXPECT_LT(tally.infeasible, tally.cases / 10);
  RecordProperty("cases", tally.cases);
  RecordProperty("uncertified", tally.uncertified);
}

TEST(ExactMapper, ProvesEveryObjectiveOnALargeLayer) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  Task task;
  task.accelerator = load_accelerator(library, "eyeriss");
  task.layer = parse_layer("conv:M=128,C=128,P=28,Q=28,R=3,S=3", "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  for (const std::string& name : objective_names()) {
    task.objective = *parse_objective(name);
    EXPECT_TRUE(run_mapper(*make_mapper("exact"), task, {}).certified) << name;
  }
}

// On layers too large to enumerate nothing any other search finds is better than what is certified.
TEST(ExactMapper, NoMapperFindsBetterOnLargerLayers) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  for (const auto& [accelerator_name, layer_text] :
       std::vector<std::pair<std::string, std::string>>{{"eyeriss", "conv:M=128,C=128,P=28,Q=28,R=3,S=3"},
                                                        {"simba", "conv:M=88,C=24,P=28,Q=28,R=1,S=1"},
                                                        {"tpuv1", "conv:M=72,C=72,P=28,Q=28,R=3,S=3,stride=2"},
                                                        {"gemmini", "gemm:M=128,N=768,K=768"},
                                                        {"goma_eyeriss", "gemm:M=256,N=64,K=256"}}) {
    SCOPED_TRACE(accelerator_name + " " + layer_text);
    Task task;
    task.accelerator = load_accelerator(library, accelerator_name);
    task.layer = parse_layer(layer_text, "test");
    task.flexibility = task.accelerator.flexibility_of(task.layer);
    const SearchResult exact = run_mapper(*make_mapper("exact"), task, {});
    ASSERT_TRUE(exact.certified);
    for (const char* name : {"local", "genetic", "random"}) {
      SearchOptions options;
      options.budget.evaluations = 3000;
      const SearchResult other = run_mapper(*make_mapper(name), task, options);
      ASSERT_TRUE(other.mapping.has_value()) << name;
      EXPECT_GE(other.value, exact.value * (1 - 1e-9)) << name;
    }
  }
}

// One bus for both directions: its load is the sum of two loads.
TEST(ExactMapper, EqualsExhaustiveWithSharedBuses) {
  const Tally tally =
      compare_many(320, {.factorizations = {kPerfect, kRubyS, kRubyT, kRuby}, .most_mappings = 8'000, .buses = true});
  EXPECT_LT(tally.infeasible, tally.cases / 10);
  EXPECT_LT(tally.uncertified, tally.cases / 4);
}

// Capacities, loads and energies in bits; outputs are narrower when they are finished.
TEST(ExactMapper, EqualsExhaustiveWithWidths) {
  const Tally tally = compare_many(
      320,
      {.factorizations = {kPerfect, kRubyS, kRubyT, kRuby}, .most_mappings = 8'000, .buses = true, .widths = true});
  EXPECT_LT(tally.infeasible, tally.cases / 5);
  EXPECT_LT(tally.uncertified, tally.cases / 4);
}

// What words cost on their way, multicast and reduction trees included.
TEST(ExactMapper, EqualsExhaustiveWithNetworks) {
  const Tally tally = compare_many(
      320,
      {.factorizations = {kPerfect, kRubyS, kRubyT, kRuby}, .most_mappings = 8'000, .widths = true, .networks = true});
  EXPECT_LT(tally.infeasible, tally.cases / 5);
  EXPECT_LT(tally.uncertified, tally.cases / 4);
}

// Fill and drain for every tile that stays in an array.
TEST(ExactMapper, EqualsExhaustiveWithSystolicArrays) {
  const Tally tally = compare_many(
      320,
      {.factorizations = {kPerfect, kRubyS, kRubyT, kRuby}, .most_mappings = 8'000, .buses = true, .arrays = true});
  EXPECT_LT(tally.infeasible, tally.cases / 5);
  EXPECT_LT(tally.uncertified, tally.cases / 4);
}

// Remainders everywhere, and padding: small spaces are proven as well.
TEST(ExactMapper, EqualsExhaustiveWithTemporalRemaindersAndPadding) {
  const Tally tally = compare_many(240, {.factorizations = {kRuby, kRubyT, kPadding}});
  EXPECT_LE(tally.uncertified, tally.cases / 100);
}

// Remainders of remainders at two fanouts: steps that depend on the loops between them, rounds that are short in
// several ways, layouts with the same factors.
TEST(ExactMapper, EqualsExhaustiveWithRemaindersAtSeveralFanouts) {
  EXPECT_EQ(compare_many(320, {.factorizations = {kRubyS}, .spread = true}).uncertified, 0);
}

// The same with remainders of temporal loops between them.
TEST(ExactMapper, EqualsExhaustiveWithAllRemaindersAtSeveralFanouts) {
  const Tally tally = compare_many(120, {.factorizations = {kRuby, kRubyT, kPadding}, .spread = true});
  EXPECT_LE(tally.uncertified, tally.cases / 100);
}

// Dilated windows that slide past those of other units may fall into each other's holes.
TEST(ExactMapper, EqualsExhaustiveOnWindowsWithHoles) {
  const Tally tally = compare_many(120, {.factorizations = {kPerfect, kRubyS, kRubyT, kRuby}, .holes = true});
  EXPECT_LE(tally.uncertified, tally.cases / 100);
}

// Rare cases in which an argument that is nearly right shows.
TEST(ExactMapper, EqualsExhaustiveOnTellingCases) {
  Tally tally;
  // Ruby: 9 = 4 + 4 + 1 on two units takes fewer steps than 3 + 3 + 3, though both leave two rounds.
  compare(38235, {.factorizations = {kRuby, kRubyT, kPadding}, .spread = true}, tally);
  // A unit that takes every second row of a window dilated by two gets 4 words where neighbours would need 5.
  compare(39094, {.factorizations = {kRuby, kRubyT, kPadding}}, tally);
  compare(1894, {.factorizations = {kPerfect, kRubyS, kRubyT, kRuby}, .holes = true}, tally);
  EXPECT_EQ(tally.uncertified, 0);
}

// Where a proof is out of reach the result says so: a mapping at least as good as the best without remainders, a bound
// below it, and a gap.
TEST(ExactMapper, IsHonestWhereTheProofIsOutOfReach) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  Task task;
  task.accelerator = load_accelerator(library, "eyeriss");
  task.layer = parse_layer("conv:M=96,C=64,P=28,Q=28,R=3,S=3", "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  const SearchResult perfect = run_mapper(*make_mapper("exact"), task, {});
  ASSERT_TRUE(perfect.certified);
  const tests::DrivenClock clock(1e-5);
  SearchOptions options;
  options.clock = &clock;
  options.budget.seconds = 0.2;
  for (const Factorization rule : {kRuby, kRubyT}) {
    task.factorization = rule;
    const SearchResult result = run_mapper(*make_mapper("exact"), task, options);
    ASSERT_TRUE(result.mapping);
    EXPECT_LE(result.value, perfect.value * (1 + 1e-9));
    EXPECT_LE(result.lower_bound, result.value);
    EXPECT_GT(result.lower_bound, 0.5 * result.value);
    EXPECT_EQ(result.certified, result.gap() == 0);
    EXPECT_EQ(to_string(result.ended_by), result.certified ? "proof" : "budget");
  }
  // So little memory that no lattice fits: still a bound, still honest.
  task.factorization = kPerfect;
  options.budget = {};
  options.budget.memory_bytes = 100'000;
  const SearchResult cramped = run_mapper(*make_mapper("exact"), task, options);
  EXPECT_FALSE(cramped.certified);
  EXPECT_FALSE(cramped.infeasible);
  EXPECT_EQ(to_string(cramped.ended_by), "memory");
  EXPECT_GT(cramped.lower_bound, 0);
  EXPECT_LE(cramped.lower_bound, perfect.value * (1 + 1e-9));
}

}  // namespace
}  // namespace pliant
