// SPDX-License-Identifier: Apache-2.0
// Every question from C++, with the JSON of the command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "dse/answers/answers.h"
#include "dse/api/pliant.h"
#include "support/combination_cases.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

const Library& shipped() {
  static const Library library{PLIANT_SOURCE_DIR "/configs"};
  return library;
}

/// How long it took and where it is written is never the same twice.
nlohmann::ordered_json constant(const nlohmann::ordered_json& value) {
  static const std::set<std::string> changing{"solve_seconds",  "solve_cpu_seconds",   "seconds",
                                              "search_seconds", "logging_cpu_seconds", "dataset"};
  if (!value.is_structured()) return value;
  nlohmann::ordered_json kept = value.is_object() ? nlohmann::ordered_json::object() : nlohmann::ordered_json::array();
  for (const auto& [key, one] : value.items()) {
    if (value.is_array())
      kept.push_back(constant(one));
    else if (!changing.contains(key))
      kept[key] = constant(one);
  }
  return kept;
}

/// The question of a line such as `query DIR --sort edp_pj_cycles -o FILE`.
Question question_of(const std::vector<std::string>& line) {
  Question question{line.front()};
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i][0] != '-') {
      question.words.push_back(line[i]);
      continue;
    }
    const std::string name = line[i] == "-o" ? "output" : line[i].substr(2);
    const std::vector<OptionInfo> options = options_of(line.front());
    const auto option = std::ranges::find(options, name, &OptionInfo::name);
    if (option != options.end() && option->kind == OptionKind::kFlag)
      question.options.emplace_back(name, true);
    else
      question.options.emplace_back(name, line[++i]);
  }
  return question;
}

void expect_the_same(const std::vector<std::string>& line, const std::vector<std::string>& again) {
  SCOPED_TRACE(testing::PrintToString(line));
  std::vector<std::string> words = line;
  words.emplace_back("--json");
  const Ran theirs = run(words);
  ASSERT_NE(theirs.code, 2) << theirs.err;
  const Answer ours = ask(shipped(), question_of(again));
  EXPECT_EQ(ours.code, theirs.code);
  EXPECT_EQ(ours.remarks, theirs.err);
  EXPECT_EQ(ours.text.empty(), theirs.out.empty());
  if (!theirs.out.empty()) {
    EXPECT_EQ(constant(ours.json()).dump(2), constant(nlohmann::ordered_json::parse(theirs.out)).dump(2));
  }
}
void expect_the_same(const std::vector<std::string>& line) { expect_the_same(line, line); }

TEST(Ask, EveryCommandAnswersAsTheCommandLine) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string gemm = "gemm:M=8,N=8,K=8", tests = PLIANT_SOURCE_DIR "/tests/data/";
  std::set<std::string> asked;
  const auto same = [&](const std::vector<std::string>& line) {
    asked.insert(line.front());
    expect_the_same(line);
  };
  same({"show", "accelerator", "eyeriss"});
  same({"show", "accelerator"});
  same({"show", "workload"});
  same({"show", "layer", "--workload", "resnet50"});
  same({"show", "layer", "conv1", "--workload", "resnet50"});
  same({"map", "--accelerator", "eyeriss", "--layer", gemm, "--save", file("best.yaml"), "--certificate",
        file("proof.json")});
  same({"map", "--accelerator", "eyeriss", "--workload", "alexnet", "--objective", "runtime"});
  same({"eval", "--accelerator", "eyeriss", "--layer", gemm, "--mapping", file("best.yaml")});
  same({"export", "c", "--accelerator", "eyeriss", "--layer", gemm, "--mapping", file("best.yaml"), "-o", file("c")});
  same({"audit", file("proof.json")});
  std::ofstream(file("best.json")) << run({"map", "--accelerator", "eyeriss", "--layer", gemm, "--json"}).out;
  same({"verify", file("best.json")});
  same({"serve", "llama3_2_1b", "--accelerator", "npu", "--prompt", "64", "--output", "4"});
  same({"flexion", "--accelerator", "eyeriss", "--layer", gemm, "--no-tuples"});
  same({"count", "--accelerator", "flexref", "--layer", gemm, "--set", "rows=8", "--set", "cols=8"});
  same({"validate", tests + "oracle_imperfect.jsonl", "--excused"});
  std::ofstream(file("topology.csv")) << "Layer name, M, N, K,\nfirst, 64, 32, 16,\n";
  same({"import", "scalesim", file("topology.csv")});
  same({"import", "scalesim", file("topology.csv"), "-o", file("imported")});
  std::ofstream(file("sweep.yaml"))
      << "pliant: sweep\nname: small\naccelerator: flexref\nworkloads: [flexpaper_ncf]\nvary:\n  - cols: [4, 8]\n"
         "flexibility: [FullFlex-1111, InFlex-0000]\nminimize: [area_um2, edp_pj_cycles]\n";
  const auto same_elsewhere = [&](std::vector<std::string> line) {
    asked.insert(line.front());
    std::vector<std::string> again = line;
    again.insert(again.end(), {"-o", file((line.front() + "_again").c_str())});
    line.insert(line.end(), {"-o", file(line.front().c_str())});
    expect_the_same(line, again);
  };
  same_elsewhere({"sweep", file("sweep.yaml"), "--progress", "none"});
  same_elsewhere({"design", file("sweep.yaml")});
  same({"verify", file("sweep"), "--sweep", file("sweep.yaml"), "--prove", "1"});
  same({"pareto", file("sweep"), "--minimize", "area_um2,edp_pj_cycles"});
  same({"query", file("sweep"), "--where", "class == 1*11", "--sort", "edp_pj_cycles"});
  same({"report", file("sweep"), "-o", file("report.html")});
  same({"study", "list"});
  for (const AnsweredCommand& command : answered_commands()) EXPECT_TRUE(asked.contains(std::string(command.name)));
}

TEST(Ask, EveryPairAnswersAsTheCommandLine) {
  int tried = 0, refusals = 0;
  std::uint64_t seed = 0;
  for (const tests::Row& row : tests::combinations(2).rows) {
    const Traits traits = tests::traits_of(row);
    const TemporaryFolder folder;
    const tests::CombinationCase one = tests::make_case(traits, ++seed, folder.path());
    if (one.question == Trait::kTimeloop || one.question == Trait::kZigzag || one.question == Trait::kC) continue;
    const std::vector<std::string> line = one.question_words();
    std::vector<std::string> again = line;
    std::ranges::replace(again, one.file("data"), one.file("data_again"));
    expect_the_same(line, again);
    ++tried;
  }
  for (const Traits& traits : tests::refused_questions()) {
    const TemporaryFolder folder;
    const tests::CombinationCase one = tests::make_case(traits, 1, folder.path());
    if (one.question == Trait::kTimeloop) continue;
    const std::string said = run(one.refused_words()).err;
    try {
      ask(shipped(), question_of(one.refused_words()));
      ADD_FAILURE() << said;
    } catch (const InputError& error) {
      EXPECT_EQ(error.diagnostics().front().text() + "\n", said);
    }
    ++refusals;
  }
  EXPECT_GT(tried, 40);
  EXPECT_GT(refusals, 30);
}

TEST(Ask, MistakesAreThrown) {
  const auto mistake = [](const Question& question) -> std::string {
    try {
      ask(shipped(), question);
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
    return "none";
  };
  EXPECT_NE(mistake({"mop"}).find("did you mean map?"), std::string::npos);
  EXPECT_NE(mistake({"map", {}, {{"acelerator", "eyeriss"}}}).find("did you mean --accelerator?"), std::string::npos);
  EXPECT_NE(mistake({"map", {"word"}}).find("`word` is one word too many"), std::string::npos);
  EXPECT_NE(mistake({"map", {}, {{"seed", {"1", "2"}}}}).find("--seed: given twice"), std::string::npos);
  EXPECT_NE(mistake({"map", {}, {{"seed", true}}}).find("--seed: no value"), std::string::npos);
  EXPECT_NE(mistake({"map", {}, {{"network", "yes"}}}).find("--network: `yes`; expected no value"), std::string::npos);
}

TEST(Ask, ItCanBeStoppedAndWatched) {
  std::stop_source stop;
  stop.request_stop();
  const Question question{"map", {}, {{"accelerator", "eyeriss"}, {"workload", "alexnet"}, {"layers", true}}};
  EXPECT_EQ(ask(shipped(), question, {.stop = stop.get_token()}).code, 130);
  std::vector<std::string> lines;
  const AskOptions watched{.json = false, .on_progress = [&](const std::string& line) { lines.push_back(line); }};
  const Answer answer = ask(shipped(), question, watched);
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.text.find("conv1"), std::string::npos);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), "conv1");
}

}  // namespace
}  // namespace pliant
