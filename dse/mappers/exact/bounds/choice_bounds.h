// SPDX-License-Identifier: Apache-2.0
// Bounds on choices that need no lattice, each sharper and dearer than the one before:
//   floor            what no mapping can do without, whatever its choice
//   least            one unrolling: every tensor moved once between the best keepers for it
//   moved_once       one unrolling and its keepers: every tensor moved once
//   shared_capacity  the same, and tensors that share a memory must fit together: at most one sort of loop comes first
//                    outside it, so the tensors that this loop moves come again for every tile of their other dims
//   border_tiles     every tile of one memory with a capacity: what it costs there and further in, all functionals
//                    together
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dse/mappers/exact/bounds/bound.h"
#include "dse/mappers/exact/lattice/costs.h"

namespace pliant::exact {

class ChoiceBounds {
 public:
  explicit ChoiceBounds(const ResolvedTask& resolved);

  /// Keep choices are numbered: all combinations of the tensors' patterns.
  std::size_t keep_choices() const { return keep_choices_; }
  Keeps keeps(std::size_t choice) const;

  double floor(double steps) const;
  /// Of one tensor: the least energy of any unrolling, and of one whatever it keeps.
  double floor_of(int tensor) const { return floor_of_[tensor]; }
  double least_energy_of(int tensor, const Spatial& spatial);
  /// The objective where energy and steps are at least so much.
  double floor(double energy, double steps) const { return value(energy, std::max(steps, floor_cycles_), steps); }
  /// Steps from which on the floor is hopeless; infinity where it never is.
  double most_steps(const std::function<bool(double floor)>& hopeless) const;
  double floor_cycles() const { return floor_cycles_; }  ///< by ports outside all fanouts, whatever the unrolling

  struct Growth {
    double factor, left;
    double most;  ///< factor of the largest tile that it stands for
  };
  /// Of a dim, by memory from the innermost outwards.
  using Growths = std::vector<std::vector<Growth>>;
  /// What is known of one unrolling.
  struct Look {
    double steps = 0;
    std::array<double, kMaxDims> temporal{};  // iterations that are not spread, at least
    std::array<bool, kMaxDims> tile_known{};  // is a tile just what its loops and units make?
    std::array<const Growths*, kMaxDims> growths{};
    std::array<std::array<double, kMaxDims>, kMaxLevels> inside{};  // factors inside a memory, by dim
    std::array<std::array<double, kMaxDims>, kMaxLevels>
        units{};  // the same, also where there are more than iterations
    std::array<std::array<double, kMaxLevels>, kMaxTensors> held{};  // least words that a memory holds of a tensor
    std::array<const double*, kMaxTensors> costs{};                  // by tensor: of its patterns, one after the other
    const Spatial* tiles_of = nullptr;                               // whose tiles are not known yet, if any
  };

  /// Everything below is about this unrolling, which must outlive it. Returns the least of it; at the limit or above it
  /// looking ends, and nothing else is known of the unrolling.
  double look_at(const Spatial& spatial, double limit = kInfinity);
  /// What took the time of a look: steps, and costs of the patterns.
  struct Seen {
    double steps = 0;
    std::vector<double> costs;
  };
  Seen seen() const;
  /// Is looking as quick as looking again?
  bool looks_quickly() const {
    return std::all_of(known_by_units_.begin(), known_by_units_.begin() + p_.tensors, [](bool known) { return known; });
  }
  /// As look_at() without a limit, of an unrolling that was seen before.
  /// What was seen must outlive it, too.
  double look_again(const Spatial& spatial, const Seen& seen);
  double least() const;
  double port_cycles() const;  ///< that every keep choice takes, whatever the steps
  /// What shared capacity says of a choice: its objective, and the energy and cycles that are certain.
  struct Shared {
    double value, energy, cycles;
    double port_cycles;  ///< whatever the steps
  };
  /// Calls visit(keep choice, its bound) for every keep choice whose moved_once is below the limit, which visit may
  /// lower.
  void keeps_below(const double& limit, const std::function<void(std::size_t, const Shared&)>& visit);
  /// What every keep choice that is below the limit needs at least; infinity where there is none.
  Shared least_shared(double limit);
  /// The objective where a mapping takes at least so many steps.
  double with_steps(const Shared& least, double steps) const;
  /// The tiles of a memory with which shared capacity costs the least energy: a mapping can be read off them
  /// (search/read_off.h).
  struct BestTile {
    DimSet grown = 0;                     ///< dims along which its size saves deliveries
    std::array<double, kMaxDims> left{};  ///< iterations outside it, of these
    DimSet first = 0;                     ///< loops over these come first outside it
  };
  /// By memory, from the innermost outwards; the outermost has none.
  std::vector<BestTile> best_tiles(std::size_t keep_choice);
  double words(int tensor, const std::array<double, kMaxDims>& tile) const;  ///< at least
  /// Tiles looked at since this was asked last: what these bounds take most of their time for.
  std::uint64_t newly_looked() { return std::exchange(looked_, 0); }

  /// A linear cost: energy and the load of one port (1 + its number; with no load any).
  struct Mix {
    double energy;
    std::size_t port;
    double load;
  };
  /// What it is at least for one keep choice, shared capacity included.
  double shared(std::size_t keep_choice, const Mix& mix);

 private:
  struct Pattern {
    std::uint32_t levels = 0;
    std::vector<KeeperPair> pairs;  // inside out
    DimSet staying = 0;             // dims whose loops may leave the operand at the compute units
    int tensor = 0;
    std::size_t costs = 0;  // where those of this pattern begin among those of the tensor
    /// The pair that crosses the border of a memory, if the tensor comes from outside it.
    const KeeperPair* across(int level) const {
      for (const KeeperPair& pair : pairs)
        if (pair.parent < level && level <= pair.child) return &pair;
      return nullptr;
    }
  };
  using Chosen = std::array<const Pattern*, kMaxTensors>;

  // Costs of a pattern in the unrolling looked at.
  /// By functional: energy, then the ports.
  double least_of(const Pattern& pattern, std::size_t functional) const {
    return look_.costs[pattern.tensor][pattern.costs + functional];
  }
  /// Of the least: certain for one delivery, less where there are more.
  double begun(const Pattern& pattern, std::size_t functional) const {
    return look_.costs[pattern.tensor][pattern.costs + functionals() + functional];
  }
  /// One delivery of the whole tensor; of an operand's, staying as long as it can.
  Costs::Delivery delivery(const Pattern& pattern, std::size_t pair, std::size_t functional) const {
    const double* const known = &look_.costs[pattern.tensor][delivery_at(pattern, pair, functional)];
    return {known[0], known[1], known[2]};
  }
  /// Copies that the least counts: those that ask the parent, and those of the child.
  struct Copies {
    double asking, busy;
  };
  Copies copies(const Pattern& pattern, std::size_t pair) const {
    const double* const known = &look_.costs[pattern.tensor][delivery_at(pattern, 0, functionals()) + 2 * pair];
    return {known[0], known[1]};
  }
  /// The memory whose units inside it are served together at least: the parent where any network shares words.
  int served_together(const KeeperPair& pair) const {
    const bool shares = (p_.fanouts & p_.sharing[pair.tensor] & below(pair.child) & ~below(pair.parent)) != 0;
    return shares ? pair.parent : pair.child;
  }
  std::size_t functionals() const { return 1 + p_.ports.size(); }
  std::size_t delivery_at(const Pattern& pattern, std::size_t pair, std::size_t functional) const {
    return pattern.costs + 2 * functionals() + 3 * (functional * pattern.pairs.size() + pair);
  }
  /// The least that any pattern of the tensor has of a functional.
  double least_of(int tensor, std::size_t functional) const;
  /// The least energy of the keep choices that fit at all.
  double least_energy() const;
  void charge(const Costs& costs, const Pattern& pattern, std::size_t functional, double* known);
  /// What an unrolling has made known of one tensor: the costs of its patterns, of energy and perhaps of the ports.
  struct Known {
    std::vector<double> costs;
    double least = 0;  // energy of any pattern
    bool energy = false, ports = false;
  };
  /// Where it is kept, for this unrolling only or for all of the same units.
  Known& known_by_units(int tensor, const Spatial& spatial);
  void look_at_tiles();
  void list_fitting();

  double least_words(int x, int level) const;
  int first_fanout() const;
  double energy_outside_fanouts(int tensor, std::span<const KeeperPair> pairs) const;
  double cycles_outside_fanouts() const;
  Chosen patterns(std::size_t keep_choice) const;
  double value(double energy, double cycles, double steps) const;
  bool fits(const Chosen& chosen) const;
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
  const Growths& growths(int d, const Spatial& spatial, Count spread);
  void list_growths(Count iterations, std::vector<Growth>& all) const;
  void list_growths(int d, Count spread, std::vector<Growth>& all) const;
  void list_reachable(int d, const Spatial& spatial, Growths& all) const;

  /// Tiles looked at per memory; where there are more this bound is not worth its price.
  static constexpr int kMostTiles = 2000;

  /// The tiles that a memory can hold, searched for the one with the fewest deliveries.
  struct Tiles {
    Tiles(const ChoiceBounds& bounds, int k);
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

    const ChoiceBounds& bounds;
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

  const ResolvedTask& resolved_;
  const Problem& p_;
  std::vector<std::vector<Pattern>> patterns_;  // by tensor
  std::size_t keep_choices_ = 1;
  double floor_ = 0, floor_cycles_ = 0;  // energy, and what ports outside all fanouts take
  /// By dim; by the factor that is spread, or where it matters how it is by all of them and by the iterations in time.
  std::array<std::map<std::vector<Count>, Growths>, kMaxDims> known_growths_;
  std::vector<Count> key_;
  std::array<double, kMaxTensors> floor_of_{};  // by tensor, of floor_
  /// Of unrollings that differ in dims only: by tensor, and by fanout the units that share it and, where there are
  /// ports, the other ones.
  using Units = std::array<Count, 8>;
  struct HashOfUnits {
    std::size_t operator()(const Units& units) const;
  };
  std::array<std::unordered_map<Units, Known, HashOfUnits>, kMaxTensors> known_;
  std::array<Known, kMaxTensors> own_;  // of tensors for which units are not enough
  std::array<bool, kMaxTensors> known_by_units_{};
  std::array<std::size_t, kMaxTensors> costs_of_{};  // how many there are for a tensor
  /// Keep choices whose tensors fit together where no dim is spread, as the places of their energies among the costs of
  /// the tensors. Listed where some do not fit, unless there are too many.
  std::array<std::vector<std::uint32_t>, kMaxTensors> fitting_;  // by tensor
  mutable std::vector<double> energies_;                         // of these choices, while they are compared
  bool all_may_fit_ = true;
  Look look_;
  std::array<Weights, kMaxLevels> weights_;  // of the pattern that is charged
  std::vector<double> scratch_;
  mutable std::uint64_t looked_ = 0;
};

}  // namespace pliant::exact
