// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/command.h"

#include <fmt/format.h>

#include <exception>
#include <ostream>

#include "core/input/source_text.h"
#include "dse/answers/arguments.h"
#include "dse/cli/audit_command.h"
#include "dse/cli/completion_command.h"
#include "dse/cli/count_command.h"
#include "dse/cli/design_command.h"
#include "dse/cli/eval_command.h"
#include "dse/cli/export_command.h"
#include "dse/cli/flexion_command.h"
#include "dse/cli/import_command.h"
#include "dse/cli/map_command.h"
#include "dse/cli/pareto_command.h"
#include "dse/cli/query_command.h"
#include "dse/cli/report_command.h"
#include "dse/cli/serve_command.h"
#include "dse/cli/show_command.h"
#include "dse/cli/study_command.h"
#include "dse/cli/sweep_command.h"
#include "dse/cli/validate_command.h"
#include "dse/cli/verify_command.h"
#include "dse/cli/version_command.h"

namespace pliant {
namespace {

void print_help(std::ostream& out) {
  out << "usage: pliant COMMAND [options]\n\ncommands:\n";
  for (const Command& command : commands()) out << fmt::format("  {:<10} {}\n", command.name, command.summary);
  out << "\n  pliant COMMAND --help explains a command and shows an example; pliant --version names every library.\n"
         "\nexample:\n  pliant show accelerator eyeriss\n";
}

int unknown_command(const std::string& name, std::ostream& err) {
  std::vector<std::string> known;
  for (const Command& command : commands()) known.emplace_back(command.name);
  std::vector<std::string> near = known;
  near.insert(near.end(), {"--help", "--version"});
  err << bad_option("pliant", "", fmt::format("unknown command `{}`", name), "one of " + join(known),
                    nearest(name, near))
             .what()
      << "\n";
  return 2;
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"show", "print what was understood of an accelerator, a workload or a layer", show_command},
      {"map", "find the best mapping of a layer, or of every layer of a workload, with its proof", map_command},
      {"eval", "price one mapping: where energy and time go", eval_command},
      {"serve", "what a language model costs to serve: time to a token, tokens per second and joule, memory",
       serve_command},
      {"flexion", "how flexible an accelerator is, axis by axis, for a workload", flexion_command},
      {"count", "count the mappings of a layer on an accelerator, exactly", count_command},
      {"validate", "compare the cost model with reference vectors of other models", validate_command},
      {"sweep", "explore designs: the best mapping of every layer on each, as Parquet tables", sweep_command},
      {"design", "find the best designs of a space and prove it, mapping few of them", design_command},
      {"import", "read files of other tools in Pliant's formats", import_command},
      {"export", "write a mapping for another tool: Timeloop, ZigZag, C loops", export_command},
      {"study", "the papers, reproduced: published numbers beside ours", study_command},
      {"pareto", "find the designs of a sweep that no other beats", pareto_command},
      {"query", "filter, sort and group the rows of a sweep", query_command},
      {"report", "a sweep as one HTML page: frontier, flexibility, hardware, layers, provenance", report_command},
      {"audit", "check proofs that map or sweep wrote, with code of its own", audit_command},
      {"verify", "re-price and re-prove what map --json or a sweep wrote", verify_command},
      {"completion", "a script that completes commands, options and names in bash, zsh or fish", completion_command},
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
  for (const Command& command : commands()) {
    if (command.name != args[0]) continue;
    try {
      return command.run({args.begin() + 1, args.end()}, out, err);
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) err << diagnostic.text() << "\n";
      return 2;
    }
  }
  return unknown_command(args[0], err);
}

}  // namespace pliant
