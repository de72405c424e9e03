// SPDX-License-Identifier: Apache-2.0
// `constraints:` of a sweep file: comparisons whose names all mean something.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/input/source_text.h"
#include "dse/sweep/result_limits.h"
#include "dse/sweep/sweep_reading.h"

namespace pliant {
namespace {

/// Names a constraint may use besides axes, parameters and levels.
constexpr std::array<std::string_view, 4> kDerived{"area_um2", "compute_units", "buffer_bits", "buffer_bytes"};
/// What a constraint may ask of a level: LEVEL.capacity is in words.
constexpr std::array<std::string_view, 7> kLevelNumbers{"capacity", "capacity_bits", "capacity_bytes", "rows",
                                                        "cols",     "units",         "instances"};

/// What a constraint may name in a sweep of this accelerator.
std::vector<std::string> names_of(const SweepReading& reading, std::size_t accelerator) {
  std::vector<std::string> known(reading.varied.begin(), reading.varied.end());
  for (const auto& [parameter, value] : reading.sweep.parameters[accelerator])
    if (!reading.varied.contains(parameter)) known.push_back(parameter);
  known.insert(known.end(), kDerived.begin(), kDerived.end());
  for (const std::string& name : result_names())
    if (!needs_serving(name) || !reading.sweep.served.empty()) known.push_back(name);
  for (const Level& level : reading.bases[accelerator].accelerator.levels) {
    for (const std::string_view number : kLevelNumbers) {
      const bool of_memory = number.starts_with("capacity");
      const bool of_fanout = number == "rows" || number == "cols" || number == "units";
      if ((of_memory && !level.is_memory()) || (of_fanout && !level.is_fanout())) continue;
      known.push_back(fmt::format("{}.{}", level.name, number));
    }
  }
  return known;
}

bool check_name(const SweepReading& reading, const Cursor& at, const std::string& name) {
  for (std::size_t a = 0; a < reading.bases.size(); ++a) {
    const std::vector<std::string> known = names_of(reading, a);
    if (std::ranges::find(known, name) != known.end()) continue;
    at.problem(fmt::format("nothing is named `{}`", shorten(name, 40)), "one of " + join(known), nearest(name, known));
    return false;
  }
  return true;
}

bool check_served(const SweepReading& reading, const Cursor& at, const std::string& name) {
  if (!needs_serving(name) || !reading.sweep.served.empty()) return true;
  at.problem(fmt::format("{} has no value: no workload is served", name), "a workload {serve: MODEL}");
  return false;
}

bool names_result(const Constraint& constraint) {
  return std::ranges::any_of(constraint.names(), [](const std::string& name) {
    return std::ranges::find(result_names(), name) != result_names().end();
  });
}

}  // namespace

bool check_clock(const SweepReading& reading, const Cursor& at, const std::string& name) {
  if (!needs_clock(name) || reading.varied.contains("clock")) return true;
  for (const auto& base : reading.bases) {
    if (base.accelerator.clock_hz) continue;
    at.problem(fmt::format("{} has no value: the accelerator {} has no clock", name, base.accelerator.name),
               "`clock: 1 GHz` on the accelerator, or `set: {clock: 1 GHz}` here");
    return false;
  }
  return true;
}

void read_constraints(SweepReading& reading, const Cursor& constraints) {
  for (const Cursor& item : one_or_list(constraints)) {
    const auto text = item.text("a comparison such as rows*cols <= 256");
    if (!text) continue;
    auto parsed = Constraint::parse(*text);
    if (const auto* what = std::get_if<std::string>(&parsed)) {
      item.problem(*what, "a comparison such as rows*cols <= 256 or area_um2 <= 2e6");
      continue;
    }
    const Constraint& constraint = std::get<Constraint>(parsed);
    bool good = true;
    for (const std::string& name : constraint.names())
      good = check_served(reading, item, name) && check_name(reading, item, name) && good;
    for (const std::string& name : constraint.names()) good = good && check_clock(reading, item, name);
    if (!good) continue;
    (names_result(constraint) ? reading.sweep.result_limits : reading.sweep.constraints).push_back(constraint);
  }
}

}  // namespace pliant
