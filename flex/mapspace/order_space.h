// SPDX-License-Identifier: Apache-2.0
// The loop orders that a rule allows at one memory, as a set: count, list, sample, test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/flexibility.h"
#include "core/layer.h"

namespace pliant {

/// Contract: orders are of the dims in a given set, outermost first. All questions are pure; answers are cached.
class OrderSpace {
 public:
  OrderSpace() = default;
  OrderSpace(const Layer& layer, const OrderRule& rule);

  /// Every order is allowed.
  bool unrestricted() const { return patterns_.empty(); }
  std::uint64_t count(DimSet dims) const;
  bool contains(std::span<const int> order) const;
  /// visit returns false to stop, and so does the function then.
  bool for_each(DimSet dims, const std::function<bool(std::span<const int>)>& visit) const;
  /// Uniform over the count(dims) orders, which must not be 0.
  std::vector<int> sample(DimSet dims, std::mt19937_64& random) const;

 private:
  /// before[d]: dims that must stand outside d.
  using Precedence = std::vector<DimSet>;
  /// Orders of a set under one precedence: how many ways there are to finish, by the set already placed.
  struct Extensions {
    std::vector<int> members;
    std::vector<DimSet> needs;             ///< in member numbers
    std::vector<std::uint64_t> to_finish;  ///< by placed members
  };
  struct Cache {
    std::mutex mutex;
    std::unordered_map<DimSet, std::uint64_t> counts;
    std::unordered_map<DimSet, std::vector<Extensions>> extensions;
  };

  Extensions extend(DimSet dims, const Precedence& before) const;
  const std::vector<Extensions>& extensions(DimSet dims) const;
  std::size_t satisfied(std::span<const int> order) const;
  static bool satisfies(std::span<const int> order, const Precedence& before);

  Layer layer_;
  OrderRule rule_;
  std::vector<Precedence> patterns_;  ///< any of these; none = no restriction
  std::shared_ptr<Cache> cache_ = std::make_shared<Cache>();
};

/// Uniform over 0 .. n-1, the same numbers on every platform.
std::uint64_t uniform_below(std::uint64_t n, std::mt19937_64& random);
/// Uniform over [0, 1), the same numbers on every platform.
double uniform_real(std::mt19937_64& random);

}  // namespace pliant
