// SPDX-License-Identifier: Apache-2.0
// The charts of a report as files, each in the state in which the page opens, for every workload.
#pragma once

#include <filesystem>
#include <vector>

#include "dse/report/chart.h"
#include "dse/report/report_data.h"

namespace pliant {

/// Of the whole dataset, and of the knee design of every workload.
std::vector<Chart> report_charts(const std::filesystem::path& dataset, const ReportData& data);

/// With pictures, and the drawings of flexion as .svg and .png. Returns the number of files.
std::size_t write_report_charts(const std::filesystem::path& dataset, const ReportData& data,
                                const std::filesystem::path& folder, double scale);

}  // namespace pliant
