// SPDX-License-Identifier: Apache-2.0
// What shells and man(1) are told is what the commands take.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "dse/answers/option_table.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

/// What a shell's command prints.
std::string printed(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  ::pclose(pipe);
  return text;
}

/// What bash offers after these words.
std::string offered(const std::string& words, int count) {
  const TemporaryFolder folder;
  const std::string script = (folder.path() / "complete.sh").string();
  std::ofstream(script) << run({"completion", "bash"}).out << "COMP_WORDS=(" << words << ")\nCOMP_CWORD=" << count
                        << "\n_pliant\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  return printed("cd " + folder.path().string() + " && bash " + script + " 2>&1");
}

TEST(Completion, BashOffersWhatFits) {
  EXPECT_EQ(offered("pliant swe", 1), "sweep\n");
  EXPECT_EQ(offered("pliant map --accelerator eyer", 3), "eyeriss\n");
  EXPECT_EQ(offered("pliant map --accelerator npu --factor", 4), "--factorization\n");
  EXPECT_EQ(offered("pliant design inflexible_a", 2), "inflexible_alexnet\n");
  EXPECT_EQ(offered("pliant count --mapper-op", 2), "\n");  // an option of map only
}

TEST(Completion, EveryShellKnowsEveryOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran ran = run({"completion", shell});
    ASSERT_EQ(ran.code, 0) << ran.err;
    for (const OptionInfo& option : option_table())
      EXPECT_NE(ran.out.find(std::string(shell[0] == 'f' ? "-l " : "--") + std::string(option.name)), std::string::npos)
          << shell << " " << option.name;
  }
  EXPECT_EQ(run({"completion", "tcsh"}).code, 2);
  EXPECT_EQ(run({"completion"}).code, 2);
}

TEST(Completion, TheManualPageHasEveryOptionOnce) {
  const Ran ran = run({"man"});
  ASSERT_EQ(ran.code, 0);
  std::size_t shown = 0, rows = 0;
  for (std::size_t at = ran.out.find(".TP"); at != std::string::npos; at = ran.out.find(".TP", at + 1)) ++shown;
  for (const Command& command : commands()) rows += options_of(command.name).size();
  EXPECT_EQ(shown, rows);
  EXPECT_NE(ran.out.find(".SH pliant map\n"), std::string::npos);
}

TEST(Completion, HelpOfACommand) {
  EXPECT_EQ(run({"help", "map"}).out, run({"map", "--help"}).out);
  EXPECT_EQ(run({"help", "mop"}).code, 2);
}

}  // namespace
}  // namespace pliant
