// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/completion_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <ostream>
#include <set>

#include "core/version.h"
#include "dse/answers/option_table.h"
#include "dse/answers/shipped_configs.h"
#include "dse/cli/command.h"

namespace pliant {
namespace {

/// The names of the files of one kind that are shipped: `accelerators`, `workloads` or `sweeps`.
std::string shipped_names(const char* kind) {
  std::set<std::string> names;
  const auto configs = shipped_configs();
  std::error_code error;
  if (configs)
    for (const auto& entry : std::filesystem::directory_iterator(*configs / kind, error))
      if (entry.is_regular_file(error)) names.insert(entry.path().stem().string());
  return fmt::format("{}", fmt::join(names, " "));
}

/// What may stand after an option, as far as it is a name; else files.
std::string values_of(std::string_view option) {
  if (option == "accelerator") return shipped_names("accelerators");
  if (option == "workload") return shipped_names("workloads");
  if (option == "factorization") return "pfm ruby-s ruby-t ruby padding";
  if (option == "conventions") return "physical timeloop quickflow";
  if (option == "mapper") return "exact local genetic random exhaustive goma";
  if (option == "objective") return "runtime energy edp ed2p perf-per-watt edp-over-utilization";
  if (option == "fusion") return "off whole tiles";
  if (option == "residency") return "on off";
  return "";
}

/// What a command's word may be.
std::string words_of(std::string_view command) {
  if (command == "sweep" || command == "design") return shipped_names("sweeps");
  if (command == "show") return "accelerator workload layer";
  if (command == "completion") return "bash zsh fish";
  return "";
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return fmt::format("{} --help --version", fmt::join(names, " "));
}

std::string options_words(std::string_view command) {
  std::string words;
  for (const OptionInfo& option : options_of(command)) words += fmt::format("--{} ", option.name);
  return words;
}

/// zsh runs it too, through bashcompinit.
std::string bash_script() {
  std::string text = fmt::format(
      "_pliant() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n    return\n  fi\n"
      "  case $before in\n",
      command_names());
  std::set<std::string_view> done;
  for (const OptionInfo& option : option_table()) {
    const std::string values = values_of(option.name);
    if (values.empty() || !done.insert(option.name).second) continue;
    text += fmt::format("    --{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\") $(compgen -f -- \"$cur\")); return ;;\n",
                        option.name, values);
  }
  text += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands())
    text += fmt::format("    {}) words='{}{}' ;;\n", command.name, options_words(command.name), words_of(command.name));
  return text +
         "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  [[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n}\n"
         "complete -o filenames -F _pliant pliant\n";
}

/// 'It'\''s' is how a POSIX shell quotes; fish takes \' inside quotes.
std::string fish_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "'" + quoted + "'";
}

std::string fish_script() {
  std::string text;
  for (const Command& command : commands()) {
    text += fmt::format("complete -c pliant -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        fish_quoted(command.summary));
    const std::string when = fmt::format("complete -c pliant -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionInfo& option : options_of(command.name)) {
      text += fmt::format("{} -l {} -d {}", when, option.name, fish_quoted(option.help));
      if (option.kind != OptionKind::kFlag) text += " -r";
      if (const std::string values = values_of(option.name); !values.empty()) text += " -a " + fish_quoted(values);
      text += "\n";
    }
    if (const std::string words = words_of(command.name); !words.empty())
      text += fmt::format("{} -a {}\n", when, fish_quoted(words));
  }
  return text;
}

/// A line of roff: a dash that is a dash, and no line that begins with a dot.
std::string roff(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '-' || c == '\\') line += '\\';
    line += c;
  }
  return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

}  // namespace

int completion_command(const Arguments& arguments, std::ostream& out) {
  const std::string shell = arguments.word().value_or("");
  if (shell == "bash") {
    out << bash_script();
  } else if (shell == "zsh") {
    out << "autoload -U +X bashcompinit && bashcompinit\n" << bash_script();
  } else if (shell == "fish") {
    out << fish_script();
  } else {
    throw shell.empty() ? arguments.bad("", "no shell", "bash, zsh or fish")
                        : arguments.unknown("", "shell", shell, {"bash", "zsh", "fish"});
  }
  return 0;
}

int man_command(const Arguments&, std::ostream& out) {
  out << fmt::format(".TH PLIANT 1 \"\" \"Pliant {}\" \"User Commands\"\n", version())
      << ".SH NAME\npliant \\- explore tensor accelerators with flexibility as a choice\n"
         ".SH SYNOPSIS\n.B pliant\n.I COMMAND\n[options]\n";
  for (const Command& command : commands()) {
    out << fmt::format(".SH {}\n{}.\n", roff(fmt::format("pliant {}", command.name)), roff(command.summary));
    for (const OptionInfo& option : options_of(command.name)) {
      const std::string letter = option.letter == '\0' ? "" : fmt::format("\\-{}, ", option.letter);
      out << fmt::format(".TP\n.B {}\\-\\-{}", letter, roff(option.name));
      if (const auto value = placeholder(option.kind); !value.empty()) out << fmt::format(" {}", value);
      out << "\n" << roff(option.help);
      if (!option.fallback.empty()) out << fmt::format(" (default {})", roff(option.fallback));
      out << "\n";
    }
  }
  out << ".SH EXIT STATUS\n0: done. 1: something is wrong with the data. 2: bad input, which is named. 3: no mapping "
         "exists. 4: an audit could not decide everything. 130: interrupted.\n";
  return 0;
}

}  // namespace pliant
