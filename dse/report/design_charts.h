// SPDX-License-Identifier: Apache-2.0
// One design on one workload as charts: energy and traffic by memory and tensor, utilization and roofline of its
// layers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dse/report/chart.h"
#include "dse/report/report_data.h"

namespace pliant {

struct LevelPart {
  std::string level, tensor;
  double value = 0;
};
/// A bar for each level, a part of it for each tensor, in the order in which they come.
Chart stacked_chart(std::string name, std::string title, const std::string& x_title, double scale,
                    const std::vector<LevelPart>& parts);

/// `row` of data.designs; none when it has no mappings.
std::vector<Chart> design_charts(const std::filesystem::path& dataset, const ReportData& data, std::size_t row);

}  // namespace pliant
