// SPDX-License-Identifier: Apache-2.0
// The one table of options: what it promises to every command, and docs/options.md, which is made of it.
// PLIANT_RECORD_CASES=1 writes the page.
#include "dse/answers/option_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "dse/answers/arguments.h"
#include "dse/cli/command.h"
#include "dse/cli/usages.h"
#include "dse/mappers/mapper.h"
#include "dse/sweep/sweep_keys.h"
#include "support/ran_command.h"

namespace pliant {
namespace {

const OptionInfo* find(const std::vector<OptionInfo>& all, std::string_view name) {
  for (const OptionInfo& option : all)
    if (option.name == name) return &option;
  return nullptr;
}

TEST(OptionTable, EveryOptionBelongsToKnownCommandsAndStandsOnce) {
  std::set<std::string> known;
  for (const Command& command : commands()) {
    known.emplace(command.name);
    std::set<std::string_view> seen;
    for (const OptionInfo& option : options_of(command.name))
      EXPECT_TRUE(seen.insert(option.name).second) << command.name << " --" << option.name;
  }
  for (const OptionInfo& option : option_table()) {
    std::istringstream words{std::string(option.commands)};
    for (std::string word; words >> word;) EXPECT_TRUE(known.contains(word)) << option.name << ": " << word;
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
}

TEST(OptionTable, BudgetAndThreadsMeanTheSameEverywhere) {
  for (const char* command : {"map", "sweep", "verify"}) {
    EXPECT_EQ(find(options_of(command), "budget")->kind, OptionKind::kDuration) << command;
    EXPECT_EQ(read_arguments(command, {"--budget", "250ms"}, 1).seconds("budget"), 0.25);
    EXPECT_EQ(read_arguments(command, {"--budget", "2m"}, 1).seconds("budget"), 120);
    EXPECT_EQ(read_arguments(command, {"--budget", "3"}, 1).seconds("budget"), 3);
    EXPECT_EQ(read_arguments(command, {"--budget", "0"}, 1).seconds("budget"), 0);
    EXPECT_THROW(read_arguments(command, {"--budget", "-1"}, 1), InputError);
    EXPECT_THROW(read_arguments(command, {"--budget", "fast"}, 1), InputError);
  }
  for (const char* command : {"map", "sweep", "verify", "study"}) {
    EXPECT_EQ(find(options_of(command), "threads")->kind, OptionKind::kThreads) << command;
    EXPECT_GE(read_arguments(command, {"--threads", "0"}, 1).threads(), 1);
    EXPECT_EQ(read_arguments(command, {"--threads", "3"}, 1).threads(), 3);
    EXPECT_THROW(read_arguments(command, {"--threads", "-1"}, 1), InputError);
    EXPECT_THROW(read_arguments(command, {"--threads", "5000"}, 1), InputError);
  }
}

TEST(OptionTable, HelpNamesWhatThereIs) {
  const std::vector<OptionInfo> map = options_of("map");
  for (const std::string& name : mapper_names())
    EXPECT_NE(find(map, "mapper")->help.find(name), std::string_view::npos) << name;
  for (const std::string& name : objective_names())
    EXPECT_NE(find(map, "objective")->help.find(name), std::string_view::npos) << name;
  for (const OptionInfo& option : options_of("sweep"))
    if (!option.json_key.empty()) {
      EXPECT_EQ(std::ranges::count(keys::kSweep, option.json_key), 1) << option.name;
    }
}

TEST(OptionTable, MisspeltOptionsAreAnsweredWithTheNearest) {
  const auto answer = [](const std::vector<std::string>& args) {
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  EXPECT_NE(answer({"map", "--acelerator", "eyeriss"}).find("did you mean --accelerator?"), std::string::npos);
  EXPECT_NE(answer({"sweep", "demo", "--dryrun"}).find("did you mean --dry-run?"), std::string::npos);
  EXPECT_NE(answer({"query", "x", "--groupby", "workload"}).find("did you mean --group-by?"), std::string::npos);
  EXPECT_EQ(answer({"map", "--seed", "many"}), "pliant map: --seed: `many`; expected a whole number, 0 or more\n");
  EXPECT_EQ(answer({"map", "--threads", "many"}),
            "pliant map: --threads: `many`; expected 0 to 4096, where 0 means all cores\n");
  EXPECT_NE(answer({"pareto", "one", "two"}).find("`two` is one word too many"), std::string::npos);
  EXPECT_NE(answer({"map", "--seed", "1", "--seed", "2"}).find("--seed: given twice"), std::string::npos);
}

TEST(OptionTable, LinesAreReadAsPeopleWriteThem) {
  const Arguments said =
      read_arguments("query", {"data", "--sort=-area_um2", "--where", "a == b", "--where=c > -1", "--limit", "3"}, 1);
  EXPECT_EQ(said.words(), std::vector<std::string>{"data"});
  EXPECT_EQ(said.text("sort"), "-area_um2");
  EXPECT_EQ(said.texts("where"), (std::vector<std::string>{"a == b", "c > -1"}));
  EXPECT_EQ(said.whole("limit"), 3u);
  EXPECT_FALSE(said.has("json"));
  EXPECT_EQ(read_arguments("query", {"data", "--sort", "-area_um2"}, 1).text("sort"), "-area_um2");
  for (const std::vector<std::string>& line : {std::vector<std::string>{"-o", "x"}, {"-ox"}, {"--output=x"}})
    EXPECT_EQ(read_arguments("sweep", line, 1).text("output"), "x");
  EXPECT_EQ(read_arguments("show", {"--json", "--", "--layer", "-"}, 2).words(),
            (std::vector<std::string>{"--layer", "-"}));
  EXPECT_EQ(read_arguments("show", {"layer", "-"}, 2).words().back(), "-");
  const auto mistake = [](const std::vector<std::string>& line) -> std::string {
    try {
      read_arguments("map", line, 0);
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
    return "none";
  };
  EXPECT_EQ(mistake({"--seed"}), "pliant map: --seed: no value; expected N");
  EXPECT_EQ(mistake({"--layer", "--json"}), "pliant map: --layer: no value; expected TEXT");
  EXPECT_EQ(mistake({"--json=yes"}), "pliant map: --json: `yes`; expected no value");
  EXPECT_EQ(mistake({"-x"}), "pliant map: -x: unknown option; expected an option of pliant map --help");
  EXPECT_NE(mistake({"--accel", "eyeriss"}).find("--accel: unknown option"), std::string::npos);  // no guessing
}

TEST(OptionTable, AddressesAreNotTakenForFolders) {
  const std::string file =
      "; expected a file or folder of this machine; only datasets and caches may be in object storage\n";
  EXPECT_EQ(run({"sweep", "s3://bucket/demo.yaml"}).err,
            "s3://bucket/demo.yaml: is in object storage; expected a sweep file of this machine\n");
  EXPECT_EQ(run({"import", "gs://bucket/a.onnx"}).err, "pliant import: `gs://bucket/a.onnx`" + file);
  EXPECT_EQ(run({"design", "demo", "--certificate", "s3://bucket/proof"}).err,
            "pliant design: --certificate: `s3://bucket/proof`" + file);
  const std::string dataset = "; expected a folder of this machine, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER\n";
  EXPECT_EQ(run({"sweep", "demo", "-o", "https://host/demo"}).err,
            "pliant sweep: --output: `https://host/demo`" + dataset);
  EXPECT_EQ(run({"pareto", "hdfs://host/demo"}).err, "pliant pareto: `hdfs://host/demo`" + dataset);
  EXPECT_EQ(run({"show", "layer", "gemm:M=2,N=2,K=2"}).code, 0);
}

std::string options_page() {
  std::string page =
      "# Options\n\nEvery option of every command, from the one table in `dse/answers/option_table.cpp`. A test "
      "compares "
      "this page with it.\nA duration is a number with `ms`, `s`, `m` or `h`; a plain number is seconds, and 0 means "
      "no "
      "limit.\n";
  for (const Command& command : commands())
    page +=
        fmt::format("\n## pliant {}\n\n{}.\n\n```\n{}```\n", command.name, command.summary, options_text(command.name));
  return page;
}

TEST(OptionTable, ThePageIsCurrent) {
  const std::string file = PLIANT_SOURCE_DIR "/docs/options.md";
  if (std::getenv("PLIANT_RECORD_CASES") != nullptr) std::ofstream(file, std::ios::binary) << options_page();
  std::ostringstream kept;
  kept << std::ifstream(file, std::ios::binary).rdbuf();
  EXPECT_EQ(kept.str(), options_page());
}

}  // namespace
}  // namespace pliant
