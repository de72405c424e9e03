// SPDX-License-Identifier: Apache-2.0
// What a search is about, as the command line or a saved result says it: accelerator, layers, rules, objective.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
#include "dse/answers/arguments.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// The words of the user, before anything is read.
struct TaskWords {
  std::string command;  ///< named in diagnostics: "pliant map"
  std::string accelerator;
  std::optional<std::string> workload, layer, conventions, flexibility;
  std::string objective = "edp", factorization = "pfm";
  std::vector<std::string> settings;  ///< KEY=VALUE

  /// What `verify` needs to set the task up again.
  nlohmann::ordered_json json() const;
  static TaskWords from_json(const nlohmann::json& json, const std::string& file, const std::string& command);
};

/// A task per layer, with how often the network has it.
struct ReadTask {
  Task task;
  Count count = 1;
  Workload::Pass pass{};  ///< of the whole workload
};

/// The accelerator with the flexibility and the conventions that were chosen instead of its own, where any were.
Accelerator with_chosen_rules(const Library& library, std::string_view command, Accelerator accelerator,
                              const std::optional<std::string>& flexibility,
                              const std::optional<std::string>& conventions);
/// `edp`, `runtime`, ... by name; InputError otherwise.
Objective read_objective(const std::string& name, std::string_view command);
/// The rules `pfm`, `ruby-s`, ... by name; InputError otherwise.
Factorization read_factorization(const std::string& name, std::string_view command);
/// --accelerator with --set, --flexibility and --conventions.
Accelerator read_accelerator(const Library& library, const Arguments& arguments);
/// --layer, with the names of --workload when it is given; InputError when there is no --layer.
Layer read_layer(const Library& library, const Arguments& arguments);

TaskWords task_words(const Arguments& arguments);

/// InputError for everything that is wrong with the words.
std::vector<ReadTask> read_tasks(const Library& library, const TaskWords& words);

}  // namespace pliant
