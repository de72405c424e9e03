// SPDX-License-Identifier: Apache-2.0
// The auditor's own rules against the checker, which reads them by itself: what it lists is what is legal, no more and
// no less, and nothing legal beats a claim that it accepts.
#include "dse/audit/every_mapping.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "core/arithmetic.h"
#include "costmodel/report.h"
#include "dse/audit/audit.h"
#include "dse/audit/choices.h"
#include "dse/mappers/mapper.h"
#include "support/random_cases.h"
#include "support/thinkable_mappings.h"

namespace pliant::audit {
namespace {

constexpr std::array kAllFactorizations{Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                        Factorization::kRuby, Factorization::kPadding};

/// What of a mapping the auditor tells apart.
std::string told_apart(const SpaceRules& rules, const Mapping& mapping) {
  std::ostringstream text;
  for (const Count factor : unrolling_of(rules, mapping)) text << factor << " ";
  for (const TensorSet kept : kept_of(rules, mapping)) text << "k" << kept << " ";
  for (const MemoryRules& memory : rules.memories) {
    text << "/";
    for (const Loop& loop : mapping.levels[static_cast<std::size_t>(memory.level)].temporal)
      if (loop.bound > 1) text << " " << loop.dim << "x" << loop.bound;
  }
  return text.str();
}

tests::RandomCase small_case(std::uint64_t seed, Factorization factorization) {
  return tests::random_case(seed, {.factorizations = {factorization},
                                   .most_mappings = 400,
                                   .infeasible_share = 0.1,
                                   .bursts = seed % 3 == 0,
                                   .residents = seed % 4 == 1,
                                   .widths = seed % 5 == 0,
                                   .arrays = seed % 7 == 0});
}

constexpr double kMostJudged = 4'000;

std::uint64_t tries() {
  const char* many = std::getenv("PLIANT_CASES");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : 40;
}

TEST(EveryMapping, ListsWhatTheCheckerAllows) {
  int spaces = 0;
  std::uint64_t mappings = 0;
  for (const Factorization factorization : kAllFactorizations)
    for (std::uint64_t seed = 1; seed <= tries(); ++seed) {
      const tests::RandomCase random = small_case(seed, factorization);
      const Task& task = random.task;
      SCOPED_TRACE(random.text);
      const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
      std::set<std::string> legal, listed;
      if (!tests::for_each_thinkable_mapping(task, kMostJudged,
                                             [&](const Mapping& one) { legal.insert(told_apart(rules, one)); }))
        continue;
      const Choices choices = list_choices(task, rules).value();
      EveryMapping every(task, rules);
      EveryMapping::Limits limits{1'000'000, 100'000'000};
      for (const Factors& unrolling : choices.unrollings)
        for (const Kept& kept : choices.keeps)
          ASSERT_TRUE(every.visit(unrolling, kept, limits, [&](const Mapping& one) {
            EXPECT_TRUE(listed.insert(told_apart(rules, one)).second) << "twice";
          }));
      // Partial sums where none are taken are no matter of loops: the value says it.
      ASSERT_EQ(listed, legal);
      ++spaces;
      mappings += legal.size();
    }
  RecordProperty("spaces", spaces);
  RecordProperty("mappings", static_cast<int>(mappings));
  EXPECT_GT(spaces, 60);
  EXPECT_GT(mappings, 1'000U);
}

TEST(EveryMapping, NothingLegalBeatsAClaimThatIsAccepted) {
  int accepted = 0;
  for (const Factorization factorization : kAllFactorizations)
    for (std::uint64_t seed = 1001; seed <= 1000 + tries() / 2; ++seed) {
      const tests::RandomCase random = small_case(seed, factorization);
      const Task& task = random.task;
      SCOPED_TRACE(random.text);
      double least = kInfinity;
      if (!tests::for_each_thinkable_mapping(task, kMostJudged, [&](const Mapping& one) {
            least = std::min(least, task_value(task, price(task.layer, task.accelerator, one).totals));
          }))
        continue;
      SearchOptions recorded;
      recorded.record_parts = true;
      const SearchResult found = run_mapper(*make_mapper("exact"), task, recorded);
      const Certificate certificate{task,
                                    found.mapping,
                                    found.mapping ? found.value : kInfinity,
                                    found.lower_bound,
                                    found.certified,
                                    found.infeasible,
                                    found.parts};
      for (const std::uint64_t enumerated : {std::uint64_t{0}, std::uint64_t{200'000}}) {
        AuditOptions options;
        options.enumerate = enumerated;
        const AuditReport report = audit(certificate, options);
        EXPECT_TRUE(report.wrong.empty());
        if (!report.clean()) continue;
        ++accepted;
        EXPECT_GE(least, certificate.lower_bound * (1 - 1e-9));
      }
    }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace pliant::audit
