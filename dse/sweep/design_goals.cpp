// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/design_goals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace pliant {

namespace {

constexpr std::array<std::string_view, kDesignMeasures> kColumns = {
    "area_um2", "runtime_cycles", "energy_pj",           "edp_pj_cycles", "latency_s",    "power_w",
    "ttft_s",   "tpot_s",         "served_tokens_per_s", "tokens_per_j",  "largest_batch"};

}  // namespace

std::string_view column_of(DesignMeasure measure) { return kColumns[static_cast<std::size_t>(measure)]; }

std::optional<DesignMeasure> parse_design_measure(std::string_view column) {
  for (std::size_t i = 0; i < kColumns.size(); ++i)
    if (kColumns[i] == column) return static_cast<DesignMeasure>(i);
  return std::nullopt;
}

bool of_serving(DesignMeasure measure) { return measure >= DesignMeasure::kTtft; }

bool is_maximized(DesignMeasure measure) { return measure >= DesignMeasure::kServedTokensPerS; }

double column_value(DesignMeasure measure, double goal) { return is_maximized(measure) ? 1 / goal : goal; }

double DesignGoals::mixed(const std::vector<double>& by_workload) const {
  double sum = 0;
  for (std::size_t w = 0; w < by_workload.size(); ++w) {
    switch (mix) {
      case Mix::kGeometricMean: sum += weights[w] * std::log(by_workload[w]); break;
      case Mix::kMean: sum += weights[w] * by_workload[w]; break;
      case Mix::kWorst: sum = std::max(sum, by_workload[w]); break;
    }
  }
  if (mix != Mix::kGeometricMean) return sum;
  return by_workload.size() == 1 ? by_workload.front() : std::exp(sum);
}

std::string DesignGoals::text() const {
  std::string all = fmt::format("mix {}\n", static_cast<int>(mix));
  for (const Goal& goal : minimize)
    all += fmt::format("minimize {} {}\n", column_of(goal.measure),
                       goal.workload ? fmt::format("{}", *goal.workload) : "all");
  for (const double weight : weights) all += fmt::format("weight {}\n", weight);
  return all;
}

}  // namespace pliant
