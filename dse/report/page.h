// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else: data, charts, style and scripts are in it, and its policy
// forbids every connection.
#pragma once

#include <string>

#include "dse/report/layer_details.h"
#include "dse/report/report_data.h"

namespace pliant {

std::string report_page(const ReportData& data, const LayerDetails& details);

}  // namespace pliant
