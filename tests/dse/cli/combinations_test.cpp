// SPDX-License-Identifier: Apache-2.0
// Every pair of what works together runs, and what it answers holds together; what does not work is refused.
#include "dse/combinations/combinations.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/conventions.h"
#include "costmodel/task.h"
#include "dse/mappers/mapper.h"
#include "support/combination_run.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

using enum Trait;

TEST(Combinations, ThePageIsCurrent) {
  const std::string file = PLIANT_SOURCE_DIR "/docs/combinations.md";
  if (std::getenv("PLIANT_RECORD_CASES") != nullptr) std::ofstream(file, std::ios::binary) << combinations_page();
  std::ostringstream kept;
  kept << std::ifstream(file, std::ios::binary).rdbuf();
  EXPECT_EQ(kept.str(), combinations_page());
}

TEST(Combinations, TheTableKnowsEveryWordOfTheProgram) {
  for (const std::string& name : mapper_names()) EXPECT_TRUE(trait_named(TraitGroup::kMappers, name)) << name;
  for (const std::string& name : objective_names()) EXPECT_TRUE(trait_named(TraitGroup::kObjectives, name)) << name;
  for (const std::string& name : Conventions::preset_names())
    EXPECT_TRUE(trait_named(TraitGroup::kConventions, name)) << name;
  for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                   Factorization::kRuby, Factorization::kPadding})
    EXPECT_TRUE(trait_named(TraitGroup::kFactorizations, to_string(rule))) << to_string(rule);
  for (std::size_t i = 0; i < all_traits().size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(all_traits()[i].trait), i) << all_traits()[i].name;
}

TEST(Combinations, WhatDoesNotWorkIsRefusedInOneSentence) {
  int tried = 0;
  for (const Traits& traits : tests::refused_questions()) {
    SCOPED_TRACE(tests::names_of(traits));
    const TemporaryFolder folder;
    const tests::CombinationCase one = tests::make_case(traits, 1, folder.path());
    if (one.question == kTimeloop) {
      std::vector<std::string> map = one.map_words(false);
      map.insert(map.end(), {"--save", one.file("best.yaml")});
      ASSERT_EQ(run(map).code, 0);
    }
    const Ran ran = run(one.refused_words());
    EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
    const std::optional<Refused> expected = refused(traits);
    EXPECT_NE(ran.err.find(expected->what + "; expected " + expected->instead), std::string::npos)
        << "expected: " << expected->what << "\ngot: " << ran.err;
    ++tried;
  }
  EXPECT_GT(tried, 35);
}

/// The rows in a few tests, so that they run side by side.
constexpr int kTests = 8;

class EveryPair : public testing::TestWithParam<int> {};

TEST_P(EveryPair, HoldsTogether) { tests::run_combinations(2, GetParam(), kTests, "dse_cli_tests", "*EveryPair*"); }

INSTANTIATE_TEST_SUITE_P(Combinations, EveryPair, testing::Range(0, kTests));

}  // namespace
}  // namespace pliant
