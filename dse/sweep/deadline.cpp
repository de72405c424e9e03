// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/deadline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/arithmetic.h"
#include "costmodel/physical.h"
#include "dse/sweep/result_limits.h"

namespace pliant {

namespace {

constexpr std::array<std::string_view, 5> kTimes{"latency_s", "runtime_cycles", "inferences_per_s", "tokens_per_s",
                                                 "tops"};

/// No network is as slow, and none as fast.
constexpr double kForever = 1e30, kNoTime = 1e-3;
/// What sums in another order may differ by: the deadline is met with this share to spare.
constexpr double kSpare = 4e-12;

std::optional<double> time_value(std::string_view name, double cycles, const Workload& workload, double macs,
                                 std::optional<double> clock_hz) {
  if (name == "runtime_cycles") return cycles;
  const auto figures = physical(clock_hz, 1, cycles, macs);
  if (!figures) return std::nullopt;
  if (name == "latency_s") return figures->latency_s;
  if (name == "tops") return figures->tops;
  if (name == "inferences_per_s") return static_cast<double>(workload.pass.inferences) / figures->latency_s;
  if (!workload.pass.tokens) return std::nullopt;
  return static_cast<double>(*workload.pass.tokens) / figures->latency_s;
}

}  // namespace

bool limits_time(const Constraint& limit) {
  const std::string* time = nullptr;
  for (const std::string& name : limit.names()) {
    if (std::ranges::find(result_names(), name) == result_names().end()) continue;
    if (time != nullptr || std::ranges::find(kTimes, name) == kTimes.end()) return false;
    time = &name;
  }
  return time != nullptr && limit.decided_by_ends(*time);
}

double most_cycles(const std::vector<Constraint>& limits, const Workload& workload, std::optional<double> clock_hz,
                   const Constraint::Ranges& numbers) {
  double macs = 0;
  for (const auto& [layer, count] : workload.layers)
    macs += static_cast<double>(count) * static_cast<double>(layer.macs());
  double most = kInfinity;
  for (const Constraint& limit : limits) {
    if (!limits_time(limit)) continue;
    const auto keeps = [&](double cycles) {
      return !limit.never_holds([&](const std::string& name) -> std::optional<Constraint::Interval> {
        if (std::ranges::find(kTimes, name) == kTimes.end()) return numbers ? numbers(name) : std::nullopt;
        const auto value = time_value(name, cycles, workload, macs, clock_hz);
        return value ? std::optional(Constraint::Interval(*value, *value)) : std::nullopt;
      });
    };
    // It holds up to some time, or from some time on: the second kind is no deadline.
    if (keeps(kForever)) continue;
    double low = kNoTime, high = kForever;
    if (!keeps(low)) return 0;
    while (high > low * (1 + 1e-13)) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      if (middle <= low || middle >= high) break;
      (keeps(middle) ? low : high) = middle;
    }
    most = std::min(most, low * (1 - kSpare));
  }
  return most;
}

}  // namespace pliant
