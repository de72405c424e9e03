// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>

#include "core/input/diagnostics.h"
#include "dse/answers/answering.h"
#include "dse/answers/cells_in_units.h"
#include "dse/answers/dataset_frontiers.h"
#include "dse/answers/dataset_options.h"
#include "dse/answers/pareto_sensitivity.h"
#include "dse/answers/text_table.h"
#include "dse/results/atomic_file.h"
#include "dse/results/data_table.h"

namespace pliant {
namespace {

class ParetoAnswer : Answering {
 public:
  ParetoAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    FrontierQuestion question;
    question.minimize = split_names(arguments_.text("minimize").value_or(""));
    question.maximize = split_names(arguments_.text("maximize").value_or(""));
    if (const std::string text = *arguments_.text("group-by"); text != "none") question.group_by = split_names(text);
    if (arguments_.has("reference")) question.reference = split_names(*arguments_.text("reference"));
    found_ = find_frontiers(read(), question);
    look_around();
    if (arguments_.has("output")) write_table(found_.rows(), *arguments_.text("output"));
    if (arguments_.has("json")) {
      print_json();
    } else {
      print_text();
    }
    return exit_code(arguments_, complete_);
  }

 private:
  DataTable read() {
    const std::filesystem::path dataset = dataset_of(arguments_);
    const TableKind kind = table_of(arguments_);
    std::vector<std::string> damaged;
    CountingRows counting = read_counting_rows(dataset, kind, arguments_.texts("where"), damaged);
    over_limit_ = counting.over_limit;
    filtered_ = counting.filtered;
    DataTable table = std::move(counting.table);
    if (table.columns.empty()) throw no_table(arguments_, dataset, kind, damaged);
    units_.emplace(arguments_, table_columns(dataset, kind));
    complete_ = tell_if_incomplete(dataset, kind, damaged, err_);
    if (table.rows() == 0 && over_limit_ + filtered_ > 0)
      throw arguments_.bad(filtered_ > 0 ? "--where" : "", "no design is left: " + left_out(),
                           "conditions that leave designs; `pliant query` shows what there is");
    return table;
  }

  /// "12 rows break a constraint of the sweep, 3 rows do not meet --where".
  std::string left_out() const {
    std::string text;
    if (over_limit_ > 0) text = fmt::format("{} rows break a constraint of the sweep", over_limit_);
    if (filtered_ > 0) text += fmt::format("{}{} rows do not meet --where", text.empty() ? "" : ", ", filtered_);
    return text;
  }

  /// --uncertain: the frontiers at the ends of what is known.
  void look_around() {
    if (!arguments_.has("uncertain")) {
      if (arguments_.has("remap")) throw arguments_.bad("--remap", "without --uncertain", "--uncertain FIGURES");
      return;
    }
    if (table_of(arguments_) != TableKind::kDesigns)
      throw arguments_.bad("--uncertain", "of a table of layers", "--table designs");
    sensitivity_ =
        std::make_unique<ParetoSensitivity>(library_, arguments_, dataset_of(arguments_), found_.table, found_.goals);
    for (const DatasetFrontiers::Group& group : found_.groups)
      around_.push_back(sensitivity_->designs(group.rows, group.frontier));
  }

  const DataColumn& column(const std::string& name, const char* option = "") const {
    return found_.column(name, arguments_.command(), option);
  }

  /// Where the design stands, the goals, and what was asked for besides.
  std::vector<std::string> shown_columns() const {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
      if (found_.table.find(name) != nullptr && std::ranges::find(names, name) == names.end() &&
          std::ranges::find(found_.group_by, name) == found_.group_by.end())
        names.push_back(name);
    };
    add("design_id");
    for (const std::string& name : found_.table.names())
      if (name.starts_with("set_")) add(name);
    for (const char* name : {"flexibility", "factorization", "objective"})
      if (varies(name)) add(name);
    for (const DatasetFrontiers::Goal& goal : found_.goals) add(goal.column);
    if (arguments_.has("columns")) {
      for (const std::string& name : split_names(*arguments_.text("columns"))) {
        column(name, "--columns");
        add(name);
      }
    }
    return names;
  }

  std::string in_units(const std::string& name, std::size_t row) const {
    return units_->text(name, column(name).cells[row]);
  }

  bool varies(const char* name) const {
    const DataColumn* found = found_.table.find(name);
    if (found == nullptr || found->cells.empty()) return false;
    return std::ranges::any_of(found->cells, [&](const Cell& cell) { return cell != found->cells.front(); });
  }

  std::string title(const DatasetFrontiers::Group& group) const {
    std::string text;
    for (std::size_t i = 0; i < found_.group_by.size(); ++i)
      text += fmt::format("{}{} {}", i == 0 ? "" : ", ", found_.group_by[i], group.names[i]);
    return text.empty() ? "all designs" : text;
  }

  void print_text() {
    const std::vector<std::string> names = shown_columns();
    const std::size_t limit = *arguments_.whole("limit");
    if (over_limit_ + filtered_ > 0) out_ << fmt::format("left out: {}\n\n", left_out());
    bool first = true;
    for (std::size_t g = 0; g < found_.groups.size(); ++g) {
      const DatasetFrontiers::Group& group = found_.groups[g];
      if (!std::exchange(first, false)) out_ << "\n";
      out_ << fmt::format("{}: {} of {} designs are not dominated", title(group), group.frontier.size(),
                          group.rows.size());
      if (group.incomplete > 0)
        out_ << fmt::format(" ({} more lack a value: a layer has no mapping)", group.incomplete);
      out_ << "\n\n";
      if (group.frontier.empty()) continue;
      std::vector<std::string> header;
      for (const std::string& name : names) {
        const DatasetFrontiers::Goal* goal = nullptr;
        for (const DatasetFrontiers::Goal& one : found_.goals)
          if (one.column == name) goal = &one;
        const bool text = std::holds_alternative<std::string>(column(name).cells.front());
        header.push_back(goal != nullptr ? name + (goal->sign > 0 ? " (min)" : " (max)") : name + (text ? "<" : ""));
      }
      header.emplace_back("<");
      TextTable table(header);
      for (std::size_t f = 0; f < group.frontier.size() && (limit == 0 || f < limit); ++f) {
        std::vector<std::string> row;
        for (const std::string& name : names) row.push_back(in_units(name, group.frontier[f]));
        row.emplace_back(group.knee == f ? "knee" : "");
        table.add(std::move(row));
      }
      out_ << table.text("  ");
      if (limit > 0 && group.frontier.size() > limit)
        out_ << fmt::format("  ... {} more (--limit 0 shows all)\n", group.frontier.size() - limit);
      std::string reference;
      for (std::size_t i = 0; i < found_.goals.size(); ++i)
        reference += fmt::format("{}{} {:.6g}", i == 0 ? "" : ", ", found_.goals[i].column, group.reference[i]);
      out_ << fmt::format("\n  hypervolume {:.6g} up to {}\n", group.volume, reference);
      if (sensitivity_) print_sensitivity(group, around_[g], names);
    }
  }

  void print_sensitivity(const DatasetFrontiers::Group& group, const std::vector<ParetoSensitivity::Design>& designs,
                         const std::vector<std::string>& names) {
    const auto stay = std::ranges::count_if(designs, [&](const ParetoSensitivity::Design& design) {
      return design.now && design.corners == sensitivity_->corners();
    });
    const auto others =
        std::ranges::count_if(designs, [](const ParetoSensitivity::Design& design) { return !design.now; });
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
    for (const ParetoSensitivity::Design& design : designs) {
      std::vector<std::string> row;
      for (const std::string& name : names) row.push_back(in_units(name, design.row));
      row.emplace_back(design.now ? "on it" : "enters");
      row.push_back(fmt::format("{} of {}", design.corners, sensitivity_->corners()));
      table.add(std::move(row));
    }
    out_ << table.text("  ");
  }

  void print_json() {
    nlohmann::ordered_json all = found_.json(complete_);
    all["over_limit"] = over_limit_;
    all["filtered"] = filtered_;
    for (std::size_t g = 0; g < around_.size(); ++g) {
      nlohmann::ordered_json& uncertain = all["groups"][g]["uncertain"];
      uncertain = {{"figures", *arguments_.text("uncertain")},
                   {"searched_again", sensitivity_->searched_again()},
                   {"combinations", sensitivity_->corners()},
                   {"designs", nlohmann::ordered_json::array()}};
      for (const ParetoSensitivity::Design& design : around_[g])
        uncertain["designs"].push_back({{"design_id", to_json(column("design_id").cells[design.row])},
                                        {"on_frontier", design.now},
                                        {"stays_in", design.corners}});
    }
    out_ << all.dump(2) << "\n";
  }

  DatasetFrontiers found_;
  std::optional<CellsInUnits> units_;
  bool complete_ = true;
  std::size_t over_limit_ = 0, filtered_ = 0;  ///< rows left out: by the sweep's constraints on results, by --where
  std::unique_ptr<ParetoSensitivity> sensitivity_;              ///< with --uncertain
  std::vector<std::vector<ParetoSensitivity::Design>> around_;  ///< by group, with --uncertain
};

}  // namespace

int answer_pareto(const Arguments& arguments, Face& face) { return ParetoAnswer(arguments, face).run(); }

}  // namespace pliant
