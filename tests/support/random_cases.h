// SPDX-License-Identifier: Apache-2.0
// Small random map-spaces for tests: every kind of layer, accelerator, flexibility, convention and objective, sized so
// that all mappings can be enumerated in a few milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dse/mappers/mapper.h"

namespace pliant::tests {

struct CaseOptions {
  /// One of these is drawn.
  std::vector<Factorization> factorizations = {Factorization::kPerfect, Factorization::kRubyS};
  std::uint64_t least_mappings = 2, most_mappings = 30'000;  ///< legal ones
  double infeasible_share = 0.02;                            ///< of the cases may have no legal mapping at all
  /// GEMMs and plain convolutions of one or two longer dims on two fanouts, mostly without limits on bandwidth: what
  /// remainders at fanouts do.
  bool spread = false;
  /// Convolutions along one rank with a stride or a dilation, on two fanouts: windows with holes beside one another.
  bool holes = false;
  /// Some memories hold tiles of whole bursts of 2 to 4 words.
  bool bursts = false;
  /// Where a memory has ports, one bus for both directions takes their place.
  bool buses = false;
  /// Some tensors live whole in a memory, and others take room there.
  bool residents = false;
  /// Elements are not as wide as words, and partial sums wider than outputs.
  bool widths = false;
  /// Some memories take no partial sums.
  bool finished = false;
  /// Networks that cost energy.
  bool networks = false;
  /// Systolic arrays, in which one role stays.
  bool arrays = false;
};

struct RandomCase {
  Task task;
  std::string text;  ///< the whole case in a few lines, for failure messages
};

/// The same case for the same seed. Flexibility classes 0000 to 1111 follow seed modulo 16 (axis bits T, O, P, S from
/// the highest); a set bit is full or partial.
RandomCase random_case(std::uint64_t seed, const CaseOptions& options = {});

}  // namespace pliant::tests
