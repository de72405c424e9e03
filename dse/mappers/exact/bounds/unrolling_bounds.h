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
  explicit UnrollingBounds(ChoiceBounds& all);

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

  using Pattern = ChoiceBounds::Pattern;
  using Chosen = ChoiceBounds::Chosen;
  Chosen patterns(std::size_t keep_choice) const { return all_.patterns(keep_choice); }
  std::size_t functionals() const { return all_.functionals(); }
  /// Its tiles: found when they are asked for first, for most unrollings are closed before.
  const Tiling& tiling() const {
    if (!tiling_) tiling_ = std::make_unique<const Tiling>(resolved_, spatial_, all_.smallest_, all_.growths_);
    return *tiling_;
  }

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
  /// Units of open fanouts between the two, at most.
  double open_between(const KeeperPair& pair) const {
    return open_units(resolved_, spatial_, below(pair.child) & ~below(pair.parent));
  }
  double value(double energy, double cycles) const { return all_.value(energy, cycles, steps_); }
  const ResolvedTask& resolved() const { return resolved_; }

 private:
  /// The least that any pattern of the tensor has of a functional.
  double least_of(int tensor, std::size_t functional) const;
  /// The least energy of the keep choices that fit at all.
  double least_energy() const;
  struct Longest {
    std::size_t port = 0;  // 1 + its number; 0: no port may bind
    double load = 0;
  };
  Longest longest_port(const Chosen& chosen, double cycles) const;
  template <typename Visit>
  void each_keep_below(const double& limit, const Visit& visit) const;
  Shared shared_value(const Chosen& chosen, double cycles, double limit) const;
  Shared moved_once(const Chosen& chosen, double cycles) const;
  /// Where fanouts are open: by the tiles of the memories inside all of them.
  Shared inside_open(const Chosen& chosen, double cycles, double limit) const;
  Shared by_functionals(const Chosen& chosen, double cycles, double limit) const;
  /// At least; ends where it is enough.
  using Enough = std::function<bool(double)>;
  double shared(const Chosen& chosen, const Mix& mix, const Enough& enough = {}) const;

  friend class ChoiceBounds;  // fills in an unrolling and its costs
  void begin(double steps);

  ChoiceBounds& all_;
  const ResolvedTask& resolved_;
  const Problem& p_;
  Spatial spatial_;
  double steps_ = 0;
  std::array<const double*, kMaxTensors> costs_{};          // by tensor: of its patterns, one after the other
  std::array<std::vector<double>, kMaxTensors> own_costs_;  // of tensors whose costs ChoiceBounds does not remember
  mutable std::unique_ptr<const Tiling> tiling_;
};

}  // namespace pliant::exact
