// SPDX-License-Identifier: Apache-2.0
// A mapping being priced. Prefix products of every dim's bounds and the charges of every tensor are kept up to date, so
// that changing one dim's factors, one level's order or one bypass re-prices in a handful of multiplications. No
// allocation after construction while factors are perfect.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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
  /// The words of every pair as of the last price(), by tensor, outermost first. Valid until the next change.
  std::span<const Traffic> traffic() const;

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
  /// Copies of a level that a mapping uses at its peak (with remainders fewer than the spatial bounds may give), and on
  /// average over the steps.
  double instances_peak(int level) const;
  double instances_average(int level) const;
  double steps() const;

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

  /// One value per level (index `levels` = compute).
  struct PerLevel {
    std::array<double, kMaxLevels + 1> at;
    double& operator[](int level) { return at[static_cast<std::size_t>(level)]; }
    double operator[](int level) const { return at[static_cast<std::size_t>(level)]; }
    double& operator[](unsigned level) { return at[level]; }
    double operator[](unsigned level) const { return at[level]; }
  };

  /// A pair of neighbouring keepers with all that bypass alone decides, and its words.
  struct Link {
    Traffic words;
    unsigned parent = 0, child = 0;                ///< levels
    unsigned parent_memory = 0, child_memory = 0;  ///< their places among the memories
    unsigned base = 0;                             ///< where its kill was found last
    /// Where its kill is looked for, and the level outside which loops count when there is none (bit l = level l).
    std::uint32_t kill_levels = 0, kill_floor = 1;
    bool may_reuse = false;     ///< quickflow, towards compute: reuse across loops outside the innermost memory
    std::uint32_t fanouts = 0;  ///< between the two; of these, those that cannot share a word between copies:
    std::uint32_t unshared = 0;
    double served_pj = 0, read_back_pj = 0, delivered_pj = 0, drain_pj = 0;  ///< per word
  };
  struct Links {
    int count = 0;
    std::uint32_t keepers = 0;  ///< they were made for: bit i = memory i
    std::array<Link, kMaxLevels> at;
  };
  /// Words along the affine dims of a tensor between a child and its parent, with what they were found for: the version
  /// of those dims, the parent and the kill.
  struct Windows {
    double served = 1, delivered = 1;
    std::uint64_t version = 0;
    double merged = 1;
    int kill_level = -1, kill_dim = -1, parent = -1;
  };
  /// What the words of one tensor cost: energy, and words at the ports of every level.
  struct Charge {
    double energy_pj = 0;
    PerLevel reads, writes;
  };

  void place_loops(int level, const std::uint8_t* dims_outermost_first);
  bool place_bounds(int dim, const Count* bound_by_level);  ///< whether spatial ones changed
  void refresh_moving(int tensor);
  void refresh_steps();
  void refresh_instances();
  void refresh_rates();
  void refresh_copies(int tensor);
  void mark(int tensor);
  Link make_link(int tensor, int parent_memory, int child_memory) const;
  const Link& link_between(int tensor, unsigned parent_memory, unsigned child_memory) const;
  void link_tensor(int tensor);
  void splice_keeper(int tensor, int memory);
  std::uint32_t coupled_at(unsigned level, unsigned tensor) const {  ///< by position
    return static_cast<std::uint32_t>(coupled_at_[level][tensor / 4] >> 16 * (tensor % 4) & 0xffffU);
  }

  void price_tensor(int tensor);
  void price_link(unsigned tensor, Link& link);
  void charge_tensor(int tensor);
  void price_displaced(Traffic& words, double unshared) const;
  void slide(Kill& kill) const;
  void wait_for_ports(Totals& totals) const;
  double demand_time(double demand, double bandwidth, double steps) const;
  void wait_for_demands(Totals& totals) const;

  // Windows (nest_windows.cpp).
  void window_words(Windows& windows, const Link& link, const Kill& kill) const;
  double affine_extent(const Problem::AffineRank& rank, int child, const Kill& kill, std::uint32_t united) const;
  double any_extent(const Problem::AffineRank& rank, int child, const Kill& kill, std::uint32_t united) const;
  std::uint32_t united_fanouts(int tensor, std::uint32_t fanouts) const;
  double distinct_windows(const Problem::AffineRank& rank, int tensor, std::uint32_t fanouts,
                          std::uint32_t united) const;
  double equal_windows(const Problem::AffineRank& rank, std::uint32_t fanouts) const;
  double first_words(int level) const;
  double boxed_share(int level) const;

  const Problem& problem_;
  int memories_ = 0;
  std::array<int, kMaxLevels> memory_{};       // memory levels, outermost first
  std::array<Count, kMaxLevels> if_memory_{};  // all bits for a memory, none for a fanout
  DimSet all_dims_ = 0;
  bool remembers_ = false;  // Timeloop's memory of displacements: every loop outside a child matters
  std::array<unsigned, kMaxTensors> uncoupled_count_{};
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxTensors> uncoupled_{};  // dims
  std::array<std::array<std::uint64_t, 2>, kMaxDims> coupled_lanes_{};  // bit 0 of 16-bit lane x: tensor x is coupled

  // [dim]: bound; bounds outside (temporal, spatial); bounds at or inside.
  std::array<PerLevel, kMaxDims> b_, temporal_, spatial_, tile_;
  std::array<std::uint32_t, kMaxDims> present_{};  // bit l: bound > 1
  PerLevel instances_;                             // spatial bounds outside, all dims
  std::array<PerLevel, kMaxTensors> copied_;       // simple words * copies of a level over uncoupled dims
  PerLevel read_rate_, write_rate_;                // words per cycle of all instances in use
  double steps_ = 1;                               // temporal bounds, all dims

  // By level; `levels` stands for the compute units, which have no loops.
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxLevels + 1> dim_at_{}, position_{};  // position 0 = innermost
  std::array<std::uint32_t, kMaxLevels + 1> active_{};                     // loops by position: bound > 1
  std::array<std::array<std::uint64_t, 2>, kMaxLevels + 1> coupled_at_{};  // by position, 16 bits per tensor
  std::array<std::uint32_t, kMaxTensors> moving_{};                        // bit l: a loop of memory l moves the tensor
  std::array<TensorSet, kMaxLevels> keeps_{};
  std::array<std::uint32_t, kMaxTensors> keepers_{};  // bit i: memory i keeps the tensor
  DimSet imperfect_dims_ = 0;
  bool priced_imperfect_ = false;

  TensorSet stale_ = 0;                                   // tensors to be priced again
  std::array<std::uint32_t, kMaxTensors> stale_links_{};  // of those: bit k = k-th pair
  std::array<std::uint64_t, kMaxTensors> version_{};      // how often affine dims of a tensor have changed
  std::vector<Link> every_link_;  // [tensor][parent memory][child memory]: as made, never priced
  std::array<Links, kMaxTensors> links_{};
  std::array<std::array<Windows, kMaxLevels>, kMaxTensors> windows_{};
  std::array<Charge, kMaxTensors> charge_;
  mutable std::array<Traffic, kMaxTensors * kMaxLevels> traffic_{};  // the pairs in a row, when asked for
};

}  // namespace pliant
