// SPDX-License-Identifier: Apache-2.0
#include "dse/report/closed_space.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "dse/report/compact_json.h"
#include "dse/results/data_table.h"
#include "dse/results/stored_files.h"

namespace pliant {

using nlohmann::ordered_json;

namespace {

/// More boxes than these make the page heavy and are dots upon dots.
constexpr std::size_t kMostBoxes = 20'000;

bool for_page(const std::string& name) {
  return name == "closed_by" || name == "designs" || name == "design_id" || name == "beaten_by" || name == "ranges" ||
         name.starts_with("goal");
}

}  // namespace

ordered_json closed_space(const std::filesystem::path& dataset) {
  const std::filesystem::path file = dataset / "boxes.parquet";
  if (!is_there(file)) return nullptr;
  std::vector<std::string> damaged;
  const DataTable table = read_table(file, TableKind::kDesigns, damaged);
  const DataColumn* designs = table.find("designs");
  const DataColumn* closed_by = table.find("closed_by");
  if (!damaged.empty() || designs == nullptr || closed_by == nullptr) return nullptr;
  std::vector<std::size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, std::greater{}, [&](std::size_t row) {
    const auto* word = std::get_if<std::string>(&closed_by->cells[row]);
    const auto* count = std::get_if<std::int64_t>(&designs->cells[row]);
    return std::pair(word != nullptr && *word == "opened", count == nullptr ? 0 : *count);
  });
  const std::size_t kept = std::min(rows.size(), kMostBoxes);
  ordered_json columns = ordered_json::array();
  for (const DataColumn& column : table.columns) {
    if (!for_page(column.name)) continue;
    DataColumn one{column.name, {}};
    for (std::size_t k = 0; k < kept; ++k) one.cells.push_back(column.cells[rows[k]]);
    columns.push_back(compact_column(one));
  }
  return {{"rows", kept}, {"left_out", rows.size() - kept}, {"columns", std::move(columns)}};
}

}  // namespace pliant
