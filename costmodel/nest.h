// SPDX-License-Identifier: Apache-2.0
// A mapping being priced. Prefix products of every dim's bounds are kept up to date, so that changing one dim's
// factors, one level's order or one bypass re-prices in a handful of multiplications. No allocation after construction
// while factors are perfect.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "costmodel/problem.h"

namespace pliant {

/// Words of one tensor between two neighbouring keepers, summed over all instances.
/// child == Problem::levels means the compute units.
struct Traffic {
  std::int8_t tensor = 0, parent = 0, child = 0;
  double served = 0;     ///< leaving (outputs: arriving at) the parent
  double delivered = 0;  ///< arriving at (outputs: leaving) all copies of the child
  /// Outputs: words that reach the parent, or start at the child, for the first time and need no read back.
  double first_parent = 0, first_child = 0;
};

/// What bounds the runtime: the compute units, or a memory's read or write port.
struct Bound {
  int level = -1;  ///< -1 = compute
  bool write = false;
};

struct Totals {
  double energy_pj = 0;
  double cycles = 0;
  double steps = 0;  ///< cycles if bandwidth were unlimited
  double utilization = 0;
  Bound bound;
  double edp() const { return energy_pj * cycles; }
};

class Nest {
 public:
  explicit Nest(const Problem& problem);

  void load(const FlatMapping& mapping);
  void set_bounds(int dim, const Count* bound_by_level);
  void set_order(int level, const std::uint8_t* dims_outermost_first);
  void set_keeps(int level, TensorSet keeps);

  /// Recomputes what changed and returns the totals.
  Totals price();
  std::span<const Traffic> traffic() const { return {traffic_.data(), static_cast<std::size_t>(pairs_)}; }

  const Problem& problem() const { return problem_; }
  double bound(int level, int dim) const { return b_[dim][level]; }
  /// Tile held at a level along a dim: product of the bounds at that level and further in.
  double tile(int level, int dim) const { return tile_[dim][level]; }
  double temporal_outside(int level, int dim) const { return temporal_[dim][level]; }
  double spatial_outside(int level, int dim) const { return spatial_[dim][level]; }
  int dim_at(int level, int position) const { return dim_at_[level][position]; }  ///< 0 = innermost
  bool keeps(int level, int tensor) const { return keeps_[level] >> tensor & 1U; }
  bool perfect() const { return imperfect_dims_ == 0; }
  /// Words of a tensor's tile at a level, by the footprint convention.
  double footprint(int level, int tensor) const;
  /// Copies of a level that a mapping uses at its peak, and on average over the steps.
  double instances_peak(int level) const;
  double instances_average(int level) const;
  double steps() const;
  /// Cycles of a memory's read and write ports as a quotient of summed demands (drains free).
  std::pair<double, double> demand_cycles(int level, double instances, double steps) const;

  /// The first loop outside a child that moves a tensor's tile.
  struct Kill {
    int level = -1;  ///< -1 = none
    int position = 0, dim = -1;
    double merged = 1;  ///< consecutive windows along dim that only fetch what is new
    int merged_to = 0;  ///< outermost level whose loop over dim is part of that run
  };
  Kill find_kill(int tensor, int parent, int child) const;

 private:
  friend class ImperfectTraffic;
  friend class DisplacementWalk;

  void rebuild_pairs();
  void price_pair(Traffic& traffic) const;
  double affine_extent(const Problem::AffineRank& rank, int child, const Kill& kill, DimSet partial) const;
  double equal_windows(const Problem::AffineRank& rank, int parent, int child) const;
  double first_words(int level) const;
  void refresh_dim(int dim);
  void refresh_active(int level);

  const Problem& problem_;
  int memories_ = 0;
  std::array<int, kMaxLevels> memory_{};         // memory levels, outermost first
  std::array<int, kMaxLevels + 1> memory_at_{};  // index into memory_ of the first memory at or inside a level

  // [dim][level]: bound; bounds outside (temporal, spatial); bounds at or inside.
  using PerLevel = std::array<double, kMaxLevels + 1>;
  std::array<PerLevel, kMaxDims> b_, temporal_, spatial_, tile_;
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxLevels> dim_at_{}, position_{};  // position 0 = innermost
  std::array<std::uint32_t, kMaxLevels> active_{};                                    // by position: bound > 1
  std::array<std::array<std::uint32_t, kMaxTensors>, kMaxLevels> coupled_at_{};       // by position
  std::array<TensorSet, kMaxLevels> keeps_{};
  DimSet imperfect_dims_ = 0;

  bool pairs_stale_ = true;
  int pairs_ = 0;
  std::array<Traffic, kMaxTensors * kMaxLevels> traffic_{};
};

}  // namespace pliant
