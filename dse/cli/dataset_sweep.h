// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/input/load.h"
#include "dse/cli/arguments.h"
#include "dse/results/manifest.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// The sweep that a dataset was made from, as it was run: mapper, budget, gap and seed are in the manifest; --sweep
/// names the file when it is none of the shipped ones, --set repeats the settings.
Sweep sweep_of_dataset(const Library& library, const Manifest& manifest, const Arguments& arguments);

}  // namespace pliant
