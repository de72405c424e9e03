// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/mean_interval.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {

MeanInterval mean_interval(const std::vector<double>& sample) {
  const auto n = static_cast<double>(sample.size());
  MeanInterval found;
  found.mean = std::accumulate(sample.begin(), sample.end(), 0.0) / n;
  double squares = 0;
  for (const double value : sample) squares += (value - found.mean) * (value - found.mean);
  const double error = sample.size() > 1 ? std::sqrt(squares / (n - 1) / n) : found.mean;
  found.low = std::max(found.mean - 2 * error, found.mean / 4);
  // The rule of three: up to 3 in n of all may lie beyond the largest that was seen. They are taken for three times as
  // large.
  found.high = found.mean + 2 * error + std::min(1.0, 3 / n) * 3 * *std::ranges::max_element(sample);
  return found;
}

}  // namespace pliant
