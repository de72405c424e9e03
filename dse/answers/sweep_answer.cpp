// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "dse/answers/answering.h"
#include "dse/answers/dataset_options.h"
#include "dse/answers/progress_text.h"
#include "dse/answers/shard_option.h"
#include "dse/answers/sweep_audit.h"
#include "dse/answers/sweep_certificates.h"
#include "dse/answers/sweep_json.h"
#include "dse/results/atomic_file.h"
#include "dse/sweep/room_warnings.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLastWords = "\nstopped; what is finished is kept, the same command continues\n";
/// After the first Ctrl-C, for tasks in flight.
constexpr double kPatienceSeconds = 3;

class SweepAnswer : Answering {
 public:
  SweepAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    if (arguments_.has("status")) return status();
    const auto file = arguments_.word();
    if (!file) throw arguments_.bad("", "no sweep file", "a file or one of the shipped sweeps");
    SweepOverrides overrides;
    overrides.mapper = arguments_.text("mapper");
    overrides.budget_seconds = arguments_.seconds("budget");
    overrides.gap = arguments_.share("gap");
    overrides.seed = arguments_.whole("seed");
    overrides.settings = arguments_.settings();
    if (arguments_.has("layers")) overrides.network = false;
    overrides.fusion = arguments_.text("fusion");
    if (const auto inferences = arguments_.whole("inferences")) overrides.inferences = static_cast<Count>(*inferences);
    const Sweep sweep = load_sweep(library_, find_sweep(library_, *file), overrides);
    run_.dataset = fs::path(arguments_.text("output").value_or((fs::path("results") / sweep.name).string()));
    if (std::error_code error; fs::exists(run_.dataset, error) && !fs::is_directory(run_.dataset, error))
      throw arguments_.bad("--output", fmt::format("{} is a file", run_.dataset.string()), "a folder");
    run_.cache = fs::path(arguments_.text("cache").value_or(""));
    run_.threads = arguments_.threads();
    run_.shard = shard_of(arguments_);
    run_.update = arguments_.has("update");
    if (!arguments_.texts("certificates").empty()) check_certificates_option(arguments_, sweep);
    audit_share_ = audited_share(arguments_, sweep, run_.shard);
    for (const std::string& warning : room_warnings(library_, sweep)) err_ << fmt::format("warning: {}\n", warning);
    return arguments_.has("dry-run") ? dry_run(sweep) : execute(sweep);
  }

 private:
  int status() {
    const fs::path dataset = arguments_.text("output").value_or(arguments_.word().value_or(""));
    if (dataset.empty()) throw arguments_.bad("", "no dataset", "-o DIR");
    const auto found = dataset_status(dataset);
    if (!found)
      throw arguments_.bad("", fmt::format("{} is not a dataset", dataset.string()), "a folder with a manifest.json");
    const Manifest& m = found->manifest;
    if (arguments_.has("json")) {
      out_ << status_json(*found).dump(2) << "\n";
      return 0;
    }
    out_ << fmt::format("{}: {} of {} parts done, {} of {} layer rows, {} design rows, {} solved tasks kept\n",
                        m.sweep_name, found->parts_done, m.parts, found->layer_rows, m.designs * m.layers,
                        found->design_rows, found->tasks_kept);
    out_ << fmt::format("started {}, {}\n", m.start, m.end.empty() ? "not complete" : "complete since " + m.end);
    for (const std::string& problem : found->problems) out_ << problem << "\n";
    return 0;
  }

  /// Beside other work an estimate is of the machine as it is now, and says what it would be without.
  static std::string busy_words(const SweepEstimate& e) {
    constexpr double kIdle = 0.9;
    if (e.share_of_core >= kIdle || e.share_of_core <= 0) return "";
    return fmt::format(", with {:.0f} % of a core beside other work; with all of it about {}", 100 * e.share_of_core,
                       readable_seconds(e.seconds * e.share_of_core));
  }

  int dry_run(const Sweep& sweep) {
    run_.on_phase = [&](const PhaseProgress& phase) { face_.show(phase); };
    const Interrupt interrupt(face_, "\nstopped; nothing was written\n", kPatienceSeconds);
    run_.stop = interrupt.token();
    const SweepEstimate e = estimate_sweep(library_, sweep, run_, 3);
    face_.clear();
    if (interrupt.asked()) {
      err_ << "interrupted; nothing was written\n";
      return 130;
    }
    if (arguments_.has("json")) {
      out_ << estimate_json(e).dump(2) << "\n";
      return 0;
    }
    out_ << mapped_as_words(sweep) << fmt::format("{}: {} designs", sweep.name, e.designs);
    if (e.designs != e.designs_raw) out_ << fmt::format(" (of {}, the others break a constraint)", e.designs_raw);
    out_ << fmt::format(" x {} layers = {} tasks, {}{} distinct, {} already solved\n", e.layers, e.tasks,
                        e.counted_all ? "" : "about ", e.distinct_tasks, e.known_tasks);
    if (e.sampled > 0) {
      out_ << fmt::format(
          "about {} ({} to {}) with the {} mapper ({} sampled tasks took {:.3g} s each{}); nothing was written\n",
          readable_seconds(e.seconds), readable_seconds(e.seconds_low), readable_seconds(e.seconds_high), sweep.mapper,
          e.sampled, e.seconds_per_task, busy_words(e));
    } else {
      out_ << "nothing is left to solve; nothing was written\n";
    }
    return 0;
  }

  int execute(const Sweep& sweep) {
    run_.on_progress = [&](const SweepProgress& progress) { face_.show(progress); };
    run_.on_phase = [&](const PhaseProgress& phase) { face_.show(phase); };
    run_.on_note = [&](const std::string& text) { face_.note(text); };
    SweepOutcome outcome;
    try {
      const Interrupt interrupt(face_, kLastWords, kPatienceSeconds);
      run_.stop = interrupt.token();
      outcome = run_sweep(library_, sweep, run_);
    } catch (const ChangedInputs& changed) {
      face_.clear();
      err_ << changed.what() << "\n  choose another folder with -o, or replace the rows with --update\n";
      return 2;
    } catch (const StorageError& error) {
      face_.clear();
      err_ << error.what() << "\n  what is finished is kept; the same command continues\n";
      return 1;
    }
    face_.clear();
    std::optional<SweepAudit> audit;
    if (audit_share_ && outcome.dataset_complete) {
      const Interrupt interrupt(face_, "\nstopped; the rows are kept, the audit is not\n", kPatienceSeconds);
      audit = audit_sweep(library_, sweep, run_.dataset, *audit_share_, arguments_.threads(), interrupt.token());
    }
    summary(sweep, outcome, audit);
    if (outcome.interrupted) return 130;
    if (audit && audit->exit_code() != 0) return audit->exit_code();
    return arguments_.texts("certificates").empty() ? 0 : certificates(sweep);
  }

  /// After the rows, so that a condition may name what was found.
  int certificates(const Sweep& sweep) {
    try {
      const Interrupt interrupt(face_, kLastWords, kPatienceSeconds);
      const bool all = write_certificates(arguments_, library_, sweep, run_.dataset, interrupt.token(), out_, err_);
      return interrupt.asked() ? 130 : all ? 0 : 1;
    } catch (const StorageError& error) {
      err_ << error.what() << "\n";
      return 1;
    }
  }

  void tell_best(const SweepProgress& progress) {
    for (const SweepProgress::Best& best : progress.best) out_ << best_text(best) << "\n";
  }

  void summary(const Sweep& sweep, const SweepOutcome& outcome, const std::optional<SweepAudit>& audit) {
    if (arguments_.has("json")) {
      nlohmann::ordered_json all = outcome_json(sweep, run_.dataset, outcome);
      if (audit) all["audit"] = audit->json();
      out_ << all.dump(2) << "\n";
      return;
    }
    tell(sweep, outcome);
    if (audit) out_ << "audit: " << audit->text();
  }

  void tell(const Sweep& sweep, const SweepOutcome& outcome) {
    const SweepProgress& p = outcome.progress;
    if (outcome.already_done) {
      out_ << fmt::format("{}: everything was done already, {} layer rows in {}\n", sweep.name, p.total,
                          run_.dataset.string());
      tell_best(p);
      return;
    }
    out_ << fmt::format(
        "{}: {} of {} layer rows ({} solved, {} reused, {} without a mapping) in {}; {} of {} parts in {}\n",
        sweep.name, p.done, p.total, p.solved, p.reused, p.without_mapping, readable_seconds(p.seconds), p.parts_done,
        p.parts, run_.dataset.string());
    if (outcome.interrupted && p.total == 0)
      out_ << "interrupted while the designs were counted; nothing was written\n";
    if (outcome.interrupted && p.total > 0) out_ << "interrupted; the same command continues\n";
    tell_best(p);
    out_ << mapped_as_words(sweep);
    if (outcome.dataset_complete)
      out_ << fmt::format("next: pliant pareto {} --minimize area_um2,edp_pj_cycles\n", run_.dataset.string());
  }

  SweepRunOptions run_;
  std::optional<double> audit_share_;
};

}  // namespace

int answer_sweep(const Arguments& arguments, Face& face) { return SweepAnswer(arguments, face).run(); }

}  // namespace pliant
