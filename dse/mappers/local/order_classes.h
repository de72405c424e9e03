// SPDX-License-Identifier: Apache-2.0
// Loop orders of one memory that differ in reuse (QuickFlow, IV-B), found once per set of loops and kept.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dse/mappers/space.h"

namespace pliant {

/// One order stands for all that give every tensor the same run of loops that leave its tile in place, and the same
/// loop (where windows overlap) to end that run. From the inside out: put every loop uncoupled to all tensors still in
/// place; then choose the loop that moves some of them; go on until all have moved. Orders that put a loop outside
/// although it could prolong a run are never better and are left out.
class OrderClasses {
 public:
  using Order = std::array<std::uint8_t, kMaxDims>;  ///< all dims, outermost first

  /// Allowed representatives for loops over one set of dims; none when no order is allowed.
  struct Choices {
    bool found = false;
    std::vector<Order> orders;
    std::size_t best = 0;  ///< the searcher's own note: which of them won last
  };

  explicit OrderClasses(const Space& space);
  Choices& of(int level, DimSet loops) {
    Choices& choices = lists_[(static_cast<std::size_t>(level) << space_.dims) + loops];
    if (!choices.found) find(level, loops, choices);
    return choices;
  }

 private:
  void find(int level, DimSet loops, Choices& choices) const;
  void extend(int level, DimSet loops, DimSet placed, TensorSet alive, std::vector<std::uint8_t>& inner,
              std::vector<Order>& found) const;
  std::vector<Order> constrained(int level, DimSet loops) const;

  const Space& space_;
  std::vector<Choices> lists_;  ///< by level and set of dims
};

}  // namespace pliant
