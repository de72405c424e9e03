// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/sweep_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <boost/program_options.hpp>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "dse/cli/command_line.h"
#include "dse/cli/dataset_options.h"
#include "dse/cli/interrupt.h"
#include "dse/cli/shipped_configs.h"
#include "dse/cli/sweep_progress.h"
#include "dse/results/atomic_file.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {
namespace {

namespace options = boost::program_options;
namespace fs = std::filesystem;

constexpr const char* kLastWords = "\nstopped; what is finished is kept, the same command continues\n";
/// After the first Ctrl-C, for tasks in flight.
constexpr double kPatienceSeconds = 3;

constexpr const char* kUsage = R"(usage: pliant sweep FILE [-o DIR] [options]
       pliant sweep --status -o DIR

Finds the best mapping of every layer on every design of a sweep file and writes two tables, DIR/layers and DIR/designs
(Parquet). The same command continues where a killed or interrupted one stopped. FILE is a file or a shipped name.

examples:
  pliant sweep demo -o results/demo
  pliant sweep my_sweep.yaml --dry-run
  pliant sweep my_sweep.yaml -o results/mine --shard 2/8
  pliant sweep --status -o results/mine

)";

options::options_description described_options() {
  options::options_description all("options");
  auto add = all.add_options();
  add("output,o", options::value<std::string>(), "folder of the dataset (results/NAME)");
  add("dry-run", "say how many designs, layers and distinct tasks there are and estimate the time; write nothing");
  add("status", "say how far a dataset is, all shards together");
  add("threads", options::value<int>(), "threads (all cores); results do not depend on it");
  add("shard", options::value<std::string>(),
      "I/N: only every Nth part, I from 0 to N-1 (from Slurm's array variables when they are set)");
  add("set", options::value<std::vector<std::string>>()->composing(), "KEY=VALUE for every design, as in `set:`");
  add("mapper", options::value<std::string>(), "instead of the file's");
  add("budget", options::value<double>(), "seconds for one task, instead of the file's");
  add("seed", options::value<std::uint64_t>(), "instead of the file's");
  add("cache", options::value<std::string>(), "folder of solved tasks, to share them between sweeps (DIR/cache)");
  add("update", "replace the rows of a dataset whose inputs have changed; tasks that did not change are reused");
  add("progress", options::value<std::string>(), "bar, lines, json or none (bar on a terminal, else lines)");
  add("json", "print the summary as JSON (schema 1)");
  add("help", "print this");
  return all;
}

InputError bad(std::string what, std::string expected, std::string did_you_mean = {}) {
  return bad_option("pliant sweep", std::move(what), std::move(expected), std::move(did_you_mean));
}

std::optional<int> as_int(const char* text) {
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::char_traits<char>::length(text);
  const auto [at, error] = std::from_chars(text, end, value);
  return error == std::errc() && at == end && at != text ? std::optional(value) : std::nullopt;
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = as_int(text.substr(0, slash).c_str());
  const auto count = slash == std::string::npos ? std::nullopt : as_int(text.c_str() + slash + 1);
  if (!index || !count || *count < 1 || *index < 0 || *index >= *count)
    throw bad(fmt::format("`{}` is no shard", text), "I/N with I from 0 to N-1, such as 0/8");
  return {*index, *count};
}

/// SLURM_ARRAY_TASK_ID runs from MIN in steps of STEP, COUNT times.
Shard slurm_shard() {
  const auto id = as_int(std::getenv("SLURM_ARRAY_TASK_ID")), count = as_int(std::getenv("SLURM_ARRAY_TASK_COUNT"));
  if (!id || !count || *count < 1) return {};
  const int least = as_int(std::getenv("SLURM_ARRAY_TASK_MIN")).value_or(0);
  const int step = std::max(1, as_int(std::getenv("SLURM_ARRAY_TASK_STEP")).value_or(1));
  const Shard shard{(*id - least) / step, *count};
  return shard.index >= 0 && shard.index < shard.count ? shard : Shard{};
}

class SweepCommand {
 public:
  SweepCommand(const options::variables_map& values, std::ostream& out, std::ostream& err)
      : values_(values), out_(out), err_(err) {}

  int run() {
    if (values_.count("status")) return status();
    if (!values_.count("file")) throw bad("no sweep file", "a file or one of the shipped sweeps");
    SweepOverrides overrides;
    if (values_.count("mapper")) overrides.mapper = values_["mapper"].as<std::string>();
    if (values_.count("budget")) overrides.budget_seconds = values_["budget"].as<double>();
    if (overrides.budget_seconds && !(*overrides.budget_seconds >= 0))
      throw bad("a negative budget", "seconds, 0 for none");
    if (values_.count("seed")) overrides.seed = values_["seed"].as<std::uint64_t>();
    if (values_.count("set"))
      for (const std::string& text : values_["set"].as<std::vector<std::string>>())
        overrides.settings.push_back(parse_setting(text));
    const Sweep sweep = load_sweep(library_, find_sweep(library_, values_["file"].as<std::string>()), overrides);
    run_.dataset =
        values_.count("output") ? fs::path(values_["output"].as<std::string>()) : fs::path("results") / sweep.name;
    if (values_.count("cache")) run_.cache = values_["cache"].as<std::string>();
    if (values_.count("threads")) {
      run_.threads = values_["threads"].as<int>();
      if (run_.threads < 1 || run_.threads > 4096) throw bad("threads out of range", "1 to 4096");
    }
    run_.shard = values_.count("shard") ? parse_shard(values_["shard"].as<std::string>()) : slurm_shard();
    run_.update = values_.count("update") > 0;
    return values_.count("dry-run") ? dry_run(sweep) : execute(sweep);
  }

 private:
  int status() {
    const fs::path dataset = values_.count("output") ? values_["output"].as<std::string>()
                             : values_.count("file") ? values_["file"].as<std::string>()
                                                     : std::string();
    if (dataset.empty()) throw bad("no dataset", "-o DIR");
    const auto found = dataset_status(dataset);
    if (!found) throw bad(fmt::format("{} is no dataset", dataset.string()), "a folder with a manifest.json");
    const Manifest& m = found->manifest;
    if (values_.count("json")) {
      out_ << nlohmann::ordered_json{{"schema", 1},
                                     {"sweep", m.sweep_name},
                                     {"parts", m.parts},
                                     {"parts_done", found->parts_done},
                                     {"parts_damaged", found->parts_damaged},
                                     {"designs", m.designs},
                                     {"design_rows", found->design_rows},
                                     {"layer_rows", found->layer_rows},
                                     {"layer_rows_expected", m.designs * m.layers},
                                     {"tasks_kept", found->tasks_kept},
                                     {"start", m.start},
                                     {"end", m.end}}
                  .dump(2)
           << "\n";
      return 0;
    }
    out_ << fmt::format("{}: {} of {} parts done, {} of {} layer rows, {} design rows, {} solved tasks kept\n",
                        m.sweep_name, found->parts_done, m.parts, found->layer_rows, m.designs * m.layers,
                        found->design_rows, found->tasks_kept);
    out_ << fmt::format("started {}, {}\n", m.start, m.end.empty() ? "not complete" : "complete since " + m.end);
    for (const std::string& problem : found->problems) out_ << problem << "\n";
    return 0;
  }

  int dry_run(const Sweep& sweep) {
    const Interrupt interrupt(kLastWords, kPatienceSeconds);
    run_.stop = interrupt.token();
    const SweepEstimate e = estimate_sweep(library_, sweep, run_, 3);
    if (values_.count("json")) {
      out_ << nlohmann::ordered_json{{"schema", 1},
                                     {"designs_in_product", e.designs_raw},
                                     {"designs", e.designs},
                                     {"layers_per_design", e.layers},
                                     {"tasks", e.tasks},
                                     {"distinct_tasks", e.distinct_tasks},
                                     {"known_tasks", e.known_tasks},
                                     {"sampled_tasks", e.sampled},
                                     {"seconds_per_task", e.seconds_per_task},
                                     {"seconds", e.seconds}}
                  .dump(2)
           << "\n";
      return 0;
    }
    out_ << fmt::format("{}: {} designs", sweep.name, e.designs);
    if (e.designs != e.designs_raw) out_ << fmt::format(" (of {}, the others break a constraint)", e.designs_raw);
    out_ << fmt::format(" x {} layers = {} tasks, {}{} distinct, {} already solved\n", e.layers, e.tasks,
                        e.counted_all ? "" : "about ", e.distinct_tasks, e.known_tasks);
    if (e.sampled > 0) {
      out_ << fmt::format("about {} with the {} mapper ({} sampled tasks took {:.3g} s each); nothing was written\n",
                          readable_seconds(e.seconds), sweep.mapper, e.sampled, e.seconds_per_task);
    } else {
      out_ << "nothing is left to solve; nothing was written\n";
    }
    return 0;
  }

  SweepProgressView::Style style() const {
    if (!values_.count("progress")) {
      const bool terminal = &err_ == &std::cerr && ::isatty(STDERR_FILENO) != 0;
      return terminal ? SweepProgressView::Style::kBar : SweepProgressView::Style::kLines;
    }
    const std::string word = values_["progress"].as<std::string>();
    if (word == "bar") return SweepProgressView::Style::kBar;
    if (word == "lines") return SweepProgressView::Style::kLines;
    if (word == "json") return SweepProgressView::Style::kJson;
    if (word == "none") return SweepProgressView::Style::kNone;
    throw bad(fmt::format("unknown progress `{}`", word), "bar, lines, json or none",
              nearest(word, {"bar", "lines", "json", "none"}));
  }

  int execute(const Sweep& sweep) {
    SweepProgressView view(style(), err_);
    run_.on_progress = [&](const SweepProgress& progress) { view.show(progress); };
    run_.on_note = [&](const std::string& text) { view.note(text); };
    SweepOutcome outcome;
    try {
      const Interrupt interrupt(kLastWords, kPatienceSeconds);
      run_.stop = interrupt.token();
      outcome = run_sweep(library_, sweep, run_);
    } catch (const ChangedInputs& changed) {
      view.finish();
      err_ << changed.what() << "\n  choose another folder with -o, or replace the rows with --update\n";
      return 2;
    } catch (const StorageError& error) {
      view.finish();
      err_ << error.what() << "\n  what is finished is kept; the same command continues\n";
      return 1;
    }
    view.finish();
    summary(sweep, outcome);
    return outcome.interrupted ? 130 : 0;
  }

  void summary(const Sweep& sweep, const SweepOutcome& outcome) {
    const SweepProgress& p = outcome.progress;
    if (values_.count("json")) {
      nlohmann::ordered_json all = {{"schema", 1},
                                    {"sweep", sweep.name},
                                    {"dataset", run_.dataset.string()},
                                    {"interrupted", outcome.interrupted},
                                    {"complete", outcome.dataset_complete},
                                    {"layers_done", p.done},
                                    {"layers_total", p.total},
                                    {"solved", p.solved},
                                    {"reused", p.reused},
                                    {"without_mapping", p.without_mapping},
                                    {"parts_done", p.parts_done},
                                    {"parts", p.parts},
                                    {"seconds", p.seconds},
                                    {"logging_cpu_seconds", outcome.logging_cpu_seconds}};
      out_ << all.dump(2) << "\n";
      return;
    }
    if (outcome.already_done) {
      out_ << fmt::format("{}: everything was done already, {} layer rows in {}\n", sweep.name, p.total,
                          run_.dataset.string());
      return;
    }
    out_ << fmt::format(
        "{}: {} of {} layer rows ({} solved, {} reused, {} without a mapping) in {}; {} of {} parts in {}\n",
        sweep.name, p.done, p.total, p.solved, p.reused, p.without_mapping, readable_seconds(p.seconds), p.parts_done,
        p.parts, run_.dataset.string());
    if (outcome.interrupted) out_ << "interrupted; the same command continues\n";
    if (p.best)
      out_ << fmt::format("best {} {:.5g} ({}, design {}: {})\n", p.best->column, p.best->value, p.best->workload,
                          p.best->design_id, p.best->label);
    if (outcome.dataset_complete)
      out_ << fmt::format("next: pliant pareto {} --minimize area_um2,edp_pj_cycles\n", run_.dataset.string());
  }

  const options::variables_map& values_;
  std::ostream& out_;
  std::ostream& err_;
  Library library_{shipped_configs().value_or("configs")};
  SweepRunOptions run_;
};

}  // namespace

int sweep_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"pliant sweep", kUsage, described_options(), "file"};
  return run_command(line, args, out, err,
                     [&](const options::variables_map& values) { return SweepCommand(values, out, err).run(); });
}

}  // namespace pliant
