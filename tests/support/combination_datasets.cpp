// SPDX-License-Identifier: Apache-2.0
// Relations of sweeps and design searches.
#include <algorithm>

#include "core/input/load.h"
#include "dse/sweep/run_sweep.h"
#include "support/asked_case.h"
#include "support/driven_clock.h"
#include "support/toy_sweep.h"

namespace pliant::tests {

namespace {

namespace fs = std::filesystem;
using enum Trait;

Words sweep_words(const AskedCase& asked, const std::string& dataset, const std::string& threads) {
  const CombinationCase& one = asked.one();
  return {"sweep", one.file("sweep.yaml"), "-o", one.file(dataset), "--threads", threads, "--progress", "none"};
}

/// Rows of a table of a dataset.
json rows_of(AskedCase& asked, const std::string& dataset, const std::string& table) {
  const std::optional<json> answer =
      asked.answer({"query", asked.one().file(dataset), "--table", table, "--select", "all"});
  return answer ? answer->value("rows", json::array()) : json::array();
}

/// The row, asked by itself.
void check_layer_row(AskedCase& asked, const json& row) {
  Words words = asked.one().map_words(false);
  words = without_option(without_option(without_option(words, "--inferences"), "--residency"), "--fusion");
  words = without_option(with_option(words, "--layer", row.at("layer").get<std::string>()), "--threads");
  words = with(words, {"--set", "cols=" + row.at("set_cols").dump()});
  const std::optional<json> answer = asked.answer(words, {0, 3});
  if (!answer) return;
  const bool solved = row.at("status") == "solved";
  asked.expect(solved == answer->value("feasible", true), "a row and `map` differ about what fits: " + row.dump());
  if (!solved || !answer->value("feasible", true)) return;
  for (const char* key : {"energy_pj", "runtime_cycles", "edp_pj_cycles", "utilization"})
    asked.expect_equal(row.at(key).get<double>(), answer->at(key).get<double>(),
                       std::string("a row and `map`: ") + key);
  for (const char* key : {"value", "lower_bound"})
    asked.expect_equal(row.at(std::string("certificate.") + key).get<double>(), answer->at(key).get<double>(),
                       std::string("a row and `map`: ") + key);
}

/// The sweep's workload as `map` asks for it as a whole.
Words network_words(const AskedCase& asked) {
  const bool stay = asked.has(kResidency) || asked.has(kInferences) || asked.has(kTiles);
  Words words = without_option(without_option(asked.one().map_words(true), "--threads"), "--residency");
  std::erase(words, "--layers");
  words = with(words, {"--network"});
  return asked.has(kUnrelated) ? words : with(words, {"--residency", stay ? "on" : "off"});
}

/// A design's sums, asked as a network.
void check_design_row(AskedCase& asked, const json& row, const std::optional<double>& deadline) {
  Words words = with(network_words(asked), {"--set", "cols=" + row.at("set_cols").dump()});
  if (deadline) words = with(words, {"--deadline", fmt::format("{}", *deadline)});
  const std::optional<json> answer = asked.answer(words, {0, 3});
  if (!answer) return;
  const bool solved = row.at("status") == "solved", found = answer->contains("network");
  if (solved != found) return asked.problem("a row and `map --network` differ about what can be: " + row.dump());
  if (!solved) return;
  if (deadline) asked.expect_at_most(row.at("runtime_cycles").get<double>(), *deadline, "a row that is late");
  for (const char* key : {"energy_pj", "runtime_cycles"})
    asked.expect_equal(row.at(key).get<double>(), answer->at("network").at(key).get<double>(),
                       std::string("a row and `map --network`: ") + key);
}

/// Of a sweep with a deadline: which, now that it stands in its file.
std::optional<double> write_deadline(AskedCase& asked) {
  if (!asked.has(kDeadline) || asked.has(kEdpOverUtilization)) return std::nullopt;
  const std::optional<double> cycles = some_deadline(asked, network_words(asked));
  if (cycles) asked.write("sweep.yaml", asked.one().sweep_within(*cycles));
  return cycles;
}

/// Stopped after the first answers, then continued.
void check_continued(AskedCase& asked) {
  const CombinationCase& one = asked.one();
  const Library library(PLIANT_SOURCE_DIR "/configs");
  std::stop_source stop;
  const DrivenClock clock(1);  // reports come at most ten times a second
  SweepRunOptions options;
  options.dataset = one.file("continued");
  options.threads = 1;
  options.stop = stop.get_token();
  options.clock = &clock;
  options.on_progress = [&](const SweepProgress& now) {
    if (now.done > 0) stop.request_stop();
  };
  run_sweep(library, load_sweep(library, one.file("sweep.yaml")), options);
  asked.expect_code(sweep_words(asked, "continued", "1"), 0);
  asked.expect(dataset_files(one.file("continued")) == dataset_files(one.file("data")),
               "a sweep that was interrupted has other files");
}

}  // namespace

void check_sweep(AskedCase& asked) {
  const CombinationCase& one = asked.one();
  const std::optional<double> deadline = write_deadline(asked);
  const Ran ran = asked.ask(one.question_words());
  asked.expect(ran.code == 0, fmt::format("exit code {}: {}{}", ran.code, ran.err, ran.out));
  if (ran.code != 0) return;
  bool any = false;
  for (const json& row : rows_of(asked, "data", "layers")) {
    check_layer_row(asked, row);
    any = any || row.at("status") == "solved";
  }
  // Other mappers choose without a view to the deadline; the rows only say who is late.
  const bool whole =
      asked.has(kResidency) || asked.has(kInferences) || asked.has(kTiles) || (deadline && asked.has(kExact));
  if (whole && (!deadline || asked.has(kExact)))
    for (const json& row : rows_of(asked, "data", "designs")) check_design_row(asked, row, deadline);
  if (asked.has(kThreads)) {
    asked.expect_code(sweep_words(asked, "alone", "1"), 0);
    asked.expect(dataset_files(one.file("alone")) == dataset_files(one.file("data")), "threads change the files");
  }
  if (asked.has(kCertificate) && any && !asked.has(kHints)) {
    const Ran audit = asked.ask({"audit", one.file("data") + "/certificates"});
    asked.expect(audit.code == 0 || (audit.code == 4 && asked.has(kPadding)),
                 fmt::format("exit code {}: {}{}", audit.code, audit.err, audit.out));
  }
  check_continued(asked);
  asked.expect_code({"verify", one.file("data"), "--sweep", one.file("sweep.yaml"), "--prove", "all"}, 0);
}

void check_design(AskedCase& asked) {
  const CombinationCase& one = asked.one();
  write_deadline(asked);
  // 2: no design has mappings. What the sweep finds is compared in any case.
  const std::optional<json> found = asked.answer(one.question_words(), {0, 2});
  if (!found) return;
  asked.expect_code(sweep_words(asked, "swept", "1"), 0);
  const Ran pareto = asked.ask({"pareto", one.file("swept"), "--minimize", "area_um2,edp_pj_cycles", "--json"});
  std::vector<std::vector<double>> expected, values;
  const json swept = pareto.code == 0 ? json::parse(pareto.out) : json{{"groups", json::array()}};
  for (const json& group : swept.at("groups"))
    for (const json& point : group.at("frontier"))
      expected.push_back({point.at("area_um2").get<double>(), point.at("edp_pj_cycles").get<double>()});
  for (const json& point : found->at("frontier")) values.push_back(point.at("values").get<std::vector<double>>());
  std::ranges::sort(expected);
  std::ranges::sort(values);
  // A gap, of a layer or of a box, may leave out or make worse what the sweep found.
  if (!asked.has(kGap) && !asked.has(kHints)) {
    asked.expect(expected.size() == values.size(),
                 fmt::format("{} designs on the frontier, {} by the sweep", values.size(), expected.size()));
    for (std::size_t i = 0; i < std::min(expected.size(), values.size()); ++i)
      for (std::size_t g = 0; g < 2; ++g) asked.expect_equal(values[i][g], expected[i][g], "a design of the frontier");
  }
  asked.expect_code({"verify", one.file("data"), "--sweep", one.file("sweep.yaml"), "--prove", "all"}, 0);
}

}  // namespace pliant::tests
