// SPDX-License-Identifier: Apache-2.0
// boxes.parquet: every box with its bounds and what closed it.
#include <fmt/format.h>

#include <algorithm>

#include "core/input/units.h"
#include "dse/design/run_design.h"
#include "dse/results/atomic_file.h"

namespace pliant {

namespace {

std::string axis_name(const Sweep& sweep, std::size_t axis) {
  std::string name;
  for (const std::string& key : sweep.axes[axis].keys) name += (name.empty() ? "" : "_") + key;
  std::ranges::replace(name, '.', '_');
  return name;
}

/// 65536B is 64KiB.
std::string readable_size(const std::string& value) {
  const auto bytes = parse_bytes(value);
  const auto* count = std::get_if<Count>(&bytes);
  return count != nullptr && *count > 0 && *count % 1024 == 0 ? fmt::format("{}KiB", *count / 1024) : value;
}

/// "rows 4..32, cols 64": for people.
std::string ranges_text(const Sweep& sweep, const HardwareBox& box) {
  std::string text;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const SweepAxis& axis = sweep.axes[a];
    const auto& first = axis.values[static_cast<std::size_t>(box.axes[a].first)];
    const auto& last = axis.values[static_cast<std::size_t>(box.axes[a].last)];
    for (std::size_t k = 0; k < axis.keys.size(); ++k)
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", axis.keys[k], readable_size(first[k]),
                          first[k] == last[k] ? "" : ".." + readable_size(last[k]));
  }
  return text;
}

/// A cell of a column that must be there.
class Cells {
 public:
  Cells(const DataTable& table, std::string file) : table_(table), file_(std::move(file)) {}

  std::int64_t whole(const std::string& name, std::size_t row) const { return get<std::int64_t>(name, row); }
  double real(const std::string& name, std::size_t row) const { return get<double>(name, row); }
  std::string text(const std::string& name, std::size_t row) const { return get<std::string>(name, row); }
  bool empty(const std::string& name, std::size_t row) const {
    return std::holds_alternative<std::monostate>(column(name).cells[row]);
  }
  [[noreturn]] void damaged(const std::string& what) const { throw StorageError(fmt::format("{}: {}", file_, what)); }

 private:
  const DataColumn& column(const std::string& name) const {
    const DataColumn* found = table_.find(name);
    if (found == nullptr) damaged(fmt::format("no column {}", name));
    return *found;
  }
  template <class T>
  T get(const std::string& name, std::size_t row) const {
    const auto* value = std::get_if<T>(&column(name).cells[row]);
    if (value == nullptr) damaged(fmt::format("row {}: {} is empty or of another kind", row, name));
    return *value;
  }
  const DataTable& table_;
  std::string file_;
};

}  // namespace

std::string_view to_string(ClosedBy closed_by) {
  constexpr std::array<std::string_view, kClosedByCount> kWords = {"beaten", "constraints", "limits", "nothing_fits",
                                                                   "opened"};
  return kWords[static_cast<std::size_t>(closed_by)];
}

std::filesystem::path boxes_path(const std::filesystem::path& dataset) { return dataset / "boxes.parquet"; }

std::string goal_name(const Sweep& sweep, const DesignGoals::Goal& goal) {
  std::string name(column_of(goal.measure));
  if (goal.workload) name += "_of_" + sweep.workloads[*goal.workload].name;
  return name;
}

DataTable boxes_table(const Sweep& sweep, const std::vector<ClosedBox>& boxes) {
  DataTable table;
  const auto add = [&](const std::string& name, auto cell_of) {
    DataColumn& column = table.columns.emplace_back();
    column.name = name;
    for (const ClosedBox& box : boxes) column.cells.push_back(cell_of(box));
  };
  add("closed_by", [](const ClosedBox& box) { return Cell(std::string(to_string(box.closed_by))); });
  add("designs", [](const ClosedBox& box) { return Cell(box.designs); });
  add("design_id", [](const ClosedBox& box) { return box.design_id < 0 ? Cell() : Cell(box.design_id); });
  add("beaten_by", [](const ClosedBox& box) { return box.beaten_by < 0 ? Cell() : Cell(box.beaten_by); });
  add("least_area_um2", [](const ClosedBox& box) { return Cell(box.least_area_um2); });
  for (std::size_t k = 0; k < sweep.goals->minimize.size(); ++k)
    add(fmt::format("goal{}_{}", k + 1, goal_name(sweep, sweep.goals->minimize[k])), [&](const ClosedBox& box) {
      if (k >= box.least.size()) return Cell();
      return Cell(column_value(sweep.goals->minimize[k].measure, box.least[k]));
    });
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const std::string name = axis_name(sweep, a);
    add("first_" + name, [&](const ClosedBox& box) { return Cell(std::int64_t{box.box.axes[a].first}); });
    add("last_" + name, [&](const ClosedBox& box) { return Cell(std::int64_t{box.box.axes[a].last}); });
  }
  add("ranges", [&](const ClosedBox& box) { return Cell(ranges_text(sweep, box.box)); });
  return table;
}

std::vector<ClosedBox> read_boxes(const Sweep& sweep, const std::filesystem::path& dataset) {
  const std::filesystem::path file = boxes_path(dataset);
  std::vector<std::string> damaged;
  const DataTable table = read_table(file, TableKind::kDesigns, damaged);
  if (!damaged.empty()) throw StorageError(damaged.front());
  const Cells cells(table, file.string());
  std::vector<ClosedBox> boxes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    ClosedBox box;
    const std::string word = cells.text("closed_by", row);
    int reason = 0;
    while (reason < kClosedByCount && to_string(static_cast<ClosedBy>(reason)) != word) ++reason;
    if (reason == kClosedByCount) cells.damaged(fmt::format("row {}: closed_by is {}", row, word));
    box.closed_by = static_cast<ClosedBy>(reason);
    box.designs = cells.whole("designs", row);
    if (!cells.empty("design_id", row)) box.design_id = cells.whole("design_id", row);
    if (!cells.empty("beaten_by", row)) box.beaten_by = cells.whole("beaten_by", row);
    box.least_area_um2 = cells.real("least_area_um2", row);
    for (std::size_t k = 0; k < sweep.goals->minimize.size(); ++k) {
      const std::string name = fmt::format("goal{}_{}", k + 1, goal_name(sweep, sweep.goals->minimize[k]));
      if (!cells.empty(name, row))
        box.least.push_back(column_value(sweep.goals->minimize[k].measure, cells.real(name, row)));
    }
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
      const std::string name = axis_name(sweep, a);
      const HardwareBox::Range range{static_cast<std::int32_t>(cells.whole("first_" + name, row)),
                                     static_cast<std::int32_t>(cells.whole("last_" + name, row))};
      if (range.first < 0 || range.size() < 1 || range.last >= static_cast<std::int32_t>(sweep.axes[a].values.size()))
        cells.damaged(fmt::format("row {}: no range of {}", row, name));
      box.box.axes.push_back(range);
    }
    boxes.push_back(std::move(box));
  }
  return boxes;
}

}  // namespace pliant
