// SPDX-License-Identifier: Apache-2.0
// Random tasks beyond those of the unit tests, as many as anyone likes: the exact mapper against the enumeration of all
// mappings, and relations between tasks. It stops at the first difference and prints it, shrunk, as files and commands.
//
//     PLIANT_CASES=1000000 PLIANT_SEED=1 build/release/bin/campaign_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "support/campaign.h"

namespace pliant {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Campaign, ExactEqualsEnumerationAndRelationsHold) {
  constexpr std::uint64_t kShown = 10'000;
  const std::uint64_t cases = setting("PLIANT_CASES", 20'000);
  std::uint64_t seed = setting("PLIANT_SEED", 1), compared = 0, open = 0, relations = 0;
  while (compared < cases) {
    const tests::CampaignReport report = tests::run_campaign(seed, std::min(kShown, cases - compared));
    seed += report.drawn;
    compared += report.compared;
    open += report.open;
    relations += report.relations;
    std::cout << compared << " cases compared, " << relations << " relations, " << open
              << " without a certificate, next seed " << seed << std::endl;
    ASSERT_EQ(report.differing, 0U) << report.first;
  }
  EXPECT_LE(open, compared / 100);
}

}  // namespace
}  // namespace pliant
