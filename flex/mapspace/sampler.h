// SPDX-License-Identifier: Apache-2.0
// Random mappings as Timeloop and Ruby draw them: for every dim a chain, each equally likely; for every memory an
// allowed order and an allowed set of kept tensors, each equally likely; what breaks a joint limit is drawn again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "flex/mapspace/chain_space.h"
#include "flex/mapspace/mapspace.h"

namespace pliant {

/// The chains of one dim, listed when few, else drawn by counting (flex/mapspace/chain_space.h).
class ChainSource {
 public:
  ChainSource(const MapSpace& space, int dim);
  bool empty() const { return empty_; }
  /// Chains that no other dim can make legal (alone they overflow a memory or an array) are not listed.
  std::span<const Chain> listed() const { return *listed_; }
  /// Valid until the next draw.
  const Chain* draw(std::mt19937_64& random);

 private:
  const MapSpace* space_;
  int dim_;
  bool empty_ = false;
  std::shared_ptr<const std::vector<Chain>> listed_;  ///< shared by copies of the source
  std::shared_ptr<const ChainSpace> counted_;
  std::vector<Count> bounds_;
  Chain drawn_;
};

/// Copy it for every thread. The space must outlive it.
class Sampler {
 public:
  explicit Sampler(const MapSpace& space);
  bool empty() const { return empty_; }
  /// One draw; false when it breaks a joint limit. The candidate is valid until the next draw.
  bool draw(std::mt19937_64& random);
  const Candidate& candidate() const { return candidate_; }
  ChainSource& chains(int dim) { return sources_[static_cast<std::size_t>(dim)]; }

 private:
  /// An allowed order of the given loops, each equally likely. False when there is none.
  bool draw_order(int level, DimSet loops, std::mt19937_64& random, LoopOrder& order);

  const MapSpace* space_;
  bool empty_ = false;
  std::vector<ChainSource> sources_;
  std::map<std::pair<int, DimSet>, std::vector<LoopOrder>> orders_;
  Candidate candidate_;
};

}  // namespace pliant
