// SPDX-License-Identifier: Apache-2.0
// A chart is a Vega-Lite specification and the table of its points. The report, `pliant report --png` and the studies
// all draw this way, so a figure is always there as a picture, as a specification and as numbers.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "dse/results/data_table.h"

namespace pliant {

struct Chart {
  std::string name;             ///< of its files, without ending: letters, digits, '-', '_' and '.'
  std::string title;            ///< shown above it
  nlohmann::ordered_json spec;  ///< Vega-Lite without data, title and theme; fields are columns of the table
  DataTable table;              ///< what is plotted, one row for each point
};

/// The whole specification: the chart's with Pliant's theme, the title and the points in it. Opens in any Vega editor.
nlohmann::ordered_json full_spec(const Chart& chart);
/// The same of points that are an array of objects.
nlohmann::ordered_json full_spec(const std::string& title, const nlohmann::ordered_json& spec,
                                 nlohmann::ordered_json points);

/// Any text as the name of a file: what is not a letter, digit, '-', '_' or '.' becomes '_', and long ones are cut.
std::string file_name(std::string_view text);

/// A shipped specification (dse/report/page/charts/NAME.vl.json) with `{{key}}` in its texts replaced. A text that is
/// nothing but `{{key}}` becomes the value itself, whatever its type. `ink`, `paper` and `accent` have defaults.
nlohmann::ordered_json shipped_spec(std::string_view name, const nlohmann::ordered_json& values);

struct ChartOptions {
  bool png = false;
  double scale = 2;    ///< pixels of the picture per pixel of the specification
  std::string python;  ///< interpreter with vl-convert; empty: find_chart_python()
};

/// Writes NAME.vl.json and NAME.csv of each chart, and NAME.png if asked for. StorageError when the disk refuses;
/// RenderError when pictures cannot be made. Returns the files written.
std::vector<std::filesystem::path> write_charts(const std::filesystem::path& folder, const std::vector<Chart>& charts,
                                                const ChartOptions& options = {});

}  // namespace pliant
