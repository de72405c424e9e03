// SPDX-License-Identifier: Apache-2.0
// Branches of the tree of unrollings whose floors are too high for now.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/arithmetic.h"

namespace pliant::exact {

class WaitingBranches {
 public:
  /// Unrollings first to last - 1 of a fanout, which begin alike, for its first dims; the fanouts outside are decided.
  /// Of the innermost fanouts, which are decided together, one unrolling each.
  struct Branch {
    double floor;
    std::uint32_t first, last;
    std::uint16_t fanout, dims;
  };
  using Numbers = std::span<const std::uint32_t>;  ///< by fanout: of the unrolling in its list

  explicit WaitingBranches(std::size_t fanouts) : fanouts_(fanouts) {}

  std::size_t size() const { return branches_.size(); }
  double bytes() const {
    return static_cast<double>(size()) * (sizeof(Branch) + sizeof(std::uint32_t) * static_cast<double>(fanouts_));
  }
  const Branch& operator[](std::size_t i) const { return branches_[i]; }
  Numbers numbers(std::size_t i) const { return Numbers(numbers_).subspan(i * fanouts_, fanouts_); }
  double least() const {
    double least = kInfinity;
    for (const Branch& branch : branches_) least = std::min(least, branch.floor);
    return least;
  }

  void add(const Branch& branch, Numbers numbers) {
    branches_.push_back(branch);
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  }
  /// The better half stays. Returns the least floor that goes.
  double lose_half() {
    std::vector<double> floors;
    for (const Branch& branch : branches_) floors.push_back(branch.floor);
    const auto middle = floors.begin() + static_cast<std::ptrdiff_t>(floors.size() / 2);
    std::nth_element(floors.begin(), middle, floors.end());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (branches_[i].floor >= *middle) continue;
      std::ranges::copy(numbers(i), numbers_.begin() + static_cast<std::ptrdiff_t>(kept * fanouts_));
      branches_[kept++] = branches_[i];
    }
    branches_.resize(kept);
    numbers_.resize(kept * fanouts_);
    return *middle;
  }

 private:
  std::size_t fanouts_;
  std::vector<Branch> branches_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace pliant::exact
