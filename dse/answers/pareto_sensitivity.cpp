// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/pareto_sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "dse/answers/dataset_sweep.h"

namespace pliant {
namespace {

double column_number(const DataTable& table, const std::string& column, std::size_t row) {
  const DataColumn* found = table.find(column);
  if (found == nullptr) return 0;
  if (const auto* real = std::get_if<double>(&found->cells[row])) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&found->cells[row])) return static_cast<double>(*whole);
  return 0;
}

}  // namespace

ParetoSensitivity::ParetoSensitivity(const Library& library, const Arguments& arguments,
                                     const std::filesystem::path& dataset, const DataTable& table,
                                     std::vector<DatasetFrontiers::Goal> goals)
    : table_(table), goals_(std::move(goals)), remap_(arguments.has("remap")), library_(library) {
  auto figures = parse_uncertain(*arguments.text("uncertain"));
  if (const auto* what = std::get_if<std::string>(&figures))
    throw arguments.bad("--uncertain", *what, "LEVEL.key N%, comma-separated, such as DRAM.read_pj 30%, Buffer.* 20%");
  const auto manifest = read_manifest(dataset);
  if (!manifest)
    throw arguments.bad("--uncertain", fmt::format("{} is not a whole dataset", dataset.string()),
                        "the folder that `pliant sweep` wrote");
  require_newest(dataset, *manifest);
  const Sweep sweep = sweep_of_dataset(library_, *manifest, arguments);
  repricing_ = std::make_unique<Repricing>(library_, sweep, dataset, std::get<std::vector<UncertainFigures>>(figures));
  corners_ = corners_of(std::get<std::vector<UncertainFigures>>(figures).size());
}

Repricing::Row ParetoSensitivity::name_of(std::size_t row) const {
  return {static_cast<std::int64_t>(column_number(table_, "design_id", row)),
          to_text(table_.find("workload")->cells[row])};
}

double ParetoSensitivity::value(const std::string& column, std::size_t row, const FigureCosts& costs) const {
  if (column == "energy_pj") return costs.energy_pj;
  if (column == "energy_mj") return costs.energy_pj * 1e-9;
  if (column == "runtime_cycles") return costs.runtime_cycles;
  if (column == "edp_pj_cycles") return costs.energy_pj * costs.runtime_cycles;
  if (column == "sum_layer_edp_pj_cycles") return costs.sum_layer_edp_pj_cycles;
  if (column == "area_um2") return costs.area_um2;
  // Of what has a clock, by the ratio to what the table says.
  const double stored = column_number(table_, column, row);
  const double energy = costs.energy_pj / column_number(table_, "energy_pj", row);
  const double time = costs.runtime_cycles / column_number(table_, "runtime_cycles", row);
  if (column == "latency_s") return stored * time;
  if (column == "power_w") return stored * energy / time;
  if (column == "tops_per_w") return stored / energy;
  if (column == "tops" || column == "inferences_per_s" || column == "tokens_per_s" || column == "utilization")
    return stored / time;
  return stored;
}

Point ParetoSensitivity::point(std::size_t row, const FigureCosts& costs) const {
  Point all;
  for (const DatasetFrontiers::Goal& goal : goals_) all.push_back(goal.sign * value(goal.column, row, costs));
  return all;
}

std::vector<ParetoSensitivity::Design> ParetoSensitivity::designs(const std::vector<std::size_t>& rows,
                                                                  const std::vector<std::size_t>& frontier) const {
  std::vector<std::size_t> known;
  for (const std::size_t row : rows)
    if (repricing_->has(name_of(row))) known.push_back(row);
  // 1. Every corner with the mappings kept.
  std::vector<std::vector<Point>> points(corners_.size());
  std::set<std::size_t> candidates;  // positions in `known`
  std::vector<std::vector<std::size_t>> kept(corners_.size());
  for (std::size_t c = 0; c < corners_.size(); ++c) {
    for (const std::size_t row : known) points[c].push_back(point(row, repricing_->at(name_of(row), corners_[c])));
    if (!known.empty()) kept[c] = non_dominated(points[c]);
    candidates.insert(kept[c].begin(), kept[c].end());
  }
  for (std::size_t i = 0; i < known.size(); ++i)
    if (std::ranges::find(frontier, known[i]) != frontier.end()) candidates.insert(i);
  // 2. Those that are on a frontier, searched again where they are.
  if (remap_) {
    std::vector<std::pair<Repricing::Row, Corner>> questions;
    for (const Corner& corner : corners_)
      for (const std::size_t i : candidates) questions.emplace_back(name_of(known[i]), corner);
    const std::vector<FigureCosts> answers = repricing_->search(questions);
    std::size_t next = 0;
    for (std::size_t c = 0; c < corners_.size(); ++c) {
      for (const std::size_t i : candidates) points[c][i] = point(known[i], answers[next++]);
      if (!known.empty()) kept[c] = non_dominated(points[c]);
    }
  }
  // 3. Count.
  std::map<std::size_t, Design> all;
  for (const std::size_t row : frontier) all[row] = {row, true, 0};
  for (const std::vector<std::size_t>& corner : kept) {
    for (const std::size_t i : corner) {
      Design& design = all.try_emplace(known[i], Design{known[i], false, 0}).first->second;
      ++design.corners;
    }
  }
  std::vector<Design> list;
  for (const auto& [row, design] : all) list.push_back(design);
  std::ranges::stable_sort(
      list, [](const Design& a, const Design& b) { return a.now != b.now ? a.now : a.corners > b.corners; });
  return list;
}

}  // namespace pliant
