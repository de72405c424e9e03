// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <ostream>

#include "dse/answers/answering.h"
#include "dse/answers/cells_in_units.h"
#include "dse/answers/dataset_options.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/row_filter.h"
#include "dse/answers/text_table.h"
#include "dse/results/aggregate.h"

namespace pliant {
namespace {

constexpr std::size_t kShown = 40;

class QueryAnswer : Answering {
 public:
  QueryAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    dataset_ = dataset_of(arguments_);
    kind_ = table_of(arguments_);
    std::vector<std::string> damaged;
    known_ = table_columns(dataset_, kind_, damaged);
    if (known_.empty()) throw no_table(arguments_, dataset_, kind_, damaged);
    understand();
    const DataTable found = read();
    const DataTable answer = aggregates_.empty() ? choose(found) : summarize(found);
    tell(answer);
    return exit_code(arguments_, complete_);
  }

 private:
  std::string given(const char* option) const { return arguments_.text(option).value_or(""); }

  /// One that is not known is noted, so that all of them are told at once.
  ColumnKind column(const std::string& name, const char* option) {
    const auto found = std::ranges::find(known_, name, &ColumnKind::name);
    if (found != known_.end()) return *found;
    std::vector<std::string> names;
    for (const ColumnKind& one : known_) names.push_back(one.name);
    note(unknown_column(arguments_.command(), option, name, names));
    return {ColumnKind::Kind::kNumber, name};
  }
  void note(const InputError& error) {
    wrong_.insert(wrong_.end(), error.diagnostics().begin(), error.diagnostics().end());
  }

  bool known(const std::string& name) const {
    return std::ranges::find(known_, name, &ColumnKind::name) != known_.end();
  }

  void understand() {
    for (const std::string& text : arguments_.texts("where")) {
      try {
        filters_.emplace_back(text, known_);
      } catch (const InputError& error) {
        note(error);
      }
    }
    for (const std::string& name : split_names(given("group-by"))) group_by_.push_back(column(name, "--group-by").name);
    for (const std::string& text : split_names(given("aggregate"))) {
      const auto one = Aggregate::parse(text);
      if (!one)
        throw arguments_.bad("--aggregate", fmt::format("`{}`", text),
                             "count, min(COLUMN), max(COLUMN), mean(COLUMN) or sum(COLUMN)");
      if (one->kind != Aggregate::Kind::kCount && column(one->column, "--aggregate").kind == ColumnKind::Kind::kText)
        throw arguments_.bad("--aggregate", fmt::format("{} is not a number", one->column), "a column of numbers");
      aggregates_.push_back(*one);
    }
    if (!aggregates_.empty() && arguments_.has("select"))
      throw arguments_.bad("--select", "given with --aggregate", "one of them; groups and aggregates are the columns");
    for (const std::string& word : split_names(given("sort"))) {
      const bool down = word.front() == '-';
      const std::string name = down ? word.substr(1) : word;
      // With aggregates the rows of the answer are sorted, by its own columns.
      const bool own = std::ranges::any_of(aggregates_, [&](const Aggregate& one) { return one.name() == name; });
      if (!own) column(name, "--sort");
      if (!aggregates_.empty() && !own && std::ranges::find(group_by_, name) == group_by_.end())
        throw arguments_.bad("--sort", fmt::format("{} is not a column of the answer", name),
                             "a group or an aggregate");
      sort_.emplace_back(name, down);
    }
    choose_columns();
    if (!wrong_.empty()) throw InputError(wrong_);
  }

  void choose_columns() {
    const std::string text = given("select");
    for (const std::string& name : text == "all" ? std::vector<std::string>{} : split_names(text))
      selected_.push_back(column(name, "--select").name);
    if (text == "all")
      for (const ColumnKind& one : known_) selected_.push_back(one.name);
    if (!selected_.empty()) return;
    // Which design, which workload, what it costs.
    const auto add = [&](const std::string& name) {
      if (known(name) && std::ranges::find(selected_, name) == selected_.end()) selected_.push_back(name);
    };
    add("design_id");
    for (const ColumnKind& one : known_)
      if (one.name.starts_with("set_")) add(one.name);
    for (const char* name : {"flexibility", "factorization", "objective", "workload", "layer", "energy_pj",
                             "runtime_cycles", "edp_pj_cycles", "utilization", "area_um2"})
      add(name);
    for (const char* name : {"latency_s", "power_w", "tops_per_w"}) {
      add(name);
      if (known(name)) seconds_.emplace_back(name);
    }
    for (const RowFilter& filter : filters_)
      for (const std::string& name : filter.names()) add(name);
    for (const auto& [name, down] : sort_) add(name);
  }

  DataTable read() {
    TableChoice choice;
    const auto want = [&](const std::string& name) {
      if (known(name) && std::ranges::find(choice.columns, name) == choice.columns.end())
        choice.columns.push_back(name);
    };
    if (aggregates_.empty()) std::ranges::for_each(selected_, want);
    std::ranges::for_each(group_by_, want);
    for (const RowFilter& filter : filters_) std::ranges::for_each(filter.names(), want);
    for (const Aggregate& one : aggregates_) want(one.column);
    for (const auto& [name, down] : sort_) want(name);
    want("design_id");
    // Rows over a limit are shown to those who ask for a status.
    const bool asks_status = std::ranges::any_of(filters_, [](const RowFilter& filter) {
      return std::ranges::find(filter.names(), "status") != filter.names().end();
    });
    if (!asks_status) want("status");
    std::size_t over_limit = 0;
    choice.keep = [&](const DataTable& part, std::size_t row) {
      const DataColumn* status = asks_status ? nullptr : part.find("status");
      if (!std::ranges::all_of(filters_, [&](const RowFilter& filter) { return filter.passes(part, row); }))
        return false;
      const bool over = status != nullptr && to_text(status->cells[row]) == kOverLimit;
      over_limit += over ? 1 : 0;
      return !over;
    };
    std::vector<std::string> damaged;
    DataTable found = read_table(dataset_, kind_, damaged, choice);
    if (found.columns.empty()) throw no_table(arguments_, dataset_, kind_, damaged);
    drop_empty_seconds(found);
    if (over_limit > 0)
      err_ << fmt::format(
          "{} more rows break a constraint of the sweep on results; --where 'status == over_limit' shows them\n",
          over_limit);
    complete_ = tell_if_incomplete(dataset_, kind_, damaged, err_);
    return found;
  }

  /// Nobody asked for the columns of seconds; without a clock they say nothing.
  void drop_empty_seconds(const DataTable& found) {
    for (const std::string& name : seconds_) {
      const DataColumn* column = found.find(name);
      const bool empty = column == nullptr || std::ranges::all_of(column->cells, [](const Cell& cell) {
                           return std::holds_alternative<std::monostate>(cell);
                         });
      const auto named = [&](const std::vector<std::string>& names) {
        return std::ranges::find(names, name) != names.end();
      };
      const bool asked = named(group_by_) ||
                         std::ranges::any_of(filters_, [&](const RowFilter& f) { return named(f.names()); }) ||
                         std::ranges::any_of(sort_, [&](const auto& by) { return by.first == name; });
      if (empty && !asked) std::erase(selected_, name);
    }
  }

  std::vector<std::size_t> sorted(const DataTable& table) const {
    std::vector<std::size_t> rows(table.rows());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
      for (const auto& [name, down] : sort_) {
        const DataColumn& by = *table.find(name);
        const int order = compare(by.cells[a], by.cells[b]);
        if (order != 0) return down ? order > 0 : order < 0;
      }
      return false;
    });
    return rows;
  }

  DataTable choose(const DataTable& found) {
    std::vector<std::size_t> rows;
    for (const auto& group : group_rows(found, group_by_, sorted(found))) {
      total_ += group.size();
      const std::size_t most = limit() == 0 ? group.size() : std::min(limit(), group.size());
      rows.insert(rows.end(), group.begin(), group.begin() + static_cast<std::ptrdiff_t>(most));
    }
    const DataTable picked = found.pick(rows);
    DataTable answer;
    for (const std::string& name : selected_) answer.columns.push_back(*picked.find(name));
    return answer;
  }

  DataTable summarize(const DataTable& found) {
    std::vector<std::size_t> all(found.rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const DataTable answer = aggregate(found, group_by_, group_rows(found, group_by_, all), aggregates_);
    std::vector<std::size_t> rows = sorted(answer);
    total_ = rows.size();
    if (limit() > 0 && rows.size() > limit()) rows.resize(limit());
    return answer.pick(rows);
  }

  std::size_t limit() const {
    if (const auto given = arguments_.whole("limit")) return *given;
    return arguments_.has("output") || arguments_.has("json") ? 0 : kShown;
  }

  /// What the columns of the conditions hold.
  std::string why_none() const {
    TableChoice choice;
    for (const RowFilter& filter : filters_)
      choice.columns.insert(choice.columns.end(), filter.names().begin(), filter.names().end());
    if (choice.columns.empty()) return "";
    std::vector<std::string> damaged;
    const std::string ranges = ranges_text(read_table(dataset_, kind_, damaged, choice));
    return ranges.empty() ? "" : "here " + ranges + "\n";
  }

  void tell(const DataTable& answer) const {
    if (arguments_.has("output")) {
      write_table(answer, *arguments_.text("output"));
      if (!arguments_.has("json")) {
        out_ << fmt::format("{} rows in {}\n", answer.rows(), *arguments_.text("output"));
        return;
      }
    }
    if (arguments_.has("json")) {
      nlohmann::ordered_json all = {{"schema", kJsonSchema},
                                    {"complete", complete_},
                                    {"matched", total_},
                                    {"rows", nlohmann::ordered_json::array()}};
      for (std::size_t row = 0; row < answer.rows(); ++row) {
        nlohmann::ordered_json one;
        for (const DataColumn& data : answer.columns) one[data.name] = to_json(data.cells[row]);
        all["rows"].push_back(std::move(one));
      }
      out_ << all.dump(2) << "\n";
      return;
    }
    if (answer.rows() == 0) {
      out_ << "no row passes\n" << why_none();
      return;
    }
    std::vector<std::string> header;
    for (const DataColumn& data : answer.columns) {
      const bool text =
          std::ranges::any_of(data.cells, [](const Cell& c) { return std::holds_alternative<std::string>(c); });
      header.push_back(data.name + (text ? "<" : ""));
    }
    TextTable table(header);
    const CellsInUnits units(arguments_, known_);
    for (std::size_t row = 0; row < answer.rows(); ++row) {
      std::vector<std::string> cells;
      for (const DataColumn& data : answer.columns) cells.push_back(units.text(data.name, data.cells[row]));
      table.add(std::move(cells));
    }
    out_ << table.text("");
    if (answer.rows() < total_) out_ << fmt::format("{} of {} rows (--limit 0 shows all)\n", answer.rows(), total_);
  }

  std::filesystem::path dataset_;
  TableKind kind_ = TableKind::kDesigns;
  bool complete_ = true;
  std::vector<ColumnKind> known_;
  std::vector<Diagnostic> wrong_;  ///< in what was asked
  std::vector<RowFilter> filters_;
  std::vector<std::string> group_by_, selected_;
  std::vector<std::string> seconds_;  ///< of selected_, those that were only offered
  std::vector<Aggregate> aggregates_;
  std::vector<std::pair<std::string, bool>> sort_;  ///< column, downwards
  std::size_t total_ = 0;                           ///< rows before --limit
};

}  // namespace

int answer_query(const Arguments& arguments, Face& face) { return QueryAnswer(arguments, face).run(); }

}  // namespace pliant
