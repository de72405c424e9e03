// SPDX-License-Identifier: Apache-2.0
// The allocation of prime factors that the local mapper moves about, and its price with the best loop orders.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/arithmetic.h"
#include "dse/mappers/local/order_classes.h"
#include "dse/mappers/space.h"
#include "flex/mapspace/sampler.h"

namespace pliant {

inline constexpr int kMaxPlaces = 2 * kMaxLevels;

/// What QuickFlow counts about its search.
struct LocalCounts {
  std::uint64_t allocations = 0;  ///< priced: the paper's visited mappings
  std::uint64_t memories = 0;     ///< of all of them together
  std::uint64_t orders = 0;       ///< left to compare at these memories
  std::uint64_t steps = 0;        ///< searches that found a better allocation and went there
  std::uint64_t beams = 0;        ///< times that the search went on from many allocations
  std::vector<double> reached;    ///< legal allocations within two hops, search by search
};

/// A memory, or one side of a fanout.
struct LoopPlace {
  int level = 0;
  bool spatial = false;
  Side side = Side::kRows;
  DimSet allowed = 0;
};

/// A factor of a dim goes from one place to another; or (dim < 0) a memory takes another set of kept tensors.
struct Move {
  std::int8_t dim = 0, from = 0, to = 0;  ///< dim < 0: from = level, to = index of the set
  Count factor = 1;
};

class Allocation {
 public:
  explicit Allocation(const Space& space);

  /// Everything in the outermost place each dim has; where that is not legal, the best of a few random draws. False
  /// when neither gives a legal start.
  bool start(std::uint64_t seed);
  /// The best of a few random draws; false when none is legal.
  bool start_at_random(std::uint64_t seed);
  /// Where a search stands, to come back to.
  struct Saved {
    std::array<std::array<Count, kMaxPlaces>, kMaxDims> bound;
    std::array<TensorSet, kMaxLevels> keeps;
  };
  Saved save() const { return {bound_, candidate_.keeps}; }
  void restore(const Saved& saved);
  /// Takes the spatial factors of another allocation and keeps its own temporal ones as far as they still divide; what
  /// is left goes to each dim's outermost place. Where that is not legal, dims whose spatial factors changed put all
  /// their temporal factors there. False when that is not legal either.
  bool take_parallelism(const Saved& other);
  void apply(const Move& move);
  Move inverse(const Move& move) const;

  bool legal() const;
  /// Value that guides the search: the objective over a power of the utilization, for the best orders found.
  /// Above the value `worth`, and with more steps than `worth_steps`, an allocation gets no search of its own orders:
  /// it is a place to pass through.
  double price(double worth, double worth_steps, double utilization_exponent);
  double steps() const { return steps_; }  ///< of what was priced last

  const std::vector<LoopPlace>& places() const { return places_; }
  Count bound(int dim, int place) const { return bound_[dim][place]; }
  TensorSet keeps(int level) const { return candidate_.keeps[level]; }
  int outermost(int dim) const { return outermost_[dim]; }
  std::uint64_t hash() const { return hash_; }
  std::uint64_t hash_after(const Move& move) const;
  const std::vector<Count>& primes(int dim) const { return primes_[dim]; }

  std::uint64_t evaluations() const { return evaluations_; }
  const LocalCounts& counts() const { return counts_; }
  LocalCounts& counts() { return counts_; }
  bool found() const { return found_; }
  const Mapping& best() const { return best_; }
  double best_value() const { return best_value_; }  ///< of the task's objective
  const Totals& best_totals() const { return best_totals_; }

 private:
  void load();
  void refresh(int dim);
  static std::uint64_t stamp(int dim, int place, Count bound);
  static std::uint64_t stamp_of_keeps(int level, TensorSet keeps);
  double try_orders(double as_before, double exponent);
  double value(const Totals& totals, double exponent);

  const Space& space_;
  std::vector<LoopPlace> places_;
  std::array<std::vector<Count>, kMaxDims> primes_;  ///< distinct
  std::array<int, kMaxDims> outermost_{};
  std::array<std::array<Count, kMaxPlaces>, kMaxDims> bound_{};
  std::array<Chain, kMaxDims> chain_;
  Candidate candidate_;
  std::uint64_t hash_ = 0;
  DimSet stale_ = 0;  ///< dims whose bounds the nest does not know yet
  bool keeps_changed_ = false;
  Nest nest_;
  OrderClasses classes_;
  std::array<const OrderClasses::Order*, kMaxLevels> set_order_{};  ///< what the nest has
  std::array<OrderClasses::Choices*, kMaxLevels> choices_{};

  double steps_ = 0;
  std::uint64_t evaluations_ = 0;
  LocalCounts counts_;
  bool found_ = false;
  Mapping best_;
  double best_value_ = kInfinity;
  Totals best_totals_;
};

}  // namespace pliant
