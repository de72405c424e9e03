// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/factors.h"

#include <algorithm>

#include "core/arithmetic.h"

namespace pliant {

namespace {

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
    const Count most = slot.largest(left);
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
    for (Count b = 1; b <= slots_[k].largest(size / spatial); ++b) {
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
  const Count most = slot.largest(left);
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

}  // namespace pliant
