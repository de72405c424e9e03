// SPDX-License-Identifier: Apache-2.0
// What factors say that are decided, of energy and of the time of the ports that words pass on their way to the MACs,
// whatever is open.
//
// Of a tensor that is kept at some memories, each element leaves every keeper and arrives at the next one at least once
// for each copy of it that works. Copies by dims that are still open may be one. A word that leaves the innermost
// keeper serves at most as many MACs as units share it. Where dims are open tensors compete for the units that are
// left: a factor serves the tensors that do not use its dim, and all factors together are no more than the units.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant::exact {

class DecidedWords {
 public:
  DecidedWords(const ResolvedTask& resolved, const ChoiceBounds& bounds);

  void decide(int level, int d, Count rows, Count cols);
  /// The same where it is not known how the factor is split over rows and columns, or idle units are not counted.
  void decide_factor(int level, int d, Count factor);
  void reopen(int level, int d);
  DimSet open(int level) const { return open_[level]; }
  /// Units of a fanout that the factors of open dims can take.
  double left(int level) const;
  /// Units along a dim that are decided at these fanouts.
  double units_along(int d, std::uint32_t fanouts) const;

  /// What the patterns of a tensor with the same innermost keeper cost at least: fixed, and for words to the MACs one
  /// of these by the units that share a word.
  struct ByKeeper {
    int keeper = 0;
    double fixed = 0;
    double unshared = 0;     ///< over all units
    double per_sharing = 0;  ///< over those that open dims make share it
    double per_serving = 0;  ///< the same, where windows share by the dims that serve the tensor
  };
  struct Keepers {
    std::array<ByKeeper, kMaxLevels> by{};
    int count = 0;
    double least = 0;  ///< of any pattern, this tensor alone
  };
  using Known = std::array<Keepers, kMaxTensors>;
  Known keepers() const;
  using Chosen = std::array<ByKeeper, kMaxTensors>;

  /// Units of some fanouts, decided last, that share a word of each tensor, at most.
  struct Sharing {
    std::array<double, kMaxTensors> alone;   ///< where no other fanouts are inside its keeper
    std::array<double, kMaxTensors> beside;  ///< otherwise, equal windows not counted
    double units;
    double floor;  ///< where nothing else is decided
  };
  /// A combination of innermost keepers, with all that holds whatever some last fanouts share.
  struct Combination {
    Chosen chosen{};
    double fixed = 0, units = 1;  ///< units: that are left
    struct Words {
      double cost = 0;  ///< to the MACs, those that open fanouts outside the innermost of the keepers share once
      double per_cost = 0;
      enum class Share : std::uint8_t { kNothing, kAlone, kBeside } share = Share::kNothing;  ///< of the last fanouts
    };
    std::array<Words, kMaxTensors> words{};
    struct Competing {
      TensorSet tensors;
      int size;
      double shared;
    };
    std::array<Competing, 4> sets{};  ///< of up to three tensors, for what is left
    int competing = 0;
  };
  struct Combinations {
    std::uint32_t last = 0;  ///< fanouts of which it is known what they share
    double apart = 0;        ///< energy, each tensor by itself
    std::vector<Combination> all{};
  };
  void combine(const Known& keepers, std::uint32_t last, Combinations& combinations) const;
  /// The objective at least, with what the last fanouts share, if any; and energy alone. Where something is below
  /// `enough` perhaps less.
  double least(const Combinations& combinations, double steps, const Sharing* last, double enough = 0) const;
  double least_energy(const Combinations& combinations) const;
  /// The objective at least where no fanouts are last: `enough` or more where that is known, otherwise what tensors
  /// cost each by itself.
  double least(const Known& keepers, double steps, double enough) const;
  /// Are these all fanouts inside a memory?
  bool only_inside(std::uint32_t fanouts, int keeper) const { return fanouts == p_.fanouts >> keeper << keeper; }
  double sharing_windows(int tensor, const std::array<double, kMaxDims>& units) const;
  double port_cycles(const Chosen& chosen, const std::array<double, kMaxTensors>& words) const;
  /// Dims along which units may share a word of a tensor: those that it does not use, and of a rank with several dims
  /// all but the largest. (Of a units along it and b along the others a * b / (a + b - 1) share a word, at most b.)
  DimSet serving(int tensor) const { return serving_[tensor]; }
  /// Of a dim of a window: how many of its iterations use a word, at most. (With stride 2 every other one.)
  const std::array<double, kMaxDims>& using_word(int tensor) const { return using_word_[tensor]; }

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
    double all = 0;  ///< everything, each tensor with all units that are left
    ByKeeper words{};
  };

  Copies copies_of(int tensor) const;
  Parts energy(const ChoiceBounds::Pattern& pattern, const Copies& copies) const;
  double network_energy(const KeeperPair& pair, const Copies& copies) const;
  /// What words cost at least, but for the MACs, and what they take of the ports that they pass on their way to these.
  struct Least {
    double energy, cycles;
  };
  Combination combination(const Chosen& chosen, std::uint32_t last) const;
  double apart(const Known& keepers) const;
  double value_of(double energy, double cycles, double steps) const;
  Least together(const Combination& combination, const Sharing* last) const;

  const ResolvedTask& resolved_;
  const Problem& p_;
  const ChoiceBounds& bounds_;
  struct Side {
    Count rows = 1, cols = 1;
    bool split = true;  ///< known how; otherwise all are rows
  };
  std::array<std::array<Side, kMaxDims>, kMaxLevels> factor_{};
  std::array<DimSet, kMaxLevels> open_{}, split_{};  // split_: decided, by more units than one
  std::array<Count, kMaxLevels> units_{}, used_{};
  std::array<DimSet, kMaxTensors> serving_{};
  std::array<std::array<double, kMaxDims>, kMaxTensors> using_word_{};
  bool plain_ = false;                           // outputs: of every copy and element one sum begins
  bool drains_ = false;                          // and that it leaves is counted
  int outermost_ = 0;                            // keeper of outputs
  std::array<TensorSet, kMaxDims> served_by_{};  // tensors of which units along a dim may share words
};

}  // namespace pliant::exact
