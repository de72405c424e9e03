// SPDX-License-Identifier: Apache-2.0
// The frontier that a design search proves is that of the full sweep.
#include "dse/design/design_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "dse/design/shared_designs.h"
#include "support/design_spaces.h"
#include "support/proof_agreement.h"

namespace pliant {
namespace {

TEST(DesignSearch, TheFrontierIsThatOfTheFullSweep) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_search");
  int larger = 0;
  for (std::uint64_t seed = 7; seed <= 16; ++seed) {
    const tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 100);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    tests::expect_same_points(tests::proven_frontier(library, space.sweep), truth);
    larger += truth.size() > 2;
  }
  EXPECT_GE(larger, 3);
}

// The optimum of a network on the ideal design of a box, tensors that stay included, bounds every design of the box.
TEST(DesignSearch, WithTensorsThatStayTheFrontierIsThatOfTheFullSweep) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_residency");
  int found = 0, stays = 0;
  std::int64_t opened = 0, designs = 0;
  DesignSearchOptions options;
  options.threads = 1;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 50);
    tests::let_tensors_stay(space, seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    const DesignFrontier frontier = search_designs(library, space.sweep, options, nullptr);
    std::vector<Point> points;
    for (const std::size_t k : frontier.frontier) {
      points.push_back(frontier.opened[k].values);
      for (const DesignRow& row : frontier.opened[k].rows) stays += row.residency->tensors_on_chip > 0 ? 1 : 0;
    }
    tests::expect_same_points(points, truth);
    found += truth.empty() ? 0 : 1;
    opened += frontier.progress.opened;
    designs += frontier.progress.designs;
  }
  EXPECT_GE(found, 3);
  EXPECT_GE(stays, 2);
  EXPECT_LT(opened, designs / 2) << "boxes are closed by their bounds";
}

// What serving costs on the ideal design of a box bounds every design of the box.
TEST(DesignSearch, WithServedModelsTheFrontierIsThatOfTheFullSweep) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_serving");
  int found = 0, larger = 0;
  std::int64_t opened = 0, designs = 0;
  DesignSearchOptions options;
  options.threads = 1;
  const std::uint64_t spaces = tests::cases_or(4);
  for (std::uint64_t seed = 1; seed <= spaces; ++seed) {
    const tests::RandomSpace space = tests::random_served_space(library, seed, folder.path(), 12);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    const DesignFrontier frontier = search_designs(library, space.sweep, options, nullptr);
    std::vector<Point> points;
    for (const std::size_t k : frontier.frontier) points.push_back(frontier.opened[k].values);
    tests::expect_same_points(points, truth);
    found += truth.empty() ? 0 : 1;
    larger += truth.size() > 1;
    opened += frontier.progress.opened;
    designs += frontier.progress.designs;
  }
  EXPECT_GE(found, 2);
  EXPECT_GE(larger, 1);
  EXPECT_LT(opened, designs) << "boxes are closed by their bounds";
}

// The same where layers may pass tiles on: on the ideal design of a box every choice of tiles is possible, for no more.
TEST(DesignSearch, WithTilesThatPassTheFrontierIsThatOfTheFullSweep) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_tiles");
  int spaces = 0, tiles = 0;
  std::int64_t opened = 0, designs = 0;
  DesignSearchOptions options;
  options.threads = 1;
  for (std::uint64_t seed = 1; spaces < 4; ++seed) {
    ASSERT_LT(seed, 60U);
    tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 16);
    if (!tests::let_tiles_pass(space, seed)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    if (truth.empty()) continue;
    ++spaces;
    const DesignFrontier frontier = search_designs(library, space.sweep, options, nullptr);
    std::vector<Point> points;
    for (const std::size_t k : frontier.frontier) {
      points.push_back(frontier.opened[k].values);
      for (const DesignRow& row : frontier.opened[k].rows) tiles += row.residency->tensors_in_tiles > 0 ? 1 : 0;
    }
    tests::expect_same_points(points, truth);
    opened += frontier.progress.opened;
    designs += frontier.progress.designs;
  }
  EXPECT_GE(tiles, 1);
  EXPECT_LT(opened, designs) << "boxes are closed by their bounds";
}

// A design counts with its least energy within the deadline, in the sweep and in the search: layers that are unrelated,
// and networks whose tensors may stay.
TEST(DesignSearch, WithADeadlineTheFrontierIsThatOfTheFullSweep) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_deadline");
  constexpr int kSpaces = 4;
  int spaces = 0, changed = 0;
  std::int64_t opened = 0, designs = 0;
  for (std::uint64_t seed = 1; spaces < kSpaces; ++seed) {
    ASSERT_LT(seed, 100U);
    tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 60);
    if (seed % 2 == 0) tests::let_tensors_stay(space, seed);
    if (!tests::set_deadline(library, space, folder.path())) continue;
    ++spaces;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    DesignSearchOptions options;
    options.threads = 1;
    const DesignFrontier frontier = search_designs(library, space.sweep, options, nullptr);
    std::vector<Point> points;
    for (const std::size_t k : frontier.frontier) points.push_back(frontier.opened[k].values);
    tests::expect_same_points(points, truth);
    opened += frontier.progress.opened;
    designs += frontier.progress.designs;
    Sweep filtered = space.sweep;
    filtered.deadlines = false;
    changed += tests::swept_frontier(library, filtered, folder.path()) != truth ? 1 : 0;
  }
  // Which spaces are drawn depends on the order in which a compiler evaluates arguments.
  EXPECT_GE(changed, kSpaces / 2) << "frontiers have designs that keep the limit only because mappings know of it";
  EXPECT_LT(opened, designs / 2) << "boxes are closed by their bounds";
}

void expect_same_boxes(const DesignFrontier& a, const DesignFrontier& b) {
  ASSERT_EQ(a.boxes.size(), b.boxes.size());
  for (std::size_t k = 0; k < a.boxes.size(); ++k) {
    EXPECT_EQ(a.boxes[k].box, b.boxes[k].box);
    EXPECT_EQ(a.boxes[k].design_id, b.boxes[k].design_id);
    EXPECT_EQ(a.boxes[k].closed_by, b.boxes[k].closed_by);
    EXPECT_EQ(a.boxes[k].least, b.boxes[k].least);
  }
}

TEST(DesignSearch, ThreadsChangeNothing) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_threads");
  const tests::RandomSpace space = tests::random_space(library, 3, folder.path(), 200);
  DesignSearchOptions options;
  options.threads = 1;
  const DesignFrontier alone = search_designs(library, space.sweep, options, nullptr);
  for (const int threads : {2, 4}) {
    options.threads = threads;
    const DesignFrontier together = search_designs(library, space.sweep, options, nullptr);
    expect_same_boxes(together, alone);
    EXPECT_EQ(together.frontier, alone.frontier);
    EXPECT_EQ(together.progress.solved, alone.progress.solved);
    EXPECT_EQ(together.progress.reused, alone.progress.reused);
  }
}

// Lines below networks are put together from what is proven elsewhere: neither threads nor a cache may change which
// answers those are.
TEST(DesignSearch, OfNetworksNeitherThreadsNorACacheChangeAnything) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_lines");
  std::int64_t searches = 0, left = 0;
  for (const std::uint64_t seed : {2, 4, 10}) {
    tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 100);
    tests::let_tensors_stay(space, seed);
    tests::set_deadline(library, space, folder.path());
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    DesignSearchOptions options;
    options.gap = 0.02;
    options.threads = 1;
    const DesignFrontier alone = search_designs(library, space.sweep, options, nullptr);
    options.threads = 4;
    expect_same_boxes(search_designs(library, space.sweep, options, nullptr), alone);
    for (const bool again : {false, true}) {
      TaskStore store(folder.path() / ("cache" + std::to_string(seed)), true);
      const DesignFrontier kept = search_designs(library, space.sweep, options, &store);
      expect_same_boxes(kept, alone);
      (again ? left : searches) += kept.progress.solved;
    }
  }
  EXPECT_GT(searches, 20);
  EXPECT_EQ(left, 0);
}

TEST(DesignSearch, AGapClosesMoreAndHolds) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_gap");
  for (std::uint64_t seed = 20; seed < 24; ++seed) {
    const tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 80);
    SCOPED_TRACE(space.text);
    DesignSearchOptions options;
    options.threads = 1;
    const DesignFrontier whole = search_designs(library, space.sweep, options, nullptr);
    options.gap = 0.1;
    const DesignFrontier rough = search_designs(library, space.sweep, options, nullptr);
    EXPECT_LE(rough.progress.opened, whole.progress.opened);
    for (const std::size_t k : whole.frontier) {
      const Point& best = whole.opened[k].values;
      const bool near = std::ranges::any_of(rough.frontier, [&](std::size_t r) {
        const Point& other = rough.opened[r].values;
        for (std::size_t g = 0; g < best.size(); ++g)
          if (other[g] > best[g] * 1.1 * (1 + 1e-8)) return false;
        return true;
      });
      EXPECT_TRUE(near);
    }
  }
}

TEST(DesignSearch, ShardsLeaveTheirAnswersToTheWholeSearch) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_shards");
  const tests::RandomSpace space = tests::random_space(library, 3, folder.path(), 200);
  DesignSearchOptions options;
  options.threads = 1;
  const DesignFrontier alone = search_designs(library, space.sweep, options, nullptr);
  std::int64_t designs = 0;
  for (options.shard = {0, 3}; options.shard.index < 3; ++options.shard.index) {
    TaskStore store(folder.path() / "cache", true);
    const DesignFrontier part = search_designs(library, space.sweep, options, &store);
    EXPECT_EQ(part.progress.decided, part.progress.designs);
    designs += part.progress.designs;
  }
  EXPECT_EQ(designs, alone.progress.designs);
  options.shard = {};
  TaskStore store(folder.path() / "cache", true);
  const DesignFrontier whole = search_designs(library, space.sweep, options, &store);
  EXPECT_LT(whole.progress.solved, alone.progress.solved);
  ASSERT_EQ(whole.frontier.size(), alone.frontier.size());
  for (std::size_t k = 0; k < whole.frontier.size(); ++k)
    EXPECT_EQ(whole.opened[whole.frontier[k]].values, alone.opened[alone.frontier[k]].values);
}

/// One after the other, each hears all that those before it found.
TEST(DesignSearch, ShardsThatHearOfEachOtherSearchLess) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  std::int64_t alone = 0, together = 0;
  for (const std::uint64_t seed : {3, 5, 8}) {
    const tests::ScratchFolder folder("design_shared");
    const tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 200);
    DesignSearchOptions options;
    options.threads = 1;
    const DesignFrontier expected = search_designs(library, space.sweep, options, nullptr);
    TaskStore store(folder.path() / "cache", true);
    for (options.shard = {0, 4}; options.shard.index < 4; ++options.shard.index) {
      options.others = nullptr;
      alone += search_designs(library, space.sweep, options, nullptr).progress.solved;
      SharedDesigns others(folder.path() / "shards", options.shard, "question", 0);
      options.others = &others;
      const DesignFrontier part = search_designs(library, space.sweep, options, &store);
      EXPECT_EQ(part.progress.decided, part.progress.designs);
      together += part.progress.solved;
    }
    options.shard = {};
    options.others = nullptr;
    const DesignFrontier whole = search_designs(library, space.sweep, options, &store);
    ASSERT_EQ(whole.frontier.size(), expected.frontier.size());
    for (std::size_t k = 0; k < whole.frontier.size(); ++k)
      EXPECT_EQ(whole.opened[whole.frontier[k]].values, expected.opened[expected.frontier[k]].values);
  }
  EXPECT_LT(together, alone);
}

TEST(SharedDesigns, OnlyFilesOfTheSameQuestionAreHeard) {
  const tests::ScratchFolder folder("shared_designs");
  {
    SharedDesigns first(folder.path(), {0, 3}, "a", 0);
    first.tell(7, {1.0 / 3, 2});
    SharedDesigns second(folder.path(), {1, 3}, "a", 0), stranger(folder.path(), {2, 3}, "b", 0);
    stranger.tell(9, {0, 0});
    EXPECT_EQ(second.news(), (std::vector<SharedDesigns::Told>{{7, {1.0 / 3, 2}}}));
    EXPECT_TRUE(second.news().empty());  // told once
    EXPECT_TRUE(stranger.news().empty());
    first.tell(8, {1, 1});
    EXPECT_EQ(second.news(), (std::vector<SharedDesigns::Told>{{8, {1, 1}}}));
    EXPECT_TRUE(first.news().empty());
  }
  std::ofstream(folder.path() / "found-0-of-3.json") << R"({"question": "a", "designs": [["x"], 3]})";
  std::ofstream(folder.path() / "found-1-of-3.json") << "{";
  EXPECT_TRUE(SharedDesigns(folder.path(), {2, 3}, "a", 0).news().empty());
}

}  // namespace
}  // namespace pliant
