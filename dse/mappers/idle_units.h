// SPDX-License-Identifier: Apache-2.0
// Units that perfect factors leave idle, and what remainders could gain at most: a floor, no search.
#pragma once

#include <optional>
#include <string>

#include "dse/mappers/mapper.h"

namespace pliant {

struct IdleUnits {
  double share = 0;         ///< of all units, in the steps of the mapping
  double least_cycles = 0;  ///< of any mapping with remainders
  double cycles = 0;        ///< of this one
  double gain_at_most() const { return cycles / least_cycles; }
};

/// Of a mapping with perfect factors that leaves units idle although remainders might be faster.
std::optional<IdleUnits> idle_units(const Task& task, const Mapping& mapping, const Totals& totals);

/// "perfect factors leave 51 % of the units idle; with `--factorization ruby-s` at most 1.9 times as fast"
std::string idle_text(const IdleUnits& idle);

}  // namespace pliant
