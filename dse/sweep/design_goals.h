// SPDX-License-Identifier: Apache-2.0
// What a design search is after: the blocks `minimize`, `maximize` and `mix` of a sweep file. A sweep ignores them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// A number of a design, by the column of `designs` that holds it.
enum class DesignMeasure : std::uint8_t {
  kArea,
  kRuntime,
  kEnergy,
  kEdp,
  kLatency,
  kPower,
  kTtft,
  kTpot,
  kServedTokensPerS,
  kTokensPerJ,
  kLargestBatch
};
inline constexpr int kDesignMeasures = 11;
std::string_view column_of(DesignMeasure measure);
std::optional<DesignMeasure> parse_design_measure(std::string_view column);
/// Of a language model that is served.
bool of_serving(DesignMeasure measure);
/// A goal of `maximize`. Everywhere inside a search goals are to be small: the goal is the reciprocal of the column.
bool is_maximized(DesignMeasure measure);
/// The column's value from the goal's, and back.
double column_value(DesignMeasure measure, double goal);

struct DesignGoals {
  /// Of several workloads one number: their weighted geometric mean, the worst, or the weighted mean.
  enum class Mix : std::uint8_t { kGeometricMean, kWorst, kMean };
  struct Goal {
    DesignMeasure measure = DesignMeasure::kArea;
    std::optional<std::size_t> workload;  ///< of this one alone; else of all, mixed
    bool operator==(const Goal&) const = default;
  };
  std::vector<Goal> minimize;  ///< those of `maximize` after the others
  Mix mix = Mix::kGeometricMean;
  std::vector<double> weights;  ///< by workload; they sum up to 1

  /// From one number for each workload.
  double mixed(const std::vector<double>& by_workload) const;
  std::string text() const;  ///< everything, for hashes
};

}  // namespace pliant
