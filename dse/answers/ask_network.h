// SPDX-License-Identifier: Apache-2.0
// A network as a whole, asked by whatever face.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "dse/answers/residency_answer.h"
#include "dse/answers/task_options.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// InputError when it is none of off, whole and tiles, or contradicts what is said of residency.
void check_fusion(std::string_view command, std::optional<std::string_view> fusion, std::optional<bool> residency);
/// Of what a whole network is asked for beside its mappings; InputError when a number is none that can be asked for.
void check_network_numbers(std::string_view command, std::optional<double> deadline_cycles, Count inferences);

/// With where the tensors live, if the workload says which layers read what.
NetworkAnswer ask_network(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                          const NetworkGoal& goal, const SearchOptions& options, const ResidencyRequest& request);
/// As `pliant map --json` prints it; without words nothing says what was asked.
nlohmann::ordered_json network_json(const std::optional<TaskWords>& words, const Workload& workload,
                                    const std::vector<ReadTask>& tasks, const NetworkAnswer& answer);

}  // namespace pliant
