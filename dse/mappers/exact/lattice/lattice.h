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

#include "dse/mappers/exact/chain/axis.h"
#include "dse/mappers/exact/lattice/arrays.h"
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

/// Charges at one memory, made when first asked for.
struct ChargeCache {
  struct Entry {
    int functional, tensor, pending, slide;
    std::unique_ptr<ChargeTables> tables;
  };
  std::vector<Entry> entries;
};

class Lattice {
 public:
  Lattice(const ResolvedTask& resolved, const Spatial& spatial, const Keeps& keeps, ArrayStore& store,
          SearchLimits& limits);
  ~Lattice() { limits_.effort += effort_; }
  Lattice(const Lattice&) = delete;
  Lattice& operator=(const Lattice&) = delete;

  /// From so many nodes on, tiles are grouped (groups.h): tables are lower bounds then. More than memory allows: as
  /// many as that. 0: they are never grouped.
  void group_beyond(double nodes) { group_beyond_ = nodes; }
  /// What follows build() needs the lattice itself. False: nothing fits, or too_large().
  bool build();
  bool grouped() const { return grouped_; }
  /// Would more nodes make groups narrower?
  bool may_be_finer() const { return grouped_ && finer_; }
  /// Tables that were begun hold nothing valid then.
  bool too_large() const { return too_large_; }

  /// Work done and work allowed, in units of about a nanosecond: a limit that ends at the same place on every machine.
  void allow(std::uint64_t effort) { allowed_ = effort; }
  void work(std::uint64_t effort) const { effort_ += effort; }
  /// Time is up, somebody asked to stop, or the effort allowed is spent. Once true it stays true.
  bool over() const { return spent() || limits_.expired(); }
  bool spent() const { return effort_ > allowed_; }
  double steps() const { return costs_.steps(); }  ///< at least
  /// Of the mappings that end at a final node: under Ruby-S the node says how many iterations in time a dim takes.
  double steps_to(int final_node) const;

  /// From here on mappings of so many steps or more are left out of tables. True: there is a node which says so.
  bool leave_out_from(double steps);

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
    std::function<bool(const Step&)> ends;     ///< told of each step; true: no more are asked for
    bool follow = false;                       ///< also steps that charge what no loop moved, as the tables do
    ChargeCache* cache = nullptr;
  };
  void steps_into(const StepQuery& query, std::vector<Step>& found) const;
  /// Nodes outside and inside: the node of memory k-1 (after its loops) that lies under a node of memory k; all of
  /// them.
  void nodes_under(int k, int node, std::vector<int>& found) const;

  std::vector<int> final_nodes() const;
  /// By tensor: what it pends and the cost of it, one functional's. Made when first asked for.
  using PendingCosts = std::array<std::vector<std::pair<int, double>>, kMaxTensors>;
  /// Cost of what is still pending when the outermost memory's loops are done.
  double pending_at_end(const Status& status, const Functional& functional, PendingCosts& known) const;

  /// Bounds of memory k's loops between two of its nodes; the nodes must not be groups.
  void bounds(int k, int from, int to, std::array<Count, kMaxDims>& bound) const;
  const ResolvedTask& resolved() const { return resolved_; }
  const Spatial& spatial() const { return spatial_; }
  const Keeps& keeps() const { return keeps_; }
  int stages() const { return static_cast<int>(resolved_.memories.size()); }
  Status initial_status() const { return initial_; }
  int initial_node() const;

  // What the enumeration of steps needs.
  const Axis& axis(int k, int d) const { return (*axes_[d])[k]; }
  int stride(int k, int d) const { return boxes_[k].stride[d]; }
  bool fits(int k, int node) const {
    return boxes_[k].misfit.empty() || boxes_[k].misfit[static_cast<std::size_t>(node)] == 0;
  }
  void unpack(int k, int node, std::array<int, kMaxDims>& at) const;
  TensorSet alive(const Status& status) const;
  Status after_boundary(int k, Status status, int node) const;
  /// Does a loop over `dim` at this memory slide windows of the tensor? Units are asked word by word, so only a
  /// transfer between memories has windows, also of an operand that stays at the units meanwhile.
  bool slides(int k, int tensor, int pending, int dim) const;
  ChargeTables charge_tables(int k, int tensor, int pending, int slide, const Functional& functional) const;
  /// Do the windows that a loop over `dim` outside this node gives a tensor one after the other never overlap? Then the
  /// loop brings whole windows, as a loop that does not slide. Answered for dims that units split; elsewhere a slide
  /// costs the same when windows do not overlap.
  bool windows_apart(int k, int tensor, int pending, int dim, const std::array<int, kMaxDims>& node) const;

 private:
  struct Box {
    std::vector<int> extent, stride;  // by dim
    int size = 1;
    Array misfit;              // by node: 0, or infinity where a rule about the tile is violated; empty: no such rule
    std::vector<int> outside;  // by node: the node of the next memory out above it, or -1
    Array steps;               // by node: of a mapping that passes it, at least; empty: not known, or all the same
  };
  int index(int k, const std::array<int, kMaxDims>& at) const;
  double largest_box() const;
  bool knows_slow_nodes() const;
  void count_steps(int k) const;
  void build_boxes();
  void build_misfits(int k) const;
  /// Adds the words of a tensor's tile at every node, times `scale`.
  void add_tile_words(int k, int tensor, double scale, Array& total) const;
  void complete_box(int k) const;
  int first_pending(int pending) const { return pending >= kStaying ? 0 : pending - 1; }
  double repetitions(int tensor, int pending) const;
  /// Charge of moving one tensor at memory k, at every node; slide = dim whose windows overlap, or -1.
  Array charge(int k, int tensor, int pending, int slide, const Functional& functional) const;
  void grow(int k, DimSet dims, Array& values) const;
  /// Least cost of all pairs that are not charged yet at memory k.
  double still_to_pay(int k, const Status& status, const std::vector<double>& least_by_pair) const;
  std::vector<double> least_by_pair(const Functional& functional) const;
  /// Where windows stay apart: 0 there and infinity elsewhere, and the other way round.
  struct Apart {
    Array apart, overlapping;
    bool nowhere = true;
  };
  Apart find_apart(int k, int tensor, int pending, int dim) const;
  /// At every node of one memory, by tensor, what it pends and slide.
  struct Charges {
    std::map<std::array<int, 3>, Array> words;
    std::map<std::array<int, 3>, Apart> apart;
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
  double finish(const Functional& functional, double limit, const Tables& tables) const;
  double least_at_end(const Functional& functional, const Values& ended) const;
  std::span<const KeeperPair> pairs_of(int tensor) const;
  std::vector<int> pending_pairs(int k, int tensor, int pending) const;

  const ResolvedTask& resolved_;
  Spatial spatial_;
  Keeps keeps_;
  ArrayStore& store_;
  SearchLimits& limits_;
  Costs costs_;
  std::vector<KeeperPair> pairs_;
  std::array<std::vector<int>, kMaxTensors> pairs_of_;  // inside out, indices into pairs_
  Axes axes_;
  std::vector<int> fastest_first_;  // dims in the order of their strides
  mutable std::vector<Box> boxes_;  // filled when a search first gets there
  double group_beyond_ = 0, most_steps_ = std::numeric_limits<double>::infinity();
  bool grouped_ = false, finer_ = false;
  mutable bool too_large_ = false;
  mutable std::uint64_t effort_ = 0;
  std::uint64_t allowed_ = std::numeric_limits<std::uint64_t>::max();
  Status initial_{};
  mutable KnownWindows known_windows_;
  mutable std::array<std::vector<double>, kMaxTensors> repeated_;  // by pending - kStaying
};

}  // namespace pliant::exact
