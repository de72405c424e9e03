// SPDX-License-Identifier: Apache-2.0
#include "dse/report/write_report_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "dse/report/chart.h"
#include "dse/report/render.h"
#include "dse/report/report_charts.h"
#include "dse/report/venn.h"
#include "dse/results/atomic_file.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

/// The different sets of an axis among the designs that share the knee's hardware: one drawing for each axis.
std::vector<fs::path> write_venns(const ReportData& data, const fs::path& folder) {
  constexpr std::array<const char*, 4> kFiles{"tiles", "orders", "parallel", "shape"};
  constexpr std::array<const char*, 4> kTitles{"Tile sizes (T)", "Loop orders (O)", "Parallel dims (P)",
                                               "Array shapes (S)"};
  constexpr std::array<const char*, 4> kUnits{"tiles in words", "loop orders", "ordered pairs of dims", "array shapes"};
  constexpr std::size_t kPanels = 4;
  const std::vector<std::string> workloads = data.workloads();
  std::vector<fs::path> files;
  for (const std::string& workload : workloads) {
    const auto knee = knee_row(data, workload);
    if (!knee) continue;
    for (std::size_t axis = 0; axis < kFiles.size(); ++axis) {
      std::vector<VennPanel> panels;
      std::set<int> known;
      for (const std::size_t row : data.rows_of(workload, {})) {
        const int index = data.sets_of[row][axis];
        const bool same = std::ranges::all_of(
            data.varied, [&](const std::string& column) { return data.text(column, row) == data.text(column, *knee); });
        if (index < 0 || !same || panels.size() == kPanels || !known.insert(index).second) continue;
        panels.push_back(data.sets[static_cast<std::size_t>(index)]);
        panels.back().title = data.text("label", row);
      }
      if (panels.empty()) continue;
      files.push_back(
          folder / fmt::format("venn_{}{}.svg", kFiles[axis], workloads.size() == 1 ? "" : "_" + file_name(workload)));
      write_atomically(files.back(), venn_svg(fmt::format("{}: {}", kTitles[axis], workload),
                                              std::string(kUnits[axis]) + "; means over the layers", panels));
    }
  }
  return files;
}

}  // namespace

std::size_t write_report_charts(const fs::path& dataset, const ReportData& data, const fs::path& folder, double scale) {
  ChartOptions options;
  options.png = true;
  options.scale = scale;
  const std::size_t charts = write_charts(folder, report_charts(dataset, data), options).size();
  const std::vector<fs::path> drawings = write_venns(data, folder);
  if (!drawings.empty()) render_png(drawings, scale);
  return charts + 2 * drawings.size();
}

}  // namespace pliant
