// SPDX-License-Identifier: Apache-2.0
// The floor of all unrollings that have some factors in common: energy that is certain from these factors alone.
//
// Of a tensor that is kept at some memories, each element leaves every keeper and arrives at the next one at least once
// for each copy of it that works. Copies by dims that are still open may be one. A word that leaves the innermost
// keeper serves at most as many MACs as units share it. Where dims are open tensors compete for the units that are
// left: a factor serves the tensors that do not use its dim, and all factors together are no more than the units.
#pragma once

#include <array>
#include <vector>

#include "dse/mappers/exact/bounds/choice_bounds.h"
#include "dse/mappers/exact/choices/partial_floor.h"

namespace pliant::exact {

class DecidedFactors final : public PartialFloor {
 public:
  DecidedFactors(const ResolvedTask& resolved, const ChoiceBounds& bounds);

  std::size_t choose_last(const std::vector<ListedFanout>& fanouts) override;
  Others least_of_each(double limit, double most_steps, std::vector<Found>& found) override;
  void decide(int level, int d, Count rows, Count cols) override;
  void reopen(int level, int d) override;
  double least(double steps) const override;
  double least_energy() const { return least_energy(keepers()); }

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
  /// Of one pattern.
  struct Parts {
    double all;                 ///< everything, each tensor with all units that are left
    double fixed, per_sharing;  ///< fixed + per_sharing / units that open dims make share a word
    double per_serving;
  };
  /// The least of a tensor's patterns that have the same innermost keeper.
  struct ByKeeper {
    int keeper;
    double fixed, per_sharing;
    double per_serving;  ///< the same, where windows share by the dims that serve the tensor
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
  double find_left(const std::array<Keepers, kMaxTensors>& keepers, double limit, double most_steps, Others& others);

  double left(int level) const;
  double sharing_windows(int tensor, const std::array<double, kMaxDims>& units) const;
  Copies copies_of(int tensor) const;
  Parts energy(const ChoiceBounds::Pattern& pattern, const Copies& copies) const;
  double network_energy(const KeeperPair& pair, const Copies& copies) const;
  std::array<Keepers, kMaxTensors> keepers() const;
  /// Where the fanouts that are decided last have no more units than so many.
  double least_energy(const std::array<Keepers, kMaxTensors>& keepers, double units_of_last = kInfinity) const;
  double together(const std::array<ByKeeper, kMaxTensors>& chosen, double units_of_last) const;

  const ResolvedTask& resolved_;
  const Problem& p_;
  const ChoiceBounds& bounds_;
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
    std::vector<std::pair<int, std::vector<Unrolling>>> lists;  // by level, from the innermost outwards
    std::array<std::vector<Count>, kMaxDims> factors;
    /// By combination of factors: its units, the most first; which factors; where the unrollings begin that have them.
    std::vector<double> units;
    std::array<std::vector<std::uint16_t>, kMaxDims> at;
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> unrollings;  // one of each list, and again
    struct Left {
      double steps, energy;
      std::uint32_t number;
    };
    std::vector<Left> left;  // those that steps do not close
  };
  Last last_;
  std::array<TensorSet, kMaxDims> served_by_{};  // tensors of which units along a dim may share words
};

}  // namespace pliant::exact
