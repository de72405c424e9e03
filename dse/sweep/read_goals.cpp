// SPDX-License-Identifier: Apache-2.0
// `minimize:` and `mix:` of a sweep file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/input/source_text.h"
#include "dse/sweep/sweep_keys.h"
#include "dse/sweep/sweep_reading.h"

namespace pliant {
namespace {

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (int m = 0; m < kDesignMeasures; ++m) names.emplace_back(column_of(static_cast<DesignMeasure>(m)));
  return names;
}

std::optional<DesignMeasure> read_measure(const Cursor& at, const std::string& name) {
  const auto measure = parse_design_measure(name);
  if (!measure)
    at.problem(fmt::format("no measure `{}`", shorten(name, 40)), "one of " + join(measure_names()),
               nearest(name, measure_names()));
  return measure;
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

void read_minimize(SweepReading& reading, const Cursor& block, DesignGoals& goals) {
  const std::vector<Cursor> items = one_or_list(block);
  for (const Cursor& item : items) {
    DesignGoals::Goal goal;
    std::optional<std::string> name;
    if (item.node().is_map()) {
      if (!item.only_keys(keys::kSweepGoal, "a column, or a map with column and workload")) continue;
      if (const auto c = item.require("column", "one of " + join(measure_names()))) name = c->text();
      if (const auto c = item.find("workload"))
        if (const auto workload = c->text()) goal.workload = workload_named(reading, *c, *workload);
    } else {
      name = item.text("a column such as area_um2");
    }
    const auto measure = name ? read_measure(item, *name) : std::nullopt;
    if (!measure || !check_clock(reading, item, std::string(column_of(*measure)))) continue;
    goal.measure = *measure;
    if (std::ranges::find(goals.minimize, goal) != goals.minimize.end()) item.problem("it is there twice", "each once");
    goals.minimize.push_back(goal);
  }
  if (items.empty() || items.size() > 3)
    block.problem(fmt::format("{} goals", items.size()), "one to three columns to minimize");
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
  const auto minimize = root.find("minimize");
  const auto mix = root.find("mix");
  if (!minimize) {
    if (mix) mix->problem("without `minimize`", "`minimize` beside it");
    return;
  }
  DesignGoals goals;
  goals.weights.assign(reading.sweep.workloads.size(), 1.0);
  read_minimize(reading, *minimize, goals);
  if (mix) read_mix(reading, *mix, goals);
  const double sum = std::accumulate(goals.weights.begin(), goals.weights.end(), 0.0);
  for (double& weight : goals.weights) weight /= sum;
  reading.sweep.goals = std::move(goals);
}

}  // namespace pliant
