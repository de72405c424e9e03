// SPDX-License-Identifier: Apache-2.0
// What stays on chip in some designs, step by step: what the page shows where a sweep lets tensors stay.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "dse/report/report_data.h"

namespace pliant {

/// Of the given rows of `designs`, where the dataset has it; page/residency.js reads it back:
///
///     row -> {steps: [[node, count, energy_pj, runtime_cycles, outside_energy_pj, outside_runtime_cycles,
///                      [[level, words], ...], bound_by, under], ...],
///             tensors: [[node, elements, from_step, to_step, level, tiles], ...]}, level "" = outside
nlohmann::ordered_json read_residency_details(const std::filesystem::path& dataset, const ReportData& data,
                                              const std::vector<std::size_t>& rows);

}  // namespace pliant
