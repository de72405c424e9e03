// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/dataset_frontiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "dse/answers/dataset_options.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/row_filter.h"
#include "dse/results/columns.h"

namespace pliant {
namespace {

using Goal = DatasetFrontiers::Goal;
using Group = DatasetFrontiers::Group;

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

std::vector<Goal> choose_goals(const DatasetFrontiers& all, const FrontierQuestion& question) {
  std::vector<Goal> goals;
  const auto add = [&](const std::vector<std::string>& names, const char* option, double sign) {
    for (const std::string& name : names) {
      const DataColumn& found = all.column(name, question.command, option);
      if (std::ranges::any_of(goals, [&](const Goal& goal) { return goal.column == name; }))
        throw bad_option(question.command, option, fmt::format("{} is named twice", name), "each column once");
      const bool text =
          std::ranges::any_of(found.cells, [](const Cell& cell) { return std::holds_alternative<std::string>(cell); });
      if (text)
        throw bad_option(question.command, option, fmt::format("{} is not a number", name), "a column of numbers");
      goals.push_back({name, sign});
    }
  };
  add(question.minimize, "--minimize", 1);
  add(question.maximize, "--maximize", -1);
  if (goals.empty()) {
    for (const char* name : {"area_um2", "edp_pj_cycles"})
      if (all.table.find(name) != nullptr) goals.push_back({name, 1});
  }
  if (goals.empty()) throw bad_option(question.command, "", "no columns to compare", "--minimize COLUMNS");
  return goals;
}

/// Tells of all columns that there are not, at once.
void check_columns(const DataTable& table, const FrontierQuestion& question) {
  std::vector<Diagnostic> wrong;
  const auto check = [&](const std::vector<std::string>& names, const char* option) {
    for (const std::string& name : names)
      if (table.find(name) == nullptr)
        wrong.push_back(unknown_column(question.command, option, name, table.names()).diagnostics().front());
  };
  check(question.minimize, "--minimize");
  check(question.maximize, "--maximize");
  check(question.group_by, "--group-by");
  if (!wrong.empty()) throw InputError(wrong);
}

std::vector<Group> group_rows(const DatasetFrontiers& all, const FrontierQuestion& question) {
  std::vector<const DataColumn*> by, goals;
  for (const std::string& name : all.group_by) by.push_back(&all.column(name, question.command, "--group-by"));
  for (const Goal& goal : all.goals) goals.push_back(all.table.find(goal.column));
  std::vector<Group> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t row = 0; row < all.table.rows(); ++row) {
    std::vector<std::string> names;
    for (const DataColumn* one : by) names.push_back(to_text(one->cells[row]));
    const auto [place, is_new] = known.try_emplace(names, groups.size());
    if (is_new) groups.push_back({names, {}, 0, {}, {}, 0, {}});
    Group& group = groups[place->second];
    const bool whole =
        std::ranges::all_of(goals, [&](const DataColumn* goal) { return as_real(goal->cells[row]).has_value(); });
    if (whole) {
      group.rows.push_back(row);
    } else {
      ++group.incomplete;
    }
  }
  return groups;
}

/// Signed: smaller is better in every coordinate.
Point reference_of(const std::vector<Goal>& goals, const std::vector<Point>& points, const FrontierQuestion& question) {
  const std::vector<std::string>& given = question.reference;
  if (!given.empty() && given.size() != goals.size())
    throw bad_option(question.command, "--reference", fmt::format("{} numbers", given.size()),
                     fmt::format("{}, one per column", goals.size()));
  Point reference(goals.size());
  for (std::size_t g = 0; g < goals.size(); ++g) {
    if (given.empty()) {
      reference[g] = std::ranges::max(points, {}, [g](const Point& p) { return p[g]; })[g];
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(given[g].data(), given[g].data() + given[g].size(), value);
    if (error != std::errc() || end != given[g].data() + given[g].size())
      throw bad_option(question.command, "--reference", fmt::format("`{}`", given[g]), "a number");
    reference[g] = goals[g].sign * value;
  }
  return reference;
}

void analyse(const DatasetFrontiers& all, const FrontierQuestion& question, Group& group) {
  if (group.rows.empty()) return;
  std::vector<Point> points;
  for (const std::size_t row : group.rows) {
    Point point;
    for (const Goal& goal : all.goals) point.push_back(goal.sign * *as_real(all.table.find(goal.column)->cells[row]));
    points.push_back(std::move(point));
  }
  const Point reference = reference_of(all.goals, points, question);
  for (std::size_t g = 0; g < all.goals.size(); ++g) group.reference.push_back(all.goals[g].sign * reference[g]);
  std::vector<Point> frontier;
  for (const std::size_t i : non_dominated(points)) {
    group.frontier.push_back(group.rows[i]);
    frontier.push_back(points[i]);
  }
  group.volume = hypervolume(frontier, reference);
  group.knee = knee(frontier);
}

}  // namespace

CountingRows read_counting_rows(const std::filesystem::path& dataset, TableKind kind,
                                const std::vector<std::string>& where, std::vector<std::string>& damaged) {
  CountingRows read;
  std::vector<RowFilter> filters;
  if (!where.empty()) {
    std::vector<std::string> unreadable;
    const std::vector<ColumnKind> known = table_columns(dataset, kind, unreadable);
    if (known.empty()) {
      damaged = std::move(unreadable);
      return read;
    }
    for (const std::string& text : where) filters.emplace_back(text, known);
  }
  TableChoice choice;
  choice.keep = [&](const DataTable& part, std::size_t row) {
    const DataColumn* status = part.find("status");
    const bool over = status != nullptr && to_text(status->cells[row]) == kOverLimit;
    const bool passes =
        !over && std::ranges::all_of(filters, [&](const RowFilter& filter) { return filter.passes(part, row); });
    read.over_limit += over ? 1 : 0;
    read.filtered += !over && !passes ? 1 : 0;
    return passes;
  };
  read.table = read_table(dataset, kind, damaged, choice);
  return read;
}

const DataColumn& DatasetFrontiers::column(const std::string& name, const std::string& command,
                                           const std::string& option) const {
  if (const DataColumn* found = table.find(name)) return *found;
  throw unknown_column(command, option, name, table.names());
}

DatasetFrontiers find_frontiers(DataTable table, const FrontierQuestion& question) {
  DatasetFrontiers all{std::move(table), {}, question.group_by, {}};
  check_columns(all.table, question);
  all.goals = choose_goals(all, question);
  all.groups = group_rows(all, question);
  for (Group& group : all.groups) analyse(all, question, group);
  return all;
}

nlohmann::ordered_json DatasetFrontiers::json(bool complete) const {
  nlohmann::ordered_json all = {{"schema", kJsonSchema}, {"complete", complete}};
  for (const Goal& goal : goals) all[goal.sign > 0 ? "minimize" : "maximize"].push_back(goal.column);
  all["groups"] = nlohmann::ordered_json::array();
  for (const Group& group : groups) {
    nlohmann::ordered_json one;
    for (std::size_t i = 0; i < group_by.size(); ++i) one["group"][group_by[i]] = group.names[i];
    one["designs"] = group.rows.size();
    one["without_values"] = group.incomplete;
    one["hypervolume"] = group.volume;
    for (std::size_t g = 0; g < group.reference.size(); ++g) one["reference"][goals[g].column] = group.reference[g];
    one["knee"] = group.knee ? nlohmann::ordered_json(*group.knee) : nlohmann::ordered_json();
    one["frontier"] = nlohmann::ordered_json::array();
    for (const std::size_t row : group.frontier) {
      nlohmann::ordered_json design;
      for (const DataColumn& data : table.columns) design[data.name] = to_json(data.cells[row]);
      one["frontier"].push_back(std::move(design));
    }
    all["groups"].push_back(std::move(one));
  }
  return all;
}

DataTable DatasetFrontiers::rows() const {
  std::vector<std::size_t> chosen;
  DataColumn knees{"knee", {}}, volumes{"hypervolume", {}};
  for (const Group& group : groups) {
    for (std::size_t f = 0; f < group.frontier.size(); ++f) {
      chosen.push_back(group.frontier[f]);
      knees.cells.emplace_back(group.knee == f);
      volumes.cells.emplace_back(group.volume);
    }
  }
  DataTable frontier = table.pick(chosen);
  frontier.columns.push_back(std::move(knees));
  frontier.columns.push_back(std::move(volumes));
  return frontier;
}

}  // namespace pliant
