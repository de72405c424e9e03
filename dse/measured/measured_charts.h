// SPDX-License-Identifier: Apache-2.0
// Kernels beside their bounds and predictions, drawn.
#pragma once

#include <string>
#include <vector>

#include "dse/measured/judged.h"
#include "dse/report/chart.h"

namespace pliant {

/// Every number of every kernel, a row each.
DataTable measured_table(const std::vector<Measurement>& rows, const std::vector<KernelBound>& bounds,
                         const std::vector<KernelPrediction>& predictions, const std::vector<bool>& fitted_on);

/// `NAME_scatter`: measured against said, bound and prediction; `NAME_residuals`: their ratio by size.
std::vector<Chart> measured_charts(const std::string& name, const std::string& title,
                                   const std::vector<Measurement>& rows, const std::vector<KernelBound>& bounds,
                                   const std::vector<KernelPrediction>& predictions);

}  // namespace pliant
