// SPDX-License-Identifier: Apache-2.0
#include "core/affine.h"

#include <algorithm>
#include <array>
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
/// Spans that occur in hot code fit the inline words and do not allocate.
class ValueSet {
 public:
  explicit ValueSet(Count span) : size_(static_cast<std::size_t>(span) / 64 + 1) {
    if (size_ > inline_.size()) many_.resize(size_);
    words_ = many_.empty() ? inline_.data() : many_.data();
    std::fill_n(words_, size_, 0);
    words_[0] = 1;
  }
  ValueSet(const ValueSet&) = delete;
  ValueSet& operator=(const ValueSet&) = delete;

  void add(const Stride& loop) {
    for (Count copies = 1; copies < loop.count;) {
      const Count more = std::min(copies, loop.count - copies);
      or_shifted(static_cast<std::size_t>(more * loop.stride));
      copies += more;
    }
  }

  Count size() const {
    Count total = 0;
    for (std::size_t i = 0; i < size_; ++i) total += std::popcount(words_[i]);
    return total;
  }

 private:
  void or_shifted(std::size_t shift) {
    const std::size_t whole = shift / 64;
    const unsigned part = shift % 64;
    // Downwards, so that every word is read before it is changed.
    for (std::size_t i = size_; i-- > whole;) {
      std::uint64_t moved = words_[i - whole] << part;
      if (part != 0 && i > whole) moved |= words_[i - whole - 1] >> (64 - part);
      words_[i] |= moved;
    }
  }
  std::array<std::uint64_t, 256> inline_;
  std::vector<std::uint64_t> many_;
  std::size_t size_;
  std::uint64_t* words_;
};

/// A few strides in place.
struct Strides {
  std::array<Stride, kMaxStrides> item;
  std::size_t count = 0;
  Stride* begin() { return item.data(); }
  Stride* end() { return item.data() + count; }
  std::span<const Stride> all() const { return {item.data(), count}; }
  void erase(std::size_t i) {
    std::copy(begin() + i + 1, end(), begin() + i);
    --count;
  }
};

Wide span_of(std::span<const Stride> loops) {
  Wide span = 0;
  for (const Stride& loop : loops) span += static_cast<Wide>(loop.stride) * (loop.count - 1);
  return span;
}

/// Merges loops that step through one arithmetic progression without holes: equal strides, or a stride t = k*s that
/// is no longer than the run of stride s it continues. Leaves strides ascending and distinct, counts above 1.
void merge_runs(Strides& loops) {
  std::sort(loops.begin(), loops.end(), [](const Stride& a, const Stride& b) { return a.stride < b.stride; });
  for (std::size_t i = 0; i < loops.count; ++i) {
    Stride& run = loops.item[i];
    for (std::size_t j = i + 1; j < loops.count;) {
      const Stride& next = loops.item[j];
      const Count ratio = next.stride / run.stride;
      if (next.stride % run.stride == 0 && ratio <= run.count) {
        run.count = saturate(run.count + static_cast<Wide>(ratio) * (next.count - 1));
        loops.erase(j);
        j = i + 1;  // the longer run may now reach strides it could not before
      } else {
        ++j;
      }
    }
  }
}

Count distinct_beyond_two(Strides& loops) {
  // Largest stride first: where it steps over everything the others span, its iterations do not overlap.
  Wide factor = 1;
  while (loops.count > 2) {
    const Stride outer = loops.item[loops.count - 1];
    --loops.count;
    if (outer.stride <= span_of(loops.all())) {
      ++loops.count;
      break;
    }
    factor *= outer.count;
    if (factor > std::numeric_limits<Count>::max()) return saturate(factor);
  }
  if (loops.count <= 2) return saturate(factor * distinct_values(loops.all()));

  Count unit = 0;
  for (const Stride& loop : loops.all()) unit = std::gcd(unit, loop.stride);
  for (Stride& loop : loops) loop.stride /= unit;

  // A loop long enough to pass everything the others span adds the same number of values with each further step, so
  // a shorter one tells the rest. Cut the loop with the longest reach.
  Stride* const longest = std::max_element(loops.begin(), loops.end(), [](const Stride& a, const Stride& b) {
    return static_cast<Wide>(a.stride) * (a.count - 1) < static_cast<Wide>(b.stride) * (b.count - 1);
  });
  const Wide others = span_of(loops.all()) - static_cast<Wide>(longest->stride) * (longest->count - 1);
  const Wide enough = others / longest->stride + 2;
  Wide dropped = 0;
  if (enough < longest->count) {
    dropped = longest->count - enough;
    longest->count = static_cast<Count>(enough);
  }
  const Wide span = span_of(loops.all());
  Wide product = 1;
  for (const Stride& loop : loops.all())
    product = std::min<Wide>(product * loop.count, std::numeric_limits<Count>::max());
  if (span > kLargestExactSpan) return saturate(factor * std::min(product, span + 1 + dropped * longest->stride));

  ValueSet values(static_cast<Count>(span));
  for (Stride* loop = loops.begin(); loop != loops.end(); ++loop)
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
  Strides loops;
  for (const Stride& stride : strides) {
    if (stride.count == 1) continue;
    assert(loops.count < kMaxStrides);
    loops.item[loops.count++] = stride;
  }
  merge_runs(loops);
  return loops.count <= 2 ? distinct_values(loops.all()) : distinct_beyond_two(loops);
}

Count bounding_extent(std::span<const Stride> strides) { return saturate(span_of(strides) + 1); }

}  // namespace pliant
