// SPDX-License-Identifier: Apache-2.0
// What is asked of a sweep's dataset: frontiers, the report, its charts.
#include <nlohmann/json.hpp>
#include <sstream>

#include "dse/answers/dataset_frontiers.h"
#include "dse/answers/dataset_options.h"
#include "dse/report/design_charts.h"
#include "dse/report/layer_details.h"
#include "dse/report/measures.h"
#include "dse/report/page.h"
#include "dse/report/report_charts.h"
#include "dse/report/report_data.h"
#include "dse/results/arrow_table.h"
#include "dse/results/atomic_file.h"
#include "dse/results/stored_files.h"
#include "src/bindings.h"
#include "src/tables.h"

namespace pliant::python {
namespace {

namespace fs = std::filesystem;

/// The frontiers of all groups as one table, and as JSON.
std::pair<ArrowTable, std::string> frontier(const fs::path& dataset, const std::string& table,
                                            std::vector<std::string> minimize, std::vector<std::string> maximize,
                                            std::vector<std::string> group_by, std::vector<std::string> reference,
                                            const std::vector<std::string>& where) {
  const TableKind kind = table == "layers" ? TableKind::kLayers : TableKind::kDesigns;
  std::vector<std::string> damaged;
  CountingRows counting = read_counting_rows(dataset, kind, where, damaged);
  if (counting.table.columns.empty())
    throw bad_option("pliant", "--dataset", dataset.string() + " holds no such table", "the folder of a sweep");
  std::ostringstream unheard;
  const bool complete = tell_if_incomplete(dataset, kind, damaged, unheard);
  const DatasetFrontiers found =
      find_frontiers(std::move(counting.table),
                     {"pliant", std::move(minimize), std::move(maximize), std::move(group_by), std::move(reference)});
  nlohmann::ordered_json json = found.json(complete);
  json["over_limit"] = counting.over_limit;
  json["filtered"] = counting.filtered;
  return {ArrowTable{arrow_table(found.rows())}, json.dump()};
}

std::string report(const fs::path& dataset, std::size_t most_layers) {
  const ReportData data = read_report_data(dataset);
  return report_page(data, read_layer_details(dataset, data, rows_by_interest(data), most_layers));
}

std::string text_of(const nlohmann::ordered_json& spec) {
  return spec.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Name and Vega-Lite specification of every chart of the report.
std::vector<std::pair<std::string, std::string>> charts(const fs::path& dataset) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Chart& chart : report_charts(dataset, read_report_data(dataset)))
    all.emplace_back(chart.name, text_of(full_spec(chart)));
  return all;
}

/// A shipped specification with these values and points in it.
std::string chart(const std::string& name, const std::string& title, const std::string& values,
                  const std::string& points) {
  using nlohmann::ordered_json;
  return text_of(full_spec(title, shipped_spec(name, ordered_json::parse(values)), ordered_json::parse(points)));
}

/// Parts are level, tensor and pJ.
std::string energy_chart(const std::string& title,
                         const std::vector<std::tuple<std::string, std::string, double>>& parts) {
  std::vector<LevelPart> all;
  for (const auto& [level, tensor, pj] : parts) all.push_back({level, tensor, pj});
  return text_of(full_spec(stacked_chart("energy", title, "energy (J)", 1e-12, all)));
}

/// A column on an axis of the report: its title, the scale of its values and their format.
std::tuple<std::string, double, std::string> metric_of(const std::string& name) {
  if (!has_metric(name)) return {name, 1, ".3~s"};
  const Metric& known = metric(name);
  return {known.axis(), known.scale, known.format};
}

}  // namespace

void bind_datasets(nb::module_& module) {
  using namespace nb::literals;
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  module.def("frontier", &frontier, "dataset"_a, "table"_a, "minimize"_a, "maximize"_a, "group_by"_a, "reference"_a,
             "where"_a, unlocked);
  module.def("report", &report, "dataset"_a, "most_layers"_a, unlocked);
  module.def("charts", &charts, "dataset"_a, unlocked);
  module.def("chart", &chart, "name"_a, "title"_a, "values"_a, "points"_a, unlocked);
  module.def("energy_chart", &energy_chart, "title"_a, "parts"_a, unlocked);
  module.def("metric", &metric_of, "name"_a, unlocked);
  module.def("is_there", &is_there, "path"_a, unlocked);
  module.def("make_folder", &make_folder, "folder"_a, unlocked);
  module.def(
      "write_file", [](const fs::path& file, const std::string& text) { write_atomically(file, text); }, "file"_a,
      "text"_a, unlocked);
}

}  // namespace pliant::python
