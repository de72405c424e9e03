// SPDX-License-Identifier: Apache-2.0
#include "dse/report/report_data.h"

#include <arrow/array.h>
#include <arrow/table.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "core/input/diagnostics.h"
#include "dse/report/arrow_cells.h"
#include "dse/report/closed_space.h"
#include "dse/results/atomic_file.h"
#include "dse/results/checked_file.h"
#include "dse/results/pareto.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

InputError no_dataset(const fs::path& dataset, std::string what) {
  return InputError(Diagnostic{.file = dataset.string(),
                               .key = "",
                               .what = std::move(what),
                               .expected = "the folder that `pliant sweep FILE -o DIR` wrote",
                               .did_you_mean = {}});
}

std::optional<double> as_number(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? 1 : 0;
  return std::nullopt;
}

/// "FullFlex-1011" is "1011", "PartFlex-1011-B" is "Part 1011-B", "maeri" of class 1011 is "maeri 1011".
std::string label_of(const std::string& flexibility, const std::string& bits) {
  if (flexibility == "InFlex-0000") return "0000";
  for (const auto& [prefix, word] : {std::pair{"FullFlex-", ""}, {"PartFlex-", "Part "}, {"InFlex-", "In "}})
    if (flexibility.starts_with(prefix)) return word + flexibility.substr(std::string_view(prefix).size());
  return flexibility == bits || bits.empty() ? flexibility : flexibility + " " + bits;
}

/// Reads one table after the other and derives what the charts need.
class Reader {
 public:
  explicit Reader(fs::path dataset) : dataset_(std::move(dataset)) {}

  ReportData read() {
    if (!is_there(dataset_)) throw no_dataset(dataset_, "does not exist");
    if (std::error_code error; fs::is_regular_file(dataset_, error)) throw no_dataset(dataset_, "is a file");
    if (list_parts(dataset_).empty())
      throw no_dataset(dataset_, is_there(manifest_path(dataset_))
                                     ? "holds no part yet: the sweep has been started, but nothing is finished"
                                     : "holds no dataset");
    data_.manifest = read_manifest(dataset_);
    if (data_.manifest) require_newest(dataset_, *data_.manifest);
    TableChoice within_limits;
    within_limits.keep = [&](const DataTable& part, std::size_t row) {
      const DataColumn* status = part.find("status");
      const bool over = status != nullptr && to_text(status->cells[row]) == kOverLimit;
      data_.over_limit += over ? 1 : 0;
      return !over;
    };
    data_.designs = read_table(dataset_, TableKind::kDesigns, data_.damaged, within_limits);
    if (data_.designs.rows() == 0) {
      std::string why =
          data_.over_limit > 0 ? "holds no design that meets the sweep's constraints on results" : "holds no design";
      for (const std::string& damage : data_.damaged) why += "; " + damage;
      throw no_dataset(dataset_, why);
    }
    if (data_.designs.find("flexion_sets") == nullptr && data_.designs.find("array_rows") == nullptr)
      throw no_dataset(dataset_, "was written by another version of Pliant (no column array_rows)");
    derive();
    read_nested();
    summarize_layers();
    count_missing();
    return std::move(data_);
  }

 private:
  void add(std::string name, auto value_of) {
    DataColumn column{std::move(name), {}};
    for (std::size_t row = 0; row < data_.designs.rows(); ++row) column.cells.push_back(value_of(row));
    data_.designs.columns.push_back(std::move(column));
  }

  void derive() {
    add("label",
        [&](std::size_t row) -> Cell { return label_of(data_.text("flexibility", row), data_.text("class", row)); });
    add("axes", [&](std::size_t row) -> Cell {
      const std::string bits = data_.text("class", row);
      return std::int64_t{std::ranges::count(bits, '1')};
    });
    add("array", [&](std::size_t row) -> Cell {
      if (!data_.number("array_rows", row)) return {};
      return fmt::format("{} x {}", data_.text("array_rows", row), data_.text("array_cols", row));
    });
    add("buffer_kib", [&](std::size_t row) -> Cell {
      const auto bits = data_.number("buffer_bits", row);
      return bits ? Cell(*bits / 8192) : Cell();
    });
    add("edp_js", [&](std::size_t row) -> Cell {
      const auto energy = data_.number("energy_pj", row), latency = data_.number("latency_s", row);
      return energy && latency ? Cell(*energy * 1e-12 * *latency) : Cell();
    });
    for (const DataColumn& column : data_.designs.columns) {
      const bool names_design = column.name.starts_with("set_") || column.name == "factorization" ||
                                column.name == "objective" || column.name == "mapper";
      if (names_design && std::ranges::any_of(column.cells, [&](const Cell& c) { return c != column.cells.front(); }))
        data_.varied.push_back(column.name);
    }
    // The inflexible design that is equal in everything else.
    std::map<std::vector<std::string>, std::size_t> inflexible;
    const auto key_of = [&](std::size_t row) {
      std::vector<std::string> key{data_.text("workload", row)};
      for (const std::string& column : data_.varied) key.push_back(data_.text(column, row));
      return key;
    };
    for (std::size_t row = 0; row < data_.designs.rows(); ++row)
      if (data_.text("class", row) == "0000") inflexible.try_emplace(key_of(row), row);
    std::vector<std::optional<std::size_t>> base(data_.designs.rows());
    for (std::size_t row = 0; row < base.size(); ++row)
      if (const auto found = inflexible.find(key_of(row)); found != inflexible.end()) base[row] = found->second;
    for (const auto& [name, column] : {std::pair{"rel_runtime", "runtime_cycles"},
                                       {"rel_energy", "energy_pj"},
                                       {"rel_edp", "edp_pj_cycles"},
                                       {"rel_area", "area_um2"}}) {
      add(name, [&, from = std::string(column)](std::size_t row) -> Cell {
        if (!base[row]) return {};
        const auto own = data_.number(from, row), other = data_.number(from, *base[row]);
        return own && other && *other > 0 ? Cell(*own / *other) : Cell();
      });
    }
  }

  /// The nested columns of the designs' tables; equal ones are kept once.
  void read_nested() {
    data_.sets_of.assign(data_.designs.rows(), {-1, -1, -1, -1});
    data_.areas_of.assign(data_.designs.rows(), -1);
    std::map<std::vector<double>, int> known;
    std::map<std::pair<std::int64_t, std::string>, std::size_t> rows;
    for (std::size_t row = 0; row < data_.designs.rows(); ++row)
      rows[{static_cast<std::int64_t>(*data_.number("design_id", row)), data_.text("workload", row)}] = row;
    for (const std::int64_t part : list_parts(dataset_)) {
      const auto table =
          part_table(TableKind::kDesigns, part, {"design_id", "workload", "flexion_sets", "area_by_component"});
      if (!table) continue;
      const ListCells lists(*table, "flexion_sets"), areas(*table, "area_by_component");
      const RowCells names(*table);
      for (std::int64_t i = 0; i < table->num_rows(); ++i) {
        const auto place = rows.find({names.whole("design_id", i), names.text("workload", i)});
        if (place == rows.end()) continue;
        const std::size_t row = place->second;
        keep_area(areas, i, row);
        const auto [from, to] = lists.range(i);
        for (std::int64_t at = from; at < to && at < from + 4; ++at) {
          std::vector<double> sizes;
          for (const char* name : {"c", "a", "w", "a_and_w", "c_and_w"})
            sizes.push_back(lists.real(name, at).value_or(0));
          const char axis = "tops"[at - from];
          VennPanel panel{"",
                          sizes[0],
                          sizes[1],
                          sizes[2],
                          sizes[3],
                          sizes[4],
                          data_.number(fmt::format("h_f_{}", axis), row).value_or(0),
                          data_.number(fmt::format("w_f_{}", axis), row).value_or(0)};
          sizes.insert(sizes.end(), {panel.h_f, panel.w_f});
          const auto [found, is_new] = known.try_emplace(std::move(sizes), static_cast<int>(data_.sets.size()));
          if (is_new) data_.sets.push_back(panel);
          data_.sets_of[row][static_cast<std::size_t>(at - from)] = found->second;
        }
      }
    }
  }

  void keep_area(const ListCells& areas, std::int64_t i, std::size_t row) {
    std::vector<std::pair<std::string, double>> parts;
    const auto [from, to] = areas.range(i);
    for (std::int64_t at = from; at < to; ++at)
      parts.emplace_back(areas.text("component", at), areas.real("area_um2", at).value_or(0));
    if (parts.empty()) return;
    const auto [found, is_new] = known_areas_.try_emplace(parts, static_cast<int>(data_.areas.size()));
    if (is_new) data_.areas.push_back(std::move(parts));
    data_.areas_of[row] = found->second;
  }

  /// nullptr for parts that read_table left out as well.
  std::shared_ptr<arrow::Table> part_table(TableKind kind, std::int64_t part, const std::vector<std::string>& columns) {
    const fs::path file = part_path(dataset_, kind, part);
    if (!is_there(file)) return nullptr;
    try {
      return combined(CheckedFile(file).read(columns));
    } catch (const StorageError& problem) {
      if (kind == TableKind::kLayers) data_.damaged.emplace_back(problem.what());
      return nullptr;
    }
  }

  void summarize_layers() {
    CertificateSummary& all = data_.certificates;
    std::map<std::pair<std::string, std::string>, std::size_t> reasons;
    for (const std::int64_t part : list_parts(dataset_)) {
      const auto table =
          part_table(TableKind::kLayers, part, {"design_id", "workload", "layer", "status", "reason", "certificate"});
      if (!table) continue;
      const arrow::StructArray& certificate = struct_column(*table, "certificate");
      const RowCells row(*table);
      for (std::int64_t i = 0; i < table->num_rows(); ++i) {
        ++all.layers;
        const std::string status = row.text("status", i);
        ++all.by_status[status];
        const std::string where =
            fmt::format("design {}, {}, {}", row.whole("design_id", i), row.text("workload", i), row.text("layer", i));
        if (status == "solved") {
          ++all.solved;
          if (bool_of(certificate, "certified", i)) ++all.certified;
          ++all.ended_by[text_of(certificate, "ended_by", i)];
          const double gap = real_of(certificate, "gap", i).value_or(0);
          if (gap > all.max_gap) {
            all.max_gap = gap;
            all.max_gap_at = where;
          }
          continue;
        }
        const std::string reason = row.text("reason", i);
        const auto [found, is_new] = reasons.try_emplace({status, reason}, all.reasons.size());
        if (!is_new) {
          ++all.reasons[found->second].layers;
        } else if (all.reasons.size() < CertificateSummary::kReasons) {
          all.reasons.push_back({status, reason, where, 1});
        } else {
          reasons.erase(found);
          all.more_reasons = true;
        }
      }
    }
  }

  void count_missing() {
    if (!data_.manifest) return;
    std::int64_t there = 0;
    for (const std::int64_t part : list_parts(dataset_))
      there += is_there(part_path(dataset_, TableKind::kDesigns, part)) ? 1 : 0;
    data_.parts_missing = std::max<std::int64_t>(0, data_.manifest->parts - there);
  }

  fs::path dataset_;
  std::map<std::vector<std::pair<std::string, double>>, int> known_areas_;
  ReportData data_;
};

}  // namespace

std::optional<double> ReportData::number(std::string_view column, std::size_t row) const {
  const DataColumn* found = designs.find(column);
  return found == nullptr ? std::nullopt : as_number(found->cells[row]);
}

std::string ReportData::text(std::string_view column, std::size_t row) const {
  const DataColumn* found = designs.find(column);
  return found == nullptr ? "" : to_text(found->cells[row]);
}

std::vector<std::size_t> ReportData::rows_of(const std::string& workload,
                                             const std::vector<std::string>& complete) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < designs.rows(); ++row) {
    if (text("workload", row) != workload) continue;
    if (std::ranges::all_of(complete, [&](const std::string& name) { return number(name, row).has_value(); }))
      rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> ReportData::workloads() const {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (std::size_t row = 0; row < designs.rows(); ++row)
    if (std::string name = text("workload", row); known.insert(name).second) names.push_back(std::move(name));
  return names;
}

ReportData read_report_data(const fs::path& dataset) {
  ReportData data = Reader(dataset).read();
  data.space = closed_space(dataset);
  return data;
}

std::optional<std::size_t> knee_row(const ReportData& data, const std::string& workload) {
  const std::vector<std::size_t> rows = data.rows_of(workload, {"area_um2", "edp_pj_cycles"});
  std::vector<Point> points, frontier;
  for (const std::size_t row : rows)
    points.push_back({*data.number("area_um2", row), *data.number("edp_pj_cycles", row)});
  if (points.empty()) return std::nullopt;
  const std::vector<std::size_t> kept = non_dominated(points);
  for (const std::size_t i : kept) frontier.push_back(points[i]);
  return rows[kept[knee(frontier).value_or(0)]];
}

}  // namespace pliant
