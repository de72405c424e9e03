// SPDX-License-Identifier: Apache-2.0
#include "dse/report/report_charts.h"
namespace pliant {
std::vector<Chart> report_charts(const std::filesystem::path&, const ReportData&, const std::vector<std::size_t>&) {
  return {};
}
std::size_t write_report_charts(const std::filesystem::path&, const ReportData&, const std::vector<std::size_t>&,
                                const std::filesystem::path&, double) {
  return 0;
}
}  // namespace pliant
