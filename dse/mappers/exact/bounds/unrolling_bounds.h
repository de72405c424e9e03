// SPDX-License-Identifier: Apache-2.0
// What is known of one unrolling, and the bounds on its choices that need no lattice, each sharper and dearer than the
// one before:
//   least            every tensor moved once between the best keepers for it
//   moved_once       with its keepers: every tensor moved once
//   shared_capacity  the same, and tensors that share a memory must fit together: at most one sort of loop comes first
//                    outside it, so the tensors that this loop moves come again for every tile of their other dims
//   border_tiles     every tile of one memory with a capacity: what it costs there and further in, all functionals
//                    together
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant::exact {

/// Made by ChoiceBounds::look_at(), which must outlive it; nothing that is looked at later changes it.
class UnrollingBounds {
 public:
  UnrollingBounds(ChoiceBounds& all, const Spatial& spatial, double steps);

  const ChoiceBounds& choice_bounds() const { return all_; }
  const Spatial& spatial() const { return spatial_; }
  double least() const;
  double port_cycles() const;  ///< that every keep choice takes, whatever the steps
  using Shared = SharedBound;
  /// Calls visit(keep choice, its bound) for every keep choice whose moved_once is below the limit, which visit may
  /// lower.
  void keeps_below(const double& limit, const std::function<void(std::size_t, const Shared&)>& visit) const;
  /// What every keep choice that is below the limit needs at least; infinity where there is none.
  Shared least_shared(double limit) const;
  /// The tiles of a memory with which shared capacity costs the least energy: a mapping can be read off them
  /// (search/read_off.h).
  struct BestTile {
    DimSet grown = 0;                     ///< dims along which its size saves deliveries
    std::array<double, kMaxDims> left{};  ///< iterations outside it, of these
    DimSet first = 0;                     ///< loops over these come first outside it
  };
  /// By memory, from the innermost outwards; the outermost has none.
  std::vector<BestTile> best_tiles(std::size_t keep_choice) const;

  /// A linear cost: energy and the load of one port (1 + its number; with no load any).
  struct Mix {
    double energy;
    std::size_t port;
    double load;
  };
  /// What it is at least for one keep choice, shared capacity included.
  double shared(std::size_t keep_choice, const Mix& mix) const;
  /// All that is known of what its patterns cost, tensor after tensor.
  std::vector<double> costs() const;

 private:
  using Pattern = ChoiceBounds::Pattern;
  using Chosen = ChoiceBounds::Chosen;
  using Growth = ChoiceBounds::Growth;

  /// Tiles that its units and loops can have.
  struct Tiling {
    std::array<double, kMaxDims> temporal{};  // iterations that are not spread, at least
    std::array<bool, kMaxDims> tile_known{};  // is a tile just what its loops and units make?
    std::array<const ChoiceBounds::Growths*, kMaxDims> growths{};
    std::array<std::array<double, kMaxDims>, kMaxLevels> inside{};  // factors inside a memory, by dim
    std::array<std::array<double, kMaxDims>, kMaxLevels>
        units{};                     // the same, also where there are more than iterations
    ChoiceBounds::HeldWords held{};  // least words that a memory holds of a tensor
  };
  /// Found when it is asked for first: most unrollings are closed before.
  const Tiling& tiling() const { return tiling_ ? *tiling_ : find_tiling(); }
  const Tiling& find_tiling() const;

  /// By functional: energy, then the ports.
  double least_of(const Pattern& pattern, std::size_t functional) const {
    return costs_[pattern.tensor][pattern.costs + functional];
  }
  /// Of the least: certain for one delivery, less where there are more.
  double begun(const Pattern& pattern, std::size_t functional) const {
    return costs_[pattern.tensor][pattern.costs + all_.functionals() + functional];
  }
  /// One delivery of the whole tensor; of an operand's, staying as long as it can.
  Costs::Delivery delivery(const Pattern& pattern, std::size_t pair, std::size_t functional) const {
    const double* const known = &costs_[pattern.tensor][all_.delivery_at(pattern, pair, functional)];
    return {known[0], known[1], known[2]};
  }
  /// Copies that the least counts: those that ask the parent, and those of the child.
  struct Copies {
    double asking, busy;
  };
  Copies copies(const Pattern& pattern, std::size_t pair) const {
    const double* const known = &costs_[pattern.tensor][all_.delivery_at(pattern, 0, all_.functionals()) + 2 * pair];
    return {known[0], known[1]};
  }
  /// The memory whose units inside it are served together at least: the parent where any network shares words.
  int served_together(const KeeperPair& pair) const {
    const bool shares = (p_.fanouts & p_.sharing[pair.tensor] & below(pair.child) & ~below(pair.parent)) != 0;
    return shares ? pair.parent : pair.child;
  }
  /// The least that any pattern of the tensor has of a functional.
  double least_of(int tensor, std::size_t functional) const;
  /// The least energy of the keep choices that fit at all.
  double least_energy() const;
  double value(double energy, double cycles) const { return all_.value(energy, cycles, steps_); }
  struct Longest {
    std::size_t port = 0;  // 1 + its number; 0: no port may bind
    double load = 0;
  };
  Longest longest_port(const Chosen& chosen, double cycles) const;
  template <typename Visit>
  void each_keep_below(const double& limit, const Visit& visit) const;
  Shared shared_value(const Chosen& chosen, double cycles, double limit) const;
  Shared by_functionals(const Chosen& chosen, double cycles, double limit) const;
  /// At least; ends where it is enough.
  using Enough = std::function<bool(double)>;
  double shared(const Chosen& chosen, const Mix& mix, const Enough& enough = {}) const;
  double shared_capacity(const Chosen& chosen, const Mix& mix, const Enough& enough) const;
  /// By memory: tensors that it keeps and that come from outside it.
  std::array<TensorSet, kMaxLevels> kept_at(const Chosen& chosen) const;
  std::array<TensorSet, kMaxLevels> counted_at(int border, const Chosen& chosen) const;
  TensorSet moved_along(int d, TensorSet tensors) const;
  /// Sets of tensors that cross the border of memory k, some loop over these dims outside it being the first to move
  /// them; without those that contain another, which are never better. Their number.
  using FirstSets = std::array<TensorSet, kMaxDims>;
  int first_sets(int k, TensorSet crossing, DimSet used, FirstSets& sets) const;
  /// By memory, from the innermost outwards: all tensors that memory k keeps, and those outside it that are soon full.
  using Held = std::array<TensorSet, kMaxLevels>;
  Held held_outside(int k, const Chosen& chosen) const;
  /// The largest growth along a dim with which the tile of memory k still fits there and, for all units together, in
  /// the memories outside it; or the smallest of all.
  const Growth* largest_growth(int k, int d, const Held& holds, std::array<double, kMaxDims>& tile) const;
  const Growth* fitting_outside(int level, int d, int outer, TensorSet holds, const std::array<double, kMaxDims>& tile,
                                std::pair<const Growth*, const Growth*> larger) const;
  /// The transfers across the border of one memory.
  struct Border {
    int k = 0, level = 0;
    TensorSet crossing = 0, staying = 0;
    DimSet used = 0, grows = 0;                        // dims of these tensors; dims that may loop inside
    std::array<int, kMaxTensors> child{}, together{};  // memory that they go to; whose units are served together
    std::array<Copies, kMaxTensors> copies{};
    std::array<Costs::Delivery, kMaxTensors> delivery{};
  };
  Border border_of(int k, const Chosen& chosen, TensorSet crossing, const Mix& mix) const;
  bool passes(const Border& border, int tensor) const;
  double over_first_loops(const Border& border, const Chosen& chosen, bool passing, BestTile* best) const;
  double shared_capacity_at(int k, const Chosen& chosen, TensorSet crossing, const Mix& mix,
                            BestTile* best = nullptr) const;
  class BorderTiles;
  /// The objective of any tile of memory k, or the limit; 0: nothing is known.
  double least_of_border_tiles(const Chosen& chosen, int k, double cycles, double limit) const;

  /// The tiles that a memory can hold, searched for the one with the fewest deliveries.
  struct Tiles {
    Tiles(const UnrollingBounds& bounds, int k);
    void grow(int at);
    /// Units of a memory and rounds of some dims together, each of which has at most such a tile.
    double pairs(DimSet dims, DimSet whole, int memory) const;
    double least_cost(int open, bool all = true) const;
    /// A tensor that passes this memory on its way to one inside, which holds these.
    struct Pass {
      int tensor, memory;
      TensorSet beside;
    };
    bool comes_again(const Pass& one) const;

    const UnrollingBounds& bounds;
    const Tiling& tiling;
    int k, level;  // the memory, counted from the innermost outwards, and where it stands
    Held holds{};
    std::array<double, kMaxDims> tile{}, left{}, best_left{};
    std::array<double, kMaxDims> most{}, largest{};  // a unit's tile over its smallest: now, and of all
    std::array<int, kMaxDims> dim{};                 // those that grow
    std::array<Costs::Delivery, kMaxTensors> cost{};
    std::array<Copies, kMaxTensors> copies{};
    std::array<int, kMaxTensors> child{}, together{};
    std::array<DimSet, kMaxTensors> repeats{};
    std::array<double, kMaxTensors> disturbance{};  // of operands that stay unless the tile grows along their dims
    std::array<DimSet, kMaxTensors> moved_by{};
    std::array<Pass, kMaxTensors> pass{};  // their costs, copies and repeats follow those that are moved
    DimSet disturbing = 0;                 // dims along which a larger tile may cost more
    int dims = 0, moved = 0, passing = 0, disturbed = 0, looked = 0;
    double certain = 0, best = 0;
  };

  void begin(Tiles& tiles, const Border& border, const Chosen& chosen, TensorSet first, bool passing) const;
  BestTile best_tile(const Tiles& tiles, TensorSet crossing, TensorSet moved_first) const;

  friend class ChoiceBounds;  // fills in the costs

  ChoiceBounds& all_;
  const ResolvedTask& resolved_;
  const Problem& p_;
  const Spatial spatial_;
  const double steps_;
  std::array<const double*, kMaxTensors> costs_{};          // by tensor: of its patterns, one after the other
  std::array<std::vector<double>, kMaxTensors> own_costs_;  // of tensors whose costs ChoiceBounds does not remember
  mutable std::unique_ptr<const Tiling> tiling_;
};

}  // namespace pliant::exact
