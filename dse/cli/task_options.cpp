// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/task_options.h"

#include <fmt/format.h>

#include <charconv>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "dse/cli/shipped_configs.h"

namespace pliant {
namespace {

namespace options = boost::program_options;

InputError wrong(const std::string& command, std::string key, std::string what, std::string expected = {},
                 std::string did_you_mean = {}) {
  return InputError(Diagnostic{.file = command,
                               .key = std::move(key),
                               .what = std::move(what),
                               .expected = std::move(expected),
                               .did_you_mean = std::move(did_you_mean)});
}

std::string list(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

std::optional<std::string> given(const options::variables_map& values, const char* name) {
  if (!values.count(name)) return std::nullopt;
  return values[name].as<std::string>();
}

}  // namespace

nlohmann::ordered_json TaskWords::json() const {
  nlohmann::ordered_json json;
  json["accelerator"] = accelerator;
  json["settings"] = settings;
  const auto optional = [&](const char* key, const std::optional<std::string>& value) {
    if (value) json[key] = *value;
  };
  optional("workload", workload);
  optional("layer", layer);
  optional("conventions", conventions);
  optional("flexibility", flexibility);
  json["factorization"] = factorization;
  json["objective"] = objective;
  return json;
}

TaskWords TaskWords::from_json(const nlohmann::json& json, const std::string& file, const std::string& command) {
  TaskWords words;
  words.command = command;
  const auto text = [&](const char* key) -> std::optional<std::string> {
    if (!json.contains(key)) return std::nullopt;
    if (!json[key].is_string()) throw wrong(file, std::string("task.") + key, "not a string", "a string");
    return json[key].get<std::string>();
  };
  if (!json.is_object()) throw wrong(file, "task", "missing or not a mapping", "what `pliant map --json` writes");
  const auto accelerator = text("accelerator");
  if (!accelerator) throw wrong(file, "task.accelerator", "missing", "a shipped name or a file");
  words.accelerator = *accelerator;
  words.workload = text("workload");
  words.layer = text("layer");
  words.conventions = text("conventions");
  words.flexibility = text("flexibility");
  words.factorization = text("factorization").value_or("pfm");
  words.objective = text("objective").value_or("edp");
  if (json.contains("settings")) {
    if (!json["settings"].is_array()) throw wrong(file, "task.settings", "not a list", "a list of KEY=VALUE");
    for (const auto& setting : json["settings"]) {
      if (!setting.is_string()) throw wrong(file, "task.settings", "not a string", "KEY=VALUE");
      words.settings.push_back(setting.get<std::string>());
    }
  }
  return words;
}

void add_task_options(options::options_description& all) {
  auto add = all.add_options();
  add("accelerator", options::value<std::string>(), "shipped name or file");
  add("workload", options::value<std::string>(), "shipped name or file");
  add("layer", options::value<std::string>(),
      "a layer's name in the workload, a file, or a layer written in place; without it, all layers of the workload");
  add("objective", options::value<std::string>()->default_value("edp"),
      "runtime, energy, edp, ed2p, perf-per-watt or edp-over-utilization; `map` takes several (runtime,energy) for one "
      "layer and gives the mappings that none beats in all of them");
  add("factorization", options::value<std::string>()->default_value("pfm"), "pfm, ruby-s, ruby-t, ruby or padding");
  add("flexibility", options::value<std::string>(),
      "a class (1011, PartFlex-1011), or a file or shipped name of rules that replace the accelerator's own");
  add("conventions", options::value<std::string>(), "physical, timeloop or quickflow instead of the accelerator's own");
  add("set", options::value<std::vector<std::string>>()->composing(),
      "KEY=VALUE: a parameter (rows=8) or a level's key (GLB.capacity=64KiB) of the accelerator");
}

TaskWords task_words(const options::variables_map& values, std::string command) {
  TaskWords words;
  words.command = std::move(command);
  const auto accelerator = given(values, "accelerator");
  if (!accelerator) throw wrong(words.command, "--accelerator", "missing", "a shipped name or a file");
  words.accelerator = *accelerator;
  words.workload = given(values, "workload");
  words.layer = given(values, "layer");
  if (!words.workload && !words.layer)
    throw wrong(words.command, "--layer", "missing", "a layer in place, a file, or a name with --workload");
  words.conventions = given(values, "conventions");
  words.flexibility = given(values, "flexibility");
  words.objective = values["objective"].as<std::string>();
  words.factorization = values["factorization"].as<std::string>();
  if (values.count("set")) words.settings = values["set"].as<std::vector<std::string>>();
  return words;
}

std::vector<ReadTask> read_tasks(const TaskWords& words) {
  const Library library(shipped_configs().value_or("configs"));
  Task base;
  const auto objective = parse_objective(words.objective);
  if (!objective)
    throw wrong(words.command, "--objective", fmt::format("unknown objective `{}`", words.objective),
                "one of " + list(objective_names()), nearest(words.objective, objective_names()));
  base.objective = *objective;
  const auto rule = parse_factorization(words.factorization);
  const std::vector<std::string> rules{"pfm", "ruby-s", "ruby-t", "ruby", "padding"};
  if (!rule)
    throw wrong(words.command, "--factorization", fmt::format("unknown rule `{}`", words.factorization),
                "one of " + list(rules), nearest(words.factorization, rules));
  base.factorization = *rule;
  std::vector<Setting> settings;
  for (const std::string& text : words.settings) settings.push_back(parse_setting(text));
  base.accelerator = load_accelerator(library, words.accelerator, settings);
  if (words.flexibility)
    base.accelerator = choose_flexibility(library, *words.flexibility, std::move(base.accelerator));
  if (words.conventions) {
    const auto preset = Conventions::preset(*words.conventions);
    if (!preset)
      throw wrong(words.command, "--conventions", fmt::format("unknown preset `{}`", *words.conventions),
                  "one of " + list(Conventions::preset_names()),
                  nearest(*words.conventions, Conventions::preset_names()));
    base.accelerator.conventions = *preset;
  }
  std::optional<Workload> workload;
  if (words.workload) workload = load_workload(library, *words.workload);
  std::vector<ReadTask> tasks;
  const auto add = [&](const Layer& layer, Count count) {
    Task task = base;
    task.layer = layer;
    task.flexibility = task.accelerator.flexibility_of(layer);
    tasks.push_back({std::move(task), count});
  };
  if (words.layer) {
    add(resolve_layer(*words.layer, workload ? &*workload : nullptr), 1);
  } else {
    for (const Workload::Entry& entry : workload->layers) add(entry.layer, entry.count);
  }
  return tasks;
}

double parse_seconds(const std::string& text, const std::string& command, const std::string& option) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const std::string unit(at, end);
  const double scale = unit.empty() || unit == "s" ? 1
                       : unit == "ms"              ? 1e-3
                       : unit == "m"               ? 60
                       : unit == "h"               ? 3600
                                                   : 0;
  if (error != std::errc{} || scale == 0 || !(value > 0))
    throw wrong(command, option, fmt::format("`{}` is no time", text), "a number with ms, s, m or h, such as 1s");
  return value * scale;
}

}  // namespace pliant
