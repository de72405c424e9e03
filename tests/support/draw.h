// SPDX-License-Identifier: Apache-2.0
// Random draws that are the same on every machine: the library's distributions differ between implementations.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "core/layer.h"

namespace pliant::tests {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}
  Count from(Count least, Count most) {
    return least + static_cast<Count>(bits_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(double p) { return static_cast<double>(bits_() >> 11) * 0x1p-53 < p; }
  template <typename T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(from(0, static_cast<Count>(list.size()) - 1))];
  }
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[bits_() % i]);
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace pliant::tests
