// SPDX-License-Identifier: Apache-2.0
// `pliant map` of a whole workload: the best mappings of a network as a whole.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "dse/cli/arguments.h"
#include "dse/cli/residency_answer.h"
#include "dse/cli/task_options.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// How a question is mapped: of a workload that knows its graph as a network, unless --layers or another mapper is
/// asked for. InputError when options of networks do not fit it.
struct NetworkChoice {
  std::optional<Workload> workload;  ///< of a whole workload
  bool network = false;
  bool asked = false;  ///< by --network
};
NetworkChoice choose_network(const Arguments& arguments, const TaskWords& words);

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

/// Is a proof asked for, to be written or audited? InputError where there is none.
bool asks_for_proof(const Arguments& arguments, const Task& task);

/// Exit code as `map` has it.
int map_network(const Arguments& arguments, const TaskWords& words, const Workload& workload, const Mapper& mapper,
                const std::vector<ReadTask>& tasks, SearchOptions search, std::ostream& out, std::ostream& err);

}  // namespace pliant
