// SPDX-License-Identifier: Apache-2.0
// The nodes of each memory as a box of tile vectors: how they are numbered, which of them may be held, which node of
// the next memory out lies above each, and how many steps a mapping takes at least that passes one.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "dse/mappers/exact/chain/axis.h"
#include "dse/mappers/exact/lattice/arrays.h"
#include "dse/mappers/exact/lattice/work_allowed.h"
#include "dse/mappers/exact/task/resolved_task.h"
#include "dse/mappers/exact/words/kernels.h"

namespace pliant::exact {

class Boxes {
 public:
  Boxes(const ResolvedTask& resolved, const Spatial& spatial, const Keeps& keeps, ArrayStore& store, WorkAllowed& work)
      : resolved_(resolved), spatial_(spatial), keeps_(keeps), store_(store), work_(work) {}

  /// From so many nodes on, tiles are grouped (groups.h). More than memory allows: as many as that. 0: they are never
  /// grouped. What follows needs this. False: nothing fits, or too_large().
  bool build(double group_beyond);
  bool grouped() const { return grouped_; }
  /// Would more nodes make groups narrower?
  bool may_be_finer() const { return grouped_ && finer_; }
  bool too_large() const { return too_large_; }

  const Axes& axes() const { return axes_; }
  const Axis& axis(int k, int d) const { return (*axes_[d])[k]; }
  int stride(int k, int d) const { return boxes_[k].stride[d]; }
  int size(int k) const { return boxes_[k].size; }
  const std::vector<int>& extents(int k) const { return boxes_[k].extent; }  ///< by dim
  const std::vector<int>& fastest_first() const { return fastest_first_; }   ///< dims in the order of their strides
  int node(int k, const std::array<int, kMaxDims>& at) const;
  void unpack(int k, int node, std::array<int, kMaxDims>& at) const;
  int initial_node() const;
  std::vector<int> final_nodes() const;
  /// The nodes of memory k-1 (after its loops) that lie under a node of memory k.
  void nodes_under(int k, int node, std::vector<int>& found) const;
  /// Bounds of memory k's loops between two of its nodes; the nodes must not be groups.
  void bounds(int k, int from, int to, std::array<Count, kMaxDims>& bound) const;

  /// Before misfit(), fits() and outside() of a memory are asked for.
  void complete(int k);
  /// By node: 0, or infinity where a rule about the tile is violated; empty: no such rule.
  const Array& misfit(int k) const { return boxes_[k].misfit; }
  bool fits(int k, int node) const { return misfit(k).empty() || misfit(k)[static_cast<std::size_t>(node)] == 0; }
  /// By node: the node of the next memory out above it, or -1.
  const std::vector<int>& outside(int k) const { return boxes_[k].outside; }

  /// From here on mappings of so many steps or more are left out; `least` steps has any. True: some node says so.
  bool leave_out_from(double steps, double least);
  /// Do all mappings that pass the node take so many steps?
  bool left_out(int k, std::size_t node) const {
    return most_steps_ < kInfinity && !boxes_[k].steps.empty() && boxes_[k].steps[node] >= most_steps_;
  }
  /// Steps by dim, over the fewest, of all mappings that hold the tile of this node too; returns their product. 1
  /// before leave_out_from().
  double slow_down(int k, int node, std::array<double, kMaxDims>& slower) const;
  /// values += scale * product of the factors at every node.
  void add_product_of(int k, double scale, std::span<const Factor> factors, Array& values) const {
    add_product(fastest_first_, extents(k), scale, factors, values.data());
  }

 private:
  struct Box {
    std::vector<int> extent, stride;
    int size = 1;
    Array misfit;
    std::vector<int> outside;
    std::array<std::vector<double>, kMaxDims> slower;  // by dim and state
    Array steps;  // of a mapping that passes a node, at least; empty: not known, or all the same
  };
  int memories() const { return static_cast<int>(resolved_.memories.size()); }
  double largest() const;
  void number_nodes();
  void find_misfits(int k);
  /// Adds the words of a tensor's tile at every node, times `scale`.
  void add_tile_words(int k, int tensor, double scale, Array& total) const;
  void count_steps(int k, double least);

  const ResolvedTask& resolved_;
  const Spatial& spatial_;
  const Keeps& keeps_;
  ArrayStore& store_;
  WorkAllowed& work_;
  Axes axes_;
  std::vector<int> fastest_first_;
  std::vector<Box> boxes_;
  bool grouped_ = false, finer_ = false, too_large_ = false;
  double most_steps_ = std::numeric_limits<double>::infinity();
};

}  // namespace pliant::exact
