// SPDX-License-Identifier: Apache-2.0
// The loops of a mapping as the cost model reads them: bounds and their prefix products along every dim, the order of
// every memory's loops, and which loops move which tensor. A Nest changes it; whatever else counts words sees it as
// `const LoopNest&`. No allocation after construction.
#pragma once

#include <array>
#include <cstdint>

#include "costmodel/bits.h"
#include "costmodel/problem.h"

namespace pliant {

/// One value per level (index `levels` = compute).
struct PerLevel {
  std::array<double, kMaxLevels + 1> at;
  double& operator[](int level) { return at[static_cast<std::size_t>(level)]; }
  double operator[](int level) const { return at[static_cast<std::size_t>(level)]; }
  double& operator[](unsigned level) { return at[level]; }
  double operator[](unsigned level) const { return at[level]; }
};

/// The first loop outside a child that moves a tensor's tile.
struct MovingLoop {
  int level = -1;  ///< -1 = none
  int position = 0, dim = -1;
  double merged = 1;  ///< consecutive windows along dim that only fetch what is new
  int merged_to = 0;  ///< outermost level whose loop over dim is part of that run
};

class LoopNest {
 public:
  explicit LoopNest(const Problem& problem);

  /// What new bounds of one dim mean for those who keep numbers that depend on them.
  struct Change {
    bool spatial = false;  ///< a fanout's bound changed
    bool toggled = false;  ///< a temporal loop appeared or vanished
    TensorSet may_move_now =
        0;  ///< tensors for which such a loop is the innermost of its level that moves them, or was
  };
  Change set_bounds(int dim, const Count* bound_by_level);
  void set_order(int level, const std::uint8_t* dims_outermost_first);
  /// All bounds of a mapping at once; its orders follow by set_order.
  void load_bounds(const FlatMapping& mapping);

  const Problem& problem() const { return problem_; }
  double bound(unsigned level, unsigned dim) const { return b_[dim][level]; }
  /// Tile held at a level along a dim: product of the bounds at that level and further in.
  double tile(unsigned level, unsigned dim) const { return tile_[dim][level]; }
  /// Products of the bounds outside a level.
  double temporal_outside(unsigned level, unsigned dim) const { return temporal_[dim][level]; }
  double spatial_outside(unsigned level, unsigned dim) const { return spatial_[dim][level]; }
  std::uint32_t present(unsigned dim) const { return present_[dim]; }  ///< bit l: bound > 1 at level l
  /// Copies of a level by spatial bounds alone; with remainders some of them never work.
  double instances(unsigned level) const { return instances_[level]; }
  double steps() const { return steps_; }  ///< product of all temporal bounds
  DimSet imperfect_dims() const { return imperfect_dims_; }
  DimSet all_dims() const { return below(problem_.dims); }

  // Loops of a memory by position, 0 = innermost.
  unsigned dim_at(unsigned level, unsigned position) const { return dim_at_[level][position]; }
  unsigned position(unsigned level, unsigned dim) const { return position_[level][dim]; }
  std::uint32_t active(unsigned level) const { return active_[level]; }  ///< those with a bound > 1
  std::uint32_t coupled_at(unsigned level, unsigned tensor) const {      ///< those that move a tensor, bound > 1 or not
    return static_cast<std::uint32_t>(coupled_at_[level][tensor / 4] >> 16 * (tensor % 4) & 0xffffU);
  }
  std::uint32_t moving(unsigned tensor) const {
    return moving_[tensor];
  }  ///< bit l: a loop of memory l moves the tensor

  /// The loop that ends the run of loops that leave the child's tile in place.
  MovingLoop find_moving_loop(int tensor, int parent, int child) const;
  /// A sliding window: the mover, and consecutive loops over the same dim, fetch only what is new.
  void slide(MovingLoop& mover) const;

 private:
  void place_bounds(int dim, const Count* bound_by_level, Change& change);
  void refresh_moving(int tensor);
  void refresh_steps();
  void refresh_instances();

  const Problem& problem_;
  std::array<Count, kMaxLevels> if_memory_{};                           // all bits for a memory, none for a fanout
  std::array<std::array<std::uint64_t, 2>, kMaxDims> coupled_lanes_{};  // bit 0 of 16-bit lane x: tensor x is coupled

  // [dim]: bound; bounds outside (temporal, spatial); bounds at or inside.
  std::array<PerLevel, kMaxDims> b_, temporal_, spatial_, tile_;
  std::array<std::uint32_t, kMaxDims> present_{};
  PerLevel instances_;
  double steps_ = 1;
  DimSet imperfect_dims_ = 0;

  // By level; `levels` stands for the compute units, which have no loops.
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxLevels + 1> dim_at_{}, position_{};
  std::array<std::uint32_t, kMaxLevels + 1> active_{};
  std::array<std::array<std::uint64_t, 2>, kMaxLevels + 1> coupled_at_{};  // 16 bits per tensor
  std::array<std::uint32_t, kMaxTensors> moving_{};
};

}  // namespace pliant
