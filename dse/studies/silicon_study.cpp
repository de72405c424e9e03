// SPDX-License-Identifier: Apache-2.0
// Beyond the papers: kernels timed on an H200 beside the bound that none beats, a roofline and the prediction of a good
// kernel; what binds them, and what full flexibility would gain on that chip.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/flexibility_class.h"
#include "core/input/prediction_block.h"
#include "dse/measured/fit.h"
#include "dse/measured/measured_charts.h"
#include "dse/measured/summary_of_rows.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/five_numbers.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// Exponentials of an SM in a cycle (CUDA programming guide), times its SMs.
constexpr double kExponentials = 16 * 132;
/// Draws the half of the rows on which figures are fitted.
constexpr std::uint64_t kSeed = 1;
/// Bounds are told of every so many kernels; the quick run has these alone.
constexpr std::size_t kQuickStep = 6;

JudgeOptions options_of(const StudyContext& context) {
  JudgeOptions options;
  options.seconds = 0.1;
  options.gap = 0.05;
  options.exponentials_per_cycle = kExponentials;
  options.threads = context.threads;
  options.stop = context.stop;
  return options;
}

void stop_if_asked(const StudyContext& context) {
  if (context.stop.stop_requested()) throw StudyInterrupted();
}

/// How much lower bounds are where the chip may do everything that its sizes allow.
void add_flexibility(const StudyContext& context, const Accelerator& chip, const std::vector<Measurement>& rows,
                     const std::vector<KernelBound>& bounds, StudyResult& result) {
  const Accelerator free = apply_class(chip, *parse_flexibility_class("FullFlex-1111"));
  const std::vector<KernelBound> others = Judge(free, options_of(context)).bounds(rows);
  stop_if_asked(context);
  DataTable table = table_of({"kernel", "kind", "aligned", "measured_over_bound", "bound_over_bound_of_1111"});
  std::map<bool, std::vector<double>> gains;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double gain = bounds[r].seconds / others[r].seconds;
    gains[rows[r].aligned].push_back(gain);
    add_row(table, rows[r].name, std::string(to_string(rows[r].kind)), rows[r].aligned,
            rows[r].seconds / bounds[r].seconds, gain);
  }
  for (const auto& [aligned, all] : gains) {
    const char* name = aligned ? "aligned" : "not aligned";
    result.found(fmt::format("bound over that of FullFlex-1111, {}: median", name), five_numbers(all)[2]);
    result.found(fmt::format("bound over that of FullFlex-1111, {}: most", name), std::ranges::max(all));
  }
  result.tables.emplace_back("flexibility", std::move(table));
}

void add_classes(const std::vector<KernelClass>& classes, const char* rows, StudyResult& result) {
  for (const KernelClass& one : classes) {
    const std::string name = fmt::format("{}, {}", rows, one.name);
    result.found(name + ": kernels", static_cast<double>(one.kernels));
    result.found(name + ": measured over bound, median", one.above_bound);
    result.found(name + ": mean error of the roofline (%)", 100 * one.roofline.mean);
    result.found(name + ": mean error of the prediction (%)", 100 * one.prediction.mean);
    if (one.energy) result.found(name + ": mean error of energy (%)", 100 * one.energy->mean);
  }
}

}  // namespace

StudyResult run_silicon_study(const StudyContext& context) {
  StudyResult result;
  const Accelerator chip = load_accelerator(context.library, "h200");
  std::vector<Measurement> rows = read_measurements(context.library.configs() / "measured/h200.csv");
  if (context.quick) {
    std::vector<Measurement> some;
    for (std::size_t r = 0; r < rows.size(); r += kQuickStep) some.push_back(rows[r]);
    rows = std::move(some);
  }
  const Judge judge(chip, options_of(context));
  const std::vector<KernelBound> bounds = judge.bounds(rows);
  stop_if_asked(context);
  for (std::size_t r = 0; r < rows.size(); r += context.quick ? 1 : kQuickStep)
    result.found(rows[r].name + ": bound (us)", bounds[r].seconds * 1e6);
  const auto faster = std::ranges::count_if(bounds, &KernelBound::violated);
  result.found(context.quick ? "kernels faster than their bound, of the quick run" : "kernels faster than their bound",
               static_cast<double>(faster));
  if (context.quick) return result;

  std::map<std::string, int> by;
  for (const KernelBound& bound : bounds) ++by[bound.by];
  for (const auto& [name, count] : by) result.found("kernels bound by " + name, count);

  const PredictionFigures figures = load_prediction(context.library, "h200", {}, chip).value();
  const std::vector<FittedFigure> fitted = parse_figures("overhead,achievable", chip);
  std::vector<bool> half = one_half(rows.size(), kSeed);
  const PredictionFigures found = fit(judge, rows, half, fitted, figures);
  const std::vector<KernelPrediction> predictions = judge.predictions(rows, found);
  stop_if_asked(context);
  result.found("fitted overhead (us)", found.overhead_s * 1e6);
  result.found("fitted share of HBM's bandwidth", found.achievable.front());
  std::vector<KernelPrediction> as_they_are = predictions;
  for (std::size_t r = 0; r < rows.size(); ++r)
    as_they_are[r].predicted = judge.priced(rows[r], predictions[r].mappings, figures);
  add_classes(classes_of(rows, bounds, as_they_are, std::vector<bool>(rows.size(), true)), "figures of the file",
              result);
  result.tables.emplace_back("kernels", measured_table(rows, bounds, predictions, half));
  half.flip();
  add_classes(classes_of(rows, bounds, predictions, half), "fitted on the other half", result);

  add_flexibility(context, chip, rows, bounds, result);
  result.charts = measured_charts("silicon", "NVIDIA H200", rows, bounds, as_they_are);
  return result;
}

}  // namespace pliant
