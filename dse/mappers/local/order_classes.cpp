// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/local/order_classes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace pliant {

OrderClasses::OrderClasses(const Space& space)
    : space_(space), lists_(static_cast<std::size_t>(space.levels) << space.dims) {}

void OrderClasses::find(int level, DimSet loops, Choices& choices) const {
  choices.found = true;
  if (space_.any_order(level)) {
    std::vector<std::uint8_t> inner;
    extend(level, loops, 0, (TensorSet{1} << space_.problem.tensors) - 1, inner, choices.orders);
  } else {
    choices.orders = constrained(level, loops);
  }
}

void OrderClasses::extend(int level, DimSet loops, DimSet placed, TensorSet alive, std::vector<std::uint8_t>& inner,
                          std::vector<Order>& found) const {
  const Problem& p = space_.problem;
  const std::size_t before = inner.size();
  // 1. Loops that move none of the tensors still in place.
  for (int d = 0; d < space_.dims; ++d) {
    if (((loops & ~placed) >> d & 1U) == 0) continue;
    bool moves = false;
    for (int x = 0; x < p.tensors; ++x) moves |= (alive >> x & 1U) != 0 && p.is_coupled(x, d);
    if (moves && alive != 0) continue;
    inner.push_back(static_cast<std::uint8_t>(d));
    placed |= DimSet{1} << d;
  }
  if (placed == loops) {
    Order order{};
    int n = 0;
    for (auto at = inner.rbegin(); at != inner.rend(); ++at) order[n++] = *at;
    for (int d = 0; d < space_.dims; ++d)
      if ((loops >> d & 1U) == 0) order[n++] = static_cast<std::uint8_t>(d);
    found.push_back(order);
    inner.resize(before);
    return;
  }
  // 2. The next loop moves some: one choice for every set of tensors, and for every dim along which windows overlap.
  std::set<std::pair<TensorSet, int>> tried;
  for (int d = 0; d < space_.dims; ++d) {
    if (((loops & ~placed) >> d & 1U) == 0) continue;
    TensorSet moved = 0;
    bool slides = false;
    for (int x = 0; x < p.tensors; ++x) {
      if ((alive >> x & 1U) == 0 || !p.is_coupled(x, d)) continue;
      moved |= TensorSet{1} << x;
      slides |= (p.sliding[x] >> d & 1U) != 0;
    }
    if (!tried.emplace(moved, slides ? d + 1 : 0).second) continue;
    inner.push_back(static_cast<std::uint8_t>(d));
    extend(level, loops, placed | DimSet{1} << d, alive & ~moved, inner, found);
    inner.pop_back();
  }
  inner.resize(before);
}

std::vector<OrderClasses::Order> OrderClasses::constrained(int level, DimSet loops) const {
  // What a rule allows is listed in full and thinned: the same runs and the same ends of runs are the same class.
  const Problem& p = space_.problem;
  std::vector<Order> kept;
  std::set<std::array<std::uint64_t, kMaxTensors>> seen;
  for (const Order& order : space_.orders(level, loops)) {
    std::array<std::uint64_t, kMaxTensors> signature{};
    for (int x = 0; x < p.tensors; ++x) {
      DimSet run = 0;
      int end = 0;
      for (int i = space_.dims - 1; i >= 0 && end == 0; --i) {
        const int d = order[i];
        if ((loops >> d & 1U) == 0) continue;
        if (p.is_coupled(x, d)) {
          end = (p.sliding[x] >> d & 1U) != 0 ? d + 2 : 1;
        } else {
          run |= DimSet{1} << d;
        }
      }
      signature[static_cast<std::size_t>(x)] = static_cast<std::uint64_t>(run) << 8 | static_cast<unsigned>(end);
    }
    if (seen.insert(signature).second) kept.push_back(order);
  }
  return kept;
}

}  // namespace pliant
