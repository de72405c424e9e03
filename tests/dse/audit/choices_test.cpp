// SPDX-License-Identifier: Apache-2.0
// Unrollings that are counted without being listed, and claims about them.
#include "dse/audit/choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/arithmetic.h"
#include "dse/audit/audit.h"
#include "dse/mappers/mapper.h"
#include "support/random_cases.h"

namespace pliant::audit {
namespace {

TEST(Choices, ThoseThatAreNotListedAreCounted) {
  int cut = 0;
  for (const Factorization factorization :
       {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby, Factorization::kPadding})
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      const tests::RandomCase random =
          tests::random_case(seed, {.factorizations = {factorization}, .most_mappings = 20'000});
      SCOPED_TRACE(random.text);
      const Task& task = random.task;
      const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
      const Choices all = list_choices(task, rules).value();
      EXPECT_EQ(all.unlisted, 0U);
      std::set<double> steps;
      for (const Factors& unrolling : all.unrollings) steps.insert(least_steps(task, unrolling));
      for (const double below : steps) {
        const Choices fast = list_choices(task, rules, kMostUnrollings, below).value();
        std::vector<Factors> expected;
        for (const Factors& unrolling : all.unrollings)
          if (least_steps(task, unrolling) < below) expected.push_back(unrolling);
        EXPECT_EQ(fast.unrollings, expected);
        EXPECT_EQ(fast.unlisted, all.unrollings.size() - expected.size());
        cut += fast.unlisted > 0 && !expected.empty() ? 1 : 0;
      }
    }
  EXPECT_GT(cut, 500);
}

// Of the whole map-space as one part, without enumeration: a bound above the optimum is never confirmed, and of those
// at it most are.
TEST(Choices, NoBoundAboveTheOptimumIsConfirmed) {
  int confirmed = 0, compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const tests::RandomCase random = tests::random_case(
        seed, {.factorizations = {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby},
               .most_mappings = 5'000,
               .residents = seed % 4 == 0});
    SCOPED_TRACE(random.text);
    const SearchResult truth = make_mapper("exhaustive")->search(random.task, {});
    if (!truth.mapping || !(truth.value > 0)) continue;
    AuditOptions options;
    options.enumerate = 0;
    const auto asked = [&](double bound) {
      Certificate whole{random.task, truth.mapping, truth.value, bound, false, false, {}};
      whole.parts.push_back({ClosedBy::kSearch, bound, Part::Scope::kRest, 0, {}, {}});
      state_sizes(random.task, whole.parts);
      return audit(whole, options);
    };
    ++compared;
    for (const double above : {1 + 1e-6, 1.01, 1.5, 4.0}) {
      const AuditReport report = asked(truth.value * above);
      std::uint64_t open = 0;
      for (const PartAudit& part : report.parts) open += part.undecided;
      const auto below_value = [](const std::string& what) { return what.find("a mapping has") != std::string::npos; };
      EXPECT_TRUE(open > 0 || std::ranges::any_of(report.wrong, below_value)) << above;
    }
    confirmed += asked(truth.value).clean() ? 1 : 0;
  }
  EXPECT_GT(compared, 250);
  EXPECT_GT(confirmed, compared / 2);
}

}  // namespace
}  // namespace pliant::audit
