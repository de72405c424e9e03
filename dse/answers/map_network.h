// SPDX-License-Identifier: Apache-2.0
// `pliant map` of a whole workload: the best mappings of a network as a whole.
#pragma once

#include <optional>
#include <vector>

#include "dse/answers/arguments.h"
#include "dse/answers/ask_network.h"
#include "dse/answers/face.h"
#include "dse/answers/task_options.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// How a question is mapped: of a workload that knows its graph as a network, unless --layers or another mapper is
/// asked for. InputError when options of networks do not fit it.
struct NetworkChoice {
  std::optional<Workload> workload;  ///< of a whole workload
  bool network = false;
  bool asked = false;  ///< by --network
};
NetworkChoice choose_network(const Library& library, const Arguments& arguments, const TaskWords& words);

/// Is a proof asked for, to be written or audited? InputError where there is none.
bool asks_for_proof(const Arguments& arguments, const Task& task);

/// Exit code as `map` has it.
int map_network(const Arguments& arguments, const TaskWords& words, const Workload& workload, const Mapper& mapper,
                const std::vector<ReadTask>& tasks, SearchOptions search, Face& face);

}  // namespace pliant
