// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/order_rules.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace pliant {

namespace {

OrderRules::Pattern resolve(const Layer& layer, const OrderPattern& written) {
  OrderRules::Pattern pattern;
  DimSet outside = 0;
  for (const std::string& name : written.dims) {
    const int d = layer.find_dim(name);
    if (d < 0 || (outside >> d & 1U) != 0) continue;
    pattern.sequence.push_back(d);
    pattern.before[static_cast<std::size_t>(d)] |= outside;
    outside |= DimSet{1} << d;
  }
  if (!written.stationary) return pattern;
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    if (layer.tensors[x].role != *written.stationary) continue;
    const DimSet coupled = layer.coupled(static_cast<int>(x));
    pattern.outside_rest.push_back(coupled);
    for (std::size_t d = 0; d < layer.dims.size(); ++d)
      if ((coupled >> d & 1U) == 0) pattern.before[d] |= coupled;
  }
  return pattern;
}

std::uint64_t factorial_of(int n) {
  std::uint64_t product = 1;
  for (int i = 2; i <= n; ++i) product *= static_cast<std::uint64_t>(i);
  return product;
}

/// Orders of the loops that respect a precedence, by dynamic programming over the sets already placed.
std::int64_t linear_extensions(DimSet loops, const OrderRules::Precedence& before) {
  std::vector<int> members;
  for (DimSet rest = loops; rest != 0; rest &= rest - 1) members.push_back(std::countr_zero(rest));
  const std::size_t n = members.size();
  std::vector<DimSet> needs(n, 0);  // in member numbers
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (before[static_cast<std::size_t>(members[i])] >> members[j] & 1) needs[i] |= DimSet{1} << j;
  std::vector<std::int64_t> ways(std::size_t{1} << n, 0);  // 12! fits
  ways[0] = 1;
  for (std::size_t placed = 0; placed + 1 < ways.size(); ++placed) {
    if (ways[placed] == 0) continue;
    for (std::size_t i = 0; i < n; ++i)
      if ((placed >> i & 1) == 0 && (needs[i] & ~placed) == 0) ways[placed | std::size_t{1} << i] += ways[placed];
  }
  return ways.back();
}

OrderRules::Precedence within(OrderRules::Precedence before, DimSet loops) {
  for (std::size_t d = 0; d < before.size(); ++d) before[d] = (loops >> d & 1U) != 0 ? before[d] & loops : 0;
  return before;
}

}  // namespace

bool OrderRules::Pattern::satisfied_by(std::span<const std::uint8_t> loops) const {
  DimSet inside = 0;
  for (const std::uint8_t d : loops) inside |= DimSet{1} << d;
  for (const std::uint8_t d : loops) {
    inside &= ~(DimSet{1} << d);
    if ((before[d] & inside) != 0) return false;
  }
  return true;
}

OrderRules::OrderRules(const Layer& layer, const OrderRule& rule) : dims_(layer.dims.size()) {
  for (const OrderPattern& pattern : rule.allowed) patterns_.push_back(resolve(layer, pattern));
}

bool OrderRules::allows(std::span<const std::uint8_t> loops) const {
  return any_order() ||
         std::ranges::any_of(patterns_, [&](const Pattern& pattern) { return pattern.satisfied_by(loops); });
}

std::uint64_t OrderRules::count(DimSet loops) const {
  if (any_order()) return factorial_of(std::popcount(loops));
  std::vector<Precedence> different;
  for (const Pattern& pattern : patterns_) {
    const Precedence before = within(pattern.before, loops);
    if (std::ranges::find(different, before) == different.end()) different.push_back(before);
  }
  // An order that satisfies several patterns counts once: inclusion and exclusion over the patterns satisfied
  // together. Two total orders are never satisfied together, so few combinations survive.
  std::int64_t total = 0;
  const auto combine = [&](auto&& self, std::size_t next, const Precedence& joint, bool negative, bool any) -> void {
    if (any) {
      const std::int64_t orders = linear_extensions(loops, joint);
      if (orders == 0) return;
      total += negative ? -orders : orders;
    }
    for (std::size_t i = next; i < different.size(); ++i) {
      Precedence both = joint;
      for (std::size_t d = 0; d < both.size(); ++d) both[d] |= different[i][d];
      self(self, i + 1, both, any ? !negative : false, true);
    }
  };
  combine(combine, 0, Precedence{}, false, false);
  return static_cast<std::uint64_t>(total);
}

void OrderRules::append_rest(DimSet loops, std::size_t at, LoopOrder& order) const {
  for (std::size_t d = 0; d < dims_; ++d)
    if ((loops >> d & 1U) == 0) order[at++] = static_cast<std::uint8_t>(d);
}

std::vector<LoopOrder> OrderRules::list(DimSet loops) const {
  std::vector<LoopOrder> all;
  LoopOrder order{};
  const auto count = static_cast<std::size_t>(std::popcount(loops));
  append_rest(loops, count, order);
  // Outermost first; `open` are the patterns that what is placed so far respects.
  const auto place = [&](auto&& self, std::size_t n, DimSet placed, const std::vector<const Pattern*>& open) -> void {
    if (n == count) {
      all.push_back(order);
      return;
    }
    for (DimSet rest = loops & ~placed; rest != 0; rest &= rest - 1) {
      const auto d = static_cast<std::size_t>(std::countr_zero(rest));
      std::vector<const Pattern*> still;
      for (const Pattern* pattern : open)
        if ((pattern->before[d] & loops & ~placed) == 0) still.push_back(pattern);
      if (still.empty() && !patterns_.empty()) continue;
      order[n] = static_cast<std::uint8_t>(d);
      self(self, n + 1, placed | DimSet{1} << d, still);
    }
  };
  std::vector<const Pattern*> patterns;
  for (const Pattern& pattern : patterns_) patterns.push_back(&pattern);
  place(place, 0, 0, patterns);
  return all;
}

}  // namespace pliant
