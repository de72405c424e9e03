// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/study_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/input/load.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/shipped_configs.h"
#include "dse/answers/text_table.h"
#include "dse/cli/command_line.h"
#include "dse/cli/interrupt.h"
#include "dse/cli/sweep_progress.h"
#include "dse/report/render.h"
#include "dse/studies/run_study.h"
#include "dse/studies/summary.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStudyUsage = R"(usage: pliant study list
       pliant study summary [-o DIR]
       pliant study NAME|all [--quick] [-o DIR] [options]

Reproduces a published evaluation: runs it, prints the published numbers beside ours, and writes the table (DIR/NAME.csv),
all points (Parquet) and the figures (DIR/NAME/figures, Vega-Lite). docs/studies has a page for each study.

examples:
  pliant study list
  pliant study area
  pliant study ruby-arrays -o results/studies --png
  pliant study all --quick -o /tmp/studies
  pliant study summary > docs/studies/summary.md

)";

/// One line that is overwritten on a terminal; else a line every five seconds.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& err) : err_(err), terminal_(&err == &std::cerr && ::isatty(STDERR_FILENO) != 0) {}
  void show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ && now - last_ < std::chrono::seconds(5)) return;
    last_ = now;
    if (terminal_)
      err_ << "\r\x1b[K" << text << std::flush;
    else
      err_ << text << "\n" << std::flush;
  }
  void clear() {
    if (terminal_) err_ << "\r\x1b[K" << std::flush;
  }

 private:
  std::ostream& err_;
  bool terminal_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class StudyCommand {
 public:
  StudyCommand(const Arguments& arguments, std::ostream& out, std::ostream& err)
      : arguments_(arguments), out_(out), err_(err) {}

  int run() {
    if (!arguments_.word()) throw arguments_.bad("", "no study", "list, summary, all or " + known_names());
    const std::string name = *arguments_.word();
    if (name == "list") return list();
    if (name == "summary") return summary();
    std::vector<const Study*> wanted;
    for (const Study& study : all_studies())
      if (name == "all" || name == study.name) wanted.push_back(&study);
    if (wanted.empty()) {
      std::vector<std::string> known{"all", "list", "summary"};
      for (const Study& study : all_studies()) known.emplace_back(study.name);
      throw arguments_.bad("", fmt::format("unknown study `{}`", name), "list, summary, all or " + known_names(),
                           nearest(name, known));
    }
    StudyOptions study_options;
    study_options.quick = arguments_.has("quick");
    study_options.output = arguments_.has("output") ? fs::path(*arguments_.text("output"))
                           : study_options.quick    ? fs::path("results/studies_quick")
                                                    : fs::path("results/studies");
    study_options.png = arguments_.has("png");
    study_options.threads = arguments_.threads();
    ProgressLine progress(err_);
    study_options.on_progress = [&](const std::string& text) { progress.show(text); };
    const Interrupt interrupt("\nstopped; what is finished is kept, the same command continues\n", 3);
    study_options.stop = interrupt.token();
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Study* study : wanted) {
      StudyRun done;
      try {
        done = run_study(library_, *study, study_options);
      } catch (const StudyInterrupted& stopped) {
        progress.clear();
        err_ << study->name << ": " << stopped.what() << "\n";
        return 130;
      }
      progress.clear();
      if (arguments_.has("json"))
        all.push_back(as_json(*study, done));
      else
        print(*study, done, study_options.output);
    }
    if (arguments_.has("json"))
      out_ << nlohmann::ordered_json{{"schema", kJsonSchema}, {"studies", all}}.dump(2) << "\n";
    return 0;
  }

 private:
  static std::string known_names() {
    std::string names;
    for (const Study& study : all_studies()) names += fmt::format("{}{}", names.empty() ? "" : ", ", study.name);
    return names;
  }

  int list() {
    for (const Study& study : all_studies())
      out_ << fmt::format("{:<16} {}: {}\n", study.name, study.paper, study.reproduces);
    return 0;
  }

  /// Markdown, from the tables that the studies left in the folder.
  int summary() {
    out_ << summary_page(
        read_summary(arguments_.has("output") ? fs::path(*arguments_.text("output")) : "results/studies"));
    return 0;
  }

  static nlohmann::ordered_json as_json(const Study& study, const StudyRun& done) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Comparison& row : done.rows)
      rows.push_back({{"figure", row.figure},
                      {"quantity", row.quantity},
                      {"published", row.published},
                      {"ours", row.ours ? nlohmann::ordered_json(*row.ours) : nlohmann::ordered_json()},
                      {"ratio", row.ratio ? nlohmann::ordered_json(*row.ratio) : nlohmann::ordered_json()},
                      {"verdict", row.verdict_text()},
                      {"because", row.because}});
    return {{"study", study.name}, {"seconds", done.seconds}, {"rows", rows}};
  }

  void print(const Study& study, const StudyRun& done, const fs::path& output) {
    out_ << fmt::format("{}: {}, {}\n\n", study.name, study.paper, study.reproduces);
    TextTable table({"", "quantity<", "published", "ours", "ratio", "verdict<"});
    std::vector<std::string> reasons;
    for (const Comparison& row : done.rows) {
      std::string verdict = row.verdict_text();
      if (!row.because.empty()) {
        auto at = std::ranges::find(reasons, row.because);
        if (at == reasons.end()) at = reasons.insert(reasons.end(), row.because);
        verdict += fmt::format(" [{}]", at - reasons.begin() + 1);
      }
      table.add({row.figure, row.quantity, row.published, row.ours ? fmt::format("{:.6g}", *row.ours) : "",
                 row.ratio ? fmt::format("{:.4g}", *row.ratio) : "", verdict});
    }
    out_ << table.text("  ") << "\n";
    for (std::size_t i = 0; i < reasons.size(); ++i) out_ << fmt::format("  [{}] {}\n", i + 1, reasons[i]);
    out_ << fmt::format("{}{} in {}; table {}, points and figures {}\n\n", reasons.empty() ? "" : "\n", study.name,
                        readable_seconds(done.seconds), (output / (std::string(study.name) + ".csv")).string(),
                        (output / study.name).string());
  }

  const Arguments& arguments_;
  std::ostream& out_;
  std::ostream& err_;
  Library library_{shipped_configs().value_or("configs")};
};

}  // namespace

int study_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"study", kStudyUsage, 1};
  return run_command(line, args, out, err, [&](const Arguments& arguments) {
    try {
      return StudyCommand(arguments, out, err).run();
    } catch (const RenderError& error) {
      err << error.what() << "\n";
    } catch (const StudyError& error) {
      err << "pliant study: " << error.what() << "\n";
    }
    return 1;
  });
}

}  // namespace pliant
