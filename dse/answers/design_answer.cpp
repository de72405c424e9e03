// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "dse/answers/answering.h"
#include "dse/answers/audit_design.h"
#include "dse/answers/cells_in_units.h"
#include "dse/answers/dataset_options.h"
#include "dse/answers/design_json.h"
#include "dse/answers/progress_text.h"
#include "dse/answers/shard_option.h"
#include "dse/answers/text_table.h"
#include "dse/design/run_design.h"
#include "dse/results/atomic_file.h"
#include "dse/results/stored_files.h"
#include "dse/sweep/room_warnings.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLastWordsOfDesign = "\nstopped; what was searched is kept, the same command continues\n";
constexpr double kDesignPatienceSeconds = 3;

class DesignAnswer : Answering {
 public:
  DesignAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    const auto file = arguments_.word();
    if (!file) throw arguments_.bad("", "no file", "a sweep file with `minimize:`");
    SweepOverrides overrides;
    overrides.settings = arguments_.settings();
    overrides.most_designs = kMostDesignsOfSearch;
    if (arguments_.has("layers")) overrides.network = false;
    overrides.fusion = arguments_.text("fusion");
    if (const auto inferences = arguments_.whole("inferences")) overrides.inferences = static_cast<Count>(*inferences);
    const Sweep sweep = load_sweep(library_, find_sweep(library_, *file), overrides);
    DesignRunOptions run;
    run.dataset = fs::path(arguments_.text("output").value_or((fs::path("results") / sweep.name).string()));
    if (std::error_code error; fs::exists(run.dataset, error) && !fs::is_directory(run.dataset, error))
      throw arguments_.bad("--output", fmt::format("{} is a file", run.dataset.string()), "a folder");
    run.cache = fs::path(arguments_.text("cache").value_or(""));
    run.update = arguments_.has("update");
    run.audit = arguments_.has("audit");
    run.certificate =
        fs::path(arguments_.text("certificate").value_or(run.audit ? (run.dataset / "certificate").string() : ""));
    if (is_address(run.certificate))
      throw arguments_.bad("--audit", fmt::format("a certificate at {}", run.certificate.string()),
                           "--certificate FOLDER, of this machine, beside it");
    run.search.threads = arguments_.threads();
    run.search.gap = arguments_.share("gap").value_or(0);
    run.search.shard = shard_of(arguments_);
    for (const std::string& warning : room_warnings(library_, sweep)) err_ << fmt::format("warning: {}\n", warning);
    return execute(sweep, run);
  }

 private:
  int execute(const Sweep& sweep, DesignRunOptions& run) {
    run.search.on_progress = [&](const DesignProgress& p) { face_.working([&] { return progress_text(p); }); };
    run.on_note = [&](const std::string& text) { face_.note(text); };
    DesignFrontier found;
    try {
      const Interrupt interrupt(face_, kLastWordsOfDesign, kDesignPatienceSeconds);
      run.search.stop = interrupt.token();
      found = run_design(library_, sweep, run);
    } catch (const ChangedInputs& changed) {
      err_ << changed.what() << "\n  choose another folder with -o, or replace the rows with --update\n";
      return 2;
    } catch (const StorageError& error) {
      err_ << error.what() << "\n  what was searched is kept; the same command continues\n";
      return 1;
    }
    face_.clear();
    if (arguments_.has("json")) {
      out_ << design_json(sweep, run, found).dump(2) << "\n";
    } else {
      print(sweep, run, found);
    }
    if (found.interrupted) return 130;
    if (found.audit)
      if (const int code = design_audit_exit(*found.audit, false); code != 0) return code;
    return found.frontier.empty() && run.search.shard.count == 1 ? 2 : 0;
  }

  /// As `pliant pareto` writes it.
  static std::string axis_text(const AxisValue& value, const std::string& unit) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (unit.empty() || unit == "1") return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
    return readable_in_unit(whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value), unit);
  }

  static std::string unit_of(const DesignGoals::Goal& goal) {
    const std::string name(column_of(goal.measure));
    for (const ColumnInfo& column : column_infos(TableKind::kDesigns))
      if (column.name == name) return std::string(column.unit);
    return "";
  }

  static std::string progress_text(const DesignProgress& p) {
    return fmt::format("{} of {} designs decided ({:.2f} %), {} mapped, {} boxes closed, {} on the frontier{}; {}{}",
                       p.decided, p.designs, 100 * static_cast<double>(p.decided) / static_cast<double>(p.designs),
                       p.opened, p.boxes, p.frontier,
                       p.gap ? fmt::format(", proven within {:.3g} %", 100 * *p.gap) : "", readable_seconds(p.seconds),
                       p.seconds_left ? fmt::format(", about {} left", readable_seconds(*p.seconds_left)) : "");
  }

  void print(const Sweep& sweep, const DesignRunOptions& run, const DesignFrontier& found) const {
    const DesignProgress& p = found.progress;
    if (const Shard& shard = run.search.shard; shard.count > 1) {
      out_ << fmt::format(
          "shard {}/{}: {} designs decided among themselves, {} searches of layers kept, {}\n"
          "next: when all shards are done, the same command without --shard proves the whole from what they kept\n",
          shard.index, shard.count, p.decided, p.solved, readable_seconds(p.seconds));
      return;
    }
    std::vector<std::string> header = {"design"};
    for (const AxisColumn& column : sweep.columns) header.push_back(column.key);
    for (const char* column : {"flexibility<", "rule<"}) header.emplace_back(column);
    for (const DesignGoals::Goal& goal : sweep.goals->minimize) header.push_back(goal_name(sweep, goal));
    TextTable table(header);
    for (const std::size_t k : found.frontier) {
      const OpenedDesign& opened = found.opened[k];
      const DesignKey& key = *opened.design->key;
      std::vector<std::string> row = {std::to_string(opened.design_id)};
      for (std::size_t a = 0; a < key.axes.size(); ++a) row.push_back(axis_text(key.axes[a], sweep.columns[a].unit));
      row.push_back(key.flexibility);
      row.push_back(key.factorization);
      for (std::size_t g = 0; g < opened.values.size(); ++g)
        row.push_back(readable_in_unit(column_value(sweep.goals->minimize[g].measure, opened.values[g]),
                                       unit_of(sweep.goals->minimize[g])));
      table.add(std::move(row));
    }
    if (!found.frontier.empty()) out_ << table.text("") << "\n";
    if (found.interrupted) return print_interrupted(run, found);
    if (found.frontier.empty()) err_ << sweep.name << ": no design meets the constraints and limits; proven\n";
    const double mapped = 100 * static_cast<double>(p.opened) / static_cast<double>(p.designs);
    out_ << fmt::format("{} of {} designs on the frontier, {}: {} mapped ({:.{}g} %), {} searches of layers, {}\n",
                        found.frontier.size(), p.designs,
                        run.search.gap > 0
                            ? fmt::format("proven within {:.3g} %: no design is better by more", 100 * run.search.gap)
                            : "proven",
                        p.opened, mapped, mapped < 99.5 ? 2 : 3, p.solved, readable_seconds(p.seconds));
    if (found.audit) out_ << "audit: " << design_audit_text(*found.audit, false);
    out_ << mapped_as_words(sweep) << objective_words(sweep);
    std::set<std::string> minimize, maximize;  // one measure may be a goal for several workloads
    for (const DesignGoals::Goal& goal : sweep.goals->minimize)
      (is_maximized(goal.measure) ? maximize : minimize).emplace(column_of(goal.measure));
    out_ << fmt::format("next: pliant pareto {}{}{}{}{}\n", run.dataset.string(),
                        minimize.empty() ? "" : " --minimize ", fmt::join(minimize, ","),
                        maximize.empty() ? "" : " --maximize ", fmt::join(maximize, ","));
  }

  void print_interrupted(const DesignRunOptions& run, const DesignFrontier& found) const {
    const DesignProgress& p = found.progress;
    out_ << progress_text(p) << "\n";
    if (p.gap && !found.frontier.empty())
      out_ << fmt::format(
          "interrupted: for every one of the {} designs that are open, one of these is at most {:.3g} % worse in every "
          "goal, proven. Their rows are in {}\n",
          p.designs - p.decided, 100 * *p.gap, run.dataset.string());
    else
      out_ << "interrupted: nothing is proven yet\n";
    out_ << "the same command continues\n";
  }
};

}  // namespace

int answer_design(const Arguments& arguments, Face& face) { return DesignAnswer(arguments, face).run(); }

}  // namespace pliant
