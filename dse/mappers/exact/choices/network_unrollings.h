// SPDX-License-Identifier: Apache-2.0
// What the innermost fanouts can be together, where no memory lies between them and they share words alike: one
// network, of which only the products of the factors count. A loop over one fanout and a loop over the next one inside
// it, both over the same dim, visit the iterations that one loop over their product visits, a full round after the
// other, and leave ceil(ceil(n / a) / b) = ceil(n / (a b)) of n iterations. So of unrollings with equal products one
// that can stand wherever another one can is enough.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/arithmetic.h"
#include "costmodel/task.h"
#include "dse/mappers/exact/task/search_limits.h"
#include "dse/mappers/exact/task/spatial.h"

namespace pliant::exact {

struct ListedFanout {
  int level;
  std::shared_ptr<const std::vector<Unrolling>> all;
};

class NetworkUnrollings {
 public:
  using Factors = std::array<std::int32_t, kMaxDims>;  // there may be a million

  /// Of fanouts from the innermost outwards: as many of them as share words alike and have not too many combinations.
  /// Those that leave more rounds than `most_rounds`, all fanouts of the network together, are left out. `every`: also
  /// those that others stand for.
  NetworkUnrollings(const Task& task, const Problem& problem, const std::vector<ListedFanout>& fanouts, bool every,
                    double most_rounds, SearchLimits& limits);

  /// Are these two fanouts, with no other one between them, part of one network?
  static bool share_alike(const Problem& problem, int a, int b);

  std::size_t fanouts() const { return levels_.size(); }
  const std::vector<int>& levels() const { return levels_; }
  /// At least so many rounds has every one that was left out for them; infinity: there is none.
  double slow() const { return slow_; }
  /// Time was up before all were found: then there are none.
  bool complete() const { return complete_; }
  std::size_t size() const { return all_.size(); }
  /// In their order.
  const Factors& factors(std::size_t i) const { return all_.factors(i); }
  /// With these factors: the number of one unrolling of each fanout, from the innermost outwards, and again.
  std::span<const std::uint32_t> unrollings(std::size_t i) const { return all_.numbers(i); }

 private:
  class Products;

  /// Numbers of unrollings, by their factors.
  class ByFactors {
   public:
    ByFactors() = default;
    /// Of one fanout.
    ByFactors(const Problem& problem, const std::vector<Unrolling>& fanout);

    std::size_t size() const { return factors_.size(); }
    const Factors& factors(std::size_t i) const { return factors_[i]; }
    std::span<const std::uint32_t> numbers(std::size_t i) const {
      return std::span(numbers_).subspan(first_[i], first_[i + 1] - first_[i]);
    }
    void add(const Factors& factors, std::span<const std::uint32_t> numbers);

   private:
    std::vector<Factors> factors_;
    std::vector<std::size_t> first_{0};
    std::vector<std::uint32_t> numbers_;
  };

  std::vector<int> levels_;
  double slow_ = kInfinity;
  bool complete_ = true;
  ByFactors all_;
};

}  // namespace pliant::exact
