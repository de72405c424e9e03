// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/eval_command.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/cli/command_line.h"
#include "dse/cli/render_cost.h"
#include "dse/cli/shipped_configs.h"

namespace pliant {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage = R"(usage: pliant eval --accelerator NAME|FILE --layer LAYER --mapping FILE [options]

Prices one mapping: where energy and time go level by level, what bounds the runtime, how full each buffer is. The
mapping is checked first; an illegal one ends with every violated limit and exit code 3.

examples:
  pliant eval --accelerator eyeriss --workload resnet50 --layer conv1 --mapping mapping.yaml
  pliant eval --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --mapping mapping.yaml --conventions timeloop --json

)";

options::options_description described_options() {
  options::options_description all("options");
  auto add = all.add_options();
  add("accelerator", options::value<std::string>(), "shipped name or file");
  add("layer", options::value<std::string>(), "a layer's name in the workload, a file, or a layer written in place");
  add("workload", options::value<std::string>(), "shipped name or file; where --layer finds names");
  add("mapping", options::value<std::string>(), "mapping file (YAML, or the `mapping` of a JSON result)");
  add("conventions", options::value<std::string>(), "physical, timeloop or quickflow instead of the accelerator's own");
  add("factorization", options::value<std::string>(), "pfm, ruby-s, ruby-t, ruby or padding instead of the mapping's");
  add("flexibility", options::value<std::string>(), "file or shipped name of rules that replace the accelerator's own");
  add("set", options::value<std::vector<std::string>>()->composing(),
      "KEY=VALUE: a parameter (rows=8) or a level's key (GLB.capacity=64KiB) of the accelerator");
  add("json", "print JSON (schema 1)");
  add("ascii", "draw with ASCII characters only");
  add("help", "print this");
  return all;
}

InputError bad_option(std::string key, std::string what, std::string expected = {}, std::string did_you_mean = {}) {
  return InputError(Diagnostic{.file = "pliant eval",
                               .key = std::move(key),
                               .what = std::move(what),
                               .expected = std::move(expected),
                               .did_you_mean = std::move(did_you_mean)});
}

class EvalCommand {
 public:
  EvalCommand(const options::variables_map& values, std::ostream& out, std::ostream& err)
      : values_(values), out_(out), err_(err) {}

  int run() {
    const Library library(shipped_configs().value_or("configs"));
    for (const char* name : {"accelerator", "layer", "mapping"})
      if (!given(name)) throw bad_option(std::string("--") + name, "missing", "see pliant eval --help");
    std::optional<Workload> workload;
    if (const auto name = given("workload")) workload = load_workload(library, *name);
    const Layer layer = resolve_layer(*given("layer"), workload ? &*workload : nullptr);
    const Accelerator accelerator = read_accelerator(library);
    MappingFile file = load_mapping(*given("mapping"), layer, accelerator);
    if (const auto name = given("factorization")) {
      const auto rule = parse_factorization(*name);
      const std::vector<std::string> known{"pfm", "ruby-s", "ruby-t", "ruby", "padding"};
      if (!rule)
        throw bad_option("--factorization", fmt::format("unknown rule `{}`", *name),
                         "pfm, ruby-s, ruby-t, ruby or padding", nearest(*name, known));
      file.factorization = *rule;
    }
    const std::vector<Violation> violations =
        check_legality(layer, accelerator, accelerator.flexibility_of(layer), file.factorization, file.mapping);
    if (!violations.empty()) return refuse(violations);
    const CostReport report = price(layer, accelerator, file.mapping);
    const PricedMapping priced{layer, accelerator, file.mapping, file.factorization, report};
    if (values_.count("json")) {
      nlohmann::ordered_json json{{"schema", 1}};
      json.update(cost_json(priced));
      out_ << json.dump(2) << "\n";
    } else {
      out_ << cost_text(priced, values_.count("ascii") > 0);
    }
    return 0;
  }

 private:
  std::optional<std::string> given(const char* name) const {
    if (!values_.count(name)) return std::nullopt;
    return values_[name].as<std::string>();
  }

  Accelerator read_accelerator(const Library& library) const {
    std::vector<Setting> settings;
    if (values_.count("set"))
      for (const std::string& text : values_["set"].as<std::vector<std::string>>())
        settings.push_back(parse_setting(text));
    Accelerator accelerator = load_accelerator(library, *given("accelerator"), settings);
    if (const auto name = given("flexibility")) accelerator = load_flexibility(library, *name, std::move(accelerator));
    if (const auto name = given("conventions")) {
      const auto preset = Conventions::preset(*name);
      if (!preset)
        throw bad_option("--conventions", fmt::format("unknown preset `{}`", *name), "physical, timeloop or quickflow",
                         nearest(*name, Conventions::preset_names()));
      accelerator.conventions = *preset;
    }
    return accelerator;
  }

  int refuse(const std::vector<Violation>& violations) {
    if (values_.count("json")) {
      nlohmann::ordered_json json{{"schema", 1}, {"legal", false}, {"violations", violations_json(violations)}};
      out_ << json.dump(2) << "\n";
    } else {
      err_ << fmt::format("pliant eval: the mapping is not legal, {} limit{} violated\n", violations.size(),
                          violations.size() == 1 ? "" : "s")
           << violations_text(violations);
    }
    return 3;
  }

  const options::variables_map& values_;
  std::ostream& out_;
  std::ostream& err_;
};

}  // namespace

int eval_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"pliant eval", kUsage, described_options()};
  return run_command(line, args, out, err,
                     [&](const options::variables_map& values) { return EvalCommand(values, out, err).run(); });
}

}  // namespace pliant
