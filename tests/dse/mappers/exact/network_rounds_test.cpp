// SPDX-License-Identifier: Apache-2.0
// What is served in all rounds of a network whose children's tiles lie side by side: against every tile in turn, and
// against all mappings.
#include "dse/mappers/exact/words/network_rounds.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "dse/mappers/exact/words/windows.h"
#include "dse/mappers/exact/words_of_transfers.h"

namespace pliant::exact {
namespace {

using Sizes = std::array<double, kMaxDims>;

constexpr int kNetwork = 1;

struct RoundsCase {
  Problem::AffineRank rank;
  Spatial spatial;
  Sizes size{}, tile{};
};

RoundsCase draw_rounds(std::mt19937_64& random, int terms) {
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1U)); };
  RoundsCase c;
  c.rank.terms = terms;
  for (int d = 0; d < terms; ++d) {
    c.rank.dim[d] = d;
    c.rank.dims |= only(d);
    c.rank.coefficient[d] = pick(1, 4);
    c.spatial.factor[kNetwork][d] = pick(1, 4);
    c.size[d] = pick(1, terms == 2 ? 17 : 9);
    c.tile[d] = pick(1, std::min(4, static_cast<int>(c.size[d])));
  }
  return c;
}

/// Something that grows with a tile, differently along each dim.
double words_of_tile(const RoundsCase& c, const Sizes& tile) {
  double words = 1;
  for (int d = 0; d < c.rank.terms; ++d) words += static_cast<double>(c.rank.coefficient[d]) * (tile[d] - 1);
  return words;
}

/// Every tile in turn: in which round it is taken, where its window begins, and the longest that begins there.
double served_one_by_one(const RoundsCase& c) {
  std::map<std::vector<Count>, double> longest;
  std::vector<Count> round_and_beginning(static_cast<std::size_t>(c.rank.terms) + 1);
  Sizes tile{};
  const auto choose = [&](const auto& self, int d, Count begins) -> void {
    if (d == c.rank.terms) {
      round_and_beginning.back() = begins;
      double& words = longest[round_and_beginning];
      words = std::max(words, words_of_tile(c, tile));
      return;
    }
    const auto full = static_cast<Count>(c.tile[d]), size = static_cast<Count>(c.size[d]);
    for (Count first = 0, i = 0; first < size; first += full, ++i) {
      tile[d] = static_cast<double>(std::min(full, size - first));
      round_and_beginning[static_cast<std::size_t>(d)] = i / c.spatial.factor[kNetwork][d];
      self(self, d + 1, begins + c.rank.coefficient[d] * first);
    }
  };
  choose(choose, 0, 0);
  double served = 0;
  for (const auto& [where, words] : longest) served += words;
  return served;
}

TEST(Lemma, WordsOfAllRoundsOfANetwork) {
  std::mt19937_64 random(11);
  int with_short_tiles = 0, equal = 0;
  for (int i = 0; i < 4000; ++i) {
    const RoundsCase c = draw_rounds(random, i % 4 == 0 ? 3 : 2);
    const double served = served_one_by_one(c);
    const double bound = words_of_rounds(c.spatial, c.rank, {kNetwork, kNetwork}, c.size, c.tile,
                                         [&](const Sizes& tile) { return words_of_tile(c, tile); });
    ASSERT_TRUE(at_most(bound, served)) << "case " << i << ": " << bound << " of " << served;
    ASSERT_TRUE(c.rank.terms > 2 || at_most(served, bound)) << "case " << i << ": " << bound << " of " << served;
    equal += at_most(served, bound) ? 1 : 0;
    for (int d = 0; d < c.rank.terms; ++d)
      if (static_cast<Count>(c.size[d]) % static_cast<Count>(c.tile[d]) != 0) ++with_short_tiles;
  }
  EXPECT_GT(with_short_tiles, 2000);
  EXPECT_GT(equal, 3500);
}

/// Compares words that DRAM serves to the memory or the compute units inside a fanout of 4 by 3.
struct ServedOfChoices {
  int choices = 0, equal = 0;
};

template <class Bound>
ServedOfChoices compare_served(const std::string& inside, const Bound& bound_of) {
  ServedOfChoices compared;
  for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRuby})
    for (const char* dims : {"{P: 7, R: 3}", "{P: 8, R: 3}", "{P: 9, R: 2}", "{P: 5, R: 4}"})
      for (const char* index : {"P + R", "2*P + R", "3*P + 2*R", "P + 4*R"}) {
        Task task = task_of(
            "levels:\n  - {memory: DRAM, capacity: unbounded, read_pj: 1}\n  - {fanout: PEs, rows: 4, cols: 3}\n" +
                inside + "  - {compute: MAC, mac_pj: 0}\nflexibility: {parallel: {PEs: {rows: [P], cols: [R]}}}\n",
            "  dims: " + std::string(dims) + "\n  tensors:\n    - {name: X, role: inputs, projection: [\"" + index +
                "\"]}\n    - {name: O, role: outputs, projection: [P]}\n");
        task.factorization = factorization;
        SCOPED_TRACE(std::string(dims) + ", " + index);
        const Truth truth(task);
        if (!truth.complete) continue;
        const ResolvedTask resolved(truth.task, truth.problem);
        for (const Choice& choice : truth.choices) {
          const std::array<int, 3> key{0, 0, inside.empty() ? truth.problem.levels : 2};
          const double bound = bound_of(truth, resolved, choice);
          const double least = choice.least([&](const Priced& m) { return m.words.at(key).served; });
          EXPECT_TRUE(at_most(bound, least)) << bound << " of " << least;
          ++compared.choices;
          compared.equal += at_most(least, bound) ? 1 : 0;
        }
      }
  return compared;
}

// No memory inside the fanout: each round is one step, and all loops are outside it.
TEST(Lemma, UnitsAskWordByWordInKnownRounds) {
  int sharper = 0;
  const ServedOfChoices compared =
      compare_served("", [&](const Truth& truth, const auto& resolved, const Choice& choice) {
        const double bound = compute_words(resolved, choice.spatial, {0, 0, truth.problem.levels});
        const double units = static_cast<double>(choice.spatial.factor[1][0] * choice.spatial.factor[1][1]);
        Sizes one;
        one.fill(1);
        const double of_full_rounds =
            windows(choice.spatial, truth.problem.affine[0][0], {1, 1}, one, true) * truth.problem.macs / units;
        EXPECT_TRUE(at_most(of_full_rounds, bound)) << of_full_rounds << " of " << bound;
        sharper += at_most(bound, of_full_rounds) ? 0 : 1;
        return bound;
      });
  EXPECT_GT(compared.choices, 300);
  EXPECT_EQ(compared.equal, compared.choices);
  EXPECT_GT(sharper, 40);
}

// A memory inside keeps windows: its tile decides the rounds.
TEST(Lemma, WindowsAreServedInKnownRounds) {
  const ServedOfChoices compared = compare_served("  - {memory: Reg, capacity: unbounded, read_pj: 1}\n",
                                                  [](const Truth&, const ResolvedTask& resolved, const Choice& choice) {
                                                    Bounded bounded(resolved, choice);
                                                    EXPECT_TRUE(bounded.lattice.build());
                                                    Functional words;
                                                    words.weights.resize(bounded.lattice.energy().weights.size());
                                                    words.weights[1].served = 1;
                                                    return bounded.lattice.solve(words, kInfinity).best;
                                                  });
  EXPECT_GT(compared.choices, 100);
  EXPECT_GT(compared.equal, 100);
}

}  // namespace
}  // namespace pliant::exact
