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
    kNotProven,   ///< some choices were not decided
    kEnumerated,  ///< every legal mapping was listed and priced
    kAudited,     ///< the auditor confirmed the claim for every choice
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
/// Proven as claimed? Nothing legal may be better than the lower bound says: the auditor enumerates a small map-space
/// and bounds the choices of a larger one (dse/audit/audit.h). No mapper has a part in it.
Proof prove_claim(const Task& task, const Claim& claim, const ProofOptions& options);

}  // namespace pliant
