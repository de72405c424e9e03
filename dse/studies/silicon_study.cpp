// SPDX-License-Identifier: Apache-2.0
// Beyond the papers: the model beside kernels that were timed on chips one can buy. Each kernel has a bound that is
// proven; two figures of the prediction are fitted on one half of the kernels and judged by the other half.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/input/prediction_block.h"
#include "dse/measured/fit.h"
#include "dse/measured/measured_charts.h"
#include "dse/measured/summary_of_rows.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

struct Table {
  const char* name;  ///< of the file in configs/measured
  const char* chip;
  const char* title;
  double exponentials_per_cycle = 0;  ///< 16 a cycle and SM (CUDA programming guide, arithmetic instructions)
};
constexpr std::array kTables{
    Table{"h200", "h200", "H200, our kernels", 16 * 132}, Table{"a100", "a100", "A100, aiconfigurator"},
    Table{"h100", "h100", "H100, aiconfigurator"},        Table{"b200", "b200", "B200, aiconfigurator"},
    Table{"a100_llmcompass", "a100", "A100, LLMCompass"},
};
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kQuick = 10;  ///< of so many kernels one

std::vector<Measurement> rows_of(const StudyContext& context, const Table& table) {
  std::vector<Measurement> rows =
      read_measurements(context.library.configs() / "measured" / (std::string(table.name) + ".csv"));
  if (!context.quick) return rows;
  std::vector<Measurement> some;
  for (std::size_t r = 0; r < rows.size(); r += kQuick) some.push_back(std::move(rows[r]));
  return some;
}

void add_classes(const std::string& title, const std::vector<KernelClass>& classes, StudyResult& result,
                 DataTable& table) {
  for (const KernelClass& one : classes) {
    const std::string name = fmt::format("{}: {}", title, one.name);
    result.found(name + ", kernels judged", static_cast<double>(one.kernels));
    result.found(name + ", median of measured over bound", one.above_bound);
    result.found(name + ", mean error of the roofline", one.roofline.mean);
    result.found(name + ", mean error of the prediction", one.prediction.mean);
    result.found(name + ", median error of the prediction", one.prediction.median);
    if (one.energy) result.found(name + ", mean error of energy", one.energy->mean);
    add_row(table, title, one.name, static_cast<std::int64_t>(one.kernels), one.above_bound, one.roofline.mean,
            one.prediction.mean, one.prediction.median, one.energy ? Cell(one.energy->mean) : Cell());
  }
}

void judge(const StudyContext& context, const Table& table, StudyResult& result, DataTable& classes) {
  const Accelerator chip = load_accelerator(context.library, table.chip);
  const std::optional<PredictionFigures> shipped = load_prediction(context.library, table.chip, {}, chip);
  const std::vector<Measurement> rows = rows_of(context, table);
  JudgeOptions options;
  options.threads = context.threads;
  options.stop = context.stop;
  options.exponentials_per_cycle = table.exponentials_per_cycle;
  options.on_row = [&](std::size_t done) {
    if (context.on_progress) context.on_progress(fmt::format("{}: {} of {} kernels", table.title, done, rows.size()));
  };
  const Judge judge_of(chip, options);
  const std::vector<KernelBound> bounds = judge_of.bounds(rows);
  const std::vector<bool> half = one_half(rows.size(), kSeed);
  const PredictionFigures fitted = fit(judge_of, rows, half, parse_figures("overhead,achievable", chip), *shipped);
  const std::vector<KernelPrediction> predictions = judge_of.predictions(rows, fitted);
  if (context.stop.stop_requested()) throw StudyInterrupted();
  std::vector<bool> other = half;
  other.flip();

  const std::string title = table.title;
  result.found(title + ": kernels", static_cast<double>(rows.size()));
  result.found(title + ": kernels faster than their bound",
               static_cast<double>(std::ranges::count(bounds, true, &KernelBound::violated)));
  result.found(title + ": overhead fitted, us", fitted.overhead_s * 1e6);
  result.found(title + ": share of HBM's bandwidth fitted", fitted.achievable.front());
  std::map<std::string, int> by;
  for (const KernelBound& bound : bounds) ++by[bound.by];
  for (const auto& [name, count] : by) result.found(fmt::format("{}: bound by {}", title, name), count);
  result.found(title + ": slowed down by power",
               static_cast<double>(std::ranges::count_if(
                   predictions, [](const KernelPrediction& one) { return one.predicted.throttled; })));
  add_classes(title, classes_of(rows, bounds, predictions, other), result, classes);
  result.tables.emplace_back(table.name, measured_table(rows, bounds, predictions, half));
  for (Chart& chart : measured_charts(fmt::format("silicon_{}", table.name), title, rows, bounds, predictions))
    result.charts.push_back(std::move(chart));
}

}  // namespace

StudyResult run_silicon_study(const StudyContext& context) {
  StudyResult result;
  DataTable classes = table_of({"table", "kernels", "count", "measured_over_bound", "roofline_error",
                                "prediction_error", "prediction_median_error", "energy_error"});
  for (const Table& table : kTables) judge(context, table, result, classes);
  result.tables.emplace_back("classes", std::move(classes));
  return result;
}

}  // namespace pliant
