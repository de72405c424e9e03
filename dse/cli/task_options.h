// SPDX-License-Identifier: Apache-2.0
// What a search is about, as the command line or a saved result says it: accelerator, layers, rules, objective.
#pragma once

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
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
};

void add_task_options(boost::program_options::options_description& all);
TaskWords task_words(const boost::program_options::variables_map& values, std::string command);

/// InputError for everything that is wrong with the words.
std::vector<ReadTask> read_tasks(const TaskWords& words);

/// "1s", "250ms", "2m", "0.5": seconds.
double parse_seconds(const std::string& text, const std::string& command, const std::string& option);

}  // namespace pliant
