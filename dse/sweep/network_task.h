// SPDX-License-Identifier: Apache-2.0
// One question of a sweep that lets tensors stay on chip: the best mappings of a network on a design together with
// where its tensors live. docs/networks.md has the model and the proof.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/clock.h"
#include "dse/audit/network_certificate.h"
#include "dse/results/rows.h"
#include "dse/sweep/design_space.h"

namespace pliant {

/// Of a workload that is asked as a whole, within its deadline on the design; where no mappings keep it, the fastest.
/// `threads` as in SearchOptions. Without proof after a stop.
TaskResult solve_network(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                         int threads, const std::stop_token& stop, const Clock& clock = real_clock());

/// The same with its certificate; without one where nothing was found, and where docs/combinations.md has none.
struct ProvenNetwork {
  TaskResult result;
  std::optional<audit::NetworkCertificate> certificate;
};
ProvenNetwork prove_network(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design,
                            const Workload& workload, const std::stop_token& stop);

/// The least energy + slope * cycles of such a workload, whatever the design's objective and deadline: `lower_bound` is
/// proven, energy and cycles are of what was found, within `gap` for each layer. With an infinite slope, its cycles.
TaskResult solve_line(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                      double slope, double gap, int threads, const std::stop_token& stop);

/// The network's optimum, and what the same mappings and places take on accelerators that differ in figures alone.
struct NetworkPrices {
  struct Price {
    double energy_pj = 0, cycles = 0, sum_layer_edp_pj_cycles = 0;
  };
  std::optional<Price> base;  ///< empty when no mappings were found
  std::vector<Price> others;
};
NetworkPrices price_network_choice(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design,
                                   const Workload& workload, const std::vector<Accelerator>& others);

}  // namespace pliant
