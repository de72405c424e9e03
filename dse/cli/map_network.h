// SPDX-License-Identifier: Apache-2.0
// `pliant map --network`: the best mappings of a network as a whole.
#pragma once

#include <iosfwd>
#include <vector>

#include "dse/cli/arguments.h"
#include "dse/cli/task_options.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// --network and --deadline make sense with the other options; InputError otherwise.
void check_network_options(const Arguments& arguments, const TaskWords& words);

/// Exit code as `map` has it.
int map_network(const Arguments& arguments, const TaskWords& words, const Mapper& mapper,
                const std::vector<ReadTask>& tasks, SearchOptions search, std::ostream& out, std::ostream& err);

}  // namespace pliant
