// SPDX-License-Identifier: Apache-2.0
// Of the checker: how many words a tile has. Written apart from core/affine.h, which the generators of mappings and the
// cost model use: a mistake there must not hide itself here.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "core/legality_judge.h"

namespace pliant::legality {

namespace {

/// Sets of values up to this span are formed; beyond it the smaller of two upper bounds must do.
constexpr Wide kLargestSet = Wide{1} << 28;

/// Adds i * stride for every i < count to a sum of such terms.
struct Term {
  Wide stride, count;
  Wide reach() const { return times(stride, count - 1); }
};

/// std::gcd knows no 128 bits.
Wide common_divisor(Wide a, Wide b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

Wide reach_of(const std::vector<Term>& terms) {
  Wide reach = 0;
  for (const Term& term : terms) reach = std::min(kHuge, reach + term.reach());
  return reach;
}

/// Different strides above 0, counts above 1, the largest stride last, no common divisor.
std::vector<Term> reduced(std::vector<Term> terms) {
  std::erase_if(terms, [](const Term& term) { return term.count == 1; });
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.stride < b.stride; });
  std::vector<Term> merged;
  for (const Term& term : terms) {
    if (!merged.empty() && merged.back().stride == term.stride)
      merged.back().count += term.count - 1;
    else
      merged.push_back(term);
  }
  Wide unit = 0;
  for (const Term& term : merged) unit = common_divisor(unit, term.stride);
  for (Term& term : merged) term.stride /= unit;
  return merged;
}

/// A value counts where it is first met: with a as small as can be, that is, where (a - n, b + m) is not a pair.
Wide distinct_of_two(const Term& one, const Term& other) {
  const Wide unit = common_divisor(one.stride, other.stride), m = one.stride / unit, n = other.stride / unit;
  const Wide met_before = times(std::max<Wide>(0, one.count - n), std::max<Wide>(0, other.count - m));
  return times(one.count, other.count) - met_before;
}

/// The set of values itself: v is new where v - i * stride was there for some i < count.
Wide distinct_by_listing(const std::vector<Term>& terms) {
  std::vector<bool> there(static_cast<std::size_t>(reach_of(terms)) + 1, false);
  there[0] = true;
  for (const Term& term : terms) {
    const auto stride = static_cast<std::size_t>(term.stride);
    std::vector<bool> next(there.size(), false);
    for (std::size_t first = 0; first < stride && first < there.size(); ++first) {
      Wide since = kHuge;  // steps back to the last value that was there
      for (std::size_t v = first; v < there.size(); v += stride) {
        since = there[v] ? 0 : since + 1;
        next[v] = since < term.count;
      }
    }
    there.swap(next);
  }
  return static_cast<Wide>(std::count(there.begin(), there.end(), true));
}

/// How many different values the sum of the terms takes.
Wide distinct(std::vector<Term> terms) {
  terms = reduced(std::move(terms));
  if (terms.empty()) return 1;
  if (terms.size() == 1) return terms[0].count;
  if (terms.size() == 2) return distinct_of_two(terms[0], terms[1]);
  // 1. A stride beyond the reach of all others tells its steps apart.
  const Term largest = terms.back();
  std::vector<Term> others(terms.begin(), terms.end() - 1);
  if (largest.stride > reach_of(others)) return times(largest.count, distinct(others));
  // 2. Few enough values: list them.
  if (reach_of(terms) <= kLargestSet) return distinct_by_listing(terms);
  // 3. Once the longest term has passed all that the others reach, every further step adds as many values as the last.
  const auto longest =
      std::max_element(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.reach() < b.reach(); });
  const Wide others_reach = reach_of(terms) - longest->reach();
  const Wide enough = others_reach / longest->stride + 2;
  if (longest->count > enough && others_reach + times(longest->stride, enough) <= kLargestSet) {
    const Wide dropped = longest->count - enough;
    longest->count = enough;
    const Wide with_last = distinct(terms);
    longest->count = enough - 1;
    return std::min(kHuge, with_last + times(dropped, with_last - distinct(terms)));
  }
  Wide product = 1;
  for (const Term& term : terms) product = times(product, term.count);
  return std::min(product, reach_of(terms) + 1);
}

DimSet dims_of(const Rank& rank) {
  DimSet dims = 0;
  for (const pliant::Term& term : rank.terms) dims |= DimSet{1} << term.dim;
  return dims;
}

}  // namespace

Wide tile_words(const Tensor& tensor, Conventions::Footprint footprint, const std::vector<Count>& tiles) {
  const auto box = [&](const Rank& rank) {
    Wide extent = 1;
    for (const pliant::Term& term : rank.terms)
      extent = std::min(kHuge, extent + times(term.coefficient, tiles[static_cast<std::size_t>(term.dim)] - 1));
    return extent;
  };
  Wide words = 1;
  if (footprint == Conventions::Footprint::kBoundingBox) {
    for (const Rank& rank : tensor.ranks) words = times(words, box(rank));
    return words;
  }
  // Ranks that share dims, directly or through others, are counted together: the index of each is a digit of one
  // number.
  std::vector<bool> counted(tensor.ranks.size(), false);
  for (std::size_t first = 0; first < tensor.ranks.size(); ++first) {
    if (counted[first]) continue;
    DimSet dims = dims_of(tensor.ranks[first]);
    for (std::size_t r = first; r < tensor.ranks.size(); ++r) {
      if ((dims_of(tensor.ranks[r]) & ~dims) == 0 || (dims_of(tensor.ranks[r]) & dims) == 0) continue;
      dims |= dims_of(tensor.ranks[r]);
      r = first;  // earlier ranks may share the dims just added
    }
    if (std::has_single_bit(dims)) {  // one dim: every value of it is another element
      for (std::size_t r = first; r < tensor.ranks.size(); ++r)
        counted[r] = counted[r] || dims_of(tensor.ranks[r]) == dims;
      words = times(words, tiles[static_cast<std::size_t>(std::countr_zero(dims))]);
      continue;
    }
    std::vector<Wide> stride(tiles.size(), 0);
    Wide weight = 1;
    for (std::size_t r = first; r < tensor.ranks.size(); ++r) {
      if (r != first && (dims_of(tensor.ranks[r]) & dims) == 0) continue;
      counted[r] = true;
      for (const pliant::Term& term : tensor.ranks[r].terms) {
        Wide& sum = stride[static_cast<std::size_t>(term.dim)];
        sum = std::min(kHuge, sum + times(weight, term.coefficient));
      }
      weight = times(weight, box(tensor.ranks[r]));
    }
    std::vector<Term> terms;
    for (std::size_t d = 0; d < tiles.size(); ++d)
      if (stride[d] != 0) terms.push_back({stride[d], tiles[d]});
    words = times(words, distinct(std::move(terms)));
  }
  return words;
}

}  // namespace pliant::legality
