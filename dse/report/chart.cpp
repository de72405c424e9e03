// SPDX-License-Identifier: Apache-2.0
#include "dse/report/chart.h"

#include <cctype>
#include <cmath>

#include "dse/report/measures.h"
#include "dse/report/render.h"
#include "dse/report/resources.h"
#include "dse/results/atomic_file.h"

namespace pliant {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kLongestName = 80;

ordered_json to_json(const Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return std::isfinite(*number) ? ordered_json(*number) : nullptr;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

void fill_in(ordered_json& node, const ordered_json& values) {
  if (node.is_string()) {
    std::string text = node.get<std::string>();
    for (const auto& [key, value] : values.items()) {
      const std::string mark = "{{" + key + "}}";
      if (text == mark) {
        node = value;
        return;
      }
      for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
        const std::string words = value.is_string() ? value.get<std::string>() : value.dump();
        text.replace(at, mark.size(), words);
        at += words.size();
      }
    }
    node = text;
    return;
  }
  if (!node.is_structured()) return;
  for (ordered_json& child : node) fill_in(child, values);
}

/// Names may hold anything, also what is no UTF-8.
std::string readable(const ordered_json& json) {
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

ordered_json full_spec(const Chart& chart) {
  ordered_json points = ordered_json::array();
  for (std::size_t row = 0; row < chart.table.rows(); ++row) {
    ordered_json one = ordered_json::object();
    for (const DataColumn& column : chart.table.columns) one[column.name] = to_json(column.cells[row]);
    points.push_back(std::move(one));
  }
  return full_spec(chart.title, chart.spec, std::move(points));
}

ordered_json full_spec(const std::string& title, const ordered_json& spec, ordered_json points) {
  ordered_json full;
  full["$schema"] = "https://vega.github.io/schema/vega-lite/v6.json";
  full["title"] = title;
  full["config"] = ordered_json::parse(resource("charts/theme.json"));
  for (const auto& [key, value] : spec.items()) {
    // A specification may name a subtitle, or settings of its own.
    if (full.contains(key) && full[key].is_object() && value.is_object()) {
      full[key].update(value, true);
    } else if (key == "title" && value.is_object()) {
      full[key] = value;
      full[key]["text"] = title;
    } else {
      full[key] = value;
    }
  }
  full["data"]["values"] = std::move(points);
  return full;
}

std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kLongestName)) {
    const bool plain = (std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128) ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? c : '_';
  }
  return name.empty() ? "_" : name;
}

ordered_json shipped_spec(std::string_view name, const ordered_json& values) {
  ordered_json spec = ordered_json::parse(resource("charts/" + std::string(name) + ".vl.json"));
  ordered_json all = measures()["light"];
  all.update(values);
  fill_in(spec, all);
  return spec;
}

std::vector<std::filesystem::path> write_charts(const std::filesystem::path& folder, const std::vector<Chart>& charts,
                                                const ChartOptions& options) {
  make_folder(folder);
  std::vector<std::filesystem::path> written, specs;
  for (const Chart& chart : charts) {
    specs.push_back(folder / (chart.name + ".vl.json"));
    write_atomically(specs.back(), readable(full_spec(chart)));
    written.push_back(specs.back());
    written.push_back(folder / (chart.name + ".csv"));
    write_table(chart.table, written.back());
  }
  if (!options.png || charts.empty()) return written;
  render_png(specs, options.scale, options.python);
  for (const Chart& chart : charts) written.push_back(folder / (chart.name + ".png"));
  return written;
}

}  // namespace pliant
