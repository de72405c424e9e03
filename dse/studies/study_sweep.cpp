// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/study_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "dse/sweep/run_sweep.h"

namespace pliant {

const DataColumn& Rows::column(std::string_view name) const {
  const DataColumn* found = table_.find(name);
  if (found == nullptr) throw StudyError(fmt::format("no column {}", name));
  return *found;
}

std::vector<std::size_t> Rows::where(const Where& wanted) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < size(); ++row)
    if (std::ranges::all_of(wanted, [&](const auto& want) { return text(row, want.first) == want.second; }))
      rows.push_back(row);
  return rows;
}

std::size_t Rows::row(const Where& wanted) const {
  const std::vector<std::size_t> rows = where(wanted);
  if (rows.size() == 1) return rows.front();
  std::string words;
  for (const auto& [name, value] : wanted) words += fmt::format(" {}={}", name, value);
  throw StudyError(fmt::format("{} rows with{}", rows.size(), words));
}

double Rows::number(std::size_t row, std::string_view name) const {
  const Cell& cell = column(name).cells[row];
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? 1 : 0;
  return std::numeric_limits<double>::quiet_NaN();
}

std::string Rows::text(std::size_t row, std::string_view name) const { return to_text(column(name).cells[row]); }

std::vector<std::string> Rows::values(std::string_view name) const {
  std::vector<std::string> different;
  for (std::size_t row = 0; row < size(); ++row) {
    std::string value = text(row, name);
    if (std::ranges::find(different, value) == different.end()) different.push_back(std::move(value));
  }
  return different;
}

Sweep load_study_sweep(const StudyContext& context, const std::string& name) {
  return load_sweep(context.library, context.library.configs() / "sweeps" / (name + ".yaml"));
}

SweepData run_study_sweep(const StudyContext& context, const std::string& name,
                          const std::function<void(Sweep&)>& change, const std::string& folder) {
  Sweep sweep = load_study_sweep(context, name);
  if (change) change(sweep);
  SweepRunOptions options;
  options.dataset = context.folder / (folder.empty() ? name : folder);
  options.cache = context.cache;
  options.threads = context.threads;
  options.stop = context.stop;
  options.update = true;  // a study is run again; what did not change comes from the cache
  options.on_progress = [&](const SweepProgress& progress) {
    if (context.on_progress)
      context.on_progress(
          fmt::format("{}: {} of {} layers, {:.0f} s", name, progress.done, progress.total, progress.seconds));
  };
  const SweepOutcome outcome = run_sweep(context.library, sweep, options);
  if (outcome.interrupted) throw StudyInterrupted();
  std::vector<std::string> damaged;
  SweepData data{Rows(read_table(options.dataset, TableKind::kLayers, damaged)),
                 Rows(read_table(options.dataset, TableKind::kDesigns, damaged))};
  if (!damaged.empty()) throw StudyError(damaged.front());
  for (std::size_t row = 0; row < data.layers.size(); ++row)
    if (data.layers.text(row, "status") != "solved")
      throw StudyError(fmt::format("{}: {} on design {}: {}", name, data.layers.text(row, "layer"),
                                   data.layers.text(row, "design_id"), data.layers.text(row, "reason")));
  return data;
}

SweepData run_study_sweep_with(const StudyContext& context, const std::string& mapper, const std::string& name,
                               const std::function<void(Sweep&)>& change) {
  return run_study_sweep(
      context, name,
      [&](Sweep& sweep) {
        sweep.mapper = mapper;
        change(sweep);
      },
      name + "_" + mapper);
}

void keep_layers(Sweep& sweep, const std::vector<std::string>& names) {
  for (Workload& workload : sweep.workloads)
    std::erase_if(workload.layers, [&](const Workload::Entry& entry) {
      return std::ranges::find(names, entry.layer.name) == names.end();
    });
}

void keep_every(Sweep& sweep, std::size_t n) {
  for (Workload& workload : sweep.workloads) {
    std::size_t i = 0;
    std::erase_if(workload.layers, [&](const Workload::Entry&) { return i++ % n != 0; });
  }
}

void keep_values(Sweep& sweep, std::string_view key, const std::vector<std::string>& values) {
  for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    if (sweep.axes[axis].keys.empty() || sweep.axes[axis].keys[0] != key) continue;
    auto& written = sweep.axes[axis].values;
    for (std::size_t i = written.size(); i-- > 0;) {
      if (std::ranges::find(values, written[i][0]) != values.end()) continue;
      written.erase(written.begin() + static_cast<std::ptrdiff_t>(i));
      sweep.cells[axis].erase(sweep.cells[axis].begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void search_at_random(Sweep& sweep, int seed) {
  sweep.mapper = "random";
  sweep.mapper_options = {{"victory", "3000"}};
  sweep.seed = static_cast<std::uint64_t>(seed);
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace pliant
