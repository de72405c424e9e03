// SPDX-License-Identifier: Apache-2.0
// What a stored result claims, and the ways to find out whether it is true. Nothing in the claim is trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dse/mappers/mapper.h"

namespace pliant {

struct Claim {
  std::optional<Mapping> mapping;  ///< empty: it claims that nothing fits
  /// Numbers that were not stored are not compared.
  std::optional<double> energy_pj, runtime_cycles, edp_pj_cycles, utilization, value, lower_bound;
  bool certified = false;
};

struct Proof {
  enum class Outcome {
    kNotProven,   ///< the search ended before it found anything
    kEnumerated,  ///< every legal mapping was listed and priced
    kProven,      ///< the exact mapper proved the optimum again
    kInfeasible,  ///< the exact mapper proved again that nothing fits
    kBounded,     ///< the exact mapper ended with a lower bound
  };
  std::vector<std::string> wrong;  ///< every difference found
  Outcome outcome = Outcome::kNotProven;
  std::string how;  ///< the outcome in words
};

/// Legal, and priced as claimed? Every difference found.
std::vector<std::string> check_claim(const Task& task, const Claim& claim);

struct ProofOptions {
  std::uint64_t limit = 2'000'000;  ///< spaces of at most so many mappings are enumerated
  double seconds = 0;               ///< 0 = no budget
  int threads = 1;
  std::stop_token stop;
};
/// Proven as claimed? Nothing legal may be better than the lower bound says; a small map-space is enumerated, a larger
/// one left to the exact mapper.
Proof prove_claim(const Task& task, const Claim& claim, const ProofOptions& options);

}  // namespace pliant
