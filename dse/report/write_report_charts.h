// SPDX-License-Identifier: Apache-2.0
// The charts of a report and the drawings of its flexion as files.
#pragma once

#include <filesystem>

#include "dse/report/report_data.h"

namespace pliant {

/// With pictures, and the drawings of flexion as .svg and .png. Returns the number of files.
std::size_t write_report_charts(const std::filesystem::path& dataset, const ReportData& data,
                                const std::filesystem::path& folder, double scale);

}  // namespace pliant
