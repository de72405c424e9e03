// SPDX-License-Identifier: Apache-2.0
// What is known of the choices of a task before any unrolling is chosen: the floor that no mapping can do without, and
// what looking at one unrolling after the other has made known (unrolling_bounds.h).
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dse/mappers/exact/bounds/bound.h"
#include "dse/mappers/exact/bounds/tiling.h"
#include "dse/mappers/exact/words/costs.h"

namespace pliant::exact {

class UnrollingBounds;

/// What shared capacity says of a choice: its objective, and the energy and cycles that are certain.
struct SharedBound {
  double value, energy, cycles;
  double port_cycles;  ///< whatever the steps
};

class ChoiceBounds {
 public:
  explicit ChoiceBounds(const ResolvedTask& resolved);

  /// Keep choices are numbered: all combinations of the tensors' patterns.
  std::size_t keep_choices() const { return keep_choices_; }
  Keeps keeps(std::size_t choice) const;

  double floor(double steps) const;
  /// Of one tensor: the least energy of any unrolling.
  double floor_of(int tensor) const { return floor_of_[tensor]; }
  /// The objective where energy and steps are at least so much.
  double floor(double energy, double steps) const { return value(energy, steps, steps); }
  /// Steps from which on the floor is hopeless; infinity where it never is.
  double most_steps(const std::function<bool(double floor)>& hopeless) const;
  double floor_cycles() const { return floor_cycles_; }  ///< by ports outside all fanouts, whatever the unrolling

  /// What looking at one unrolling has made known: what its mappings cost at least, and where this is below the limit
  /// all the rest. Without bounds there is nothing to ask: its mappings are no better than the limit.
  struct Looked {
    double least;
    std::shared_ptr<const UnrollingBounds> bounds;
  };
  Looked look_at(const Spatial& spatial, double limit = kInfinity);
  /// Is looking as quick as remembering?
  bool looks_quickly() const {
    return std::all_of(known_by_units_.begin(), known_by_units_.begin() + p_.tensors, [](bool known) { return known; });
  }
  /// The objective where a mapping takes at least so many steps.
  double with_steps(const SharedBound& least, double steps) const;
  /// Tiles looked at since this was asked last: what these bounds take most of their time for.
  std::uint64_t newly_looked() { return std::exchange(looked_, 0); }
  void count_looked(std::uint64_t tiles) const { looked_ += tiles; }

  /// Where a tensor is kept.
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
  const std::vector<Pattern>& patterns_of(int tensor) const { return patterns_[tensor]; }
  /// Words of a memory that an element takes at least.
  double least_words(int tensor, int level) const;
  double value(double energy, double cycles, double steps) const;
  /// By level: the tensors that are kept there.
  std::array<TensorSet, kMaxLevels> kept(const Chosen& chosen) const;
  TensorSet kept_at(const Chosen& chosen, int level) const;

 private:
  friend class UnrollingBounds;

  std::size_t functionals() const { return 1 + p_.ports.size(); }
  std::size_t delivery_at(const Pattern& pattern, std::size_t pair, std::size_t functional) const {
    return pattern.costs + 2 * functionals() + 3 * (functional * pattern.pairs.size() + pair);
  }
  double least_steps_of(const Spatial& spatial) const;
  void charge(const Costs& costs, const Pattern& pattern, std::size_t functional, double* known);
  /// What an unrolling has made known of one tensor: the costs of its patterns, of energy and perhaps of the ports.
  struct Known {
    std::vector<double> costs;
    double least = 0;  // energy of any pattern
    bool energy = false, ports = false;
  };
  /// Where it is kept, for this unrolling only or for all of the same units.
  Known& known_by_units(int tensor, const Spatial& spatial);
  void list_fitting();

  int first_fanout() const;
  double energy_outside_fanouts(int tensor, std::span<const KeeperPair> pairs) const;
  double cycles_outside_fanouts() const;
  Chosen patterns(std::size_t keep_choice) const;
  bool fits(const Chosen& chosen, const HeldWords& held) const;

  const ResolvedTask& resolved_;
  const Problem& p_;
  std::vector<std::vector<Pattern>> patterns_;  // by tensor
  std::size_t keep_choices_ = 1;
  double floor_ = 0, floor_cycles_ = 0;  // energy, and what ports outside all fanouts take
  KnownGrowths growths_;
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
  std::array<Weights, kMaxLevels> weights_;  // of the pattern that is charged
  HeldWords smallest_{};                     // words of the smallest tiles
  std::shared_ptr<UnrollingBounds> last_;    // used again where nobody has kept it
  mutable std::uint64_t looked_ = 0;
};

}  // namespace pliant::exact
