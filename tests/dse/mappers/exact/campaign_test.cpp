// SPDX-License-Identifier: Apache-2.0
// The first cases of tests/long/campaign_test.cpp, and a proof that its shrinking works.
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "support/campaign.h"
#include "support/campaign_cases.h"
#include "support/shrink.h"

namespace pliant {
namespace {

TEST(ShortCampaign, ExactEqualsEnumerationAndRelationsHold) {
  const tests::CampaignReport report = tests::run_campaign(1, 1500);
  EXPECT_EQ(report.differing, 0U) << report.first;
  EXPECT_GE(report.compared, 1500U);
  EXPECT_GT(report.relations, 200U);
  EXPECT_GT(report.deadlines, 200U);
  EXPECT_GT(report.predictions, 50U);
  EXPECT_GT(report.networks, 50U);
  EXPECT_LE(report.open, report.compared / 100);
}

// Seeds at which a longer campaign once found a wrong certificate; docs/dev/proof tells what was wrong.
TEST(ShortCampaign, SeedsOnceWrong) {
  for (const std::uint64_t seed : {1044U, 7415U, 35691U, 1052435U, 20097926U, 50307600U, 90115920U, 91001636U,
                                   91047372U, 95027036U, 120029007U, 160225349U, 800793600U, 1740897435U}) {
    const tests::CampaignReport report = tests::run_seeds(seed, 1);
    EXPECT_GE(report.compared, 1U) << seed;  // a generator that draws other tasks must say so here
    EXPECT_EQ(report.differing, 0U) << report.first;
    const tests::Judgement plain = tests::compare_with_enumeration(tests::plain_campaign_task(seed));
    EXPECT_EQ(plain.outcome, tests::Outcome::kAgrees) << seed << ": " << plain.what;
  }
}

// At this seed a mix of conventions had a wrong certificate with a deadline. Bounds are proven for the presets.
TEST(ShortCampaign, NothingIsClaimedUnderMixedConventions) {
  Task task = tests::campaign_task(1'000'070'077'775);
  ASSERT_TRUE(tests::mixes_conventions(task));
  const SearchResult mixed = run_mapper(*make_mapper("exact"), task, {});
  EXPECT_TRUE(mixed.mapping);
  EXPECT_FALSE(proven(mixed));
  EXPECT_EQ(mixed.lower_bound, 0);
  EXPECT_EQ(mixed.ended_by, EndedBy::kMixedConventions);
  task.accelerator.conventions = Conventions::timeloop();
  EXPECT_TRUE(run_mapper(*make_mapper("exact"), task, {}).certified);
}

// A "failure" that needs a fanout, a dim of size 2 or more and a limited memory shrinks to little more than those.
TEST(ShortCampaign, ShrinksToWhatAFailureNeeds) {
  const auto fails = [](const Task& task) {
    bool fanout = false, limited = false, size = false;
    for (const Level& level : task.accelerator.levels) {
      fanout |= level.is_fanout();
      limited |= level.is_memory() && level.memory().capacity_words.has_value();
    }
    for (const Dim& dim : task.layer.dims) size |= dim.size >= 2;
    return fanout && limited && size;
  };
  std::uint64_t seed = 1;
  while (!fails(tests::campaign_task(seed)) || tests::campaign_task(seed).accelerator.levels.size() < 5) ++seed;
  const Task small = tests::shrink(tests::campaign_task(seed), fails);
  EXPECT_TRUE(fails(small));
  EXPECT_LE(small.accelerator.levels.size(), 4U);
  EXPECT_EQ(small.layer.dims.size(), 1U);
  EXPECT_EQ(small.layer.dims[0].size, 2);
  EXPECT_EQ(small.layer.tensors.size(), 2U);
  EXPECT_EQ(small.accelerator.conventions, Conventions{});
  EXPECT_NE(tests::as_commands(small).find("--mapper exhaustive"), std::string::npos);
}

// Whatever it leaves out, a task that readers take stays one: every dim is used, and the files can be read.
TEST(ShortCampaign, ShrinksToWhatFilesCanSay) {
  int shrunk = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Task task = tests::campaign_task(seed);
    if (tests::as_commands(task).starts_with("#")) continue;
    ++shrunk;
    const auto fails = [&](const Task& t) { return t.layer.macs() >= std::min<Count>(2, task.layer.macs()); };
    const Task small = tests::shrink(task, fails);
    EXPECT_FALSE(tests::as_commands(small).starts_with("#")) << tests::as_commands(small);
    const Layer again = parse_layer_text(write_layer(small.layer), "shrunk.yaml");
    EXPECT_EQ(again.dims.size(), small.layer.dims.size());
  }
  EXPECT_GE(shrunk, 3);
}

}  // namespace
}  // namespace pliant
