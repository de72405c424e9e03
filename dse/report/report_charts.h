// SPDX-License-Identifier: Apache-2.0
// The charts of a report, each in the state in which the page opens, for every workload.
#pragma once

#include <filesystem>
#include <vector>

#include "dse/report/chart.h"
#include "dse/report/report_data.h"

namespace pliant {

/// Of the whole dataset, and of the knee design of every workload.
std::vector<Chart> report_charts(const std::filesystem::path& dataset, const ReportData& data);

}  // namespace pliant
