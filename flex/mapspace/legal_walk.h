// SPDX-License-Identifier: Apache-2.0
// Every legal mapping of a map-space once, in an order that never changes: factor chains, then kept tensors, then loop
// orders. A branch ends as soon as the dims placed so far overflow a memory or an array.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "flex/mapspace/mapspace.h"

namespace pliant {

enum class Walk : std::uint8_t { kInto, kPast, kStop };

/// A visitor answers as the walk goes:
///   bool go_on()                                    asked for every chain looked at; false stops
///   Walk chains_placed(const Candidate&, double)    all dims have chains; so many mappings have them, at least one
///   void kept(int level, TensorSet)                 the candidate's memory keeps these tensors now
///   void ordered(int level, const LoopOrder&)       the candidate's memory has this order now
///   bool visit(const Candidate&)                    a legal mapping; false stops
/// Between chains_placed and the first visit every memory with a choice is told about; later only what changes.
template <typename Visitor>
class LegalWalk {
 public:
  LegalWalk(const MapSpace& space, Visitor& visitor) : space_(space), visitor_(visitor) {
    for (int d = 0; d < space_.dims; ++d) chains_.push_back(space_.chains(d));
  }

  /// Combinations of chains, before anything that ties dims together.
  double combinations() const {
    double product = 1;
    for (const std::vector<Chain>& chains : chains_) product *= static_cast<double>(chains.size());
    return product;
  }

  /// False when the visitor stopped it.
  bool run() { return choose_chain(0); }

 private:
  bool choose_chain(int d) {
    if (d == space_.dims) return choose_rest();
    for (const Chain& chain : chains_[static_cast<std::size_t>(d)]) {
      if (!visitor_.go_on()) return false;
      now_.chain[static_cast<std::size_t>(d)] = &chain;
      if (!space_.fanouts_allowed(now_, d + 1)) continue;
      const bool overflows = std::ranges::any_of(
          space_.memories, [&](int l) { return space_.memory_overflows(l, now_, space_.least_kept(l), d + 1); });
      if (!overflows && !choose_chain(d + 1)) return false;
    }
    return true;
  }

  bool choose_rest() {
    double mappings = 1;
    for (std::size_t i = 0; i < space_.memories.size(); ++i) {
      const int l = space_.memories[i];
      orders_[i] = &orders_of(l, space_.loops_at(l, now_));
      mappings *= static_cast<double>(orders_[i]->size());
      fitting_[i].clear();
      for (const TensorSet keeps : space_.keep_sets(l))
        if (space_.memory_allowed(l, now_, keeps)) fitting_[i].push_back(keeps);
      mappings *= static_cast<double>(fitting_[i].size());
    }
    if (mappings == 0) return true;
    for (std::size_t i = 0; i < space_.memories.size(); ++i)
      now_.order[static_cast<std::size_t>(space_.memories[i])] = orders_[i]->front();
    switch (visitor_.chains_placed(now_, mappings)) {
      case Walk::kInto: return choose_kept(0);
      case Walk::kPast: return true;
      case Walk::kStop: return false;
    }
    return false;
  }

  bool choose_kept(std::size_t i) {
    if (i == space_.memories.size()) return choose_order(0);
    const int l = space_.memories[i];
    for (const TensorSet keeps : fitting_[i]) {
      now_.keeps[static_cast<std::size_t>(l)] = keeps;
      visitor_.kept(l, keeps);
      if (!choose_kept(i + 1)) return false;
    }
    return true;
  }

  bool choose_order(std::size_t i) {
    if (i == space_.memories.size()) return visitor_.visit(now_);
    const int l = space_.memories[i];
    for (const LoopOrder& order : *orders_[i]) {
      now_.order[static_cast<std::size_t>(l)] = order;
      visitor_.ordered(l, order);
      if (!choose_order(i + 1)) return false;
    }
    return true;
  }

  const std::vector<LoopOrder>& orders_of(int level, DimSet loops) {
    const auto [at, fresh] = order_lists_.try_emplace({level, loops});
    if (fresh) at->second = space_.orders(level, loops);
    return at->second;
  }

  const MapSpace& space_;
  Visitor& visitor_;
  std::vector<std::vector<Chain>> chains_;  ///< by dim
  std::map<std::pair<int, DimSet>, std::vector<LoopOrder>> order_lists_;
  std::array<const std::vector<LoopOrder>*, kMaxLevels> orders_{};  ///< by memory
  std::array<std::vector<TensorSet>, kMaxLevels> fitting_;          ///< by memory
  Candidate now_{};
};

}  // namespace pliant
