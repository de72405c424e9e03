// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/index_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace pliant::audit {

namespace {

/// Sets of values up to this span are formed.
constexpr Count kWidestSet = Count{1} << 24;

/// Terms with different steps, the shortest first, none of which goes on where the one before ends.
struct Terms {
  std::array<IndexTerm, kMostTerms> item;
  std::size_t count = 0;

  explicit Terms(std::span<const IndexTerm> all) {
    for (const IndexTerm& term : all) {
      if (term.count <= 1) continue;
      std::size_t at = count++;
      for (; at > 0 && item[at - 1].step > term.step; --at) item[at] = item[at - 1];
      item[at] = term;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      IndexTerm* const last = kept > 0 ? &item[kept - 1] : nullptr;
      if (last != nullptr && last->step == item[i].step)
        last->count += item[i].count - 1;
      else if (last != nullptr && last->step * last->count == item[i].step)
        last->count *= item[i].count;
      else
        item[kept++] = item[i];
    }
    count = kept;
  }
};

/// A pair of values is met again where the first index is larger by n and the second smaller by m, for coprime steps m
/// and n: a value counts where it is met first.
Count values_of_two(const IndexTerm& one, const IndexTerm& other) {
  const Count unit = std::gcd(one.step, other.step), m = one.step / unit, n = other.step / unit;
  return one.count * other.count - std::max<Count>(0, one.count - n) * std::max<Count>(0, other.count - m);
}

using Bits = std::vector<std::uint64_t>;

/// bits |= bits << by.
void join_shifted(Bits& bits, Count by) {
  const auto words = static_cast<std::size_t>(by / 64);
  const auto rest = static_cast<unsigned>(by % 64);
  for (std::size_t i = bits.size(); i-- > words;) {
    std::uint64_t moved = bits[i - words] << rest;
    if (rest > 0 && i > words) moved |= bits[i - words - 1] >> (64 - rest);
    bits[i] |= moved;
  }
}

std::optional<Count> values_of(const Terms& terms) {
  if (terms.count == 0) return 1;
  if (terms.count == 1) return terms.item[0].count;
  if (terms.count == 2) return values_of_two(terms.item[0], terms.item[1]);
  Count reach = 0, unit = 0;
  for (std::size_t i = 0; i < terms.count; ++i) unit = std::gcd(unit, terms.item[i].step);
  for (std::size_t i = 0; i < terms.count; ++i) reach += terms.item[i].step / unit * (terms.item[i].count - 1);
  if (reach >= kWidestSet) return std::nullopt;
  Bits bits(static_cast<std::size_t>(reach / 64 + 1), 0);
  bits[0] = 1;
  for (std::size_t i = 0; i < terms.count; ++i) {
    const Count step = terms.item[i].step / unit;
    for (Count have = 1; have < terms.item[i].count;) {  // so many of its values are in; twice as many next
      const Count more = std::min(have, terms.item[i].count - have);
      join_shifted(bits, more * step);
      have += more;
    }
  }
  Count values = 0;
  for (const std::uint64_t word : bits) values += std::popcount(word);
  return values;
}

}  // namespace

Count fewest_values(std::span<const IndexTerm> all) {
  const Terms terms(all);
  if (const auto exactly = values_of(terms)) return *exactly;
  // Some of the terms by themselves take no more values.
  Count most = 1;
  for (std::size_t i = 0; i < terms.count; ++i)
    for (std::size_t j = 0; j < i; ++j) most = std::max(most, values_of_two(terms.item[i], terms.item[j]));
  return most;
}

Count most_values(std::span<const IndexTerm> all) {
  const Terms terms(all);
  if (const auto exactly = values_of(terms)) return *exactly;
  return box_of_values(all);
}

Count box_of_values(std::span<const IndexTerm> terms) {
  Count reach = 0;
  for (const IndexTerm& term : terms) reach += term.step * (term.count - 1);
  return reach + 1;
}

}  // namespace pliant::audit
