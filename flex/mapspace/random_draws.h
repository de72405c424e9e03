// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every platform: the standard distributions are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace pliant {

/// A number below n. Its bias is n / 2^64: far below what any number of draws could show.
inline std::size_t below(std::mt19937_64& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

/// In [0, 1).
inline double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// A generator of its own for each stream of a seed.
inline std::mt19937_64 random_stream(std::uint64_t seed, std::uint64_t stream) {
  const auto mix = [](std::uint64_t x) {  // splitmix64: nearby seeds give unrelated streams
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  };
  return std::mt19937_64(mix(mix(seed) + stream));
}

}  // namespace pliant
