// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/factors.h"

#include <algorithm>
#include <map>

#include "core/arithmetic.h"

namespace pliant {

namespace {

Count largest(const Slot& slot, Count left) { return slot.limit == 0 ? left : std::min(slot.limit, left); }

/// Walks one chain from the innermost slot outwards.
class Walk {
 public:
  Walk(std::span<const Slot> slots, Factorization rule, const std::function<bool(std::span<const Count>)>& visit)
      : slots_(slots), rule_(rule), visit_(visit), bounds_(slots.size(), 1) {}

  bool run(Count size) {
    if (rule_ == Factorization::kPadding) return pad(slots_.size(), 1, size);
    return step(slots_.size(), size);
  }

 private:
  /// Slots at index `outside` and beyond are set; `left` remains for those before it.
  bool step(std::size_t outside, Count left) {
    if (outside == 0) return left != 1 || visit_(bounds_);
    const std::size_t k = outside - 1;
    if (fixed_[k]) return step(k, left);
    const Slot& slot = slots_[k];
    const Count most = largest(slot, left);
    // Nothing outside can take up the rest: the slot must.
    const Count least = k == 0 ? left : 1;
    if (may_be_imperfect(rule_, slot.spatial)) {
      for (Count b = least; b <= most; ++b)
        if (!take(k, b, left)) return false;
    } else {
      for (const Count b : divisors(left))
        if (b >= least && b <= most && !take(k, b, left)) return false;
    }
    bounds_[k] = 1;
    return true;
  }

  bool take(std::size_t k, Count bound, Count left) {
    bounds_[k] = bound;
    return step(k, ceil_div(left, bound));
  }

  /// Padding: spatial bounds first, for they decide the padded size.
  bool pad(std::size_t outside, Count spatial, Count size) {
    if (outside == 0) {
      for (std::size_t k = 0; k < slots_.size(); ++k) fixed_[k] = slots_[k].spatial;
      return step(slots_.size(), ceil_div(size, spatial));
    }
    const std::size_t k = outside - 1;
    if (!slots_[k].spatial) return pad(k, spatial, size);
    for (Count b = 1; b <= largest(slots_[k], size / spatial); ++b) {
      bounds_[k] = b;
      if (!pad(k, spatial * b, size)) return false;
    }
    bounds_[k] = 1;
    return true;
  }

  std::span<const Slot> slots_;
  Factorization rule_;
  const std::function<bool(std::span<const Count>)>& visit_;
  std::vector<Count> bounds_;
  std::vector<bool> fixed_ = std::vector<bool>(slots_.size(), false);
};

/// Number of ways to have each value left, after the slots taken so far.
using WaysLeft = std::map<Count, BigCount>;

WaysLeft take_divisor(const WaysLeft& before, const Slot& slot) {
  WaysLeft after;
  for (const auto& [left, ways] : before)
    for (const Count b : divisors(left))
      if (b <= largest(slot, left)) after[left / b] += ways;
  return after;
}

/// Bounds that leave the same number are taken together: at most 2 sqrt(left) groups.
WaysLeft take_any(const WaysLeft& before, const Slot& slot) {
  WaysLeft after;
  for (const auto& [left, ways] : before) {
    const Count most = largest(slot, left);
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
      for (Count b = 1; b <= largest(slot, size / product); ++b) next[product * b] += count;
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

std::vector<Count> divisors(Count n) {
  std::vector<Count> all{1};
  for (const auto& [prime, exponent] : prime_factors(n)) {
    const std::size_t before = all.size();
    Count power = 1;
    for (int e = 1; e <= exponent; ++e) {
      power *= prime;
      for (std::size_t i = 0; i < before; ++i) all.push_back(all[i] * power);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool may_be_imperfect(Factorization rule, bool spatial) {
  switch (rule) {
    case Factorization::kPerfect:
    case Factorization::kPadding: return false;
    case Factorization::kRubyS: return spatial;
    case Factorization::kRubyT: return !spatial;
    case Factorization::kRuby: return true;
  }
  return false;
}

Count reachable_tile(Count fixed, Count size, Factorization rule) {
  fixed = std::clamp<Count>(fixed, 1, size);
  if (may_be_imperfect(rule, false)) return fixed;
  const std::vector<Count> all = divisors(size);
  return *std::prev(std::upper_bound(all.begin(), all.end(), fixed));
}

std::vector<Count> slot_bounds(Count size, Count tile, const Slot& slot, Factorization rule) {
  const Count left = ceil_div(size, tile);
  const Count most = largest(slot, left);
  std::vector<Count> bounds;
  if (may_be_imperfect(rule, slot.spatial)) {
    for (Count b = 1; b <= most; ++b) bounds.push_back(b);
  } else {
    for (const Count b : divisors(left))
      if (b <= most) bounds.push_back(b);
  }
  return bounds;
}

bool for_each_chain(Count size, std::span<const Slot> slots, Factorization rule,
                    const std::function<bool(std::span<const Count>)>& visit) {
  return Walk(slots, rule, visit).run(size);
}

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
