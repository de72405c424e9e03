// SPDX-License-Identifier: Apache-2.0
#include "dse/report/layer_details.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "dse/report/arrow_cells.h"
#include "dse/report/compact_json.h"
#include "dse/report/residency_details.h"
#include "dse/results/atomic_file.h"
#include "dse/results/checked_file.h"
#include "dse/results/pareto.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();  ///< written as null

using DesignName = std::pair<std::int64_t, std::string>;  // design_id, workload

class Collector {
 public:
  Collector(const ReportData& data, const std::vector<std::size_t>& chosen) {
    for (const std::size_t row : chosen)
      rows_[{static_cast<std::int64_t>(*data.number("design_id", row)), data.text("workload", row)}] = row;
    designs_.resize(data.designs.rows());
  }

  void add_part(const arrow::Table& table) {
    const RowCells row(table);
    const Columns columns(table);
    for (std::int64_t i = 0; i < table.num_rows(); ++i) {
      const auto wanted = rows_.find({row.whole("design_id", i), row.text("workload", i)});
      if (wanted == rows_.end()) continue;
      const bool solved = row.text("status", i) == "solved";
      ordered_json entry{layer(row, columns, i),
                         solved ? static_cast<std::int64_t>(task(row, columns, i)) : std::int64_t{-1}};
      if (!solved) entry.push_back(string(row.text("status", i) + ": " + row.text("reason", i)));
      designs_[wanted->second].push_back(std::move(entry));
      ++count_;
    }
  }

  LayerDetails take() {
    LayerDetails details;
    ordered_json rows = ordered_json::object();
    for (std::size_t row = 0; row < designs_.size(); ++row) {
      if (designs_[row].empty()) continue;
      ++details.designs;
      rows[std::to_string(row)] = std::move(designs_[row]);
    }
    details.layer_rows = count_;
    details.json = {{"strings", std::move(strings_)},
                    {"layers", std::move(layers_)},
                    {"tasks", std::move(tasks_)},
                    {"rows", std::move(rows)}};
    return details;
  }

 private:
  struct Columns {
    explicit Columns(const arrow::Table& table)
        : dims(table, "dims"),
          memories(table, "memories"),
          tensors(memories, "tensors"),
          mapping(table, "mapping"),
          temporal(mapping, "temporal"),
          rows(mapping, "rows"),
          cols(mapping, "cols"),
          padded(mapping, "padded"),
          keeps(mapping, "keeps"),
          certificate(struct_column(table, "certificate")) {}
    ListCells dims, memories, tensors, mapping, temporal, rows, cols, padded;
    TextListCells keeps;
    const arrow::StructArray& certificate;
  };

  std::size_t string(const std::string& text) {
    const auto [found, is_new] = known_strings_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return found->second;
  }

  ordered_json loops(const ListCells& cells, std::int64_t element) {
    ordered_json all = ordered_json::array();
    const auto [from, to] = cells.range(element);
    for (std::int64_t at = from; at < to; ++at)
      all.push_back({string(cells.text("dim", at)), compact_number(cells.real("bound", at).value_or(1))});
    return all;
  }

  std::size_t layer(const RowCells& row, const Columns& columns, std::int64_t i) {
    ordered_json one{string(row.text("workload", i)), string(row.text("layer", i)), row.whole("count", i),
                     row.whole("macs", i), loops(columns.dims, i)};
    const auto [found, is_new] =
        known_layers_.try_emplace({one[0].get<std::size_t>(), row.whole("layer_index", i)}, layers_.size());
    if (is_new) layers_.push_back(std::move(one));
    return found->second;
  }

  std::size_t task(const RowCells& row, const Columns& columns, std::int64_t i) {
    const auto [found, is_new] = known_tasks_.try_emplace(row.text("task_key", i), tasks_.size());
    if (!is_new) return found->second;
    const auto number = [&](const char* name) { return compact_number(row.real(name, i).value_or(kNone)); };
    const auto proof = [&](const char* name) {
      return compact_number(real_of(columns.certificate, name, i).value_or(kNone));
    };
    tasks_.push_back({number("energy_pj"), number("runtime_cycles"), number("compute_cycles"), number("utilization"),
                      string(row.text("bound_by", i)), proof("lower_bound"), proof("value"), proof("gap"),
                      bool_of(columns.certificate, "certified", i),
                      string(text_of(columns.certificate, "mappings_covered", i)),
                      string(text_of(columns.certificate, "ended_by", i)), mapping(columns, i), memories(columns, i)});
    return found->second;
  }

  ordered_json mapping(const Columns& columns, std::int64_t i) {
    ordered_json levels = ordered_json::array();
    const auto [from, to] = columns.mapping.range(i);
    for (std::int64_t at = from; at < to; ++at) {
      ordered_json keeps = ordered_json::array();
      const auto [first, last] = columns.keeps.range(at);
      for (std::int64_t k = first; k < last; ++k) keeps.push_back(string(columns.keeps.text(k)));
      levels.push_back({string(columns.mapping.text("level", at)), loops(columns.temporal, at), loops(columns.rows, at),
                        loops(columns.cols, at), std::move(keeps), loops(columns.padded, at)});
    }
    return levels;
  }

  ordered_json memories(const Columns& columns, std::int64_t i) {
    ordered_json all = ordered_json::array();
    const auto value = [](const ListCells& cells, const char* name, std::int64_t at) {
      return compact_number(cells.real(name, at).value_or(kNone));
    };
    const auto [from, to] = columns.memories.range(i);
    for (std::int64_t at = from; at < to; ++at) {
      ordered_json one{string(columns.memories.text("level", at))};
      for (const char* name :
           {"instances", "capacity_words", "used_words", "read_cycles", "write_cycles", "bus_cycles", "leakage_pj"})
        one.push_back(value(columns.memories, name, at));
      ordered_json tensors = ordered_json::array();
      const auto [first, last] = columns.tensors.range(at);
      for (std::int64_t t = first; t < last; ++t) {
        ordered_json tensor{string(columns.tensors.text("tensor", t))};
        for (const char* name : {"words_read", "words_written", "energy_pj"})
          tensor.push_back(value(columns.tensors, name, t));
        tensors.push_back(std::move(tensor));
      }
      one.push_back(std::move(tensors));
      all.push_back(std::move(one));
    }
    return all;
  }

  std::map<DesignName, std::size_t> rows_;
  std::vector<std::vector<ordered_json>> designs_;
  std::size_t count_ = 0;
  ordered_json strings_ = ordered_json::array(), layers_ = ordered_json::array(), tasks_ = ordered_json::array();
  std::map<std::string, std::size_t> known_strings_, known_tasks_;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> known_layers_;
};

/// Rows of the designs on the frontier of all workloads together, as the page has it: area against the geometric mean
/// of EDP divided by the best EDP of the workload.
std::vector<std::size_t> rows_together(const ReportData& data, const std::vector<std::string>& workloads) {
  std::map<std::int64_t, std::vector<std::size_t>> rows_of_design;
  std::map<std::int64_t, double> logs;
  for (const std::string& workload : workloads) {
    const std::vector<std::size_t> rows = data.rows_of(workload, {"area_um2", "edp_pj_cycles"});
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t row : rows) best = std::min(best, *data.number("edp_pj_cycles", row));
    for (const std::size_t row : rows) {
      const auto design = static_cast<std::int64_t>(*data.number("design_id", row));
      rows_of_design[design].push_back(row);
      logs[design] += std::log(*data.number("edp_pj_cycles", row) / best);
    }
  }
  std::vector<std::int64_t> designs;
  std::vector<Point> points;
  for (const auto& [design, rows] : rows_of_design) {
    if (rows.size() != workloads.size()) continue;
    designs.push_back(design);
    points.push_back({*data.number("area_um2", rows.front()), logs[design]});
  }
  std::vector<std::size_t> found;
  if (points.empty()) return found;
  for (const std::size_t i : non_dominated(points))
    found.insert(found.end(), rows_of_design[designs[i]].begin(), rows_of_design[designs[i]].end());
  return found;
}

}  // namespace

std::vector<std::size_t> rows_by_interest(const ReportData& data) {
  std::vector<std::size_t> order;
  std::vector<bool> taken(data.designs.rows());
  const auto take = [&](std::size_t row) {
    if (!taken[row]) order.push_back(row);
    taken[row] = true;
  };
  const std::vector<std::string> workloads = data.workloads();
  if (workloads.size() > 1) std::ranges::for_each(rows_together(data, workloads), take);
  for (const std::string& workload : workloads) {
    for (const char* column : {"edp_pj_cycles", "energy_pj", "runtime_cycles"}) {
      const std::vector<std::size_t> rows = data.rows_of(workload, {"area_um2", column});
      std::vector<Point> points;
      for (const std::size_t row : rows) points.push_back({*data.number("area_um2", row), *data.number(column, row)});
      if (points.empty()) continue;
      for (const std::size_t i : non_dominated(points)) take(rows[i]);
    }
  }
  std::vector<std::size_t> rest;
  for (const std::string& workload : workloads) {
    const std::vector<std::size_t> rows = data.rows_of(workload, {"edp_pj_cycles"});
    rest.insert(rest.end(), rows.begin(), rows.end());
  }
  std::ranges::stable_sort(rest, {}, [&](std::size_t row) { return *data.number("edp_pj_cycles", row); });
  std::set<std::pair<std::string, std::string>> best;
  for (const std::size_t row : rest)
    if (best.insert({data.text("workload", row), data.text("label", row)}).second) take(row);
  for (const std::size_t row : rest) take(row);
  for (std::size_t row = 0; row < taken.size(); ++row) take(row);
  return order;
}

LayerDetails read_layer_details(const fs::path& dataset, const ReportData& data, const std::vector<std::size_t>& order,
                                std::size_t limit) {
  std::vector<std::size_t> chosen;
  double layers = 0;
  for (const std::size_t row : order) {
    layers += data.number("layers", row).value_or(0);
    if (layers > static_cast<double>(limit) && !chosen.empty()) break;
    chosen.push_back(row);
  }
  Collector collector(data, chosen);
  for (const std::int64_t part : list_parts(dataset)) {
    const fs::path file = part_path(dataset, TableKind::kLayers, part);
    if (!is_there(file)) continue;
    try {
      collector.add_part(*combined(
          CheckedFile(file).read({"design_id", "workload", "layer_index", "layer", "count", "macs", "dims", "status",
                                  "reason", "energy_pj", "runtime_cycles", "compute_cycles", "utilization", "bound_by",
                                  "memories", "certificate", "mapping", "task_key"})));
    } catch (const StorageError&) {
      // read_report_data has told that this part is damaged.
    }
  }
  LayerDetails details = collector.take();
  details.json["residency"] = read_residency_details(dataset, data, chosen);
  return details;
}

}  // namespace pliant
