// SPDX-License-Identifier: Apache-2.0
// Uniform random mappings. Proposals are uniform over all mappings that respect what one dim or one order can break
// (factorization, fixed tiles, allowed loops, allowed orders, the length of an array's sides); those that break a joint
// limit (capacity, partition, units, assignment) are refused. What is left is uniform over the legal mappings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "core/mapping.h"
#include "flex/mapspace/chain_space.h"
#include "flex/mapspace/space_rules.h"

namespace pliant {

/// Not for use by several threads at once: copy it, or make one for each.
class SpaceSampler {
 public:
  explicit SpaceSampler(std::shared_ptr<const SpaceRules> rules);

  /// Number of equally likely outcomes of one try, refused ones included; 0 when the space is empty. In floating point:
  /// estimates of the space's size rest on it, to 15 digits.
  double outcomes() const { return outcomes_; }
  /// One try: a legal mapping with probability |space| / outcomes(), every one equally likely; nullopt otherwise.
  std::optional<Mapping> try_once(std::mt19937_64& random);
  /// Tries until a legal mapping comes up or `tries` are spent.
  std::optional<Mapping> sample(std::mt19937_64& random, std::uint64_t tries = 1'000'000);

 private:
  std::uint32_t choose_pattern(std::size_t d, std::size_t state, std::mt19937_64& random) const;

  std::shared_ptr<const SpaceRules> rules_;
  std::vector<int> tracked_;                ///< memories whose number of loops decides the number of orders
  std::vector<std::vector<double>> bound_;  ///< by memory and number of loops: at least as many as allowed orders
  std::vector<std::size_t> stride_;         ///< of a tracked memory in the state: its number of loops so far
  std::vector<ChainSpace> chains_;
  /// By dim and state: the orders, at most, of all ways to give this and the later dims their chains.
  std::vector<std::vector<double>> to_finish_;
  double outcomes_ = 0;
};

}  // namespace pliant
