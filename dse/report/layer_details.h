// SPDX-License-Identifier: Apache-2.0
// The layers of some designs, with mappings and costs by memory and tensor: what the page shows when a design is
// chosen. A large sweep has far more of them than a file should hold, so the designs that matter come first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "dse/report/report_data.h"

namespace pliant {

/// Rows of `designs` in the order in which their layers are worth having: the frontier of all workloads together, those
/// of area against EDP, energy and runtime of every workload, the best of every flexibility, then the others by EDP.
std::vector<std::size_t> rows_by_interest(const ReportData& data);

struct LayerDetails {
  /// Everything is numbers that point into `strings`, `layers` and `tasks`; page/data.js reads it back:
  ///
  ///     strings  every text once
  ///     layers   [workload, name, count, macs, [[dim, size], ...]]
  ///     tasks    [energy_pj, runtime_cycles, compute_cycles, utilization, bound_by, lower_bound, value, gap,
  ///     certified,
  ///               mappings_covered, ended_by, mapping, memories]; equal tasks once
  ///     mapping  [[level, temporal, rows, cols, keeps, padded], ...], loops as [dim, bound]
  ///     memories [[level, instances, capacity_words, used_words, read_cycles, write_cycles, bus_cycles, leakage_pj,
  ///                [[tensor, reads, fills, updates, energy_pj], ...]], ...]
  ///     rows     design row -> [[layer, task or -1, reason], ...]
  ///     residency  residency_details.h
  nlohmann::ordered_json json;
  std::size_t designs = 0;  ///< rows of `designs` that have their layers here
  std::size_t layer_rows = 0;
};

/// As many designs of `order` as have at most `limit` layers together (one at least).
LayerDetails read_layer_details(const std::filesystem::path& dataset, const ReportData& data,
                                const std::vector<std::size_t>& order, std::size_t limit);

}  // namespace pliant
