// SPDX-License-Identifier: Apache-2.0
#include "core/affine.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/wide.h"

namespace pliant {

namespace {

/// Beyond this span the set of values is not formed (three or more irreducible strides, hundreds of millions of
/// values) and the smaller of two upper bounds is given.
constexpr Wide kLargestExactSpan = Wide{1} << 28;

/// Sizes that do not fit are reported as the largest Count: larger than any capacity, never negative.
Count saturate(Wide value) {
  constexpr Wide largest = std::numeric_limits<Count>::max();
  return static_cast<Count>(std::min(value, largest));
}

/// Set of values 0..span as bits; adding a loop ORs shifted copies of the set, doubling the copies each time.
class ValueSet {
 public:
  explicit ValueSet(Count span) : words_(static_cast<std::size_t>(span) / 64 + 1) { words_[0] = 1; }

  void add(const Stride& loop) {
    for (Count copies = 1; copies < loop.count;) {
      const Count more = std::min(copies, loop.count - copies);
      or_shifted(static_cast<std::size_t>(more * loop.stride));
      copies += more;
    }
  }

  Count size() const {
    Count total = 0;
    for (const std::uint64_t word : words_) total += std::popcount(word);
    return total;
  }

 private:
  void or_shifted(std::size_t shift) {
    const std::size_t whole = shift / 64;
    const unsigned part = shift % 64;
    // Downwards, so that every word is read before it is changed.
    for (std::size_t i = words_.size(); i-- > whole;) {
      std::uint64_t moved = words_[i - whole] << part;
      if (part != 0 && i > whole) moved |= words_[i - whole - 1] >> (64 - part);
      words_[i] |= moved;
    }
  }
  std::vector<std::uint64_t> words_;
};

Wide span_of(std::span<const Stride> loops) {
  Wide span = 0;
  for (const Stride& loop : loops) span += static_cast<Wide>(loop.stride) * (loop.count - 1);
  return span;
}

/// Merges loops that step through one arithmetic progression without holes: equal strides, or a stride t = k*s that
/// is no longer than the run of stride s it continues. Leaves strides ascending and distinct, counts above 1.
void merge_runs(std::vector<Stride>& loops) {
  std::erase_if(loops, [](const Stride& loop) { return loop.count == 1; });
  std::sort(loops.begin(), loops.end(), [](const Stride& a, const Stride& b) { return a.stride < b.stride; });
  for (std::size_t i = 0; i < loops.size(); ++i) {
    for (std::size_t j = i + 1; j < loops.size();) {
      const Count ratio = loops[j].stride / loops[i].stride;
      if (loops[j].stride % loops[i].stride == 0 && ratio <= loops[i].count) {
        loops[i].count = saturate(loops[i].count + static_cast<Wide>(ratio) * (loops[j].count - 1));
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(j));
        j = i + 1;  // the longer run may now reach strides it could not before
      } else {
        ++j;
      }
    }
  }
}

Count distinct_beyond_two(std::vector<Stride>& loops) {
  // Largest stride first: where it steps over everything the others span, its iterations do not overlap.
  Wide factor = 1;
  while (loops.size() > 2) {
    const Stride outer = loops.back();
    loops.pop_back();
    const Wide span = span_of(loops);
    if (outer.stride > span) {
      factor *= outer.count;
      if (factor > std::numeric_limits<Count>::max()) return saturate(factor);
      continue;
    }
    loops.push_back(outer);
    break;
  }
  if (loops.size() <= 2) return saturate(factor * distinct_values(std::span<const Stride>(loops)));

  Count unit = 0;
  for (const Stride& loop : loops) unit = std::gcd(unit, loop.stride);
  for (Stride& loop : loops) loop.stride /= unit;

  // A loop long enough to pass everything the others span adds the same number of values with each further step, so
  // a shorter one tells the rest. Cut the loop with the longest reach.
  const auto longest = std::max_element(loops.begin(), loops.end(), [](const Stride& a, const Stride& b) {
    return static_cast<Wide>(a.stride) * (a.count - 1) < static_cast<Wide>(b.stride) * (b.count - 1);
  });
  const Wide others = span_of(loops) - static_cast<Wide>(longest->stride) * (longest->count - 1);
  const Wide enough = others / longest->stride + 2;
  Wide dropped = 0;
  if (enough < longest->count) {
    dropped = longest->count - enough;
    longest->count = static_cast<Count>(enough);
  }
  const Wide span = span_of(loops);
  Wide product = 1;
  for (const Stride& loop : loops) product = std::min<Wide>(product * loop.count, std::numeric_limits<Count>::max());
  if (span > kLargestExactSpan) return saturate(factor * std::min(product, span + 1 + dropped * longest->stride));

  ValueSet values(static_cast<Count>(span));
  for (auto loop = loops.begin(); loop != loops.end(); ++loop)
    if (loop != longest) values.add(*loop);
  values.add({longest->stride, longest->count - 1});
  const Count before_last = values.size();
  values.add({longest->stride, 2});
  const Count with_last = values.size();
  const Wide total = with_last + dropped * (with_last - before_last);
  return saturate(factor * total);
}

}  // namespace

Count distinct_values(Count m, Count A, Count n, Count B) {
  assert(m >= 1 && n >= 1 && A >= 1 && B >= 1);
  const Count g = std::gcd(m, n);
  m /= g;
  n /= g;
  if (A < n || B < m) return saturate(static_cast<Wide>(A) * B);
  return saturate(static_cast<Wide>(m) * (A - 1) + static_cast<Wide>(n) * (B - 1) - static_cast<Wide>(m - 1) * (n - 1) +
                  1);
}

Count distinct_values(std::span<const Stride> strides) {
  if (strides.empty()) return 1;
  if (strides.size() == 1) return strides[0].count;
  if (strides.size() == 2)
    return distinct_values(strides[0].stride, strides[0].count, strides[1].stride, strides[1].count);
  std::vector<Stride> loops(strides.begin(), strides.end());
  merge_runs(loops);
  return loops.size() <= 2 ? distinct_values(std::span<const Stride>(loops)) : distinct_beyond_two(loops);
}

Count bounding_extent(std::span<const Stride> strides) { return saturate(span_of(strides) + 1); }

}  // namespace pliant
