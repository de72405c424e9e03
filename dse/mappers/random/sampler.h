// SPDX-License-Identifier: Apache-2.0
// Random mappings as Timeloop and Ruby draw them: for every dim a chain, each equally likely; for every memory an
// allowed order and an allowed set of kept tensors, each equally likely; what breaks a joint limit is drawn again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "dse/mappers/space.h"
#include "flex/mapspace/chain_space.h"

namespace pliant {

/// The chains of one dim, listed when few, else drawn by counting (flex/mapspace/chain_space.h).
class ChainSource {
 public:
  ChainSource(const Space& space, const SpaceRules& rules, int dim);
  bool empty() const { return empty_; }
  /// Chains that no other dim can make legal (alone they overflow a memory or an array) are not listed.
  std::span<const Chain> listed() const { return *listed_; }
  /// Valid until the next draw.
  const Chain* draw(std::mt19937_64& random);

 private:
  const Space* space_;
  int dim_;
  bool empty_ = false;
  std::shared_ptr<const std::vector<Chain>> listed_;  ///< shared by copies of the source
  std::optional<ChainSpace> counted_;
  std::vector<Count> bounds_;
  Chain drawn_;
};

/// Copy it for every thread.
class Sampler {
 public:
  explicit Sampler(const Space& space);
  bool empty() const { return empty_; }
  /// One draw; false when it breaks a joint limit. The candidate is valid until the next draw.
  bool draw(std::mt19937_64& random);
  const Candidate& candidate() const { return candidate_; }
  /// An allowed order of the given loops, each equally likely; a full list of dims. False when there is none.
  bool draw_order(int level, DimSet loops, std::mt19937_64& random, std::array<std::uint8_t, kMaxDims>& order);
  ChainSource& chains(int dim) { return sources_[static_cast<std::size_t>(dim)]; }

 private:
  const Space* space_;
  bool empty_ = false;
  std::vector<ChainSource> sources_;
  std::map<std::pair<int, DimSet>, std::vector<std::array<std::uint8_t, kMaxDims>>> orders_;
  Candidate candidate_;
};

/// A number below n, the same on every platform.
inline std::size_t below(std::mt19937_64& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }
/// In [0, 1).
inline double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
/// A generator of its own for each stream of a seed.
std::mt19937_64 random_stream(std::uint64_t seed, std::uint64_t stream);

}  // namespace pliant
