// SPDX-License-Identifier: Apache-2.0
// From Timeloop's components, constraints and mapping to our levels, flexibility rules and mapping.
#pragma once

#include <set>

#include "core/accelerator.h"
#include "core/mapping.h"
#include "dse/import/timeloop/document.h"

namespace pliant::timeloop {

/// Our accelerator, and where each component went.
struct Machine {
  Accelerator accelerator;
  struct Place {
    int memory = -1;  ///< level of the storage; -1 for networks
    int fanout = -1;  ///< level of the copies just inside it; -1 when there is one
  };
  std::map<std::string, Place> places;
  int latch = -1;          ///< level of the latch in front of compute units under a network
  std::set<int> unstated;  ///< levels without energies
};

Machine build_machine(const Architecture& architecture, ImportLog& log);

/// Constraints as flexibility rules and as what memories keep. `problem` may be missing: dims are then those named.
void apply_constraints(Machine& machine, const std::vector<Directive>& constraints, const Problem* problem,
                       ImportLog& log);

/// The mapping; nothing after noting problems.
std::optional<Mapping> build_mapping(const Machine& machine, const Problem& problem,
                                     const std::vector<Directive>& steps, const Position& at, ImportLog& log);

}  // namespace pliant::timeloop
