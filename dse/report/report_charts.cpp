// SPDX-License-Identifier: Apache-2.0
#include "dse/report/report_charts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "dse/report/design_charts.h"
#include "dse/report/measures.h"
#include "dse/results/pareto.h"

namespace pliant {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr double kWidth = 620, kHeight = 380;

/// The four bits in a label; empty when there are none.
std::string class_bits(const std::string& label) {
  for (std::size_t i = 0; i + 4 <= label.size(); ++i)
    if (std::string four = label.substr(i, 4); four.find_first_not_of("01") == std::string::npos) return four;
  return {};
}

/// Classes as the page orders them: by the number of flexible axes, then T before O before P before S.
bool label_before(const std::string& a, const std::string& b) {
  const std::string of_a = class_bits(a), of_b = class_bits(b);
  const auto ones_a = std::ranges::count(of_a, '1'), ones_b = std::ranges::count(of_b, '1');
  if (ones_a != ones_b) return ones_a < ones_b;
  if (of_a != of_b) return of_a > of_b;
  return a < b;
}

struct LabelBefore {
  bool operator()(const std::string& a, const std::string& b) const { return label_before(a, b); }
};

/// "1010 tiles, dims", as the page has it.
std::string class_words(const std::string& label) {
  const std::string bits = class_bits(label);
  if (bits.empty()) return label;
  constexpr std::array<const char*, 4> kNames{"tiles", "orders", "dims", "shape"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (bits[i] == '1') names.emplace_back(kNames[i]);
  if (names.empty() || names.size() == kNames.size()) names = {names.empty() ? "nothing free" : "all free"};
  return fmt::format("{} {}{}", label, fmt::join(names, ", "), label.ends_with("+F") ? ", fusion" : "");
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

ordered_json tight_scale(bool log) {
  ordered_json scale{{"type", log ? "log" : "linear"}, {"nice", false}, {"padding", 14}};
  if (!log) scale["zero"] = false;
  return scale;
}

/// Colours and shapes of the numbers of flexible axes that there are.
ordered_json axes_colours(const ReportData& data) {
  std::set<std::int64_t> there;
  for (const Cell& cell : data.designs.find("axes")->cells) there.insert(std::get<std::int64_t>(cell));
  ordered_json domain = ordered_json::array(), range = ordered_json::array(), shapes = ordered_json::array();
  for (const std::int64_t axes : there) {
    domain.push_back(std::to_string(axes));
    range.push_back(measures()["axes_colours"][static_cast<std::size_t>(axes)]);
    shapes.push_back(measures()["shapes"][static_cast<std::size_t>(axes)]);
  }
  return {{"group_title", "free axes"}, {"group_domain", domain}, {"group_range", range}, {"group_shapes", shapes}};
}

class Charts {
 public:
  explicit Charts(const ReportData& data) : data_(data), workloads_(data.workloads()) {}

  std::vector<Chart> make() {
    for (const std::string& workload : workloads_) {
      const bool clocked = !data_.rows_of(workload, {"edp_js"}).empty();
      for (const char* column : {clocked ? "edp_js" : "edp_pj_cycles", "energy_pj", "runtime_cycles"})
        frontier(workload, metric(column));
      flexion(workload);
      array(workload);
      if (const auto size = size_column()) scaling(workload, "buffer", *size);
      scaling(workload, "units", "compute_units");
    }
    for (const char* column : {"rel_runtime", "rel_energy", "rel_edp"}) classes(column);
    return std::move(charts_);
  }

 private:
  std::string named(const std::string& chart, const std::string& workload) const {
    return workloads_.size() == 1 ? chart : chart + "_" + file_name(workload);
  }

  void add(std::string name, std::string title, ordered_json spec, DataTable table) {
    if (table.rows() == 0) return;
    charts_.push_back({std::move(name), std::move(title), std::move(spec), std::move(table)});
  }

  std::string group(std::size_t row) const { return data_.text("axes", row); }

  /// What stands beside a point: the class where classes differ, else the array.
  std::string point_label(std::size_t row) const {
    const DataColumn& labels = *data_.designs.find("label");
    const bool differ =
        std::ranges::any_of(labels.cells, [&](const Cell& cell) { return cell != labels.cells.front(); });
    return data_.text(differ ? "label" : "array", row);
  }

  /// Frontier points with room for a label, from the best y on, as the page has it.
  static std::set<std::size_t> labelled(const std::vector<Point>& points, const std::vector<std::size_t>& kept) {
    const auto place = [&](std::size_t axis, double size) {
      double low = INFINITY, high = -INFINITY;
      for (const Point& point : points) {
        low = std::min(low, std::log(point[axis]));
        high = std::max(high, std::log(point[axis]));
      }
      return [=](const Point& point) { return high > low ? (std::log(point[axis]) - low) / (high - low) * size : 0.0; };
    };
    const auto x = place(0, kWidth);
    const auto y = place(1, kHeight);
    std::set<std::size_t> placed;
    for (auto i = kept.rbegin(); i != kept.rend(); ++i) {
      if (std::ranges::all_of(placed, [&](std::size_t other) {
            return std::abs(x(points[*i]) - x(points[other])) > 46 || std::abs(y(points[*i]) - y(points[other])) > 13;
          }))
        placed.insert(*i);
    }
    return placed;
  }

  void frontier(const std::string& workload, const Metric& y) {
    const Metric& x = metric("area_um2");
    std::vector<std::size_t> rows;
    for (const std::size_t row : data_.rows_of(workload, {x.name, y.name}))
      if (*data_.number(x.name, row) > 0 && *data_.number(y.name, row) > 0) rows.push_back(row);
    if (rows.empty()) return;
    std::vector<Point> points;
    for (const std::size_t row : rows) points.push_back({*data_.number(x.name, row), *data_.number(y.name, row)});
    const std::vector<std::size_t> kept = non_dominated(points);
    const std::set<std::size_t> on(kept.begin(), kept.end()), with_label = labelled(points, kept);
    DataTable table;
    table.columns = {{"x", {}},     {"y", {}},         {"group", {}}, {"frontier", {}}, {"chosen", {}}, {"label", {}},
                     {"class", {}}, {"design_id", {}}, {"array", {}}, {x.name, {}},     {y.name, {}}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::vector<Cell> cells{points[i][0] * x.scale,
                                    points[i][1] * y.scale,
                                    group(rows[i]),
                                    on.contains(i),
                                    false,
                                    with_label.contains(i) ? point_label(rows[i]) : std::string(),
                                    data_.text("label", rows[i]),
                                    data_.text("design_id", rows[i]),
                                    data_.text("array", rows[i]),
                                    points[i][0],
                                    points[i][1]};
      for (std::size_t c = 0; c < cells.size(); ++c) table.columns[c].cells.push_back(cells[c]);
    }
    ordered_json values = axes_colours(data_);
    values.update({{"width", kWidth},
                   {"height", kHeight},
                   {"x_title", x.axis()},
                   {"y_title", y.axis()},
                   {"x_format", x.format},
                   {"y_format", y.format},
                   {"x_scale", tight_scale(true)},
                   {"y_scale", tight_scale(true)}});
    add(named("frontier_" + y.word(), workload), fmt::format("{}: area against {}", workload, y.title),
        shipped_spec("frontier", values), std::move(table));
  }

  /// By label and workload, in the order of the page.
  void classes(const std::string& column) {
    const std::string word = column.substr(std::string_view("rel_").size());
    std::map<std::string, std::map<std::string, std::vector<double>>, LabelBefore> groups;
    std::map<std::string, std::vector<double>, LabelBefore> areas;
    for (std::size_t row = 0; row < data_.designs.rows(); ++row) {
      const auto value = data_.number(column, row), area = data_.number("rel_area", row);
      if (value && *value > 0) groups[data_.text("label", row)][data_.text("workload", row)].push_back(*value);
      if (value && area && *area > 0) areas[data_.text("label", row)].push_back(*area);
    }
    if (groups.empty()) return;
    DataTable means{{{"label", {}}, {"workload", {}}, {"value", {}}, {"dark", {}}, {"words", {}}}};
    DataTable overhead{{{"label", {}}, {"area_percent", {}}, {"gain", {}}, {"words", {}}}};
    for (const auto& [label, of_workload] : groups) {
      std::vector<double> all;
      for (const std::string& workload : workloads_) {
        const auto found = of_workload.find(workload);
        if (found == of_workload.end()) continue;
        all.push_back(geometric_mean(found->second));
        means.columns[0].cells.emplace_back(label);
        means.columns[1].cells.emplace_back(workload);
        means.columns[2].cells.emplace_back(all.back());
        means.columns[4].cells.emplace_back(class_words(label));
      }
      if (label == "0000") continue;
      overhead.columns[0].cells.emplace_back(label);
      overhead.columns[1].cells.emplace_back(areas[label].empty() ? 0 : 100 * (geometric_mean(areas[label]) - 1));
      overhead.columns[2].cells.emplace_back(1 / geometric_mean(all));
      overhead.columns[3].cells.emplace_back(class_words(label));
    }
    double low = INFINITY, high = -INFINITY;
    for (const Cell& cell : means.columns[2].cells) {
      low = std::min(low, std::log(std::get<double>(cell)));
      high = std::max(high, std::log(std::get<double>(cell)));
    }
    for (const Cell& cell : means.columns[2].cells)
      means.columns[3].cells.emplace_back(high > low && std::log(std::get<double>(cell)) < (low + high) / 2);
    const int angle = workloads_.size() > 4 ? -40 : 0;
    const DataTable isolated = isolation(means);
    add("classes_" + word, fmt::format("Relative {} of every class, inflexible = 1", word),
        shipped_spec("classes", {{"width", 110 * std::max<std::size_t>(2, workloads_.size())},
                                 {"x_angle", angle},
                                 {"y_title", "class T O P S"},
                                 {"value_title", "relative " + word},
                                 {"format", ".2f"}}),
        std::move(means));
    const double area_end = bar_end(overhead.columns[1]), gain_end = bar_end(overhead.columns[2]);
    add("overhead_" + word, fmt::format("Area that flexibility adds, {} that it gains", word),
        shipped_spec("overhead", {{"half", 260},
                                  {"gain_title", word + " divided by (×)"},
                                  {"area_start", 0},
                                  {"area_end", area_end},
                                  {"gain_end", gain_end}}),
        std::move(overhead));
    add("isolation_" + word, fmt::format("Relative {}, one flexible axis at a time", word),
        shipped_spec("isolation", {{"width", std::max<std::size_t>(320, 150 * workloads_.size())},
                                   {"x_angle", angle},
                                   {"y_title", word + ", inflexible = 1"}}),
        isolated);
  }

  static double bar_end(const DataColumn& column) {
    double most = 1e-9;
    for (const Cell& cell : column.cells) most = std::max(most, 1.17 * std::get<double>(cell));
    return most;
  }

  static DataTable isolation(const DataTable& means) {
    DataTable table{
        {{"workload", {}}, {"axis", {}}, {"bar", {}}, {"value", {}}, {"text", {}}, {"partial", {}}, {"label", {}}}};
    const std::vector<std::pair<std::string, std::string>> names = {{"1000", "T tiles"},
                                                                    {"0100", "O orders"},
                                                                    {"0010", "P parallel dims"},
                                                                    {"0001", "S shape"},
                                                                    {"1111", "all four"}};
    std::map<std::string, std::size_t> bars;
    for (std::size_t n = 0; n < names.size(); ++n) {
      for (const bool partial : {true, false}) {
        for (std::size_t row = 0; row < means.rows(); ++row) {
          const std::string label = to_text(means.columns[0].cells[row]);
          if (label.find(names[n].first) == std::string::npos || label.starts_with("Part") != partial) continue;
          const std::string bar = fmt::format("{} {} {}", n, partial ? 0 : 1, label);
          ++bars[bar];
          const double value = std::get<double>(means.columns[2].cells[row]);
          const std::vector<Cell> cells{means.columns[1].cells[row],  names[n].second, bar,  value,
                                        fmt::format("{:.2f}", value), partial,         label};
          for (std::size_t c = 0; c < cells.size(); ++c) table.columns[c].cells.push_back(cells[c]);
        }
      }
    }
    // Values stand on bars only where they have room.
    if (bars.size() > 5)
      for (Cell& cell : table.columns[4].cells) cell = std::string();
    return table;
  }

  void flexion(const std::string& workload) {
    DataTable table{{{"x", {}}, {"y", {}}, {"group", {}}, {"class", {}}, {"design_id", {}}}};
    for (const std::size_t row : data_.rows_of(workload, {"w_f", "rel_runtime"})) {
      if (*data_.number("w_f", row) <= 0) continue;
      const std::vector<Cell> cells{*data_.number("w_f", row), *data_.number("rel_runtime", row), group(row),
                                    data_.text("label", row), data_.text("design_id", row)};
      for (std::size_t c = 0; c < cells.size(); ++c) table.columns[c].cells.push_back(cells[c]);
    }
    ordered_json values = axes_colours(data_);
    values.update({{"width", kWidth}, {"x_title", "W-F, all axes"}, {"y_title", "runtime, inflexible = 1"}});
    add(named("flexion", workload), workload + ": workload flexion against runtime", shipped_spec("flexion", values),
        std::move(table));
  }

  /// The row with the least value of each group.
  template <class Key>
  std::map<Key, std::size_t> best(const std::vector<std::size_t>& rows, const std::string& column, auto key_of) const {
    std::map<Key, std::size_t> all;
    for (const std::size_t row : rows) {
      const auto [found, is_new] = all.try_emplace(key_of(row), row);
      if (!is_new && *data_.number(column, row) < *data_.number(column, found->second)) found->second = row;
    }
    return all;
  }

  void array(const std::string& workload) {
    const Metric& m = metric("runtime_cycles");
    const auto cells = best<std::pair<double, double>>(
        data_.rows_of(workload, {m.name, "array_rows", "array_cols"}), m.name, [&](std::size_t row) {
          return std::pair{*data_.number("array_rows", row), *data_.number("array_cols", row)};
        });
    if (cells.size() < 2) return;
    DataTable table{
        {{"rows", {}}, {"cols", {}}, {"value", {}}, {"text", {}}, {"dark", {}}, {"class", {}}, {"design_id", {}}}};
    double low = INFINITY, high = -INFINITY;
    std::set<double> tall, wide;
    for (const auto& [shape, row] : cells) {
      low = std::min(low, std::log(*data_.number(m.name, row)));
      high = std::max(high, std::log(*data_.number(m.name, row)));
      tall.insert(shape.first);
      wide.insert(shape.second);
    }
    for (const auto& [shape, row] : cells) {
      const double value = *data_.number(m.name, row);
      const std::vector<Cell> one{shape.first,
                                  shape.second,
                                  value * m.scale,
                                  cells.size() > 120 ? "" : si_text(value),
                                  high > low && std::log(value) < (low + high) / 2,
                                  data_.text("label", row),
                                  data_.text("design_id", row)};
      for (std::size_t c = 0; c < one.size(); ++c) table.columns[c].cells.push_back(one[c]);
    }
    ordered_json scale{{"type", "log"}, {"nice", false}, {"range", measures()["blues"]}, {"interpolate", "lab"}};
    add(named("array", workload), fmt::format("{}: best {} of every array", workload, m.title),
        shipped_spec("array", {{"width", std::min<std::size_t>(620, 130 * wide.size())},
                               {"height", std::min<std::size_t>(420, 62 * tall.size())},
                               {"value_title", m.axis()},
                               {"scale", scale},
                               {"format", m.format}}),
        std::move(table));
  }

  /// The first capacity that varies; on-chip memory as a whole would mix the array in.
  std::optional<std::string> size_column() const {
    for (const std::string& name : data_.varied)
      if (name.ends_with("_words") || in_bytes(name)) return name;
    return std::nullopt;
  }

  const AxisColumn* axis_of(const std::string& column) const {
    if (!data_.manifest) return nullptr;
    const auto found = std::ranges::find(data_.manifest->axes, column, &AxisColumn::column);
    return found == data_.manifest->axes.end() ? nullptr : &*found;
  }
  bool in_bytes(const std::string& column) const {
    const AxisColumn* axis = axis_of(column);
    return axis != nullptr && axis->unit == "B";
  }

  std::string column_title(const std::string& name) const {
    if (name == "compute_units") return "MAC units";
    const AxisColumn* axis = axis_of(name);
    if (axis == nullptr) return name;
    return axis->key + (name.ends_with("_words") ? " (words)" : in_bytes(name) ? " (KiB)" : "");
  }

  void scaling(const std::string& workload, const std::string& chart, const std::string& column) {
    const Metric& m = metric("runtime_cycles");
    const auto points =
        best<std::pair<std::string, double>>(data_.rows_of(workload, {m.name, column}), m.name, [&](std::size_t row) {
          return std::pair{group(row), *data_.number(column, row)};
        });
    std::set<double> sizes;
    DataTable table{
        {{"group", {}}, {"x", {}}, {"value", {}}, {"w_f", {}}, {"class", {}}, {"design_id", {}}, {"broad", {}}}};
    ordered_json values = axes_colours(data_);
    // Equal lines show as stripes: the first is the broadest.
    const auto broad = [&](const std::string& of) {
      const ordered_json& domain = values["group_domain"];
      return 2.0 * static_cast<double>(domain.end() - std::find(domain.begin(), domain.end(), ordered_json(of)));
    };
    const double scale_of_x = in_bytes(column) ? 1.0 / 1024 : 1;
    double low = INFINITY, high = 0;
    for (const auto& [key, row] : points) {
      sizes.insert(key.second * scale_of_x);
      const double value = *data_.number(m.name, row) * m.scale;
      low = std::min(low, value);
      high = std::max(high, value);
      const auto flexion = data_.number("w_f_t", row);
      const std::vector<Cell> one{key.first,
                                  key.second * scale_of_x,
                                  value,
                                  flexion ? Cell(*flexion) : Cell(),
                                  data_.text("label", row),
                                  data_.text("design_id", row),
                                  broad(key.first)};
      for (std::size_t c = 0; c < one.size(); ++c) table.columns[c].cells.push_back(one[c]);
    }
    if (sizes.size() < 2) return;
    const ordered_json scale = low > 0 && high / low > 20
                                   ? ordered_json{{"type", "log"}, {"nice", true}}
                                   : ordered_json{{"type", "linear"}, {"zero", true}, {"nice", true}};
    values.update({{"width", kWidth},
                   {"x_values", sizes},
                   {"x_title", column_title(column)},
                   {"y_title", m.axis()},
                   {"axis", "T"},
                   {"y_scale", scale},
                   {"y_format", m.format}});
    add(named(chart, workload),
        fmt::format("{}: {} and workload flexion against {}", workload, m.title, column_title(column)),
        shipped_spec("scaling", values), std::move(table));
  }

  const ReportData& data_;
  std::vector<std::string> workloads_;
  std::vector<Chart> charts_;
};

}  // namespace

std::vector<Chart> report_charts(const fs::path& dataset, const ReportData& data) {
  std::vector<Chart> charts = Charts(data).make();
  const std::vector<std::string> workloads = data.workloads();
  for (const std::string& workload : workloads) {
    const auto row = knee_row(data, workload);
    if (!row) continue;
    const std::string suffix = workloads.size() == 1 ? "" : "_" + file_name(workload);
    for (Chart& chart : design_charts(dataset, data, *row)) {
      chart.name += suffix;
      charts.push_back(std::move(chart));
    }
  }
  // Two workloads may have the same name in a file's alphabet.
  std::map<std::string, int> names;
  for (Chart& chart : charts)
    if (const int before = names[chart.name]++; before > 0) chart.name += fmt::format("-{}", before + 1);
  return charts;
}

}  // namespace pliant
