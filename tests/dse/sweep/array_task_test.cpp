// SPDX-License-Identifier: Apache-2.0
// Which shard a task of an engine's array is, from the variables that the engines' manuals name.
#include "dse/sweep/array_task.h"

#include <gtest/gtest.h>

#include <map>

namespace pliant {
namespace {

std::optional<ArrayTask> task_with(const std::map<std::string, std::string, std::less<>>& variables) {
  return array_task([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

void expect_task(const std::map<std::string, std::string, std::less<>>& variables, std::string_view engine, int index,
                 std::optional<int> count) {
  const auto task = task_with(variables);
  ASSERT_TRUE(task) << engine;
  EXPECT_EQ(task->engine, engine);
  EXPECT_EQ(task->index, index) << engine;
  EXPECT_EQ(task->count, count) << engine;
  EXPECT_EQ(task->problem, "") << engine;
}

TEST(ArrayTask, EveryEngineSaysWhichOfHowMany) {
  expect_task({{"SLURM_ARRAY_TASK_ID", "7"},
               {"SLURM_ARRAY_TASK_COUNT", "4"},
               {"SLURM_ARRAY_TASK_MIN", "1"},
               {"SLURM_ARRAY_TASK_STEP", "2"}},
              "Slurm", 3, 4);
  expect_task({{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "16"}}, "AWS Batch", 0, 16);
  expect_task({{"SGE_TASK_ID", "5"}, {"SGE_TASK_FIRST", "1"}, {"SGE_TASK_LAST", "10"}, {"SGE_TASK_STEPSIZE", "2"}},
              "Grid Engine", 2, 5);
  expect_task({{"LSB_JOBINDEX", "8"}, {"LSB_JOBINDEX_END", "8"}, {"LSB_JOBINDEX_STEP", "1"}}, "LSF", 7, 8);
  expect_task({{"PBS_ARRAY_INDEX", "3"}}, "PBS", 3, std::nullopt);
  expect_task({{"PBS_ARRAYID", "3"}}, "Torque", 3, std::nullopt);
  expect_task({{"JOB_COMPLETION_INDEX", "2"}}, "Kubernetes", 2, std::nullopt);
}

TEST(ArrayTask, JobsThatAreNoArrays) {
  EXPECT_FALSE(task_with({}));
  EXPECT_FALSE(task_with({{"SGE_TASK_ID", "undefined"}}));
  EXPECT_FALSE(task_with({{"LSB_JOBINDEX", "0"}}));
  EXPECT_FALSE(task_with({{"SLURM_ARRAY_TASK_ID", ""}}));
}

// --array=1,3,7 has three tasks, and the last one's number says nothing of its place: it must not run everything.
TEST(ArrayTask, GapsAreAProblem) {
  for (const auto& [id, wrong] : std::map<std::string, bool>{{"1", false}, {"3", false}, {"7", true}}) {
    const auto task =
        task_with({{"SLURM_ARRAY_TASK_ID", id}, {"SLURM_ARRAY_TASK_COUNT", "3"}, {"SLURM_ARRAY_TASK_MIN", "1"}});
    ASSERT_TRUE(task);
    EXPECT_EQ(!task->problem.empty(), wrong) << id;
  }
  EXPECT_NE(
      task_with({{"SGE_TASK_ID", "4"}, {"SGE_TASK_FIRST", "1"}, {"SGE_TASK_LAST", "9"}, {"SGE_TASK_STEPSIZE", "2"}})
          ->problem,
      "");
}

}  // namespace
}  // namespace pliant
