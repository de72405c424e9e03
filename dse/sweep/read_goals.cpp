// SPDX-License-Identifier: Apache-2.0
// `minimize:`, `maximize:` and `mix:` of a sweep file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/input/source_text.h"
#include "dse/sweep/sweep_keys.h"
#include "dse/sweep/sweep_reading.h"

namespace pliant {
namespace {

/// Goals of `maximize`, or of `minimize`; those of serving only where a model is served.
std::vector<std::string> measure_names(const SweepReading& reading, bool maximized) {
  std::vector<std::string> names;
  for (int m = 0; m < kDesignMeasures; ++m) {
    const auto measure = static_cast<DesignMeasure>(m);
    if (is_maximized(measure) != maximized || (of_serving(measure) && reading.sweep.served.empty())) continue;
    names.emplace_back(column_of(measure));
  }
  return names;
}

std::optional<DesignMeasure> read_measure(const SweepReading& reading, const Cursor& at, const std::string& name,
                                          bool maximized) {
  const auto measure = parse_design_measure(name);
  const std::vector<std::string> names = measure_names(reading, maximized);
  const std::string expected = names.empty() ? "a workload {serve: MODEL}" : "one of " + join(names);
  if (!measure) {
    at.problem(fmt::format("no measure `{}`", shorten(name, 40)), expected, nearest(name, names));
  } else if (of_serving(*measure) && reading.sweep.served.empty()) {
    at.problem(fmt::format("{} has no value: no workload is served", name), "a workload {serve: MODEL}");
  } else if (is_maximized(*measure) != maximized) {
    at.problem(fmt::format("{} is better where it is {}", name, maximized ? "smaller" : "larger"),
               maximized ? "it under `minimize`" : "it under `maximize`");
  } else {
    return measure;
  }
  return std::nullopt;
}

/// A goal of serving has a value for every workload that it is about.
void check_has_value(const SweepReading& reading, const Cursor& at, const DesignGoals::Goal& goal) {
  if (!of_serving(goal.measure)) return;
  for (std::size_t w = 0; w < reading.sweep.workloads.size(); ++w) {
    const std::string& workload = reading.sweep.workloads[w].name;
    if ((goal.workload && *goal.workload != w) || reading.sweep.served.contains(workload)) continue;
    return at.problem(fmt::format("{} has no value for {}, which is not served", column_of(goal.measure), workload),
                      "{column: " + std::string(column_of(goal.measure)) + ", workload: one that is served}");
  }
}

std::optional<std::size_t> workload_named(const SweepReading& reading, const Cursor& at, const std::string& name) {
  std::vector<std::string> names;
  for (const Workload& workload : reading.sweep.workloads) names.push_back(workload.name);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  at.problem(fmt::format("no workload `{}` in this file", shorten(name, 40)), "one of " + join(names),
             nearest(name, names));
  return std::nullopt;
}

void read_columns(SweepReading& reading, const Cursor& block, bool maximized, DesignGoals& goals) {
  const std::vector<Cursor> items = one_or_list(block);
  for (const Cursor& item : items) {
    DesignGoals::Goal goal;
    std::optional<std::string> name;
    if (item.node().is_map()) {
      if (!item.only_keys(keys::kSweepGoal, "a column, or a map with column and workload")) continue;
      if (const auto c = item.require("column", "one of " + join(measure_names(reading, maximized)))) name = c->text();
      if (const auto c = item.find("workload"))
        if (const auto workload = c->text()) goal.workload = workload_named(reading, *c, *workload);
    } else {
      name = item.text("a column such as area_um2");
    }
    const auto measure = name ? read_measure(reading, item, *name, maximized) : std::nullopt;
    if (!measure || !check_clock(reading, item, std::string(column_of(*measure)))) continue;
    goal.measure = *measure;
    check_has_value(reading, item, goal);
    if (std::ranges::find(goals.minimize, goal) != goals.minimize.end()) item.problem("it is there twice", "each once");
    goals.minimize.push_back(goal);
  }
  if (items.empty() || goals.minimize.size() > 3)
    block.problem(fmt::format("{} goals", items.empty() ? 0 : goals.minimize.size()),
                  "one to three columns to minimize or maximize");
}

void read_mix(SweepReading& reading, const Cursor& block, DesignGoals& goals) {
  if (!block.only_keys(keys::kSweepMix, "a map with of and weights")) return;
  if (const auto c = block.find("of")) {
    constexpr std::array<std::string_view, 3> kMixes = {"geometric-mean", "worst", "mean"};
    const auto word = c->text("geometric-mean, worst or mean");
    const auto found = word ? std::ranges::find(kMixes, *word) : kMixes.end();
    if (word && found == kMixes.end())
      c->problem(fmt::format("no mix `{}`", shorten(*word, 40)), "geometric-mean, worst or mean");
    if (found != kMixes.end()) goals.mix = static_cast<DesignGoals::Mix>(found - kMixes.begin());
  }
  const auto weights = block.find("weights");
  if (!weights || !weights->expect_map("a weight for each workload")) return;
  std::ranges::fill(goals.weights, 0);
  const std::vector<Cursor> entries = weights->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto workload = workload_named(reading, entries[i], weights->entry(i).key);
    const auto weight = entries[i].real();
    if (!workload || !weight) continue;
    if (*weight <= 0) entries[i].problem(fmt::format("{}", *weight), "a weight above 0");
    goals.weights[*workload] = *weight;
  }
  if (std::ranges::find(goals.weights, 0.0) != goals.weights.end())
    weights->problem("a workload has no weight", "a weight for each workload");
}

}  // namespace

void read_goals(SweepReading& reading, const Cursor& root) {
  const auto minimize = root.find("minimize"), maximize = root.find("maximize");
  const auto mix = root.find("mix");
  if (!minimize && !maximize) {
    if (mix) mix->problem("without `minimize`", "`minimize` beside it");
    return;
  }
  DesignGoals goals;
  goals.weights.assign(reading.sweep.workloads.size(), 1.0);
  if (minimize) read_columns(reading, *minimize, false, goals);
  if (maximize) read_columns(reading, *maximize, true, goals);
  if (mix) read_mix(reading, *mix, goals);
  const double sum = std::accumulate(goals.weights.begin(), goals.weights.end(), 0.0);
  for (double& weight : goals.weights) weight /= sum;
  reading.sweep.goals = std::move(goals);
}

}  // namespace pliant
