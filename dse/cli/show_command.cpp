// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/show_command.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "dse/cli/command_line.h"
#include "dse/cli/shipped_configs.h"
#include "dse/cli/show_json.h"
#include "dse/cli/show_text.h"

namespace pliant {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage = R"(usage: pliant show accelerator|workload|layer [NAME|FILE] [options]

Prints what was understood: every default filled in, every unit resolved. Without a name, lists the shipped ones.

examples:
  pliant show accelerator eyeriss
  pliant show accelerator eyeriss --set GlobalBuffer.capacity=64KiB --yaml
  pliant show workload resnet50
  pliant show layer conv1 --workload resnet50
  pliant show layer conv:M=64,C=3,P=112,Q=112,R=7,S=7,stride=2 --json

)";

options::options_description described_options() {
  options::options_description all("options");
  auto add = all.add_options();
  add("set", options::value<std::vector<std::string>>()->composing(),
      "KEY=VALUE: a parameter (rows=8) or a level's key (GLB.capacity=64KiB) of the accelerator");
  add("flexibility", options::value<std::string>(),
      "a class (PartFlex-1011), a file or a shipped name: rules in place of the accelerator's own");
  add("workload", options::value<std::string>(), "shipped name or file; where `show layer` finds names");
  add("json", "print JSON (schema 1)");
  add("yaml", "print it as an input file with everything resolved");
  add("ascii", "draw with ASCII characters only");
  add("help", "print this");
  return all;
}

InputError bad_option(std::string what, std::string expected, std::string did_you_mean = {}) {
  return InputError(Diagnostic{"pliant show", 0, 0, "", std::move(what), std::move(expected), std::move(did_you_mean)});
}

class ShowCommand {
 public:
  ShowCommand(const options::variables_map& values, std::ostream& out) : values_(values), out_(out) {}

  int run() {
    const std::vector<std::string> kinds{"accelerator", "workload", "layer"};
    const auto words =
        values_.count("words") ? values_["words"].as<std::vector<std::string>>() : std::vector<std::string>{};
    if (words.empty()) throw bad_option("nothing to show", "accelerator, workload or layer, then a name");
    if (words.size() > 2) throw bad_option(fmt::format("`{}` after the name", words[2]), "one name");
    const std::optional<std::string> name = words.size() == 2 ? std::optional(words[1]) : std::nullopt;
    if (words[0] == "accelerator") return name ? accelerator(*name) : list(library_.accelerator_names());
    if (words[0] == "workload") return name ? workload(*name) : list(library_.workload_names());
    if (words[0] == "layer") return layer(name);
    throw bad_option(fmt::format("cannot show `{}`", words[0]), "accelerator, workload or layer",
                     nearest(words[0], kinds));
  }

 private:
  int list(const std::vector<std::string>& names) {
    for (const std::string& name : names) out_ << name << "\n";
    return 0;
  }

  int accelerator(const std::string& name) {
    std::vector<Setting> settings;
    if (values_.count("set")) {
      for (const std::string& text : values_["set"].as<std::vector<std::string>>())
        settings.push_back(parse_setting(text));
    }
    Accelerator shown = load_accelerator(library_, name, settings);
    if (values_.count("flexibility")) {
      shown = choose_flexibility(library_, values_["flexibility"].as<std::string>(), std::move(shown));
    }
    return print(shown, write_accelerator(shown));
  }

  int workload(const std::string& name) {
    const Workload shown = load_workload(library_, name);
    return print(shown, write_workload(shown));
  }

  int layer(const std::optional<std::string>& name) {
    std::optional<Workload> workload;
    if (values_.count("workload")) workload = load_workload(library_, values_["workload"].as<std::string>());
    if (!name && workload) {
      for (const Workload::Entry& entry : workload->layers) out_ << entry.layer.name << "\n";
      return 0;
    }
    if (!name) throw bad_option("no layer named", "a layer in place, a file, or a name with --workload");
    const Layer shown = resolve_layer(*name, workload ? &*workload : nullptr);
    return print(shown, write_layer(shown));
  }

  template <class Shown>
  int print(const Shown& shown, const std::string& yaml) {
    if (values_.count("json") && values_.count("yaml")) throw bad_option("--json and --yaml at once", "one of them");
    if (values_.count("json")) {
      out_ << show_json(shown).dump(2) << "\n";
    } else if (values_.count("yaml")) {
      out_ << yaml;
    } else {
      out_ << show_text(shown, values_.count("ascii") > 0);
    }
    return 0;
  }

  const options::variables_map& values_;
  std::ostream& out_;
  Library library_{shipped_configs().value_or("configs")};
};

}  // namespace

int show_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"pliant show", kUsage, described_options(), "words", -1};
  return run_command(line, args, out, err,
                     [&](const options::variables_map& values) { return ShowCommand(values, out).run(); });
}

}  // namespace pliant
