// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/input/load.h"
#include "dse/answers/arguments.h"
#include "dse/results/manifest.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// The sweep that a dataset was made from, as it was run: mapper, budget, gap and seed are in the manifest; its
/// file is found by its name and content here, beside the dataset or among the shipped ones, else --sweep names it;
/// --set repeats the settings.
Sweep sweep_of_dataset(const Library& library, const Manifest& manifest, const Arguments& arguments);

}  // namespace pliant
