// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/input/load.h"
#include "dse/answers/answering.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/progress_text.h"
#include "dse/answers/text_table.h"
#include "dse/report/render.h"
#include "dse/studies/run_study.h"
#include "dse/studies/summary.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

class StudyAnswer : Answering {
 public:
  StudyAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

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
    study_options.sampled = arguments_.has("sampled");
    if (study_options.quick && study_options.sampled)
      throw arguments_.bad("sampled", "a quick run draws no samples", "one of --quick and --sampled");
    study_options.output = arguments_.has("output") ? fs::path(*arguments_.text("output"))
                           : study_options.quick    ? fs::path("results/studies_quick")
                                                    : fs::path("results/studies");
    study_options.png = arguments_.has("png");
    study_options.threads = arguments_.threads();
    study_options.on_progress = [&](const std::string& text) { face_.working([&] { return text; }); };
    const Interrupt interrupt(face_, "\nstopped; what is finished is kept, the same command continues\n", 3);
    study_options.stop = interrupt.token();
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Study* study : wanted) {
      StudyRun done;
      try {
        done = run_study(library_, *study, study_options);
      } catch (const StudyInterrupted& stopped) {
        face_.clear();
        err_ << study->name << ": " << stopped.what() << "\n";
        return 130;
      }
      face_.clear();
      if (arguments_.has("json"))
        all.push_back(as_json(*study, done));
      else
        print(*study, done, study_options.output);
    }
    return arguments_.has("json") ? tell("studies", all) : 0;
  }

 private:
  static std::string known_names() {
    std::string names;
    for (const Study& study : all_studies()) names += fmt::format("{}{}", names.empty() ? "" : ", ", study.name);
    return names;
  }

  int tell(const char* what, const nlohmann::ordered_json& all) {
    out_ << nlohmann::ordered_json{{"schema", kJsonSchema}, {what, all}}.dump(2) << "\n";
    return 0;
  }

  int list() {
    if (arguments_.has("json")) {
      nlohmann::ordered_json all = nlohmann::ordered_json::array();
      for (const Study& study : all_studies())
        all.push_back({{"study", study.name}, {"paper", study.paper}, {"reproduces", study.reproduces}});
      return tell("studies", all);
    }
    for (const Study& study : all_studies())
      out_ << fmt::format("{:<16} {}: {}\n", study.name, study.paper, study.reproduces);
    return 0;
  }

  /// Of the tables that the studies left in the folder; Markdown for people.
  int summary() {
    const std::vector<SummaryRow> rows =
        read_summary(arguments_.has("output") ? fs::path(*arguments_.text("output")) : "results/studies");
    if (!arguments_.has("json")) {
      out_ << summary_page(rows);
      return 0;
    }
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const SummaryRow& row : rows)
      all.push_back({{"paper", row.paper},
                     {"study", row.study},
                     {"figure", row.figure},
                     {"quantity", row.quantity},
                     {"published", row.published},
                     {"ours", row.ours},
                     {"verdict", row.verdict},
                     {"because", row.because}});
    return tell("rows", all);
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
    return {{"study", study.name}, {"seconds", done.seconds}, {"cpu_seconds", done.cpu_seconds}, {"rows", rows}};
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
};

}  // namespace

int answer_study(const Arguments& arguments, Face& face) {
  try {
    return StudyAnswer(arguments, face).run();
  } catch (const RenderError& error) {
    face.err << error.what() << "\n";
  } catch (const StudyError& error) {
    face.err << "pliant study: " << error.what() << "\n";
  }
  return 1;
}

}  // namespace pliant
