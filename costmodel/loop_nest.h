// SPDX-License-Identifier: Apache-2.0
// The loops of a mapping as the cost model reads them: bounds and their prefix products along every dim, the order of
// every memory's loops, and which loops move which tensor. A Nest changes it; whatever else counts words sees it as
// `const LoopNest&`. No allocation after construction.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "costmodel/bits.h"
#include "costmodel/problem.h"

namespace pliant {

/// One value per level (index `levels` = compute) or ring, with room for whole groups, so that rows of values are
/// multiplied several at once.
struct PerLevel {
  static constexpr int kGroup = 4;
  std::array<double, (kMaxLevels + kGroup) / kGroup * kGroup> at;
  double& operator[](int level) { return at[static_cast<std::size_t>(level)]; }
  double operator[](int level) const { return at[static_cast<std::size_t>(level)]; }
  double& operator[](unsigned level) { return at[level]; }
  double operator[](unsigned level) const { return at[level]; }
};

/// The product of some dims' rows, times a factor, at the places 0 to `last` at least.
inline void multiply_rows(PerLevel& product, double factor, const std::array<PerLevel, kMaxDims>& rows,
                          std::span<const std::uint8_t> dims, int last) {
  for (int group = 0; group <= last; group += PerLevel::kGroup) {
    std::array<double, PerLevel::kGroup> words;
    words.fill(factor);
    for (const std::uint8_t d : dims)
      for (int i = 0; i < PerLevel::kGroup; ++i) words[i] *= rows[d][group + i];
    for (int i = 0; i < PerLevel::kGroup; ++i) product[group + i] = words[i];
  }
}

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

  /// The loops of one level, by position, 0 = innermost, or by dim. Index `levels` stands for the compute units, which
  /// have no loops. Dim kMaxDims never has a loop.
  struct alignas(64) Loops {
    std::array<double, kMaxDims + 1> outside;          ///< by dim: product of the temporal bounds outside this level
    std::uint32_t active = 0;                          ///< positions with a bound > 1
    std::array<std::uint16_t, kMaxTensors> coupled{};  ///< positions that move a tensor, bound > 1 or not
    std::array<std::uint8_t, kMaxDims> dim{};
    std::array<std::uint8_t, kMaxDims + 1> position{};

    /// The innermost loop that moves a tensor; a position that no loop has if there is none.
    unsigned mover(unsigned tensor) const {
      return static_cast<unsigned>(std::countr_zero((active & coupled[tensor]) | std::uint32_t{1} << kNoLoop));
    }
  };
  static constexpr unsigned kNoLoop = 15;
  static_assert(kMaxDims < kNoLoop);

  /// What new bounds of one dim mean for those who keep numbers that depend on them. Three bools would be handed over
  /// through memory, byte by byte, and waited for.
  struct Change {
    std::uint32_t bits = 0;
    bool any() const { return bits != 0; }             ///< else all bounds are as they were
    bool spatial() const { return (bits & 2U) != 0; }  ///< a fanout's bound changed
    bool toggled() const { return (bits & 4U) != 0; }  ///< a temporal loop appeared or vanished
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
  double temporal_outside(unsigned level, unsigned dim) const { return at_[level].outside[dim]; }
  double spatial_outside(unsigned level, unsigned dim) const { return spatial_[dim][ring_[level]]; }
  std::uint32_t present(unsigned dim) const { return present_[dim]; }  ///< bit l: bound > 1 at level l
  /// Copies of a level by spatial bounds alone; with remainders some of them never work.
  double instances(unsigned level) const { return instances_[ring_[level]]; }
  double instances_of_ring(unsigned ring) const { return instances_[ring]; }
  double copies(unsigned ring, unsigned dim) const { return spatial_[dim][ring]; }
  /// Levels with as many fanouts outside them are one ring: they have as many copies.
  unsigned ring(unsigned level) const { return ring_[level]; }
  /// The copies that some dims make of every ring, times a factor.
  void copies_along(std::span<const std::uint8_t> dims, double factor, PerLevel& copies) const {
    multiply_rows(copies, factor, spatial_, dims, ring_[static_cast<unsigned>(levels_)]);
  }
  double steps() const { return steps_; }  ///< product of all temporal bounds
  DimSet imperfect_dims() const { return imperfect_dims_; }
  DimSet all_dims() const { return below(problem_.dims); }

  const Loops& at(unsigned level) const { return at_[level]; }
  /// Iterations of a dim: the product of all its temporal bounds.
  double iterations(unsigned dim) const { return iterations_[dim]; }
  std::uint32_t moving(unsigned tensor) const { return moving_[tensor]; }  ///< bit l: a loop of memory l moves it

  /// The loop that ends the run of loops that leave the child's tile in place.
  MovingLoop find_moving_loop(int tensor, int parent, int child) const;
  /// A sliding window: the mover, and consecutive loops over the same dim, fetch only what is new.
  void slide(MovingLoop& mover) const;

 private:
  std::span<const std::uint8_t> every_dim() const { return {every_dim_.data(), static_cast<std::size_t>(dims_)}; }
  Change place_bounds(int dim, const Count* bound_by_level);
  void toggle_loops(int dim, std::uint32_t levels);
  void refresh_moving();
  void refresh_steps();

  const Problem& problem_;
  const int levels_, dims_, tensors_;
  const std::uint32_t fanouts_;
  unsigned memories_ = 0;
  std::array<std::uint8_t, kMaxLevels> memory_{};  // levels
  // All tensors at once: sets of levels or of positions in lanes of a word, three tensors a word.
  static constexpr int kLane = kMaxLevels + 1, kLanes = 64 / kLane, kWords = 2;
  static_assert(kLanes * kWords >= kMaxTensors);
  std::array<std::array<std::uint64_t, kWords>, kMaxDims> coupled_lanes_{};  // bit 0 of lane x: tensor x is coupled

  std::array<std::uint8_t, kMaxLevels + 1> ring_{};

  // [dim][level]: bound; bounds at or inside. [dim][ring]: spatial bounds outside.
  std::array<PerLevel, kMaxDims> b_, tile_, spatial_;
  std::array<double, kMaxDims> iterations_{};
  std::array<std::uint8_t, kMaxDims> every_dim_{};
  std::array<std::uint32_t, kMaxDims> present_{};
  PerLevel instances_;  // by ring
  double steps_ = 1;
  DimSet imperfect_dims_ = 0;

  std::array<Loops, kMaxLevels + 1> at_;
  std::array<std::uint32_t, std::size_t{kWords} * kLanes> moving_{};
};

}  // namespace pliant
