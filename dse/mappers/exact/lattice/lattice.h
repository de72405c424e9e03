// SPDX-License-Identifier: Apache-2.0
// The lattice of nested tiles for one choice of spatial factors and kept tensors.
//
// The nest is walked from the innermost memory outwards. A node is a tile vector; a status says, per tensor, since
// which keeper its transfers are pending (no coupled loop met yet). A transfer is charged when its tensor meets its
// first coupled loop, and the charge is a function of the node: words = elements(tile) * iterations left. "Best over
// all factors of these dims" is a minimum over prefixes of the lattice, one prime at a time.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "dse/mappers/exact/lattice/apart.h"
#include "dse/mappers/exact/lattice/boxes.h"
#include "dse/mappers/exact/task/search_limits.h"
#include "dse/mappers/exact/task/spatial.h"
#include "dse/mappers/exact/words/costs.h"
#include "dse/mappers/exact/words/window_words.h"

namespace pliant::exact {

/// Per tensor: 0 = nothing pending, else 1 + index (within the tensor's pairs) of the innermost pending pair; from
/// kStaying on, operands that stay at the compute units, with the innermost memory's repetitions (quickflow only).
inline constexpr int kStaying = 64;
using Status = std::array<std::int16_t, kMaxTensors>;

inline constexpr int kMaxFunctionals = 12;

class ChargeTables;

class Lattice {
 public:
  Lattice(const ResolvedTask& resolved, const Spatial& spatial, const Keeps& keeps, ArrayStore& store,
          SearchLimits& limits);

  /// What follows build() needs the lattice itself; from so many nodes on, tiles are grouped (boxes.h): tables are
  /// lower bounds then. False: nothing fits, or too_large().
  void group_beyond(double nodes) { group_beyond_ = nodes; }
  bool build() { return boxes_.build(group_beyond_); }
  /// Tables that were begun hold nothing valid then.
  bool too_large() const { return too_large_ || boxes_.too_large(); }
  const Boxes& boxes() const { return boxes_; }
  bool grouped() const { return boxes_.grouped(); }

  WorkAllowed& work() const { return work_; }
  bool over() const { return work_.over(); }
  double steps() const { return costs_.steps(); }  ///< at least
  /// Of the mappings that end at a final node: under Ruby-S the node says how many iterations in time a dim takes.
  double steps_to(int final_node) const;

  /// From here on mappings of so many steps or more are left out of tables. True: there is a node which says so.
  bool leave_out_from(double steps) { return boxes_.leave_out_from(steps, costs_.steps()); }

  Functional energy() const;
  Functional port(const Port& port) const;
  /// Each tensor moved once between its keepers: a bound that needs no lattice.
  double least(const Functional& functional) const;

  /// Least cost of everything inside each memory's loops, by memory (before its loops), status and node.
  using Values = std::map<Status, Array>;
  struct Tables {
    std::vector<Values> before;
    double best = 0;  ///< of a complete mapping, constants included
  };
  /// Nodes whose cost and what must follow exceed the limit are left out. Worthless when the limits are reached
  /// meanwhile.
  Tables solve(const Functional& functional, double limit) const;

  /// By tensor: what it pends and the cost of it, one functional's. Made when first asked for.
  using PendingCosts = std::array<std::vector<std::pair<int, double>>, kMaxTensors>;
  /// Cost of what is still pending when the outermost memory's loops are done.
  double pending_at_end(const Status& status, const Functional& functional, PendingCosts& known) const;

  const ResolvedTask& resolved() const { return resolved_; }
  const Spatial& spatial() const { return spatial_; }
  const Keeps& keeps() const { return keeps_; }
  int stages() const { return static_cast<int>(resolved_.memories.size()); }
  Status initial_status() const { return initial_; }

  // What the enumeration of steps needs.
  TensorSet alive(const Status& status) const;
  Status after_boundary(int k, Status status, int node) const;
  /// Does a loop over `dim` at this memory slide windows of the tensor? Units are asked word by word, so only a
  /// transfer between memories has windows, also of an operand that stays at the units meanwhile.
  bool slides(int k, int tensor, int pending, int dim) const;
  ChargeTables charge_tables(int k, int tensor, int pending, int slide, const Functional& functional) const;
  PendingWindows pending_windows(int k, int tensor, int pending) const {
    return {resolved_, spatial_, boxes_, k, pairs_of(tensor).subspan(static_cast<std::size_t>(first_pending(pending)))};
  }
  /// What each pair costs, moved once.
  std::vector<double> least_by_pair(const Functional& functional) const;
  std::vector<int> pending_pairs(int k, int tensor, int pending) const;

 private:
  int first_pending(int pending) const { return pending >= kStaying ? 0 : pending - 1; }
  double repetitions(int tensor, int pending) const;
  /// Charge of moving one tensor at memory k, at every node; slide = dim whose windows overlap, or -1.
  Array charge(int k, int tensor, int pending, int slide, const Functional& functional) const;
  void grow(int k, DimSet dims, Array& values) const;
  /// Least cost of all pairs that are not charged yet at memory k.
  double still_to_pay(int k, const Status& status, const std::vector<double>& least_by_pair) const;
  /// At every node of one memory, by tensor, what it pends and slide.
  struct Charges {
    std::map<std::array<int, 3>, Array> words;
    std::map<std::array<int, 3>, ApartNodes> apart;
  };
  const double* charged(int k, int tensor, int pending, int slide, const Functional& functional,
                        Charges& charges) const;
  /// Adds the charges of all moved tensors to `work` but the last, whose charge is added while taking the minimum.
  void charge_moved(int k, const Status& status, TensorSet moved, TensorSet sliding, int dim,
                    const Functional& functional, Charges& charges, Array& work, Array& target) const;
  void run_group(int k, DimSet group, const Functional& functional, Values& values, Charges& charges) const;
  /// All loops of memory k, in every order it may have; then its end.
  Values run_memory(int k, const Functional& functional, const Values& before) const;
  Values end_memory(int k, const Functional& functional, Values values, Charges& charges) const;
  double least_at_end(const Functional& functional, const Values& ended) const;
  std::span<const KeeperPair> pairs_of(int tensor) const;

  const ResolvedTask& resolved_;
  Spatial spatial_;
  Keeps keeps_;
  ArrayStore& store_;
  mutable WorkAllowed work_;
  mutable Boxes boxes_;  // completed when a search first gets there
  Costs costs_;
  std::vector<KeeperPair> pairs_;
  std::array<std::vector<int>, kMaxTensors> pairs_of_;  // inside out, indices into pairs_
  double group_beyond_ = 0;
  mutable bool too_large_ = false;
  Status initial_{};
  mutable KnownWindows known_windows_;
  mutable std::array<std::vector<double>, kMaxTensors> repeated_;  // by pending - kStaying
};

}  // namespace pliant::exact
