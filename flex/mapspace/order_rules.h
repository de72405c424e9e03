// SPDX-License-Identifier: Apache-2.0
// The loop orders that one memory allows, with every name resolved: test, count, list, choose.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/flexibility.h"
#include "core/layer.h"

namespace pliant {

/// All dims of a layer, outermost first; the loops at hand stand before those that do not loop.
using LoopOrder = std::array<std::uint8_t, kMaxDims>;

/// Contract: an order is allowed when it satisfies any pattern; without patterns every order is. Only loops of bound
/// above 1 have a place in an order.
class OrderRules {
 public:
  /// By dim: the dims that must stand outside it.
  using Precedence = std::array<DimSet, kMaxDims>;

  struct Pattern {
    std::vector<int> sequence;         ///< these dims in this relative order, outermost first
    std::vector<DimSet> outside_rest;  ///< each set: its dims stand outside all others (a stationary tensor's)
    Precedence before{};               ///< both of them as precedences
    bool satisfied_by(std::span<const std::uint8_t> loops) const;
  };

  OrderRules() = default;
  OrderRules(const Layer& layer, const OrderRule& rule);

  bool any_order() const { return patterns_.empty(); }
  const std::vector<Pattern>& patterns() const { return patterns_; }
  /// The dims that loop, outermost first.
  bool allows(std::span<const std::uint8_t> loops) const;
  /// Allowed orders of these loops.
  std::uint64_t count(DimSet loops) const;
  /// Each allowed order of these loops once, in lexicographic order of the dims.
  std::vector<LoopOrder> list(DimSet loops) const;

  /// One allowed order of the loops: any dim that a randomly chosen pattern lets stand next, chosen by `below`, which
  /// returns a number less than its argument. Where the pattern contradicts itself for these loops (two stationary
  /// tensors, each with a dim of its own), the rest follows anyhow and the order is not allowed: the caller checks.
  template <typename Below>
  LoopOrder choose(DimSet loops, Below below) const {
    const Precedence none{};
    const Precedence& before = patterns_.empty() ? none : patterns_[below(patterns_.size())].before;
    LoopOrder order{};
    std::array<std::uint8_t, kMaxDims> ready;
    std::size_t n = 0;
    for (DimSet placed = 0; placed != loops;) {
      std::size_t count = 0;
      const DimSet left = loops & ~placed;
      for (const DimSet waits_for : {left, DimSet{0}}) {
        for (std::size_t d = 0; d < dims_ && (count == 0 || waits_for != 0); ++d)
          if ((left >> d & 1U) != 0 && (before[d] & waits_for) == 0) ready[count++] = static_cast<std::uint8_t>(d);
        if (count != 0) break;
      }
      order[n] = ready[below(count)];
      placed |= DimSet{1} << order[n++];
    }
    append_rest(loops, n, order);
    return order;
  }

 private:
  void append_rest(DimSet loops, std::size_t at, LoopOrder& order) const;

  std::size_t dims_ = 0;
  std::vector<Pattern> patterns_;  ///< any of them; none = every order is allowed
};

}  // namespace pliant
