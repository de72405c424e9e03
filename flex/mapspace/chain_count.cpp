// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/chain_count.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/arithmetic.h"

namespace pliant {

namespace {

/// Number of ways to have each value left, after the slots taken so far.
using WaysLeft = std::map<Count, BigCount>;

WaysLeft take_divisor(const WaysLeft& before, const Slot& slot) {
  WaysLeft after;
  for (const auto& [left, ways] : before)
    for (const Count b : divisors(left))
      if (b <= slot.largest(left)) after[left / b] += ways;
  return after;
}

/// Bounds that leave the same number are taken together: at most 2 sqrt(left) groups.
WaysLeft take_any(const WaysLeft& before, const Slot& slot) {
  WaysLeft after;
  for (const auto& [left, ways] : before) {
    const Count most = slot.largest(left);
    for (Count b = 1; b <= most;) {
      const Count leaves = ceil_div(left, b);
      // The last b with ceil(left / b) == leaves.
      const Count last = leaves == 1 ? most : std::min(most, (left - 1) / (leaves - 1));
      after[leaves] += ways * (last - b + 1);
      b = last + 1;
    }
  }
  return after;
}

BigCount count_padded(Count size, std::span<const Slot> slots) {
  // ways[s]: spatial bounds with product s <= size.
  WaysLeft ways{{1, 1}};
  std::vector<Slot> temporal;
  for (const Slot& slot : slots) {
    if (!slot.spatial) {
      temporal.push_back(slot);
      continue;
    }
    WaysLeft next;
    for (const auto& [product, count] : ways)
      for (Count b = 1; b <= slot.largest(size / product); ++b) next[product * b] += count;
    ways = std::move(next);
  }
  std::map<Count, BigCount> splits;  // of what is left, over the temporal slots
  BigCount total = 0;
  for (const auto& [product, count] : ways) {
    const Count left = ceil_div(size, product);
    const auto [at, fresh] = splits.try_emplace(left);
    if (fresh) at->second = count_chains(left, temporal, Factorization::kPerfect);
    total += count * at->second;
  }
  return total;
}

}  // namespace

BigCount count_chains(Count size, std::span<const Slot> slots, Factorization rule) {
  if (rule == Factorization::kPadding) return count_padded(size, slots);
  WaysLeft ways{{size, 1}};
  for (std::size_t k = slots.size(); k-- > 0;)
    ways = may_be_imperfect(rule, slots[k].spatial) ? take_any(ways, slots[k]) : take_divisor(ways, slots[k]);
  const auto complete = ways.find(1);
  return complete == ways.end() ? BigCount(0) : complete->second;
}

BigCount count_perfect_chains(Count size, int slots) {
  if (slots == 0) return size == 1 ? 1 : 0;
  BigCount product = 1;
  for (const auto& [prime, exponent] : prime_factors(size)) product *= binomial(exponent + slots - 1, slots - 1);
  return product;
}

BigCount binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  BigCount result = 1;
  for (int i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

BigCount factorial(int n) {
  BigCount result = 1;
  for (int i = 2; i <= n; ++i) result *= i;
  return result;
}

}  // namespace pliant
