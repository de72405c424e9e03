// SPDX-License-Identifier: Apache-2.0
// Factor chains: enumeration against the counts, and every chain against Ruby's recurrence, written a second time here.
#include "flex/mapspace/factors.h"
#include "flex/mapspace/chain_count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace pliant {
namespace {

constexpr std::array kRules{Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby,
                            Factorization::kPadding};

std::vector<std::vector<Count>> chains(Count size, const std::vector<Slot>& slots, Factorization rule) {
  std::vector<std::vector<Count>> all;
  for_each_chain(size, slots, rule, [&](std::span<const Count> bounds) {
    all.emplace_back(bounds.begin(), bounds.end());
    return true;
  });
  return all;
}

/// Ruby eq. 5: is there a remainder for every slot, full where it must be, that gives exactly this size?
bool satisfies_recurrence(Count size, const std::vector<Slot>& slots, Factorization rule,
                          const std::vector<Count>& bounds) {
  std::set<Count> reachable{0};  // L above the outermost slot
  bool outermost = true;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    std::set<Count> next;
    const bool imperfect = may_be_imperfect(rule, slots[k].spatial);
    for (const Count above : reachable)
      for (Count rest = imperfect && !outermost ? 1 : bounds[k]; rest <= bounds[k]; ++rest)
        next.insert(above * bounds[k] + rest - 1);
    reachable = std::move(next);
    if (bounds[k] > 1) outermost = false;
  }
  return reachable.count(size - 1) > 0;
}

/// All bounds up to the size, kept when the recurrence holds and no bound is larger than it is ever used.
std::size_t brute_force(Count size, const std::vector<Slot>& slots, Factorization rule) {
  std::size_t found = 0;
  std::vector<Count> bounds(slots.size(), 1);
  const auto walk = [&](auto&& self, std::size_t k) -> void {
    if (k == slots.size()) {
      found += satisfies_recurrence(size, slots, rule, bounds);
      return;
    }
    for (Count b = 1; b <= (slots[k].limit == 0 ? size : std::min(size, slots[k].limit)); ++b) {
      bounds[k] = b;
      self(self, k + 1);
    }
  };
  walk(walk, 0);
  return found;
}

std::vector<Slot> random_slots(std::mt19937& random, int most) {
  std::vector<Slot> slots(1 + random() % static_cast<unsigned>(most));
  for (Slot& slot : slots) {
    slot.spatial = random() % 2 == 0;
    if (slot.spatial && random() % 2 == 0) slot.limit = 1 + static_cast<Count>(random() % 12);
  }
  return slots;
}

TEST(Factors, DivisorsAndPrimes) {
  EXPECT_EQ(divisors(1), (std::vector<Count>{1}));
  EXPECT_EQ(divisors(12), (std::vector<Count>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(divisors(127), (std::vector<Count>{1, 127}));
  EXPECT_EQ(prime_factors(360), (std::vector<std::pair<Count, int>>{{2, 3}, {3, 2}, {5, 1}}));
  EXPECT_TRUE(prime_factors(1).empty());
  for (Count n = 1; n <= 2000; ++n) {
    std::vector<Count> expected;
    for (Count i = 1; i <= n; ++i)
      if (n % i == 0) expected.push_back(i);
    ASSERT_EQ(divisors(n), expected);
  }
}

// Primes and products of primes that dividing by every number up to the root would take minutes for.
TEST(Factors, LargePrimesAndTheirProducts) {
  using Factorized = std::vector<std::pair<Count, int>>;
  const Count mersenne = 2305843009213693951, large = 2147483647, below_million = 999'983;
  EXPECT_EQ(prime_factors(mersenne), (Factorized{{mersenne, 1}}));
  EXPECT_EQ(divisors(mersenne), (std::vector<Count>{1, mersenne}));
  EXPECT_EQ(prime_factors(large * 2'147'483'629), (Factorized{{2'147'483'629, 1}, {large, 1}}));
  EXPECT_EQ(prime_factors(large * large), (Factorized{{large, 2}}));
  EXPECT_EQ(prime_factors(below_million * below_million * below_million), (Factorized{{below_million, 3}}));
  EXPECT_EQ(prime_factors(Count{1} << 62), (Factorized{{2, 62}}));
  EXPECT_EQ(prime_factors(9 * 1009 * 1013), (Factorized{{3, 2}, {1009, 1}, {1013, 1}}));
  // Composites that pass weaker tests: a strong pseudoprime to the bases 2 to 23, and a Carmichael number.
  EXPECT_EQ(prime_factors(3'825'123'056'546'413'051), (Factorized{{149'491, 1}, {747'451, 1}, {34'233'211, 1}}));
  EXPECT_EQ(prime_factors(Count{1171} * 2341 * 3511), (Factorized{{1171, 1}, {2341, 1}, {3511, 1}}));
  // Against dividing, around the size up to which factors are divided out.
  for (Count n = 990'000; n < 1'030'000; n += 7) {
    Count left = n;
    for (const auto& [prime, exponent] : prime_factors(n))
      for (int e = 0; e < exponent; ++e) {
        ASSERT_EQ(left % prime, 0);
        left /= prime;
        for (Count p = 2; p * p <= prime; ++p) ASSERT_NE(prime % p, 0) << n;
      }
    ASSERT_EQ(left, 1) << n;
  }
}

TEST(Factors, EnumerationEqualsCountOnRandomSizes) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 1500; ++trial) {
    const auto size = static_cast<Count>(1 + random() % (trial % 3 == 0 ? 400 : 60));
    const std::vector<Slot> slots = random_slots(random, size > 100 ? 3 : 4);
    for (const Factorization rule : kRules) {
      const auto all = chains(size, slots, rule);
      ASSERT_EQ(BigCount(all.size()), count_chains(size, slots, rule)) << size << " " << to_string(rule);
      const std::set<std::vector<Count>> distinct(all.begin(), all.end());
      ASSERT_EQ(distinct.size(), all.size()) << size << " " << to_string(rule);
    }
  }
}

TEST(Factors, PerfectChainsAreAProductOfBinomials) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const auto size = static_cast<Count>(1 + random() % 100000);
    const int slots = 1 + static_cast<int>(random() % 6);
    EXPECT_EQ(count_chains(size, std::vector<Slot>(static_cast<std::size_t>(slots)), Factorization::kPerfect),
              count_perfect_chains(size, slots));
  }
  EXPECT_EQ(count_perfect_chains(4096, 3), 91);
  EXPECT_EQ(count_perfect_chains(1, 0), 1);
  EXPECT_EQ(count_perfect_chains(2, 0), 0);
}

TEST(Factors, EveryChainSatisfiesRubysRecurrence) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const auto size = static_cast<Count>(1 + random() % 40);
    const std::vector<Slot> slots = random_slots(random, 4);
    for (const Factorization rule :
         {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby})
      for (const auto& bounds : chains(size, slots, rule))
        ASSERT_TRUE(satisfies_recurrence(size, slots, rule, bounds)) << size << " " << to_string(rule);
  }
}

TEST(Factors, NothingThatSatisfiesTheRecurrenceIsMissing) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 120; ++trial) {
    const auto size = static_cast<Count>(1 + random() % 14);
    const std::vector<Slot> slots = random_slots(random, 3);
    for (const Factorization rule :
         {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby})
      ASSERT_EQ(chains(size, slots, rule).size(), brute_force(size, slots, rule))
          << size << " " << to_string(rule) << " " << slots.size();
  }
}

TEST(Factors, MapspacesContainEachOther) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const auto size = static_cast<Count>(1 + random() % 60);
    const std::vector<Slot> slots = random_slots(random, 4);
    const auto set_of = [&](Factorization rule) {
      const auto all = chains(size, slots, rule);
      return std::set<std::vector<Count>>(all.begin(), all.end());
    };
    const auto pfm = set_of(Factorization::kPerfect), s = set_of(Factorization::kRubyS),
               t = set_of(Factorization::kRubyT), ruby = set_of(Factorization::kRuby),
               padding = set_of(Factorization::kPadding);
    const auto within = [](const auto& inner, const auto& outer) {
      return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
    };
    EXPECT_TRUE(within(pfm, s) && within(pfm, t) && within(s, ruby) && within(t, ruby) && within(pfm, padding)) << size;
  }
}

TEST(Factors, PaddingRaisesToTheNextMultipleOfTheSpatialFactor) {
  const std::vector<Slot> slots{{}, {.spatial = true, .limit = 16}, {}};
  bool found = false;
  for (const auto& bounds : chains(127, slots, Factorization::kPadding)) {
    const Count padded = bounds[0] * bounds[1] * bounds[2];
    EXPECT_EQ(padded, (127 + bounds[1] - 1) / bounds[1] * bounds[1]);
    found |= bounds == std::vector<Count>{1, 16, 8};
  }
  EXPECT_TRUE(found);  // 127 on 16 PEs: padded to 128, 8 cycles
}

TEST(Factors, RubySToy) {
  // 100 over 6 PEs: 17 cycles, the last with 4 of them.
  const auto all = chains(100, {{}, {.spatial = true, .limit = 6}, {}}, Factorization::kRubyS);
  EXPECT_NE(std::find(all.begin(), all.end(), std::vector<Count>{17, 6, 1}), all.end());
  const auto perfect = chains(100, {{}, {.spatial = true, .limit = 6}, {}}, Factorization::kPerfect);
  Count fewest = 100;
  for (const auto& bounds : perfect) fewest = std::min(fewest, bounds[0] * bounds[2]);
  EXPECT_EQ(fewest, 20);
}

TEST(Factors, VisitingStopsWhenAsked) {
  int seen = 0;
  EXPECT_FALSE(for_each_chain(1000, std::vector<Slot>(3), Factorization::kRuby,
                              [&seen](std::span<const Count>) { return ++seen < 5; }));
  EXPECT_EQ(seen, 5);
}

TEST(Factors, LargeSizesCountQuickly) {
  // sum over P0 of ceil(D / P0), D = 10^6
  const std::vector<Slot> slots{{}, {.spatial = true}, {}};
  Count expected = 0;
  for (Count p0 = 1; p0 <= 1'000'000; ++p0) expected += (1'000'000 + p0 - 1) / p0;
  EXPECT_EQ(count_chains(1'000'000, slots, Factorization::kRuby), expected);
}

TEST(Factors, Binomials) {
  EXPECT_EQ(binomial(10, 3), 120);
  EXPECT_EQ(binomial(5, 6), 0);
  EXPECT_EQ(factorial(20), 2432902008176640000);
}

}  // namespace
}  // namespace pliant
