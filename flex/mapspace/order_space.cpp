// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/order_space.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "flex/mapspace/orders.h"

namespace pliant {

namespace {

std::uint64_t small_factorial(int n) {
  std::uint64_t product = 1;
  for (int i = 2; i <= n; ++i) product *= static_cast<std::uint64_t>(i);
  return product;
}

std::vector<int> members_of(DimSet dims) {
  std::vector<int> members;
  for (int d = 0; d < kMaxDims; ++d)
    if (dims >> d & 1) members.push_back(d);
  return members;
}

}  // namespace

std::uint64_t uniform_below(std::uint64_t n, std::mt19937_64& random) {
  const std::uint64_t usable = UINT64_MAX - UINT64_MAX % n;
  std::uint64_t value = random();
  while (value >= usable) value = random();
  return value % n;
}

double uniform_real(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

OrderSpace::OrderSpace(const Layer& layer, const OrderRule& rule) : layer_(layer), rule_(rule) {
  for (const OrderPattern& pattern : rule.allowed) {
    Precedence before(layer.dims.size(), 0);
    DimSet outside = 0;
    for (const std::string& name : pattern.dims) {
      const int d = layer.find_dim(name);
      if (d < 0) continue;
      before[static_cast<std::size_t>(d)] |= outside & ~(DimSet{1} << d);
      outside |= DimSet{1} << d;
    }
    if (pattern.stationary) {
      const DimSet all = (DimSet{1} << layer.dims.size()) - 1;
      for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
        if (layer.tensors[x].role != *pattern.stationary) continue;
        const DimSet coupled = layer.coupled(static_cast<int>(x));
        for (const int d : members_of(all & ~coupled)) before[static_cast<std::size_t>(d)] |= coupled;
      }
    }
    if (std::find(patterns_.begin(), patterns_.end(), before) == patterns_.end()) patterns_.push_back(before);
  }
}

bool OrderSpace::satisfies(std::span<const int> order, const Precedence& before) {
  DimSet inside = 0;
  for (const int d : order) inside |= DimSet{1} << d;
  for (const int d : order) {
    inside &= ~(DimSet{1} << d);
    if (before[static_cast<std::size_t>(d)] & inside) return false;
  }
  return true;
}

std::size_t OrderSpace::satisfied(std::span<const int> order) const {
  return static_cast<std::size_t>(std::count_if(patterns_.begin(), patterns_.end(),
                                                [&](const Precedence& before) { return satisfies(order, before); }));
}

bool OrderSpace::contains(std::span<const int> order) const { return unrestricted() || satisfied(order) > 0; }

OrderSpace::Extensions OrderSpace::extend(DimSet dims, const Precedence& before) const {
  Extensions result;
  result.members = members_of(dims);
  const std::size_t n = result.members.size();
  result.needs.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (before[static_cast<std::size_t>(result.members[i])] >> result.members[j] & 1)
        result.needs[i] |= DimSet{1} << j;
  result.to_finish.assign(std::size_t{1} << n, 0);
  result.to_finish.back() = 1;
  for (std::size_t placed = result.to_finish.size() - 1; placed-- > 0;)
    for (std::size_t i = 0; i < n; ++i)
      if ((placed >> i & 1) == 0 && (result.needs[i] & ~placed) == 0)
        result.to_finish[placed] += result.to_finish[placed | std::size_t{1} << i];
  return result;
}

const std::vector<OrderSpace::Extensions>& OrderSpace::extensions(DimSet dims) const {
  const std::lock_guard lock(cache_->mutex);
  const auto [at, fresh] = cache_->extensions.try_emplace(dims);
  if (fresh)
    for (const Precedence& before : patterns_) at->second.push_back(extend(dims, before));
  return at->second;  // a node of the map stays where it is
}

std::uint64_t OrderSpace::count(DimSet dims) const {
  if (unrestricted()) return small_factorial(std::popcount(dims));
  {
    const std::lock_guard lock(cache_->mutex);
    if (const auto known = cache_->counts.find(dims); known != cache_->counts.end()) return known->second;
  }
  const auto total = static_cast<std::uint64_t>(count_orders(layer_, dims, rule_));
  const std::lock_guard lock(cache_->mutex);
  cache_->counts.emplace(dims, total);
  return total;
}

bool OrderSpace::for_each(DimSet dims, const std::function<bool(std::span<const int>)>& visit) const {
  const std::vector<int> members = members_of(dims);
  if (unrestricted()) {
    std::vector<int> order = members;
    bool go_on = true;
    do {
      go_on = visit(order);
    } while (go_on && std::next_permutation(order.begin(), order.end()));
    return go_on;
  }
  const std::vector<Extensions>& all = extensions(dims);
  std::vector<int> order;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const Extensions& one = all[p];
    const auto place = [&](auto&& self, std::size_t placed) -> bool {
      if (order.size() == members.size()) {
        for (std::size_t q = 0; q < p; ++q)
          if (satisfies(order, patterns_[q])) return true;  // seen under that pattern
        return visit(order);
      }
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t next = placed | std::size_t{1} << i;
        if (next == placed || (one.needs[i] & ~placed) != 0 || one.to_finish[next] == 0) continue;
        order.push_back(members[i]);
        const bool go_on = self(self, next);
        order.pop_back();
        if (!go_on) return false;
      }
      return true;
    };
    if (one.to_finish[0] > 0 && !place(place, 0)) return false;
  }
  return true;
}

std::vector<int> OrderSpace::sample(DimSet dims, std::mt19937_64& random) const {
  std::vector<int> order = members_of(dims);
  if (unrestricted()) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[uniform_below(i, random)]);
    return order;
  }
  // A pattern in proportion to its orders, one of its orders, accepted once per pattern that it satisfies.
  const std::vector<Extensions>& all = extensions(dims);
  std::uint64_t total = 0;
  for (const Extensions& one : all) total += one.to_finish[0];
  while (true) {
    std::uint64_t pick = uniform_below(total, random);
    std::size_t p = 0;
    while (pick >= all[p].to_finish[0]) pick -= all[p++].to_finish[0];
    const Extensions& one = all[p];
    order.clear();
    for (std::size_t placed = 0; order.size() < one.members.size();) {
      for (std::size_t i = 0; i < one.members.size(); ++i) {
        const std::size_t next = placed | std::size_t{1} << i;
        if (next == placed || (one.needs[i] & ~placed) != 0) continue;
        if (pick >= one.to_finish[next]) {
          pick -= one.to_finish[next];
          continue;
        }
        order.push_back(one.members[i]);
        placed = next;
        break;
      }
    }
    if (uniform_below(satisfied(order), random) == 0) return order;
  }
}

}  // namespace pliant
