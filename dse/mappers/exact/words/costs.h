// SPDX-License-Identifier: Apache-2.0
// Energy and port loads of a choice as linear functions of the words that its tensors move, and the least of them that
// is certain before any lattice is built: every tensor moved once between its keepers.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "dse/mappers/exact/task/resolved_task.h"
#include "dse/mappers/exact/task/spatial.h"
#include "dse/mappers/exact/words/needed_windows.h"

namespace pliant::exact {

/// What a word of one pair costs: at the parent, at the child, and what first arrivals of outputs save at either.
struct Weights {
  double served = 0, delivered = 0, first_parent = 0, first_child = 0;
};

/// A linear cost of the words of every pair: energy, or the load of one port.
struct Functional {
  std::vector<Weights> weights;  ///< by pair
  double constant = 0;           ///< pairs whose words do not depend on the temporal mapping, and the MACs
};

/// What the spatial factors of a choice do to counts. Everything here is about one tensor's pairs, listed inside out:
/// tensors do not know of each other before they share a memory.
class Costs {
 public:
  Costs(const ResolvedTask& resolved, const Spatial& spatial);

  double steps() const { return steps_; }
  double instances(int level) const { return instances_[level]; }
  /// Product of the factors of the dims that the tensor does not use, at fanouts outside a level.
  double copies_outside(int tensor, int level) const { return copies_[tensor][level]; }

  /// Sets the weights of one tensor's pairs and returns its constant.
  double energy(std::span<const KeeperPair> pairs, Weights* weights) const;
  /// Cycles of a port. Words of both directions on one bus add up: weights are sums then, each with the sign it has in
  /// either direction, so that whatever holds for functionals with such signs holds for it.
  double port(const Port& port, std::span<const KeeperPair> pairs, Weights* weights) const;
  /// Least cost of one of these pairs: moved once, or as long as an operand can stay at the compute units.
  double least(const KeeperPair& pair, const Weights& weights) const;
  /// What least() leaves out where its words are fewer than the sums that first_arrivals() lets begin: a sum that has
  /// begun at a copy crosses the pair at least once. Where more words are counted it may be less.
  double begun(const KeeperPair& pair, const Weights& weights) const;
  /// For bounds that count words by weights alone: flatter ones, where first arrivals would leave less than nothing of
  /// the least words. What is to be added to the constant.
  double no_more_firsts_than_words(const KeeperPair& pair, Weights& weights) const;
  /// Are first arrivals of this pair bounded together with its words?
  bool bounds_begun(const KeeperPair& pair) const;
  /// At most so many partial sums of outputs ever begin at a level.
  double first_arrivals(int level) const;
  /// Cost of delivering the whole tensor once more: in a round of the loops; at the parent, for whoever asks it in a
  /// round for words of his own; and to a unit that works in it. With perfect factors a round is all of them.
  struct Delivery {
    double round = 0, asked = 0, unit = 0;
  };
  Delivery delivery(const KeeperPair& pair, const Weights& weights) const;
  /// Copies of a tensor's child that work whatever the remainders.
  double busy_copies(int tensor, int level) const {
    return resolved_.perfect ? copies_[tensor][level] : certain_copies_[tensor][level];
  }
  /// Copies that ask for words of their own: of the parent, and under networks that share none. With remainders all
  /// there are, or those that ask for certain.
  double asking_copies(const KeeperPair& pair, bool certain) const;

 private:
  /// What an operand costs that stays at the compute units as long as it can: all of them, or one.
  double staying(const KeeperPair& pair, const Weights& weights, bool all_copies) const;
  double constant(std::span<const KeeperPair> pairs, const Weights* weights) const;
  void save_where_sums_leave(std::span<const KeeperPair> pairs, Weights* weights) const;
  void count_every_word_as_first(std::span<const KeeperPair> pairs, Weights* weights) const;
  void count_certain_copies();
  void count_sums();
  /// Words of a memory that a finished output takes less than a partial sum, if its outputs finish there.
  double finished_saves(int level) const;
  bool sums_whole(int level) const;
  /// Energy of a bit on its way to the children of a pair, at least: what passes a fanout once for several children
  /// counts with its share.
  double network_pj(const KeeperPair& pair) const;
  double charge_networks(const KeeperPair& pair, Weights& weights) const;
  double charge_array(const Port& array, const KeeperPair& pair, Weights& weights) const;
  double first_per_sweep_at_compute(const KeeperPair& pair) const;
  /// Copies of a word under the reducing fanouts between two levels: at least, at most.
  std::pair<double, double> reduced_between(int parent, int child) const;

  const ResolvedTask& resolved_;
  const Spatial& spatial_;
  double steps_ = 1;
  std::array<double, kMaxLevels + 1> instances_;
  std::array<std::array<double, kMaxLevels + 1>, kMaxTensors> copies_;
  std::array<std::array<double, kMaxLevels + 1>, kMaxTensors> certain_copies_;  // busy whatever the remainders
  std::array<double, kMaxLevels + 1> sums_at_most_;                             // copies of an output that get work
  NeededWindows needed_;
};

/// words * weight + first * begun, less than these words counted alone, is at least this more, where at most `most`
/// sums begin and each of them is one of the words.
double cost_of_begun(double weight, double first, double most, double words);

/// Share of the operands along affine ranks that fanouts ask for once for several units.
double window_sharing(const ResolvedTask& resolved, const Spatial& spatial, const KeeperPair& pair);

/// Words between the innermost keeper of a tensor and the compute units when every step asks again, except along some
/// dims that the tensor does not use.
double compute_words(const ResolvedTask& resolved, const Spatial& spatial, const KeeperPair& pair, DimSet except = 0);

}  // namespace pliant::exact
