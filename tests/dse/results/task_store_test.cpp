// SPDX-License-Identifier: Apache-2.0
#include "dse/results/task_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "dse/results/atomic_file.h"
#include "dse/results/content_hash.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

TaskResult solved_result(int number) {
  TaskResult result;
  result.status = TaskStatus::kSolved;
  result.mapping.levels.resize(2);
  result.mapping.levels[0].temporal = {{0, 4}, {1, number + 2}};
  result.mapping.levels[1].spatial = {{2, 8, Side::kRows}, {0, 3, Side::kCols}};
  result.mapping.levels[0].keeps = 5;
  result.energy_pj = 1.0 / 3 + number;
  result.runtime_cycles = 1e18 / 7;
  result.energy_by_level = {{"DRAM", 0.1}, {"größe \"\n", 0.2}};
  result.memories = {
      {0, 1, std::numeric_limits<double>::infinity(), 0.3, 7, 8, 15, 1e-300, {{2, 1.5, 2, 3, 0.7}, {0, 1, 0, 0, 2}}},
      {1, 256, 64, 63, 1e18 / 3, 8, 0, 0, {}}};
  result.bound_by = "GLB read";
  result.value = 0.1 + 0.2;
  result.certified = true;
  result.mappings_covered = "123456789012345678901234567890";
  return result;
}

TaskKey key_of(int number) { return *TaskKey::parse(sha256(std::to_string(number))); }

TEST(ContentHash, IsSha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

std::string packed(const TaskResult& result) {
  std::string bytes;
  append_task_result(result, bytes);
  return bytes;
}

TEST(TaskResult, ReadsBackAsItWasWritten) {
  const TaskResult result = solved_result(3);
  EXPECT_EQ(parse_task_result(packed(result)), result);
  TaskResult none;
  none.status = TaskStatus::kNoLegalMapping;
  none.reason = "GLB holds 64 words";
  EXPECT_EQ(parse_task_result(packed(none)), none);
  const std::string bytes = packed(result);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(parse_task_result(bytes.substr(0, length)).has_value()) << length;
  EXPECT_FALSE(parse_task_result(bytes + "more").has_value());
  std::string after = "before";
  append_task_result(result, after);
  EXPECT_EQ(after, "before" + bytes);
}

std::shared_ptr<const TaskResult> shared(TaskResult result) {
  return std::make_shared<const TaskResult>(std::move(result));
}

TEST(TaskStore, WhatTookLongIsOnDiskAtOnce) {
  const TemporaryFolder folder;
  TaskStore store(folder.path(), true);
  TaskResult slow = solved_result(2);
  slow.solve_seconds = 5;
  store.put(key_of(1), shared(solved_result(1)));
  store.put(key_of(2), shared(slow));
  // As another process finds it if this one is killed now.
  const TaskStore other(folder.path(), false);
  EXPECT_EQ(other.damaged(), 0U);
  EXPECT_EQ(other.get(key_of(1)), solved_result(1));
  EXPECT_EQ(other.get(key_of(2)), slow);
}

TEST(TaskStore, WhatWaitsForTheDiskReadsBack) {
  const TemporaryFolder folder;
  TaskStore store(folder.path(), true);
  for (int i = 0; i < 20; ++i) {
    store.put(key_of(i), shared(solved_result(i)));
    EXPECT_TRUE(store.contains(key_of(i))) << i;
    EXPECT_EQ(store.get(key_of(i)), solved_result(i)) << i;
    store.put(key_of(i), shared(solved_result(99)));  // is there already
    EXPECT_EQ(store.get(key_of(i)), solved_result(i)) << i;
    EXPECT_EQ(store.size(), static_cast<std::size_t>(i) + 1);
  }
  store.forget(key_of(19));
  EXPECT_FALSE(store.contains(key_of(19)));
  store.put(key_of(19), shared(solved_result(19)));
  store.flush();
  EXPECT_EQ(TaskStore(folder.path(), false).size(), 20U);
}

TEST(TaskStore, KeepsResultsForTheNextProcess) {
  const TemporaryFolder folder;
  {
    TaskStore store(folder.path(), true);
    for (int i = 0; i < 500; ++i) store.put(key_of(i), shared(solved_result(i)));
    EXPECT_EQ(store.get(key_of(7)), solved_result(7));
  }
  TaskStore second(folder.path(), true);
  EXPECT_EQ(second.size(), 500U);
  EXPECT_EQ(second.damaged(), 0U);
  second.put(key_of(500), shared(solved_result(500)));
  second.put(key_of(3), shared(solved_result(99)));  // is there already
  EXPECT_EQ(second.get(key_of(3)), solved_result(3));
  const TaskStore third(folder.path(), false);
  EXPECT_EQ(third.size(), 501U);
  for (int i = 0; i <= 500; ++i) EXPECT_EQ(third.get(key_of(i)), solved_result(i));
  EXPECT_FALSE(third.get(key_of(777)).has_value());
}

// A file is read in windows of a megabyte; records have line ends inside, so that one that a window cuts looks damaged.
TEST(TaskStore, ReadsWhatAWindowCuts) {
  const TemporaryFolder folder;
  constexpr int kResults = 8000;
  {
    TaskStore store(folder.path() / "cache", true);
    for (int i = 0; i < kResults; ++i) store.put(key_of(i), std::make_shared<const TaskResult>(solved_result(i)));
    store.flush();
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder.path() / "cache")) bytes += entry.file_size();
  ASSERT_GT(bytes, std::uintmax_t{2} << 20);
  const TaskStore again(folder.path() / "cache", false);
  EXPECT_EQ(again.damaged(), 0U);
  EXPECT_EQ(again.size(), static_cast<std::size_t>(kResults));
}

TEST(TaskStore, LeavesFilesOfOtherVersionsAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "0000-1.tasks") << "a record of another version";
  const TaskStore store(folder.path(), false);
  EXPECT_EQ(store.size(), 0U);
  EXPECT_EQ(store.damaged(), 0U);
  EXPECT_EQ(store.other_formats(), 1U);
}

/// What remains of a store when its file is cut or damaged at every place.
TEST(TaskStore, SurvivesCutsAndDamageAnywhere) {
  const TemporaryFolder folder;
  {
    TaskStore store(folder.path(), true);
    for (int i = 0; i < 3; ++i) store.put(key_of(i), shared(solved_result(i)));
  }
  const fs::path file = fs::directory_iterator(folder.path())->path();
  std::ostringstream stream;
  stream << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string whole = stream.str();
  const auto write = [&](const std::string& text) { std::ofstream(file, std::ios::binary) << text; };
  for (std::size_t cut = 0; cut < whole.size(); cut += 37) {
    write(whole.substr(0, cut));
    const TaskStore store(folder.path(), false);
    EXPECT_LT(store.size(), 3U);
    for (int i = 0; i < 3; ++i)
      if (store.contains(key_of(i))) {
        EXPECT_EQ(store.get(key_of(i)), solved_result(i));
      }
  }
  for (std::size_t at = 0; at < whole.size(); at += 29) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write(damaged);
    const TaskStore store(folder.path(), false);
    EXPECT_GE(store.size(), 1U) << at;
    EXPECT_LE(store.size(), 2U) << at;
    EXPECT_EQ(store.damaged() > 0, true) << at;
    for (int i = 0; i < 3; ++i)
      if (store.contains(key_of(i))) {
        EXPECT_EQ(store.get(key_of(i)), solved_result(i)) << at;
      }
  }
}

TEST(TaskStore, SaysWhenTheDiskRefuses) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  TaskStore store(folder.path() / "file", true);
  EXPECT_THROW(store.put(key_of(1), shared(solved_result(1))), StorageError);
}

}  // namespace
}  // namespace pliant
