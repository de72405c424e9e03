// SPDX-License-Identifier: Apache-2.0
#include "dse/measured/summary_of_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace pliant {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

Errors errors_of(const std::vector<double>& ratios) {
  std::vector<double> errors;
  for (const double ratio : ratios) errors.push_back(std::abs(ratio - 1));
  return {std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()), median(errors)};
}

}  // namespace

std::vector<KernelClass> classes_of(const std::vector<Measurement>& rows, const std::vector<KernelBound>& bounds,
                                    const std::vector<KernelPrediction>& predictions, const std::vector<bool>& used) {
  std::vector<KernelClass> classes;
  const auto add = [&](const std::string& name, const std::function<bool(const Measurement&)>& belongs) {
    KernelClass one{name, 0, 0, {}, {}, {}};
    std::vector<double> above, roofline, prediction, energy;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!used[r] || !belongs(rows[r])) continue;
      above.push_back(rows[r].seconds / bounds[r].seconds);
      roofline.push_back(bounds[r].roofline_s / rows[r].seconds);
      if (predictions.empty()) continue;
      prediction.push_back(predictions[r].predicted.seconds / rows[r].seconds);
      if (rows[r].joules && rows[r].seconds >= kLongEnough)
        energy.push_back(predictions[r].predicted.joules / *rows[r].joules);
    }
    if (above.empty()) return;
    one.kernels = above.size();
    one.above_bound = median(above);
    one.roofline = errors_of(roofline);
    if (!prediction.empty()) one.prediction = errors_of(prediction);
    if (!energy.empty()) one.energy = errors_of(energy);
    classes.push_back(std::move(one));
  };
  for (const KernelKind kind : {KernelKind::kGemm, KernelKind::kBatchedGemm, KernelKind::kConvolution,
                                KernelKind::kAttention, KernelKind::kCopy}) {
    const auto of_kind = [kind](const Measurement& row) { return row.aligned && row.kind == kind; };
    add(fmt::format("{}, below 20 us", to_string(kind)),
        [&](const Measurement& row) { return of_kind(row) && row.seconds < kLongKernel; });
    add(fmt::format("{}, 20 us and more", to_string(kind)),
        [&](const Measurement& row) { return of_kind(row) && row.seconds >= kLongKernel; });
    add(fmt::format("{}, all", to_string(kind)), of_kind);
  }
  add("not aligned", [](const Measurement& row) { return !row.aligned; });
  add("aligned, all", [](const Measurement& row) { return row.aligned; });
  return classes;
}

}  // namespace pliant
