// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/dataset_sweep.h"

#include <fmt/format.h>

#include "dse/cli/dataset_options.h"
#include "dse/design/run_design.h"

namespace pliant {

Sweep sweep_of_dataset(const Library& library, const Manifest& manifest, const Arguments& arguments) {
  const std::string name = arguments.text("sweep").value_or(manifest.sweep_name);
  std::filesystem::path file;
  try {
    file = find_sweep(library, name);
  } catch (const InputError&) {
    if (arguments.has("sweep")) throw;
    throw arguments.bad("--sweep", fmt::format("the sweep {} is not among the shipped ones", name),
                        "--sweep FILE, the file that the dataset was made from");
  }
  SweepOverrides overrides;
  for (const auto& [key, value] : manifest.options) {
    if (key == "mapper") overrides.mapper = value;
    if (key == "budget_seconds") overrides.budget_seconds = std::stod(value);
    if (key == "gap") overrides.gap = std::stod(value);
  }
  overrides.seed = manifest.seed;
  overrides.settings = arguments.settings();
  if (design_gap(manifest)) overrides.most_designs = kMostDesignsOfSearch;
  return load_sweep(library, file, overrides);
}

}  // namespace pliant
