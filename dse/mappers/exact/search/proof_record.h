// SPDX-License-Identifier: Apache-2.0
// Which choice of a proof was closed by what: the parts of a certificate.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/arithmetic.h"
#include "dse/audit/certificate.h"
#include "dse/mappers/exact/choices/spatial_choices.h"

namespace pliant::exact {

/// Lower bounds are recorded as certain no further than the incumbent of that time: tables are cut off there.
class ProofRecord {
 public:
  void floor(double steps, double lower_bound);
  /// One choice, or all choices of an unrolling, closed by a bound that needs no lattice.
  void bounded(double lower_bound) { rest_ = std::min(rest_, lower_bound); }
  /// What was not even looked at.
  void left(double lower_bound) { left_ = std::min(left_, lower_bound); }
  /// One choice with tables or a search of its own. Of several (durations) the least counts, and the dearest means.
  void choice(std::uint32_t spatial, const Keeps& keeps, audit::ClosedBy by, double lower_bound);

  /// `value`: of the optimum; no part needs to say more than that nothing is better.
  std::vector<audit::Part> parts(const Task& task, const Problem& problem, const SpatialChoices& choices,
                                 std::size_t keep_choices, double value) const;

 private:
  struct Closed {
    audit::ClosedBy by = audit::ClosedBy::kFloor;
    double lower_bound = kInfinity;
  };
  double slow_ = kInfinity;  // steps of the fastest unrolling that the floor closed
  double slow_bound_ = kInfinity, rest_ = kInfinity, left_ = kInfinity;
  std::uint64_t slow_unrollings_ = 0;
  std::map<std::pair<std::uint32_t, Keeps>, Closed> choices_;
};

}  // namespace pliant::exact
