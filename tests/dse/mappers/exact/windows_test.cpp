// SPDX-License-Identifier: Apache-2.0
// Windows under a fanout further out than the node: how many differ depends on loops that are not placed yet. The bound
// is compared with listing the windows of every way to place these loops.
#include "dse/mappers/exact/words/windows.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/input/load.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/exact/words/costs.h"

namespace pliant::exact {
namespace {

constexpr int kOuterFanout = 1, kNetwork = 3, kMemory = 4;

/// Two dims of one rank: what the network and the fanout outside it unroll, the tile at the memory, the loops left.
struct Case {
  Problem::AffineRank rank;
  Spatial spatial;
  std::array<double, kMaxDims> tile{}, left{};
  std::array<Count, 2> loops{};
};

Case draw(std::mt19937_64& random) {
  const auto pick = [&](Count low, Count high) {
    return low + static_cast<Count>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  Case c;
  c.rank.terms = 2;
  for (int d = 0; d < 2; ++d) {
    c.rank.dim[d] = d;
    c.rank.coefficient[d] = pick(1, 4);
    c.spatial.factor[kNetwork][d] = pick(1, 4);
    c.spatial.factor[kOuterFanout][d] = pick(1, 2);
    c.tile[d] = static_cast<double>(pick(1, 4));
    c.loops[d] = pick(1, 6);
    c.left[d] = static_cast<double>(c.loops[d] * c.spatial.factor[kNetwork][d] * c.spatial.factor[kOuterFanout][d]);
  }
  return c;
}

std::size_t listed_windows(const Case& c, const std::array<Count, 2>& inside) {
  std::set<Count> starts;
  const auto step = [&](int d) { return c.rank.coefficient[d] * static_cast<Count>(c.tile[d]) * inside[d]; };
  for (Count i = 0; i < c.spatial.factor[kNetwork][0]; ++i)
    for (Count j = 0; j < c.spatial.factor[kNetwork][1]; ++j) starts.insert(step(0) * i + step(1) * j);
  return starts.size();
}

TEST(Lemma, WindowsUnderAFanoutFurtherOut) {
  std::mt19937_64 random(5);
  int sharper = 0;
  for (int round = 0; round < 5000; ++round) {
    const Case c = draw(random);
    const double bound = fewest_windows_beyond(c.spatial, c.rank, {kNetwork, kNetwork}, kMemory, c.tile, c.left);
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (Count m = 1; m <= c.loops[0]; ++m)
      for (Count n = 1; n <= c.loops[1]; ++n)
        if (c.loops[0] % m == 0 && c.loops[1] % n == 0) least = std::min(least, listed_windows(c, {m, n}));
    ASSERT_EQ(bound, static_cast<double>(least)) << "round " << round;
    const double known_before = fewest_windows(c.spatial, c.rank, {kNetwork, kNetwork}, true);
    ASSERT_LE(known_before, bound) << "round " << round;
    sharper += known_before < bound ? 1 : 0;
  }
  EXPECT_GT(sharper, 500);
}

// ---- With remainders ----

/// One dim under the network: its tiles, the loop inside the network, and the network's bounds over columns and rows.
struct Rests {
  Count left = 1, loop = 1, cols = 1, rows = 1;
  bool legal() const {
    return loop <= left && cols <= ceil_div(left, loop) && rows <= ceil_div(ceil_div(left, loop), cols);
  }
};

/// Every tile in turn: in which step it is taken, under which displacement. Tiles of one step displaced alike are
/// served once.
double served_windows(const Rests& a, const Rests& b, Count stride_a, Count stride_b) {
  std::set<std::array<Count, 5>> served;
  for (Count i = 0; i < a.left; ++i)
    for (Count j = 0; j < b.left; ++j) {
      const Count units_a = a.cols * a.rows, units_b = b.cols * b.rows;
      const Count displaced = i / a.loop % units_a * a.loop * stride_a + j / b.loop % units_b * b.loop * stride_b;
      served.insert({i % a.loop, i / (a.loop * units_a), j % b.loop, j / (b.loop * units_b), displaced});
    }
  return static_cast<double>(served.size());
}

TEST(Lemma, WindowsOfUnitsThatMayBeIdle) {
  std::mt19937_64 random(7);
  const auto pick = [&](Count low, Count high) {
    return low + static_cast<Count>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  int compared = 0, equal = 0, sharper = 0;
  for (int round = 0; round < 3000; ++round) {
    const bool divides = round % 2 == 0;
    Case c;
    c.rank.terms = 2;
    Unrolling unrolling;
    std::array<Rests, 2> rests;
    for (int d = 0; d < 2; ++d) {
      rests[d] = {.left = pick(1, 13), .loop = 1, .cols = pick(1, 3), .rows = pick(1, 3)};
      c.rank.dim[d] = d;
      c.rank.coefficient[d] = pick(1, 4);
      c.tile[d] = static_cast<double>(pick(1, 3));
      c.left[d] = static_cast<double>(rests[d].left);
      unrolling.rows[d] = static_cast<std::int32_t>(rests[d].rows);
      unrolling.cols[d] = static_cast<std::int32_t>(rests[d].cols);
      c.spatial.factor[kNetwork][d] = unrolling.factor(d);
    }
    c.spatial.unrolling[kNetwork] = &unrolling;
    double least = kInfinity;
    for (Count m = 1; m <= rests[0].left; ++m)
      for (Count n = 1; n <= rests[1].left; ++n) {
        rests[0].loop = m;
        rests[1].loop = n;
        if (divides && (rests[0].left % m != 0 || rests[1].left % n != 0)) continue;
        if (!rests[0].legal() || !rests[1].legal()) continue;
        least =
            std::min(least, served_windows(rests[0], rests[1], c.rank.coefficient[0] * static_cast<Count>(c.tile[0]),
                                           c.rank.coefficient[1] * static_cast<Count>(c.tile[1])));
      }
    if (least == kInfinity) continue;
    const double tiles = c.left[0] * c.left[1];
    const double bound =
        tiles * least_share_of_windows(c.spatial, c.rank, {kNetwork, kNetwork}, kMemory, c.tile, c.left, divides);
    ASSERT_TRUE(at_most(bound, least)) << "round " << round << ": " << bound << " of " << least;
    ASSERT_TRUE(!divides || at_most(least, bound)) << "round " << round << ": " << bound << " of " << least;
    const double known_before = tiles * fewest_windows(c.spatial, c.rank, {kNetwork, kNetwork}, true) /
                                static_cast<double>(unrolling.factor(0) * unrolling.factor(1));
    ASSERT_TRUE(at_most(known_before, bound)) << "round " << round;
    ++compared;
    equal += at_most(least, bound) ? 1 : 0;
    sharper += known_before < bound ? 1 : 0;
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(equal, 800);
  EXPECT_GT(sharper, 300);
}

// Both dims of a window unrolled, a memory inside that moves it: the loops of that memory decide which units share.
TEST(Lemma, BothDimsOfAWindowUnrolled) {
  int compared = 0;
  for (const int stride : {1, 2, 3})
    for (const int kernel : {2, 3})
      for (const int size : {4, 6, 8})
        for (const char* buffer : {"2", "4", "6"}) {
          Task task;
          task.accelerator = parse_accelerator_text(
              Library(PLIANT_SOURCE_DIR "/configs"),
              std::string("pliant: accelerator\nname: small\nlevels:\n"
                          "  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8}\n"
                          "  - {fanout: PEs, rows: 2, cols: 3}\n"
                          "  - {memory: WBuf, capacity: 8, keeps: [weights], read_pj: 1, write_pj: 1}\n"
                          "  - {memory: IBuf, keeps: [inputs], read_pj: 1, write_pj: 1, capacity: ") +
                  buffer +
                  "}\n  - {compute: MAC, mac_pj: 1}\n"
                  "flexibility: {parallel: {PEs: {rows: [P], cols: [R]}}}\n",
              "accelerator.yaml");
          task.layer = parse_layer("conv:M=1,C=1,P=" + std::to_string(size) + ",Q=1,R=" + std::to_string(kernel) +
                                       ",S=1,stride=" + std::to_string(stride),
                                   "test");
          task.flexibility = task.accelerator.flexibility_of(task.layer);
          for (const Objective objective : {Objective::kEnergy, Objective::kEdp}) {
            task.objective = objective;
            const SearchResult truth = run_mapper(*make_mapper("exhaustive"), task, {});
            const SearchResult exact = run_mapper(*make_mapper("exact"), task, {});
            ASSERT_TRUE(truth.certified && exact.certified);
            ASSERT_NEAR(exact.value, truth.value, 1e-9 * truth.value) << task.layer.name << ", buffer " << buffer;
            ++compared;
          }
        }
  EXPECT_EQ(compared, 108);
}

// The units' memory keeps outputs only, so inputs come past it word by word. Which units ask for the same word depends
// on the loops of that memory: the bound is the least over all of them, for every unrolling by itself.
TEST(Lemma, UnitsShareWindowsUnderLoopsOfTheirOwn) {
  int compared = 0, sharper = 0;
  for (const char* dims : {"{P: 8, R: 3}", "{P: 6, R: 4}", "{P: 4, R: 6}", "{P: 12, R: 2}"})
    for (const char* index : {"P + R", "2*P + R", "3*P + 2*R", "P + 4*R"})
      for (const char* multicast : {"true", "false"}) {
        const Task task = task_of(
            "levels:\n  - {memory: DRAM, capacity: unbounded, read_pj: 1}\n"
            "  - {fanout: PEs, rows: 4, cols: 6, multicast: " +
                std::string(multicast) + R"(}
  - {memory: Acc, capacity: unbounded, keeps: [outputs], read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility: {parallel: {PEs: {rows: [P], cols: [R]}}}
)",
            "  dims: " + std::string(dims) + R"(
  tensors:
    - {name: X, role: inputs, projection: [")" +
                index + R"("]}
    - {name: O, role: outputs, projection: [P]}
)");
        SCOPED_TRACE(std::string(dims) + ", " + index + ", multicast " + multicast);
        const Truth truth(task);
        ASSERT_TRUE(truth.complete);
        const ResolvedTask resolved(truth.task, truth.problem);
        for (const Choice& choice : truth.choices) {
          const KeeperPair pair{0, 0, truth.problem.levels};
          const double bound = compute_words(resolved, choice.spatial, pair);
          const double least = choice.least([&](const Priced& m) {
            return m.words.at({0, 0, truth.problem.levels}).served;
          });
          EXPECT_EQ(bound, least);
          ++compared;
          const double units = static_cast<double>(choice.spatial.factor[1][0] * choice.spatial.factor[1][1]);
          const double whatever_the_tile =
              fewest_windows(choice.spatial, truth.problem.affine[0][0], {1, 1}, truth.problem.multicast[1]) *
              truth.problem.macs / units;
          EXPECT_LE(whatever_the_tile, bound);
          sharper += whatever_the_tile < bound ? 1 : 0;
        }
      }
  EXPECT_GT(compared, 100);
  EXPECT_GT(sharper, 30);
}

// The same under Ruby-S and Ruby: rounds may leave units idle.
TEST(Lemma, UnitsShareWindowsUnderLoopsOfTheirOwnWithRemainders) {
  int compared = 0, equal = 0, sharper = 0;
  for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRuby})
    for (const char* dims : {"{P: 7, R: 3}", "{P: 8, R: 3}", "{P: 9, R: 2}", "{P: 5, R: 4}"})
      for (const char* index : {"P + R", "2*P + R", "3*P + 2*R", "P + 4*R"}) {
        Task task = task_of(R"(levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: PEs, rows: 4, cols: 3}
  - {memory: Acc, capacity: unbounded, keeps: [outputs], read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility: {orders: {DRAM: [[P, R]], Acc: [[P, R]]}, parallel: {PEs: {rows: [P], cols: [R]}}}
)",
                            "  dims: " + std::string(dims) + R"(
  tensors:
    - {name: X, role: inputs, projection: [")" +
                                index +
                                R"("]}
    - {name: O, role: outputs, projection: [P]}
)");
        task.factorization = factorization;
        SCOPED_TRACE(std::string(dims) + ", " + index);
        const Truth truth(task);
        ASSERT_TRUE(truth.complete);
        const ResolvedTask resolved(truth.task, truth.problem);
        for (const Choice& choice : truth.choices) {
          const KeeperPair pair{0, 0, truth.problem.levels};
          const double bound = compute_words(resolved, choice.spatial, pair);
          const double least = choice.least([&](const Priced& m) {
            return m.words.at({0, 0, truth.problem.levels}).served;
          });
          EXPECT_TRUE(at_most(bound, least)) << bound << " of " << least;
          EXPECT_TRUE(factorization == Factorization::kRuby || at_most(least, bound)) << bound << " of " << least;
          ++compared;
          equal += at_most(least, bound) ? 1 : 0;
          const double units = static_cast<double>(choice.spatial.factor[1][0] * choice.spatial.factor[1][1]);
          const double whatever_the_tile =
              fewest_windows(choice.spatial, truth.problem.affine[0][0], {1, 1}, true) * truth.problem.macs / units;
          sharper += whatever_the_tile < bound ? 1 : 0;
        }
      }
  EXPECT_GT(compared, 200);
  EXPECT_GT(equal, 100);
  EXPECT_GT(sharper, 50);
}

}  // namespace
}  // namespace pliant::exact
