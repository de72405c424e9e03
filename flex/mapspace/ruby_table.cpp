// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/ruby_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/arithmetic.h"
#include "core/wide.h"
#include "flex/mapspace/chain_count.h"
#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

/// The values the generator tries in a slot: divisors of D, and every i < D that divides n * D * ceil(D / n) for some
/// remainder bound n.
std::vector<bool> candidates(Count size, Count largest_remainder) {
  std::vector<bool> tried(static_cast<std::size_t>(size) + 1, false);
  for (const Count d : divisors(size)) tried[static_cast<std::size_t>(d)] = true;
  for (Count i = 1; i < size; ++i) {
    for (Count n = 1; n <= largest_remainder && !tried[static_cast<std::size_t>(i)]; ++n) {
      const Wide product = Wide{n} * size * ceil_div(size, n);
      if (product % i == 0) tried[static_cast<std::size_t>(i)] = true;
    }
  }
  return tried;
}

/// The generator splits its search in three by the size of the factors; a triple on a border is listed more than once.
int listings(Count size, Count p0, Count p1, Count p2) {
  const auto border = static_cast<Count>(std::floor(std::sqrt(static_cast<double>(size)) + 1.5));
  return (p1 <= border && p2 <= border) + (p1 >= border && p0 <= border && p2 <= border) +
         (p2 >= border && p0 <= border && p1 <= border);
}

/// Its cut against absurd factors: the product of (p - 1) over the factors other than 1 is at most D.
bool plausible(Count size, const std::array<Count, 3>& factors) {
  Count product = 1;
  for (const Count p : factors) {
    if (p == 1) continue;
    if (p - 1 > size / product) return false;
    product *= p - 1;
  }
  return true;
}

Slot spatial(Count limit) { return {.spatial = true, .limit = limit}; }

}  // namespace

BigCount ruby_table_as_published(Count size, Factorization rule) {
  const Count pes = kRubyTablePes;
  if (rule == Factorization::kPerfect) {
    const std::array<Slot, 3> slots{Slot{}, spatial(pes), Slot{.limit = kRubyTableScratchpad}};
    return count_chains(size, slots, rule);
  }
  const bool bounded = rule == Factorization::kRubyS;
  const std::vector<bool> tried = candidates(size, bounded ? pes : size);
  const bool p0_imperfect = may_be_imperfect(rule, false), p1_imperfect = may_be_imperfect(rule, true);
  BigCount listed = 0;
  for (Count p0 = 1; p0 <= size; ++p0) {
    if (!tried[static_cast<std::size_t>(p0)]) continue;
    // D - 1 = (L2 * P1 + R1 - 1) * P0 + R0 - 1, and L2 = P2 - 1: all remainders follow from P0 and P1.
    if (!p0_imperfect && size % p0 != 0) continue;
    const Count upper = (size - 1) / p0;
    for (Count p1 = 1; p1 <= (bounded ? std::min(pes, size) : size); ++p1) {
      if (!tried[static_cast<std::size_t>(p1)]) continue;
      if (!p1_imperfect && (upper + 1) % p1 != 0) continue;
      const Count p2 = upper / p1 + 1;
      if (!tried[static_cast<std::size_t>(p2)] || !plausible(size, {p0, p1, p2})) continue;
      listed += listings(size, p0, p1, p2);
    }
  }
  return listed;
}

BigCount ruby_table_distinct(Count size, Factorization rule) {
  const bool free = rule == Factorization::kRubyT || rule == Factorization::kRuby;
  if (!free) return ruby_table_distinct_within_pes(size, rule);
  const std::array<Slot, 3> slots{Slot{}, spatial(0), Slot{}};
  return count_chains(size, slots, rule);
}

BigCount ruby_table_distinct_within_pes(Count size, Factorization rule) {
  const std::array<Slot, 3> slots{Slot{}, spatial(kRubyTablePes), Slot{}};
  return count_chains(size, slots, rule);
}

}  // namespace pliant
