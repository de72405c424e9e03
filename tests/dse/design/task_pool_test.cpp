// SPDX-License-Identifier: Apache-2.0
// Questions in batches: several are under way at once, and what one finds the next ones need not search.
#include "dse/design/task_pool.h"

#include <gtest/gtest.h>

#include <atomic>

#include "support/design_spaces.h"

namespace pliant {
namespace {

class TaskPoolTest : public testing::Test {
 protected:
  std::shared_ptr<const DesignPoint> first_valid() {
    DesignSpace designs(library_, std::make_shared<const Sweep>(space_.sweep));
    for (std::int64_t id = 0; id < designs.size(); ++id)
      if (auto design = std::make_shared<const DesignPoint>(designs.design(id)); design->accelerator) return design;
    return nullptr;
  }

  const Library library_{PLIANT_SOURCE_DIR "/configs"};
  const tests::ScratchFolder folder_{"task_pool"};
  const tests::RandomSpace space_ = tests::random_space(library_, 3, folder_.path(), 200);
  const DistinctLayers layers_{space_.sweep};
  const std::shared_ptr<const DesignPoint> design_ = first_valid();
  TaskPool pool_{space_.sweep, nullptr, 2, {}};
};

TEST_F(TaskPoolTest, ABatchWaitsForWhatAnEarlierOneHasAtWork) {
  ASSERT_TRUE(design_);
  TaskPool::Batch first(pool_), second(pool_);
  for (TaskPool::Batch* batch : {&first, &second}) batch->ask({design_, layers_.layers[0].get()});
  const std::vector<PoolAnswer> one = first.answers(), other = second.answers();
  ASSERT_TRUE(one[0].result && other[0].result);
  EXPECT_EQ(one[0].result, other[0].result);
  EXPECT_EQ(pool_.solved(), 1);
  EXPECT_EQ(pool_.reused(), 1);
}

/// A design is opened, all its layers asked, while a round is under way.
TEST_F(TaskPoolTest, WhoCannotWaitIsAnsweredBeforeItsTurn) {
  ASSERT_TRUE(design_);
  TaskPool::Batch first(pool_);
  first.ask({design_, layers_.layers[0].get()});
  const std::vector<PoolAnswer> all = pool_.answer(design_, layers_);
  for (const PoolAnswer& answer : all) EXPECT_TRUE(answer.result);
  EXPECT_EQ(first.answers()[0].result, all[0].result);
  EXPECT_EQ(pool_.solved() + pool_.reused(), static_cast<std::int64_t>(layers_.layers.size()) + 1);
}

TEST_F(TaskPoolTest, ABatchThatIsGivenUpLeavesNothingWaiting) {
  ASSERT_TRUE(design_);
  TaskPool::Batch second(pool_);
  {
    TaskPool::Batch first(pool_);
    first.ask({design_, layers_.layers[0].get()});
    second.ask({design_, layers_.layers[0].get()});
  }
  EXPECT_TRUE(second.answers()[0].result);
}

TEST_F(TaskPoolTest, CallsSideBySideAreAllMade) {
  std::vector<std::atomic<int>> calls(100);
  pool_.for_each(calls.size(), [&](std::size_t k) { ++calls[k]; });
  for (const std::atomic<int>& one : calls) EXPECT_EQ(one, 1);
}

}  // namespace
}  // namespace pliant
