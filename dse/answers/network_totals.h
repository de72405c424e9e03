// SPDX-License-Identifier: Apache-2.0
// A whole network mapped: what its energy and time are the sums of, where its energy goes, by level and by what the
// tensors are, and what bounds its time. The same of layers that are mapped one by one and of a network.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
#include "costmodel/physical.h"
#include "dse/answers/render_search.h"
#include "dse/mappers/fusion/fusion.h"
#include "dse/mappers/network.h"
#include "dse/mappers/residency/residency.h"

namespace pliant {

struct NetworkTotals {
  NetworkParts parts;
  std::optional<NetworkParts::Part> left_out;  ///< operators that layers mapped one by one do not count
  double macs = 0;                             ///< repetitions included
  std::optional<double> solve_seconds;
  bool complete = true;   ///< every layer has a mapping
  bool certified = true;  ///< of those that have one
  struct Level {
    std::string name;
    int level = 0;                         ///< in the accelerator
    std::array<double, kRoles> by_role{};  ///< pJ of accesses
    double macs_pj = 0, vector_pj = 0;     ///< the compute level's, and beside it the vector unit's
    double leakage_pj = 0;
    double bits = 0;  ///< through its ports, both directions
    double energy_pj() const { return by_role[0] + by_role[1] + by_role[2] + macs_pj + vector_pj + leakage_pj; }
  };
  std::vector<Level> levels;  ///< memories and networks with energy, outermost first, then compute
  struct Bound {
    std::string what;
    Count layers = 0;  ///< repetitions included
    double cycles = 0;
  };
  /// Of layers mapped one by one: those whose perfect factors leave units idle, and the cycles that remainders could
  /// save. (In a network tensors may then live elsewhere: no such floor holds.)
  Count idle_layers = 0;
  double saved_at_most = 0;
  std::vector<Bound> bounds;  ///< longest first

  double energy_pj() const { return parts.layers.energy_pj + parts.operators.energy_pj + parts.loads.energy_pj; }
  double cycles() const { return parts.layers.cycles + parts.operators.cycles + parts.loads.cycles; }
};

/// Layers mapped one by one: sums over those that have a mapping. Of a workload with a graph `left_out` says what a
/// network has besides.
NetworkTotals network_totals(const std::vector<SearchedLayer>& layers, const Workload* workload);
/// A network of whole tensors.
NetworkTotals network_totals(const residency::Search& search, const std::vector<Task>& rows,
                             const residency::Optimum& best);
/// The same with layers that pass tiles on.
NetworkTotals network_totals(const fusion::Search& search, const std::vector<Task>& rows, const fusion::Optimum& best);

/// Seconds and watts; nothing without a clock.
std::optional<Physical> totals_in_time(const Accelerator& accelerator, const NetworkTotals& totals);

/// Which parts the sums have, and which not.
std::string parts_text(const NetworkTotals& totals);
/// Where energy goes and what bounds the time.
std::string shares_text(const Accelerator& accelerator, const NetworkTotals& totals, bool ascii);
/// The end of layers mapped one by one.
std::string totals_text(const std::vector<SearchedLayer>& layers, const Workload* workload, const Workload::Pass& pass,
                        std::string_view mapper, bool ascii);
nlohmann::ordered_json totals_json(const Accelerator& accelerator, const NetworkTotals& totals,
                                   const Workload::Pass& pass);

}  // namespace pliant
