// SPDX-License-Identifier: Apache-2.0
#include "dse/measured/measured_charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using nlohmann::ordered_json;

constexpr double kMicroseconds = 1e6;

DataTable with_columns(std::initializer_list<const char*> names) {
  DataTable table;
  for (const char* name : names) table.columns.push_back({name, {}});
  return table;
}

void add(DataTable& table, std::vector<Cell> cells) {
  for (std::size_t c = 0; c < cells.size(); ++c) table.columns[c].cells.push_back(std::move(cells[c]));
}

ordered_json log_axis(const char* field, const char* title, const ordered_json& domain) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", {{"type", "log"}, {"domain", domain}, {"nice", false}}}};
}

}  // namespace

DataTable measured_table(const std::vector<Measurement>& rows, const std::vector<KernelBound>& bounds,
                         const std::vector<KernelPrediction>& predictions, const std::vector<bool>& fitted_on) {
  DataTable table = with_columns({"kernel", "kind", "aligned", "measured_s", "bound_s", "bound_by", "roofline_s",
                                  "predicted_s", "throttled", "measured_j", "predicted_j", "violated", "fitted_on"});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Measurement& row = rows[r];
    const bool has = !predictions.empty();
    const Predicted said = has ? predictions[r].predicted : Predicted{};
    add(table, {row.name, std::string(to_string(row.kind)), row.aligned, row.seconds, bounds[r].seconds, bounds[r].by,
                bounds[r].roofline_s, has ? Cell(said.seconds) : Cell(), has ? Cell(said.throttled) : Cell(),
                row.joules ? Cell(*row.joules) : Cell(), has ? Cell(said.joules) : Cell(), bounds[r].violated,
                has && !fitted_on.empty() ? Cell(bool(fitted_on[r])) : Cell()});
  }
  return table;
}

std::vector<Chart> measured_charts(const std::string& name, const std::string& title,
                                   const std::vector<Measurement>& rows, const std::vector<KernelBound>& bounds,
                                   const std::vector<KernelPrediction>& predictions) {
  DataTable points = with_columns({"kernel", "kind", "says", "measured_us", "said_us", "ratio"});
  double least = std::numeric_limits<double>::infinity(), most = 0, shortest = least, longest = 0;
  const auto point = [&](const Measurement& row, const char* says, double said) {
    if (said <= 0) return;
    least = std::min({least, said, row.seconds}), most = std::max({most, said, row.seconds});
    shortest = std::min(shortest, row.seconds), longest = std::max(longest, row.seconds);
    add(points, {row.name, row.aligned ? std::string(to_string(row.kind)) : "not aligned", std::string(says),
                 row.seconds * kMicroseconds, said * kMicroseconds, row.seconds / said});
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    point(rows[r], "bound", bounds[r].seconds);
    if (!predictions.empty()) point(rows[r], "prediction", predictions[r].predicted.seconds);
  }
  const ordered_json domain{least * kMicroseconds / 1.3, most * kMicroseconds * 1.3};
  const ordered_json measured{shortest * kMicroseconds / 1.3, longest * kMicroseconds * 1.3};
  const ordered_json facet{{"field", "says"}, {"type", "nominal"}, {"title", nullptr}};
  const ordered_json color{{"field", "kind"}, {"type", "nominal"}, {"title", "kernel"}};
  const auto tooltip = ordered_json::array({{{"field", "kernel"}}, {{"field", "measured_us"}}, {{"field", "said_us"}}});
  const ordered_json width = 330, height = 300;
  Chart scatter{name + "_scatter", title + ": measured against bound and prediction", {}, points};
  scatter.spec = {{"facet", facet},
                  {"spec",
                   {{"width", width},
                    {"height", height},
                    {"layer",
                     {{{"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"clip", true}}},
                       {"encoding",
                        {{"x", {{"datum", domain[0]}, {"type", "quantitative"}}},
                         {"y", {{"datum", domain[0]}, {"type", "quantitative"}}},
                         {"x2", {{"datum", domain[1]}}},
                         {"y2", {{"datum", domain[1]}}}}}},
                      {{"mark", {{"type", "point"}, {"filled", true}, {"size", 30}, {"opacity", 0.75}}},
                       {"encoding",
                        {{"x", log_axis("said_us", "said (us)", domain)},
                         {"y", log_axis("measured_us", "measured (us)", domain)},
                         {"color", color},
                         {"tooltip", tooltip}}}}}}}}};
  Chart residuals{name + "_residuals", title + ": measured over bound and over prediction", {}, points};
  residuals.spec = {{"facet", facet},
                    {"spec",
                     {{"width", width},
                      {"height", height},
                      {"layer",
                       {{{"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}}},
                         {"encoding", {{"y", {{"datum", 1}, {"type", "quantitative"}}}}}},
                        {{"mark", {{"type", "point"}, {"filled", true}, {"size", 30}, {"opacity", 0.75}}},
                         {"encoding",
                          {{"x", log_axis("measured_us", "measured (us)", measured)},
                           {"y",
                            {{"field", "ratio"},
                             {"type", "quantitative"},
                             {"title", "measured / said"},
                             {"scale", {{"type", "log"}}}}},
                           {"color", color},
                           {"tooltip", tooltip}}}}}}}}};
  return {std::move(scatter), std::move(residuals)};
}

}  // namespace pliant
