// SPDX-License-Identifier: Apache-2.0
// The floor of all unrollings that have some factors in common: energy that is certain from these factors alone, and
// the time of the ports that words pass on their way to the MACs.
//
// Of a tensor that is kept at some memories, each element leaves every keeper and arrives at the next one at least once
// for each copy of it that works. Copies by dims that are still open may be one. A word that leaves the innermost
// keeper serves at most as many MACs as units share it. Where dims are open tensors compete for the units that are
// left: a factor serves the tensors that do not use its dim, and all factors together are no more than the units.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dse/mappers/exact/bounds/choice_bounds.h"
#include "dse/mappers/exact/choices/partial_floor.h"

namespace pliant::exact {

class DecidedFactors final : public PartialFloor {
 public:
  DecidedFactors(const ResolvedTask& resolved, const ChoiceBounds& bounds, SearchLimits& limits);

  PartialFloor::Last choose_last(const std::vector<ListedFanout>& fanouts, double limit, double enough) override;
  Others least_of_each(double limit, double most_steps, std::vector<Found>& found) override;
  void decide(int level, int d, Count rows, Count cols) override;
  void reopen(int level, int d) override;
  double least(double steps) const override;
  std::uint64_t newly_looked() override { return std::exchange(looked_, 0); }
  double least_energy() const;
  /// As `least`, whatever the last fanouts are: also of unrollings that are in no list.
  double least_of_any(double steps) const { return least(keepers(), steps); }

 private:
  using ByLevel = std::array<double, kMaxLevels + 1>;
  /// What the factors say of one tensor, at most or at least.
  struct Copies {
    ByLevel working;  ///< copies outside a level that need each element, at least
    ByLevel begun;    ///< copies of a sum outside a level that ever begin, at most (outputs)
    ByLevel sharing;  ///< units inside a level that one word of its serves, at most: by the factors decided
    ByLevel served;   ///< MACs that one word of its serves, at most: the same, but rounds that are not full count
    ByLevel serving;  ///< the same, windows by the dims that serve the tensor: whatever is open
    ByLevel open;     ///< how many times more of them the open ones make it
  };
  /// What the patterns of a tensor with the same innermost keeper cost at least: fixed, and for words to the MACs one
  /// of these by the units that share a word.
  struct ByKeeper {
    int keeper = 0;
    double fixed = 0;
    double unshared = 0;     ///< over all units
    double per_sharing = 0;  ///< over those that open dims make share it
    double per_serving = 0;  ///< the same, where windows share by the dims that serve the tensor
  };
  /// Of one pattern.
  struct Parts {
    double all = 0;  ///< everything, each tensor with all units that are left
    ByKeeper words{};
  };
  struct Keepers {
    std::array<ByKeeper, kMaxLevels> by{};
    int count = 0;
    double least = 0;  ///< of any pattern, this tensor alone
  };

  /// Over these dims: what is decided, times what is left by the units of last_, over what was left without them.
  struct Product;
  Product product(double of_decided, DimSet dims, int outside, std::uint32_t fanouts,
                  const std::array<double, kMaxDims>& sizes, double (*measure)(double size, double units)) const;

  struct Moved;
  std::vector<Moved> moved(int tensor, const Keepers& keepers) const;

  /// Units of the last fanouts that share a word of each tensor, at most.
  struct Sharing {
    std::array<double, kMaxTensors> alone;   ///< where no other fanouts are inside its keeper
    std::array<double, kMaxTensors> beside;  ///< otherwise, equal windows not counted
    double units;
    double floor;  ///< where nothing else is decided
  };
  using Factors = std::array<std::int32_t, kMaxDims>;  // there may be a million
  class Combinations;
  Sharing sharing(const Factors& factors, const std::array<Keepers, kMaxTensors>& keepers, double steps) const;
  std::vector<std::pair<double, std::uint32_t>> floors_of(const std::vector<Factors>& all, double enough);
  void list_last(const Combinations& combinations, double enough);
  void find_frontier(std::size_t below);
  double units_along(int d) const;
  double iterations() const;
  bool only_last_inside(int keeper) const { return last_.fanouts == p_.fanouts >> keeper << keeper; }
  bool last_is_open() const;

  double left(int level) const;
  double sharing_windows(int tensor, const std::array<double, kMaxDims>& units) const;
  Copies copies_of(int tensor) const;
  Parts energy(const ChoiceBounds::Pattern& pattern, const Copies& copies) const;
  double network_energy(const KeeperPair& pair, const Copies& copies) const;
  std::array<Keepers, kMaxTensors> keepers() const;
  using Chosen = std::array<ByKeeper, kMaxTensors>;
  /// What words cost at least, but for the MACs, and what they take of the ports that they pass on their way to these.
  struct Least {
    double energy, cycles;
  };
  /// Of every combination of innermost keepers. Where it is known what the last fanouts share, or nothing of them.
  template <typename Each>
  void for_each_choice(const std::array<Keepers, kMaxTensors>& keepers, const Sharing* last, const Each& each) const;
  double least(const std::array<Keepers, kMaxTensors>& keepers, double steps, const Sharing* last = nullptr) const;
  Least together(const Chosen& chosen, const Sharing* last) const;
  double port_cycles(const Chosen& chosen, const std::array<double, kMaxTensors>& words) const;

  const ResolvedTask& resolved_;
  const Problem& p_;
  const ChoiceBounds& bounds_;
  SearchLimits& limits_;
  struct Side {
    Count rows = 1, cols = 1;
  };
  std::array<std::array<Side, kMaxDims>, kMaxLevels> factor_{};
  std::array<DimSet, kMaxLevels> open_{};
  std::array<Count, kMaxLevels> units_{}, used_{};
  /// Dims along which units may share a word of a tensor: those that it does not use, and of a rank with several dims
  /// all but the largest. (Of a units along it and b along the others a * b / (a + b - 1) share a word, at most b.)
  std::array<DimSet, kMaxTensors> serving_{};
  /// Of a dim of a window: how many of its iterations use a word, at most. (With stride 2 every other one.)
  std::array<std::array<double, kMaxDims>, kMaxTensors> using_word_{};
  /// What the fanouts that are decided last can be.
  struct Last {
    std::uint32_t fanouts = 0;
    std::size_t count = 0;
    std::vector<std::shared_ptr<const std::vector<Unrolling>>> lists;  // of all fanouts, from the innermost outwards
    std::array<std::vector<Count>, kMaxDims> factors;
    std::array<double, kMaxDims> others{};  // units along a dim that were decided before
    /// By combination of factors, the least floor first; which factors, and where the unrollings begin that have them.
    std::vector<Sharing> sharing;
    std::array<std::vector<std::uint16_t>, kMaxDims> at;
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> unrollings;  // one of each list, and again
    /// Those below the limit that share the most; unless they are too many.
    std::vector<Sharing> frontier;
    bool has_frontier = false;
    double beyond = kInfinity;  // of those that are not even listed
  };
  Last last_;
  mutable std::uint64_t looked_ = 0;
  bool plain_ = false;                           // outputs: of every copy and element one sum begins
  bool drains_ = false;                          // and that it leaves is counted
  int outermost_ = 0;                            // memory
  std::array<TensorSet, kMaxDims> served_by_{};  // tensors of which units along a dim may share words
};

}  // namespace pliant::exact
