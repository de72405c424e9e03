// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/task_options.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "dse/import/open.h"

namespace pliant {
namespace {

/// Words that a task may do without, in the order of the JSON.
struct OptionalWord {
  std::string_view option;
  std::optional<std::string> TaskWords::*member;
};
constexpr std::array<OptionalWord, 4> kOptionalWords{{{"workload", &TaskWords::workload},
                                                      {"layer", &TaskWords::layer},
                                                      {"conventions", &TaskWords::conventions},
                                                      {"flexibility", &TaskWords::flexibility}}};

std::string json_key(std::string_view option) { return std::string(json_key_of("map", option)); }

Accelerator load_chosen_accelerator(const Library& library, std::string_view command, const std::string& name,
                                    const std::vector<Setting>& settings, const std::optional<std::string>& flexibility,
                                    const std::optional<std::string>& conventions) {
  return with_chosen_rules(library, command, open_accelerator(library, name, settings), flexibility, conventions);
}

}  // namespace

nlohmann::ordered_json TaskWords::json() const {
  nlohmann::ordered_json json;
  json[json_key("accelerator")] = accelerator;
  json[json_key("set")] = settings;
  for (const auto& [option, member] : kOptionalWords)
    if (this->*member) json[json_key(option)] = *(this->*member);
  json[json_key("factorization")] = factorization;
  json[json_key("objective")] = objective;
  return json;
}

TaskWords TaskWords::from_json(const nlohmann::json& json, const std::string& file, const std::string& command) {
  const auto wrong = [&](const std::string& key, std::string what, std::string expected) {
    return bad_option(file, key.empty() ? "task" : "task." + key, std::move(what), std::move(expected));
  };
  TaskWords words;
  words.command = command;
  const auto text = [&](std::string_view option) -> std::optional<std::string> {
    const std::string key = json_key(option);
    if (!json.contains(key)) return std::nullopt;
    if (!json[key].is_string()) throw wrong(key, "not a string", "a string");
    return json[key].get<std::string>();
  };
  if (!json.is_object()) throw wrong("", "missing or not a mapping", "what `pliant map --json` writes");
  const auto accelerator = text("accelerator");
  if (!accelerator) throw wrong("accelerator", "missing", "a shipped name or a file");
  words.accelerator = *accelerator;
  for (const auto& [option, member] : kOptionalWords) words.*member = text(option);
  words.factorization = text("factorization").value_or("pfm");
  words.objective = text("objective").value_or("edp");
  const std::string settings = json_key("set");
  if (!json.contains(settings)) return words;
  if (!json[settings].is_array()) throw wrong(settings, "not a list", "a list of KEY=VALUE");
  for (const auto& setting : json[settings]) {
    if (!setting.is_string()) throw wrong(settings, "not a string", "KEY=VALUE");
    words.settings.push_back(setting.get<std::string>());
  }
  return words;
}

Accelerator with_chosen_rules(const Library& library, std::string_view command, Accelerator accelerator,
                              const std::optional<std::string>& flexibility,
                              const std::optional<std::string>& conventions) {
  if (flexibility) accelerator = choose_flexibility(library, *flexibility, std::move(accelerator));
  if (!conventions) return accelerator;
  const auto preset = Conventions::preset(*conventions);
  if (!preset)
    throw bad_option(command, "--conventions", fmt::format("unknown preset `{}`", shorten(*conventions, 60)),
                     "one of " + join(Conventions::preset_names()), nearest(*conventions, Conventions::preset_names()));
  accelerator.conventions = *preset;
  return accelerator;
}

Objective read_objective(const std::string& name, std::string_view command) {
  const auto objective = parse_objective(name);
  if (!objective)
    throw bad_option(command, "--objective", fmt::format("unknown objective `{}`", shorten(name, 60)),
                     "one of " + join(objective_names()), nearest(name, objective_names()));
  return *objective;
}

Factorization read_factorization(const std::string& name, std::string_view command) {
  const auto rule = parse_factorization(name);
  const std::vector<std::string> rules{"pfm", "ruby-s", "ruby-t", "ruby", "padding"};
  if (!rule)
    throw bad_option(command, "--factorization", fmt::format("unknown rule `{}`", shorten(name, 60)),
                     "one of " + join(rules), nearest(name, rules));
  return *rule;
}

Accelerator read_accelerator(const Library& library, const Arguments& arguments) {
  const auto name = arguments.text("accelerator");
  if (!name) throw arguments.missing("accelerator", "a shipped name or a file");
  return load_chosen_accelerator(library, arguments.command(), *name, arguments.settings(),
                                 arguments.text("flexibility"), arguments.text("conventions"));
}

Layer read_layer(const Library& library, const Arguments& arguments) {
  const auto text = arguments.text("layer");
  if (!text) throw arguments.missing("layer", "a layer in place, a file, or a name with --workload");
  std::optional<Workload> workload;
  if (const auto name = arguments.text("workload")) workload = open_workload(library, *name);
  return resolve_layer(*text, workload ? &*workload : nullptr);
}

TaskWords task_words(const Arguments& arguments) {
  TaskWords words;
  words.command = arguments.command();
  const auto accelerator = arguments.text("accelerator");
  if (!accelerator) throw arguments.missing("accelerator", "a shipped name or a file");
  words.accelerator = *accelerator;
  for (const auto& [option, member] : kOptionalWords) words.*member = arguments.text(option);
  if (!words.workload && !words.layer)
    throw arguments.missing("layer", "a layer in place, a file, or a name with --workload");
  words.objective = *arguments.text("objective");
  words.factorization = *arguments.text("factorization");
  words.settings = arguments.texts("set");
  return words;
}

std::vector<ReadTask> read_tasks(const Library& library, const TaskWords& words) {
  Task base;
  base.objective = read_objective(words.objective, words.command);
  base.factorization = read_factorization(words.factorization, words.command);
  std::vector<Setting> settings;
  for (const std::string& text : words.settings) settings.push_back(parse_setting(text));
  base.accelerator = load_chosen_accelerator(library, words.command, words.accelerator, settings, words.flexibility,
                                             words.conventions);
  std::optional<Workload> workload;
  if (words.workload) workload = open_workload(library, *words.workload);
  std::vector<ReadTask> tasks;
  const auto add = [&](const Layer& layer, Count count) {
    Task task = base;
    task.layer = layer;
    task.flexibility = task.accelerator.flexibility_of(layer);
    tasks.push_back({std::move(task), count, workload ? workload->pass : Workload::Pass{}});
  };
  if (words.layer) {
    add(resolve_layer(*words.layer, workload ? &*workload : nullptr), 1);
  } else {
    for (const Workload::Entry& entry : workload->layers) add(entry.layer, entry.count);
  }
  return tasks;
}

}  // namespace pliant
