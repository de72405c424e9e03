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
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "dse/mappers/exact/axis.h"
#include "dse/mappers/exact/choice.h"

namespace pliant::exact {

/// One transfer of a tensor between neighbouring keepers; child == Problem::levels is the compute units.
struct Pair {
  int tensor = 0, parent = 0, child = 0;
};

/// A linear cost of the words of every pair: energy, or the load of one port.
struct Functional {
  struct Weights {
    double served = 0, delivered = 0, first_parent = 0, first_child = 0;
  };
  std::vector<Weights> weights;  ///< by pair
  double constant = 0;           ///< pairs whose words do not depend on the temporal mapping, and the MACs
  std::array<double, kMaxTensors> constant_of{};  ///< the share of each tensor in it
};

/// Per tensor: 0 = nothing pending, else 1 + index (within the tensor's pairs) of the innermost pending pair; from
/// kStaying on, operands that stay at the compute units, with the innermost memory's repetitions (quickflow only).
inline constexpr int kStaying = 64;
using Status = std::array<std::int8_t, kMaxTensors>;

inline constexpr int kMaxFunctionals = 12;

class ChargeTables;

/// What never changes for a task.
struct Setting {
  Setting(const Task& task, const Problem& problem);

  const Task& task;
  const Problem& problem;
  std::vector<int> memories;     ///< levels, from the innermost outwards
  std::vector<DimSet> may_loop;  ///< by memory
  /// Loop orders by memory, as alternatives; each is a list of groups from the inside out, free order within a group.
  std::vector<std::vector<std::vector<DimSet>>> orders;
  bool within = false;        ///< stationarity ends at the parent
  bool one_loop = false;      ///< quickflow's window rule
  bool compute_runs = false;  ///< quickflow: operands may stay at the compute units
  bool walks = false;         ///< timeloop's window memory: words are not a function of the node, orders all differ
  mutable AxisCache axis_cache;
};

class Lattice {
 public:
  Lattice(const Setting& setting, const Spatial& spatial, const Keeps& keeps);

  /// Everything above needs only the choice; what follows build() needs the lattice itself. False: nothing fits.
  bool build();
  std::size_t nodes() const { return total_nodes_; }
  const std::vector<Pair>& pairs() const { return pairs_; }
  double steps() const { return steps_; }
  double instances(int level) const { return instances_[level]; }

  Functional energy() const;
  Functional port(int level, bool write) const;
  /// Each tensor moved once between its keepers: a bound that needs no lattice.
  double least(const Functional& functional) const;
  /// The same for one tensor's pairs alone, the MACs left out: depends on that tensor's keepers only.
  double least_of(int tensor, const Functional& functional) const;

  /// Least cost of everything inside each memory's loops, by memory (before its loops), status and node.
  struct Tables {
    std::vector<std::map<Status, std::vector<double>>> before;
    double best = 0;  ///< of a complete mapping, constants included
  };
  /// Nodes whose cost and what must follow exceed the limit are left out.
  Tables solve(const Functional& functional, double limit) const;

  /// Continue inwards from memory k: all reuse-distinct ways to reach node `end`.
  struct Step {
    Status before{}, after{};  ///< as this memory sees it before its loops, as the next one out sees it after them
    int node = 0;              ///< before its loops
    std::array<double, kMaxFunctionals> charges{};  ///< made at this memory, by functional
    std::array<std::int8_t, kMaxDims> order{};      ///< dims of its loops, innermost first
    int loops = 0;
  };
  struct StepQuery {
    int k = 0, end = 0;
    const Status* after = nullptr;  ///< nullptr = any
    std::span<const Functional* const> functionals;
    std::span<const Tables* const> tables;     ///< by functional
    double limit = 0;                          ///< on table value + charges of functional 0 (+ what `after` pends)
    std::function<bool(const double*)> worth;  ///< asked per start with its table values; empty = always
    bool follow = false;                       ///< also steps that charge what no loop moved, as the tables do
    std::vector<std::unique_ptr<ChargeTables>>* cache = nullptr;
  };
  void steps_into(const StepQuery& query, std::vector<Step>& found) const;
  /// Nodes outside and inside: the node of memory k-1 (after its loops) that lies under a node of memory k; all of
  /// them.
  void nodes_under(int k, int node, std::vector<int>& found) const;

  std::vector<int> final_nodes() const;
  /// Cost of what is still pending when the outermost memory's loops are done.
  double pending_at_end(const Status& status, const Functional& functional) const;

  /// Bounds of memory k's loops between two of its nodes.
  void bounds(int k, int from, int to, std::array<Count, kMaxDims>& bound) const;
  const Setting& setting() const { return setting_; }
  const Spatial& spatial() const { return spatial_; }
  const Keeps& keeps() const { return keeps_; }
  int stages() const { return static_cast<int>(setting_.memories.size()); }
  Status initial_status() const { return initial_; }
  int initial_node() const;

  // What the enumeration of steps needs.
  const Axis& axis(int k, int d) const { return (*axes_[d])[k]; }
  int stride(int k, int d) const { return boxes_[k].stride[d]; }
  void unpack(int k, int node, std::array<int, kMaxDims>& at) const;
  TensorSet alive(const Status& status) const;
  Status after_boundary(int k, Status status, int node) const;
  bool towards_compute(int tensor, int pending) const;
  ChargeTables charge_tables(int k, int tensor, int pending, int slide, const Functional& functional) const;

 private:
  struct Box {
    std::vector<int> extent, stride;  // by dim
    int size = 1;
    std::vector<double> misfit;  // by node: 0, or infinity where capacity, partition or fixed tile is violated
    std::vector<int> outside;    // by node: the node of the next memory out above it, or -1
  };
  int index(int k, const std::array<int, kMaxDims>& at) const;
  void build_boxes();
  void build_misfits(int k) const;
  void complete_box(int k) const;
  int first_pending(int pending) const { return pending >= kStaying ? 0 : pending - 1; }
  double repetitions(int tensor, int pending) const;
  /// Charge of killing one tensor at memory k, at every node; slide = dim whose windows overlap, or -1.
  std::vector<double> charge(int k, int tensor, int pending, int slide, const Functional& functional) const;
  void grow(int k, DimSet dims, std::vector<double>& values) const;
  /// Least cost of all pairs that are not charged yet at memory k.
  double still_to_pay(int k, const Status& status, const std::vector<double>& least_by_pair) const;
  std::vector<double> least_by_pair(const Functional& functional) const;
  void run_group(int k, DimSet group, const Functional& functional, std::map<Status, std::vector<double>>& values,
                 std::map<std::array<int, 3>, std::vector<double>>& cache) const;
  std::vector<int> pending_pairs(int k, int tensor, int pending) const;
  void add_constants(Functional& functional) const;
  double first_constant(int level) const;
  /// Copies of a word under the fanouts between two levels: at least, at most.
  std::pair<double, double> copies_between(int tensor, int parent, int child) const;
  double first_per_sweep_at_compute(const Pair& pair) const;

  const Setting& setting_;
  Spatial spatial_;
  Keeps keeps_;
  std::size_t total_nodes_ = 0;
  double steps_ = 1;
  std::array<double, kMaxLevels + 1> instances_{};
  std::vector<Pair> pairs_;
  std::array<std::vector<int>, kMaxTensors> pairs_of_;  // inside out, indices into pairs_
  Axes axes_;
  std::vector<int> fastest_first_;  // dims in the order of their strides
  mutable std::vector<Box> boxes_;  // filled when a search first gets there
  Status initial_{};
  std::array<DimSet, kMaxTensors> stays_{};  // dims whose loops may leave an operand at the compute units
  mutable std::array<std::vector<double>, kMaxTensors> repeated_;  // by pending - kStaying
};

}  // namespace pliant::exact
