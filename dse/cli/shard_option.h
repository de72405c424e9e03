// SPDX-License-Identifier: Apache-2.0
// --shard I/N, or what Slurm's array variables say.
#pragma once

#include "dse/cli/arguments.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {

Shard shard_of(const Arguments& arguments);

}  // namespace pliant
