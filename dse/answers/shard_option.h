// SPDX-License-Identifier: Apache-2.0
// --shard I/N, or what the variables of an engine that runs arrays of jobs say.
#pragma once

#include "dse/answers/arguments.h"
#include "dse/sweep/array_task.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {

/// Without --shard: the engine's, where it says both the index and how many there are; else everything.
Shard shard_of(const Arguments& arguments, const Environment& environment = process_environment());

}  // namespace pliant
