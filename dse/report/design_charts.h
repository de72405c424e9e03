// SPDX-License-Identifier: Apache-2.0
// One design on one workload as charts: energy and traffic by memory and tensor, utilization and roofline of its
// layers.
#pragma once

#include <filesystem>
#include <vector>

#include "dse/report/chart.h"
#include "dse/report/report_data.h"

namespace pliant {

/// `row` of data.designs; none when it has no mappings.
std::vector<Chart> design_charts(const std::filesystem::path& dataset, const ReportData& data, std::size_t row);

}  // namespace pliant
