// SPDX-License-Identifier: Apache-2.0
// Which combinations of unrollings were listed before, by their numbers in the lists of the fanouts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>

namespace pliant::exact {

class ListedBefore {
 public:
  using Numbers = std::span<const std::uint32_t>;
  bool contains(Numbers numbers) const { return listed_.contains(key(numbers)); }
  void insert(Numbers numbers) { listed_.insert(key(numbers)); }

 private:
  static std::u32string key(Numbers numbers) { return {numbers.begin(), numbers.end()}; }
  std::unordered_set<std::u32string> listed_;
};

}  // namespace pliant::exact
