// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/validate_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/input/prediction_block.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/render_physical.h"
#include "dse/answers/task_options.h"
#include "dse/answers/text_table.h"
#include "dse/import/open.h"
#include "dse/measured/fit.h"
#include "dse/measured/measured_charts.h"
#include "dse/measured/summary_of_rows.h"
#include "dse/results/data_table.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

std::string error_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Everything that was asked, and what came of it.
struct MeasuredAnswer {
  Accelerator accelerator;
  std::vector<Measurement> rows;
  std::vector<KernelBound> bounds;
  std::optional<PredictionFigures> prediction;  ///< the file's, or the fitted one
  std::vector<FittedFigure> fitted;
  std::vector<bool> fitted_on, judged;
  std::vector<KernelPrediction> predictions;
  std::size_t violations() const {
    return static_cast<std::size_t>(std::ranges::count(bounds, true, &KernelBound::violated));
  }
  std::vector<KernelClass> classes() const { return classes_of(rows, bounds, predictions, judged); }
};

std::string figures_text(const MeasuredAnswer& answer) {
  const PredictionFigures& figures = *answer.prediction;
  const auto origin = [&](const std::string& name) {
    const auto same = [&](const FittedFigure& figure) { return figure.name == name; };
    return std::ranges::any_of(answer.fitted, same) ? " (fitted)" : "";
  };
  std::string text = fmt::format("overhead {}{}", readable_latency(figures.overhead_s), origin("overhead"));
  for (std::size_t l = 0; l < figures.achievable.size(); ++l) {
    const std::string name = "achievable." + answer.accelerator.levels[l].name;
    if (figures.achievable[l] != 1 || *origin(name) != '\0')
      text += fmt::format(", {} {:.3g}{}", name, figures.achievable[l], origin(name));
  }
  if (figures.power_limit_w) text += fmt::format(", power limit {:.4g} W", *figures.power_limit_w);
  if (figures.idle_w > 0) text += fmt::format(", idle {:.4g} W", figures.idle_w);
  return text;
}

void print_violations(const MeasuredAnswer& answer, std::ostream& out) {
  out << fmt::format("{} of {} kernels are faster than the bound that is proven for them on {}\n", answer.violations(),
                     answer.rows.size(), answer.accelerator.name);
  if (answer.violations() == 0) return;
  TextTable table({"kernel", "measured", "bound", "bound by<"});
  for (std::size_t r = 0; r < answer.rows.size(); ++r)
    if (answer.bounds[r].violated)
      table.add({answer.rows[r].name, readable_latency(answer.rows[r].seconds),
                 readable_latency(answer.bounds[r].seconds), answer.bounds[r].by});
  out << table.text("  ") << "a figure of the accelerator is wrong, or operands were warm (column warm_bytes)\n";
}

void print_classes(const MeasuredAnswer& answer, std::ostream& out) {
  const bool predicted = !answer.predictions.empty();
  if (predicted) {
    out << "\nprediction: " << figures_text(answer) << "\n";
    if (!answer.fitted.empty())
      out << fmt::format("fitted on {} kernels; below are the other {}\n", std::ranges::count(answer.fitted_on, true),
                         std::ranges::count(answer.judged, true));
  } else {
    out << "\nno prediction: the accelerator has no `prediction` block, and --fit asks for none\n";
  }
  TextTable table({"kernels", "count", "measured / bound", "roofline error", "median",
                   predicted ? "prediction error" : "", predicted ? "median" : "", predicted ? "energy error" : ""});
  for (const KernelClass& one : answer.classes())
    table.add({one.name, fmt::format("{}", one.kernels), fmt::format("{:.2f}", one.above_bound),
               error_text(one.roofline.mean), error_text(one.roofline.median),
               predicted ? error_text(one.prediction.mean) : "", predicted ? error_text(one.prediction.median) : "",
               one.energy ? error_text(one.energy->mean) : ""});
  out << "\n" << table.text("") << "errors are means (and medians) of |said / measured - 1|\n";
}

ordered_json errors_json(const Errors& errors) { return {{"mean", errors.mean}, {"median", errors.median}}; }

ordered_json answer_json(const MeasuredAnswer& answer) {
  ordered_json json{{"schema", kJsonSchema},
                    {"accelerator", answer.accelerator.name},
                    {"kernels", answer.rows.size()},
                    {"violations", answer.violations()}};
  if (answer.prediction && !answer.predictions.empty()) {
    ordered_json figures{{"overhead_s", answer.prediction->overhead_s}, {"idle_w", answer.prediction->idle_w}};
    if (answer.prediction->power_limit_w) figures["power_limit_w"] = *answer.prediction->power_limit_w;
    for (std::size_t l = 0; l < answer.prediction->achievable.size(); ++l)
      if (!answer.accelerator.levels[l].is_fanout())
        figures["achievable"][answer.accelerator.levels[l].name] = answer.prediction->achievable[l];
    figures["fitted"] = ordered_json::array();
    for (const FittedFigure& figure : answer.fitted) figures["fitted"].push_back(figure.name);
    json["prediction"] = std::move(figures);
  }
  json["classes"] = ordered_json::array();
  for (const KernelClass& one : answer.classes()) {
    ordered_json item{{"name", one.name},
                      {"kernels", one.kernels},
                      {"measured_over_bound", one.above_bound},
                      {"roofline_error", errors_json(one.roofline)}};
    if (!answer.predictions.empty()) item["prediction_error"] = errors_json(one.prediction);
    if (one.energy) item["energy_error"] = errors_json(*one.energy);
    json["classes"].push_back(std::move(item));
  }
  json["rows"] = ordered_json::array();
  for (std::size_t r = 0; r < answer.rows.size(); ++r) {
    const Measurement& row = answer.rows[r];
    ordered_json item{{"kernel", row.name},
                      {"measured_s", row.seconds},
                      {"bound_s", answer.bounds[r].seconds},
                      {"bound_by", answer.bounds[r].by},
                      {"roofline_s", answer.bounds[r].roofline_s},
                      {"violated", answer.bounds[r].violated}};
    if (!answer.predictions.empty()) {
      item["predicted_s"] = answer.predictions[r].predicted.seconds;
      item["throttled"] = answer.predictions[r].predicted.throttled;
      item["predicted_j"] = answer.predictions[r].predicted.joules;
    }
    if (row.joules) item["measured_j"] = *row.joules;
    if (!answer.fitted_on.empty()) item["fitted_on"] = static_cast<bool>(answer.fitted_on[r]);
    json["rows"].push_back(std::move(item));
  }
  return json;
}

void write_files(const MeasuredAnswer& answer, const Arguments& arguments, std::ostream& err) {
  const std::filesystem::path folder = *arguments.text("output");
  std::filesystem::create_directories(folder);
  write_table(measured_table(answer.rows, answer.bounds, answer.predictions, answer.fitted_on),
              folder / "kernels.parquet");
  ChartOptions options;
  options.png = arguments.has("png");
  write_charts(folder,
               measured_charts("measured", answer.accelerator.name, answer.rows, answer.bounds, answer.predictions),
               options);
  err << fmt::format("kernels and charts: {}\n", folder.string());
}

}  // namespace

int validate_measured(const Arguments& arguments, Face& face) {
  const auto name = arguments.text("accelerator");
  if (!name) throw arguments.missing("accelerator", "the chip that the kernels ran on, such as h200");
  MeasuredAnswer answer;
  answer.accelerator = open_accelerator(face.library, *name, arguments.settings());
  answer.prediction = load_prediction(face.library, *name, arguments.settings(), answer.accelerator);
  if (const auto figures = arguments.text("fit")) answer.fitted = parse_figures(*figures, answer.accelerator);
  answer.rows = read_measurements(*arguments.text("measured"));
  JudgeOptions options;
  options.factorization = read_factorization(*arguments.text("factorization"), arguments.command());
  options.threads = arguments.threads();
  options.exponentials_per_cycle = *arguments.real("exponentials");
  const Interrupt interrupt(face);
  options.stop = interrupt.token();
  const Judge judge(answer.accelerator, options);

  answer.bounds = judge.bounds(answer.rows);
  answer.judged.assign(answer.rows.size(), true);
  if (!answer.fitted.empty()) {
    answer.fitted_on = one_half(answer.rows.size(), *arguments.whole("seed"));
    answer.judged = answer.fitted_on;
    answer.judged.flip();
    answer.prediction =
        fit(judge, answer.rows, answer.fitted_on, answer.fitted, answer.prediction.value_or(PredictionFigures{}));
  }
  if (answer.prediction) answer.predictions = judge.predictions(answer.rows, *answer.prediction);
  if (interrupt.asked()) {
    face.err << "interrupted\n";
    return 130;
  }
  if (arguments.has("json")) {
    face.out << answer_json(answer).dump(2) << "\n";
  } else {
    print_violations(answer, face.out);
    print_classes(answer, face.out);
  }
  if (arguments.has("output")) write_files(answer, arguments, face.err);
  return answer.violations() == 0 ? 0 : 1;
}

}  // namespace pliant
