// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/command.h"

#include <fmt/format.h>

#include <ostream>

#include "dse/answers/answers.h"
#include "dse/cli/completion_command.h"
#include "dse/cli/terminal.h"
#include "dse/cli/usages.h"
#include "dse/cli/version_command.h"

namespace pliant {
namespace {

void print_help(std::ostream& out) {
  out << "usage: pliant COMMAND [options]\n\ncommands:\n";
  for (const Command& command : commands()) out << fmt::format("  {:<10} {}\n", command.name, command.summary);
  out << "\n  pliant COMMAND --help explains a command and shows an example; pliant --version names every library.\n"
         "\nexample:\n  pliant show accelerator eyeriss\n";
}

int run_command(const Command& command, const std::vector<std::string>& line, std::ostream& out, std::ostream& err) {
  try {
    const AnsweredCommand* const answered = find_answered(command.name);
    const Arguments arguments =
        read_arguments(command.name, line, answered != nullptr ? answered->most_words : command.most_words);
    if (arguments.has("help")) {
      out << help_text(command.name);
      return 0;
    }
    if (answered == nullptr) return command.run(arguments, out);
    Terminal terminal(arguments, out, err);
    return answer(*answered, arguments, terminal);
  } catch (const InputError& error) {
    tell_mistakes(error, err);
    return 2;
  }
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"show", "print what was understood of an accelerator, a workload or a layer"},
      {"map", "find the best mapping of a layer, or of every layer of a workload, with its proof"},
      {"eval", "price one mapping: where energy and time go"},
      {"serve", "what a language model costs to serve: time to a token, tokens per second and joule, memory"},
      {"flexion", "how flexible an accelerator is, axis by axis, for a workload"},
      {"count", "count the mappings of a layer on an accelerator, exactly"},
      {"validate", "compare the cost model with reference vectors of other models"},
      {"sweep", "explore designs: the best mapping of every layer on each, as Parquet tables"},
      {"design", "find the best designs of a space and prove it, mapping few of them"},
      {"import", "read files of other tools in Pliant's formats"},
      {"export", "write a mapping for another tool: Timeloop, ZigZag, C loops"},
      {"study", "the papers, reproduced: published numbers beside ours"},
      {"pareto", "find the designs of a sweep that no other beats"},
      {"query", "filter, sort and group the rows of a sweep"},
      {"report", "a sweep as one HTML page: frontier, flexibility, hardware, layers, provenance"},
      {"audit", "check proofs that map or sweep wrote, with code of its own"},
      {"verify", "re-price and re-prove what map --json or a sweep wrote"},
      {"completion", "a script that completes commands, options and names in bash, zsh or fish", completion_command, 1},
      {"man", "the manual page, with the options of every command", man_command},
  };
  return all;
}

int run_pliant(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  if (args.empty()) {
    print_help(err);
    return 2;
  }
  if (args[0] == "help" && args.size() > 1) return run_pliant({args[1], "--help"}, out, err);
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    print_help(out);
    return 0;
  }
  if (args[0] == "--version") {
    out << version_text();
    return 0;
  }
  for (const Command& command : commands())
    if (command.name == args[0]) return run_command(command, {args.begin() + 1, args.end()}, out, err);
  tell_mistakes(unknown_command(args[0], {"completion", "man", "--help", "--version"}), err);
  return 2;
}

}  // namespace pliant
