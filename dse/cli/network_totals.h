// SPDX-License-Identifier: Apache-2.0
// A whole network mapped: where its energy goes, by level and by what the tensors are, and what bounds its time.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/layer.h"
#include "dse/cli/render_search.h"

namespace pliant {

struct NetworkTotals {
  double energy_pj = 0, cycles = 0, macs = 0, solve_seconds = 0;  ///< repetitions included
  bool complete = true;                                           ///< every layer has a mapping
  bool certified = true;                                          ///< of those that have one
  struct Level {
    std::string name;
    std::array<double, kRoles> by_role{};  ///< pJ of accesses
    double macs_pj = 0;                    ///< the compute level's
    double leakage_pj = 0;
    double bits = 0;  ///< through its ports, both directions
    double energy_pj() const { return by_role[0] + by_role[1] + by_role[2] + macs_pj + leakage_pj; }
  };
  std::vector<Level> levels;  ///< memories and networks with energy, outermost first, then compute
  struct Bound {
    std::string what;
    Count layers = 0;  ///< repetitions included
    double cycles = 0;
  };
  std::vector<Bound> bounds;  ///< longest first
};

/// Sums over the layers that have a mapping.
NetworkTotals network_totals(const std::vector<SearchedLayer>& layers);

/// Totals, where energy goes and what bounds the time.
std::string totals_text(const std::vector<SearchedLayer>& layers, const Workload::Pass& pass, std::string_view mapper,
                        bool ascii);
nlohmann::ordered_json totals_json(const std::vector<SearchedLayer>& layers, const Workload::Pass& pass);

}  // namespace pliant
