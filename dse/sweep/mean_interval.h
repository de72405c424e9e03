// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace pliant {

/// The mean of what a sample was drawn from, and where it lies with about 95 % confidence.
struct MeanInterval {
  double low = 0, mean = 0, high = 0;
};
/// For amounts that are never negative and may have a long tail, such as times of searches. Needs one value at least.
MeanInterval mean_interval(const std::vector<double>& sample);

}  // namespace pliant
