// SPDX-License-Identifier: Apache-2.0
// What the local mapper remembers of the allocations that it met.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pliant {

/// What is known about an allocation met before.
struct Met {
  std::uint64_t key = 0;
  double value = 0;
  std::uint32_t search = 0;     ///< the local search that reached it last ...
  std::uint8_t depth = 0;       ///< ... and in how many moves
  std::uint32_t descended = 0;  ///< the local search that last went downhill from it
};

/// An open hash table: keys are random already, so there is no hash, and no node is allocated for each of the many
/// neighbours that a search looks up.
class MetTable {
 public:
  MetTable() : slots_(1U << 14) {}
  /// The entry of a key; fresh when its key was 0.
  Met& at(std::uint64_t key) {
    if (used_ * 2 > slots_.size()) grow();
    key |= 1;
    std::size_t i = key >> 7 & (slots_.size() - 1);
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    if (slots_[i].key == 0) ++used_;
    return slots_[i];
  }
  /// Null where it was never met.
  const Met* find(std::uint64_t key) const {
    key |= 1;
    std::size_t i = key >> 7 & (slots_.size() - 1);
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return slots_[i].key == 0 ? nullptr : &slots_[i];
  }
  /// It will be looked for soon: the table is larger than the caches.
  void expect(std::uint64_t key) const { __builtin_prefetch(&slots_[(key | 1) >> 7 & (slots_.size() - 1)]); }
  void clear() {
    std::fill(slots_.begin(), slots_.end(), Met{});
    used_ = 0;
  }

 private:
  void grow() {
    std::vector<Met> old(slots_.size() * 4);
    old.swap(slots_);
    for (const Met& met : old) {
      if (met.key == 0) continue;
      std::size_t i = met.key >> 7 & (slots_.size() - 1);
      while (slots_[i].key != 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = met;
    }
  }
  std::vector<Met> slots_;
  std::size_t used_ = 0;
};

}  // namespace pliant
