// SPDX-License-Identifier: Apache-2.0
// A mapping being priced. Prefix products of every dim's bounds and the charges of every tensor are kept up to date, so
// that changing one dim's factors, one level's order or one bypass re-prices in a handful of multiplications. No
// allocation after construction while factors are perfect.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/loop_nest.h"
#include "costmodel/transfer.h"
#include "costmodel/windows.h"

namespace pliant {

/// What bounds the runtime: the compute units, or a port of a memory.
struct Bound {
  int port = -1;  ///< in Problem::ports; -1 = compute
  bool operator==(const Bound&) const = default;
};

class ShortWindowMemory;

struct Totals {
  double energy_pj = 0;
  double cycles = 0;
  double steps = 0;  ///< cycles if bandwidth were unlimited
  double utilization = 0;
  bool unfinished = false;  ///< partial sums come to a memory that takes none: the mapping is worth nothing
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

  /// Many mappings with remainders are about to be priced: counts of windows are kept there. It must outlive the nest.
  void remember_windows(ShortWindowMemory& memory) { memory_of_windows_ = &memory; }

  /// Recomputes what changed and returns the totals.
  Totals price();
  /// The words of every pair of neighbouring keepers as of the last price(), by tensor, outermost first. Valid until
  /// the next change.
  std::span<const Transfer> transfers() const;

  const Problem& problem() const { return problem_; }
  const LoopNest& loops() const { return loops_; }
  bool keeps(int level, int tensor) const { return keeps_[level] >> tensor & 1U; }
  /// Words of a tensor's tile at a level, by the footprint convention.
  double footprint(int level, int tensor) const { return pliant::footprint(loops_, level, tensor); }
  /// Copies of a level that a mapping uses at its peak (with remainders fewer than the spatial bounds may give), and on
  /// average over the steps.
  double instances_peak(int level) const;
  double instances_average(int level) const;
  double steps() const;
  /// Are outputs of a memory finished when they arrive there for the last time? Not where summing dims are unrolled
  /// outside it: other instances may have parts of the same sum.
  bool sums_whole(int level) const;
  /// Do outputs come to a memory that takes no partial sums before they are finished?
  bool brings_unfinished() const;
  /// Energy of a transfer's bits in the network of a fanout between its keepers.
  double network_energy(const Transfer& transfer, int fanout) const;
  /// How long a systolic array is filled and drained; `array` has a stationary tensor.
  double fill_cycles(const Port& array) const;

 private:
  /// Places in `passing_`: rows of levels, [tensor][read, written], then one that stays 0, then one for every port.
  static constexpr std::size_t kRow = std::tuple_size_v<decltype(PerLevel::at)>, kNothing = kMaxTensors * 2 * kRow,
                               kOfPorts = kNothing + 1;
  /// A memory has ports for reading, writing or both, of all tensors or of a role; a systolic array has fewer.
  static constexpr std::size_t kMaxPorts = 3 * (1 + kRoles) * kMaxLevels;
  /// What a tensor's transfers may be while factors are perfect. What is common has a loop of its own, without calls.
  enum class Kind : std::uint8_t { kPlain, kPairs, kAny };
  /// A transfer with all that bypass alone decides.
  struct PlannedTransfer {
    Transfer words;
    unsigned parent = 0, child = 0;                ///< levels
    unsigned parent_memory = 0, child_memory = 0;  ///< their places among the memories
    unsigned parent_ring = 0, child_ring = 0;
    unsigned reads = 0, writes = 0;  ///< places in `passing_` of the words that it reads and writes
    unsigned base = 0;               ///< where its mover was found last
    /// Where its mover is looked for, and the level outside which loops count when there is none (bit l = level l).
    std::uint32_t mover_levels = 0, mover_floor = 1;
    DimSet sliding = 0;  ///< dims along which the child's windows slide
    bool to_compute = false;
    bool odd = false;           ///< one of the rare kinds
    bool may_reuse = false;     ///< quickflow, towards compute: reuse across loops outside the innermost memory
    std::uint32_t fanouts = 0;  ///< between the two; of these, those that cannot share a word between copies:
    std::uint32_t unshared = 0;
    std::uint32_t equal = 0;  ///< those under which copies of one window share a word
    double served_pj = 0, read_back_pj = 0, delivered_pj = 0, drain_pj = 0;  ///< per element
    double parent_words = 1, child_words = 1;                                ///< of the memories, per element
  };
  /// The transfers of one tensor, outermost first.
  struct Chain {
    int count = 0;
    std::uint32_t keepers = 0;  ///< they were made for: bit i = memory i
    std::array<PlannedTransfer, kMaxLevels> at;
  };
  /// Words along the affine dims of a tensor between a child and its parent, with what they were found for: the version
  /// of those dims, the parent and the mover.
  struct WindowWords {
    double served = 1, delivered = 1;
    std::uint64_t version = 0;
    double merged = 1;
    int mover_level = -1, mover_dim = -1, parent = -1;
  };
  /// Windows of a tensor. Mostly every rank is a pair of dims and multiplies by itself: that is counted on the spot.
  /// Else, where boxes or networks that unite windows tie ranks together, or a rank has more dims, words are kept by
  /// child memory; a version says how often the bounds of their dims have changed.
  struct Windows {
    struct Pair {
      const Problem::AffineRank* rank = nullptr;
      unsigned first = 0, second = 0;  ///< dims
      double first_step = 1, second_step = 1;
      double all = 1;  ///< product of their sizes
    };
    unsigned count = 0;
    std::array<Pair, kMaxDims / 2> pairs;
    std::vector<WindowWords> kept;
    std::uint64_t version = 0;
    bool any() const { return count != 0 || !kept.empty(); }
  };
  /// A port with the words that pass it, as bypass lets them: places in `passing_`. Mostly there are one or two; the
  /// sum of more has a place of its own. So have the cycles of a systolic array, at a level of one instance.
  struct LoadedPort {
    double rate = 1;                               ///< words per cycle of all instances in use
    unsigned first = kNothing, second = kNothing;  ///< places that make up its load
    double bandwidth = 1;
    int level = 0;
    unsigned ring = 0, count = 0;
    std::array<std::uint16_t, 2 * std::size_t{kMaxTensors}> words{};
  };
  /// Where a transfer's mover stands, and how often the loops outside it repeat the transfer.
  struct Repeats {
    unsigned base = 0, position = 0;
    bool moves = false;  ///< there is a mover
    double times = 1;
  };
  /// Words of a transfer without what repeats them.
  struct Words {
    double served = 1, delivered = 1;
  };

  void mark(int tensor);
  void mark_all();
  void refresh_rates();
  void route_words(int level);
  void refresh_copies(int tensor);

  // Which transfers there are (nest_transfers.cpp).
  PlannedTransfer make_transfer(int tensor, int parent_memory, int child_memory) const;
  const PlannedTransfer& planned(int tensor, unsigned parent_memory, unsigned child_memory) const;
  void chain_keepers(int tensor);
  void splice_keeper(int tensor, int memory);

  // One tensor (nest_tensor.cpp).
  void price_tensor(unsigned tensor, bool imperfect);
  template <Kind kKind>
  void price_input(unsigned tensor);
  template <Kind kKind>
  void price_output();
  template <Kind kKind, bool kOutput>
  void price_transfer(unsigned tensor, PlannedTransfer& transfer);
  void price_odd(unsigned tensor, PlannedTransfer& transfer);
  Repeats repeats_outside(unsigned tensor, std::uint32_t mover_levels, std::uint32_t mover_floor) const;
  Repeats repeats_of(unsigned tensor, const PlannedTransfer& transfer) const;
  MovingLoop mover_of(const PlannedTransfer& transfer, const Repeats& repeats) const;
  bool windows_differ(const Windows::Pair& pair, const PlannedTransfer& transfer) const;
  Words multiply_windows(unsigned tensor, const PlannedTransfer& transfer, const Repeats& repeats,
                         const Words& before) const;
  Words multiply_any_windows(unsigned tensor, const PlannedTransfer& transfer, const MovingLoop& mover,
                             Words words) const;
  void count_first(Transfer& words) const;
  void charge_finished();
  void charge_networks(int tensor);

  // Words along affine dims (nest_windows.cpp).
  void prepare_windows(int tensor);
  const WindowWords& kept_windows(unsigned tensor, const PlannedTransfer& transfer, const MovingLoop& mover);
  void count_windows(WindowWords& windows, const PlannedTransfer& transfer, const MovingLoop& mover) const;
  double shared_windows(const Windows::Pair& pair, const PlannedTransfer& transfer) const;
  double slid_extent(const Windows::Pair& pair, const PlannedTransfer& transfer, const MovingLoop& mover) const;
  void price_displaced(Transfer& words, double unshared) const;

  double tiles_visited(unsigned tensor, const PlannedTransfer& transfer) const;
  void run_arrays(double steps);
  void sum_crowded();
  double array_cycles(const Port& array, double steps) const;
  void wait_for_ports(Totals& totals);
  void wait_for_demands(Totals& totals) const;

  const Problem& problem_;
  LoopNest loops_;
  ShortWindowMemory* memory_of_windows_ = nullptr;
  int memories_ = 0;
  std::array<int, kMaxLevels> memory_{};  // memory levels, outermost first
  unsigned output_ = 0;
  std::array<Kind, kMaxTensors> kind_{};
  bool first_per_sweep_ = false;
  Conventions::Drain drain_ = Conventions::Drain::kCounted;
  bool remembers_ = false;  // Timeloop's memory of displacements: every loop outside a child matters
  std::array<unsigned, kMaxTensors> uncoupled_count_{};
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxTensors> uncoupled_{};  // dims, then ones without loops
  std::array<PerLevel, kMaxTensors> copied_;  // simple words * copies of a ring over uncoupled dims
  std::vector<LoadedPort> ports_;             // as in the problem
  std::vector<std::size_t> arrays_;           // those that are systolic arrays
  std::vector<std::size_t> crowded_;          // those with more than two words

  std::array<TensorSet, kMaxLevels> keeps_{};
  std::array<std::uint32_t, kMaxTensors> keepers_{};  // bit i: memory i keeps the tensor
  bool priced_imperfect_ = false, stale_rates_ = true;

  TensorSet stale_ = 0;                                       // tensors to be priced again
  std::array<std::uint32_t, kMaxTensors> stale_transfers_{};  // of those: bit k = k-th transfer
  std::vector<PlannedTransfer> every_transfer_;  // [tensor][parent memory][child memory]: as made, never priced
  std::array<Chain, kMaxTensors> chains_{};

  std::array<Windows, kMaxTensors> windows_;
  TensorSet keeping_windows_ = 0;  // those with `kept` words

  // What the elements of every tensor cost: energy, and words at the ports of every level.
  std::array<double, kMaxTensors> energy_pj_{};
  std::array<double, kOfPorts + kMaxPorts> passing_{};
  double* reads_of(unsigned tensor) { return passing_.data() + 2 * kRow * tensor; }
  double* writes_of(unsigned tensor) { return reads_of(tensor) + kRow; }

  mutable std::array<Transfer, kMaxTensors * kMaxLevels> transfers_{};  // in a row, when asked for
};

}  // namespace pliant
