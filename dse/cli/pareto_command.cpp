// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/pareto_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "core/input/diagnostics.h"
#include "dse/cli/command_line.h"
#include "dse/cli/dataset_options.h"
#include "dse/cli/json_schema.h"
#include "dse/cli/pareto_sensitivity.h"
#include "dse/cli/row_filter.h"
#include "dse/cli/text_table.h"
#include "dse/results/atomic_file.h"
#include "dse/results/columns.h"
#include "dse/results/data_table.h"
#include "dse/results/pareto.h"

namespace pliant {
namespace {

constexpr const char* kUsage = R"(usage: pliant pareto DIR [--minimize COLUMNS] [--maximize COLUMNS] [options]

The designs of a dataset that no other design of their group is better than in every column named. With each group: the
hypervolume they dominate up to a reference point, and the knee, the design with the least sum of columns, each scaled
to 0..1 over the frontier. DIR is what `pliant sweep` wrote, or one Parquet file.

examples:
  pliant pareto results/demo --minimize area_um2,edp_pj_cycles
  pliant pareto results/demo --minimize runtime_cycles --maximize w_f --group-by workload,class
  pliant pareto results/demo --minimize area_um2,energy_mj --where 'latency_s <= 0.033' --where 'power_w <= 2'
  pliant pareto results/demo --minimize area_um2,edp_pj_cycles -o frontier.csv
  pliant pareto results/demo --uncertain 'DRAM.read_pj 30%, Buffer.* 20%'

)";

std::optional<double> as_real(const Cell& cell) {
  double value = 0;
  if (const auto* real = std::get_if<double>(&cell)) {
    value = *real;
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    value = static_cast<double>(*whole);
  } else {
    return std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

using Goal = ParetoGoal;

struct Group {
  std::vector<std::string> names;     ///< values of the group-by columns
  std::vector<std::size_t> rows;      ///< that have all goals
  std::size_t incomplete = 0;         ///< left out: a goal is empty
  std::vector<std::size_t> frontier;  ///< rows of the table
  Point reference;                    ///< as written, not signed
  double volume = 0;
  std::optional<std::size_t> knee;                 ///< in frontier
  std::vector<ParetoSensitivity::Design> designs;  ///< with --uncertain
};

class ParetoCommand {
 public:
  ParetoCommand(const Arguments& arguments, std::ostream& out, std::ostream& err)
      : arguments_(arguments), out_(out), err_(err) {}

  int run() {
    read();
    choose_goals();
    group_rows();
    for (Group& group : groups_) analyse(group);
    look_around();
    if (arguments_.has("output")) write();
    if (arguments_.has("json")) {
      print_json();
    } else {
      print_text();
    }
    return exit_code(arguments_, complete_);
  }

 private:
  void read() {
    const std::filesystem::path dataset = dataset_of(arguments_);
    const TableKind kind = table_of(arguments_);
    std::vector<std::string> damaged;
    std::vector<RowFilter> filters;
    if (arguments_.has("where")) {
      const std::vector<ColumnKind> known = table_columns(dataset, kind);
      for (const std::string& text : arguments_.texts("where")) filters.emplace_back(text, known);
    }
    TableChoice choice;
    choice.keep = [&](const DataTable& part, std::size_t row) {
      const DataColumn* status = part.find("status");
      const bool over = status != nullptr && to_text(status->cells[row]) == kOverLimit;
      const bool passes =
          !over && std::ranges::all_of(filters, [&](const RowFilter& filter) { return filter.passes(part, row); });
      over_limit_ += over ? 1 : 0;
      filtered_ += !over && !passes ? 1 : 0;
      return passes;
    };
    table_ = read_table(dataset, kind, damaged, choice);
    complete_ = tell_if_incomplete(dataset, kind, damaged, err_);
    if (table_.columns.empty())
      throw arguments_.bad("", fmt::format("{} holds no {} table", dataset.string(), to_string(kind)),
                           "the folder that `pliant sweep` wrote");
    if (table_.rows() == 0 && over_limit_ + filtered_ > 0)
      throw arguments_.bad(filtered_ > 0 ? "--where" : "", "no design is left: " + left_out(),
                           "conditions that leave designs; `pliant query` shows what there is");
  }

  /// "12 rows break a limit of the sweep, 3 rows do not meet --where".
  std::string left_out() const {
    std::string text;
    if (over_limit_ > 0) text = fmt::format("{} rows break a constraint of the sweep", over_limit_);
    if (filtered_ > 0) text += fmt::format("{}{} rows do not meet --where", text.empty() ? "" : ", ", filtered_);
    return text;
  }

  const DataColumn& column(const std::string& name, const char* option = "") const {
    if (const DataColumn* found = table_.find(name)) return *found;
    throw unknown_column(arguments_, option, name, table_.names());
  }

  void choose_goals() {
    const auto add = [&](const char* option, double sign) {
      const std::string key = std::string("--") + option;
      for (const std::string& name : split_names(arguments_.text(option).value_or(""))) {
        const DataColumn& found = column(name, key.c_str());
        if (std::ranges::any_of(goals_, [&](const Goal& goal) { return goal.column == name; }))
          throw arguments_.bad(key, fmt::format("{} is named twice", name), "each column once");
        const bool text = std::ranges::any_of(
            found.cells, [](const Cell& cell) { return std::holds_alternative<std::string>(cell); });
        if (text) throw arguments_.bad(key, fmt::format("{} is not a number", name), "a column of numbers");
        goals_.push_back({name, sign});
      }
    };
    add("minimize", 1);
    add("maximize", -1);
    if (goals_.empty()) {
      for (const char* name : {"area_um2", "edp_pj_cycles"})
        if (table_.find(name) != nullptr) goals_.push_back({name, 1});
    }
    if (goals_.empty()) throw arguments_.bad("", "no columns to compare", "--minimize COLUMNS");
  }

  void group_rows() {
    std::vector<const DataColumn*> by;
    const std::string text = *arguments_.text("group-by");
    if (text != "none")
      for (const std::string& name : split_names(text)) {
        by.push_back(&column(name, "--group-by"));
        group_by_.push_back(name);
      }
    std::vector<const DataColumn*> goals;
    for (const Goal& goal : goals_) goals.push_back(&column(goal.column));
    std::map<std::vector<std::string>, std::size_t> known;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      std::vector<std::string> names;
      for (const DataColumn* one : by) names.push_back(to_text(one->cells[row]));
      const auto [place, is_new] = known.try_emplace(names, groups_.size());
      if (is_new) groups_.push_back({names, {}, 0, {}, {}, 0, {}, {}});
      Group& group = groups_[place->second];
      const bool whole =
          std::ranges::all_of(goals, [&](const DataColumn* goal) { return as_real(goal->cells[row]).has_value(); });
      if (whole) {
        group.rows.push_back(row);
      } else {
        ++group.incomplete;
      }
    }
  }

  void analyse(Group& group) {
    if (group.rows.empty()) return;
    std::vector<Point> points;
    for (const std::size_t row : group.rows) {
      Point point;
      for (const Goal& goal : goals_) point.push_back(goal.sign * *as_real(column(goal.column).cells[row]));
      points.push_back(std::move(point));
    }
    Point reference(goals_.size());
    const std::vector<std::string> given =
        arguments_.has("reference") ? split_names(*arguments_.text("reference")) : std::vector<std::string>{};
    if (!given.empty() && given.size() != goals_.size())
      throw arguments_.bad("--reference", fmt::format("{} numbers", given.size()),
                           fmt::format("{}, one per column", goals_.size()));
    for (std::size_t g = 0; g < goals_.size(); ++g) {
      if (!given.empty()) {
        double value = 0;
        const auto [end, error] = std::from_chars(given[g].data(), given[g].data() + given[g].size(), value);
        if (error != std::errc() || end != given[g].data() + given[g].size())
          throw arguments_.bad("--reference", fmt::format("`{}`", given[g]), "a number");
        reference[g] = goals_[g].sign * value;
      } else {
        reference[g] = std::ranges::max(points, {}, [g](const Point& p) { return p[g]; })[g];
      }
      group.reference.push_back(goals_[g].sign * reference[g]);
    }
    std::vector<Point> frontier;
    for (const std::size_t i : non_dominated(points)) {
      group.frontier.push_back(group.rows[i]);
      frontier.push_back(points[i]);
    }
    group.volume = hypervolume(frontier, reference);
    group.knee = knee(frontier);
  }

  /// --uncertain: the frontiers at the ends of what is known.
  void look_around() {
    if (!arguments_.has("uncertain")) {
      if (arguments_.has("remap")) throw arguments_.bad("--remap", "without --uncertain", "--uncertain FIGURES");
      return;
    }
    if (table_of(arguments_) != TableKind::kDesigns)
      throw arguments_.bad("--uncertain", "of a table of layers", "--table designs");
    sensitivity_ = std::make_unique<ParetoSensitivity>(arguments_, dataset_of(arguments_), table_, goals_);
    for (Group& group : groups_) group.designs = sensitivity_->designs(group.rows, group.frontier);
  }

  /// Where the design stands, the goals, and what was asked for besides.
  std::vector<std::string> shown_columns() const {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
      if (table_.find(name) != nullptr && std::ranges::find(names, name) == names.end() &&
          std::ranges::find(group_by_, name) == group_by_.end())
        names.push_back(name);
    };
    add("design_id");
    for (const std::string& name : table_.names())
      if (name.starts_with("set_")) add(name);
    for (const char* name : {"flexibility", "factorization", "objective"})
      if (varies(name)) add(name);
    for (const Goal& goal : goals_) add(goal.column);
    if (arguments_.has("columns")) {
      for (const std::string& name : split_names(*arguments_.text("columns"))) {
        column(name, "--columns");
        add(name);
      }
    }
    return names;
  }

  bool varies(const char* name) const {
    const DataColumn* found = table_.find(name);
    if (found == nullptr || found->cells.empty()) return false;
    return std::ranges::any_of(found->cells, [&](const Cell& cell) { return cell != found->cells.front(); });
  }

  std::string title(const Group& group) const {
    std::string text;
    for (std::size_t i = 0; i < group_by_.size(); ++i)
      text += fmt::format("{}{} {}", i == 0 ? "" : ", ", group_by_[i], group.names[i]);
    return text.empty() ? "all designs" : text;
  }

  void print_text() {
    const std::vector<std::string> names = shown_columns();
    const std::size_t limit = *arguments_.whole("limit");
    if (over_limit_ + filtered_ > 0) out_ << fmt::format("left out: {}\n\n", left_out());
    bool first = true;
    for (const Group& group : groups_) {
      if (!std::exchange(first, false)) out_ << "\n";
      out_ << fmt::format("{}: {} of {} designs are not dominated", title(group), group.frontier.size(),
                          group.rows.size());
      if (group.incomplete > 0)
        out_ << fmt::format(" ({} more lack a value: a layer has no mapping)", group.incomplete);
      out_ << "\n\n";
      if (group.frontier.empty()) continue;
      std::vector<std::string> header;
      for (const std::string& name : names) {
        const Goal* goal = nullptr;
        for (const Goal& one : goals_)
          if (one.column == name) goal = &one;
        const bool text = std::holds_alternative<std::string>(column(name).cells.front());
        header.push_back(goal != nullptr ? name + (goal->sign > 0 ? " (min)" : " (max)") : name + (text ? "<" : ""));
      }
      header.emplace_back("<");
      TextTable table(header);
      for (std::size_t f = 0; f < group.frontier.size() && (limit == 0 || f < limit); ++f) {
        std::vector<std::string> row;
        for (const std::string& name : names) row.push_back(shown(column(name).cells[group.frontier[f]]));
        row.emplace_back(group.knee == f ? "knee" : "");
        table.add(std::move(row));
      }
      out_ << table.text("  ");
      if (limit > 0 && group.frontier.size() > limit)
        out_ << fmt::format("  ... {} more (--limit 0 shows all)\n", group.frontier.size() - limit);
      std::string reference;
      for (std::size_t g = 0; g < goals_.size(); ++g)
        reference += fmt::format("{}{} {:.6g}", g == 0 ? "" : ", ", goals_[g].column, group.reference[g]);
      out_ << fmt::format("\n  hypervolume {:.6g} up to {}\n", group.volume, reference);
      print_sensitivity(group, names);
    }
  }

  void print_sensitivity(const Group& group, const std::vector<std::string>& names) {
    if (!sensitivity_) return;
    const auto stay = std::ranges::count_if(group.designs, [&](const ParetoSensitivity::Design& design) {
      return design.now && design.corners == sensitivity_->corners();
    });
    const auto others =
        std::ranges::count_if(group.designs, [](const ParetoSensitivity::Design& design) { return !design.now; });
    out_ << fmt::format(
        "\n  uncertain: {} ({}, {} combinations of ends)\n  {} of {} designs stay on the frontier in all of them; {} "
        "others are on it in some\n\n",
        *arguments_.text("uncertain"), sensitivity_->searched_again() ? "searched again" : "mappings kept",
        sensitivity_->corners(), stay, group.frontier.size(), others);
    std::vector<std::string> header;
    for (const std::string& name : names)
      header.push_back(name + (std::holds_alternative<std::string>(column(name).cells.front()) ? "<" : ""));
    header.insert(header.end(), {"now<", "stays"});
    TextTable table(header);
    for (const ParetoSensitivity::Design& design : group.designs) {
      std::vector<std::string> row;
      for (const std::string& name : names) row.push_back(shown(column(name).cells[design.row]));
      row.emplace_back(design.now ? "on it" : "enters");
      row.push_back(fmt::format("{} of {}", design.corners, sensitivity_->corners()));
      table.add(std::move(row));
    }
    out_ << table.text("  ");
  }

  void print_json() {
    nlohmann::ordered_json all = {{"schema", kJsonSchema}, {"complete", complete_}};
    all["over_limit"] = over_limit_;
    all["filtered"] = filtered_;
    for (const Goal& goal : goals_) all[goal.sign > 0 ? "minimize" : "maximize"].push_back(goal.column);
    all["groups"] = nlohmann::ordered_json::array();
    for (const Group& group : groups_) {
      nlohmann::ordered_json one;
      for (std::size_t i = 0; i < group_by_.size(); ++i) one["group"][group_by_[i]] = group.names[i];
      one["designs"] = group.rows.size();
      one["without_values"] = group.incomplete;
      one["hypervolume"] = group.volume;
      for (std::size_t g = 0; g < group.reference.size(); ++g) one["reference"][goals_[g].column] = group.reference[g];
      one["knee"] = group.knee ? nlohmann::ordered_json(*group.knee) : nlohmann::ordered_json();
      one["frontier"] = nlohmann::ordered_json::array();
      for (const std::size_t row : group.frontier) {
        nlohmann::ordered_json design;
        for (const DataColumn& data : table_.columns) design[data.name] = to_json(data.cells[row]);
        one["frontier"].push_back(std::move(design));
      }
      if (sensitivity_) {
        one["uncertain"] = {{"figures", *arguments_.text("uncertain")},
                            {"searched_again", sensitivity_->searched_again()},
                            {"combinations", sensitivity_->corners()},
                            {"designs", nlohmann::ordered_json::array()}};
        for (const ParetoSensitivity::Design& design : group.designs)
          one["uncertain"]["designs"].push_back({{"design_id", to_json(column("design_id").cells[design.row])},
                                                 {"on_frontier", design.now},
                                                 {"stays_in", design.corners}});
      }
      all["groups"].push_back(std::move(one));
    }
    out_ << all.dump(2) << "\n";
  }

  /// All columns of the frontier's rows, which of them is the knee, and the hypervolume of its group.
  void write() {
    std::vector<std::size_t> rows;
    DataColumn knees{"knee", {}}, volumes{"hypervolume", {}};
    for (const Group& group : groups_) {
      for (std::size_t f = 0; f < group.frontier.size(); ++f) {
        rows.push_back(group.frontier[f]);
        knees.cells.emplace_back(group.knee == f);
        volumes.cells.emplace_back(group.volume);
      }
    }
    DataTable frontier = table_.pick(rows);
    frontier.columns.push_back(std::move(knees));
    frontier.columns.push_back(std::move(volumes));
    write_table(frontier, *arguments_.text("output"));
  }

  const Arguments& arguments_;
  std::ostream& out_;
  std::ostream& err_;
  DataTable table_;
  bool complete_ = true;
  std::size_t over_limit_ = 0, filtered_ = 0;  ///< rows left out: by the sweep's constraints on results, by --where
  std::vector<Goal> goals_;
  std::vector<std::string> group_by_;
  std::vector<Group> groups_;
  std::unique_ptr<ParetoSensitivity> sensitivity_;  ///< with --uncertain
};

}  // namespace

int pareto_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"pareto", kUsage, 1};
  return run_command(line, args, out, err,
                     [&](const Arguments& arguments) { return ParetoCommand(arguments, out, err).run(); });
}

}  // namespace pliant
