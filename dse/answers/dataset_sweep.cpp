// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/dataset_sweep.h"

#include <fmt/format.h>

#include <optional>
#include <system_error>

#include "dse/answers/dataset_options.h"
#include "dse/design/run_design.h"

namespace pliant {
namespace {

/// The sweep of the file that the manifest names, here or beside the dataset, if it still says the same.
std::optional<Sweep> unchanged_sweep(const Library& library, const Manifest& manifest,
                                     const std::filesystem::path& dataset, const SweepOverrides& overrides) {
  for (const Manifest::Input& input : manifest.inputs) {
    if (input.what != "sweep") continue;
    for (const std::filesystem::path& folder : {std::filesystem::path(), dataset.parent_path()}) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(folder / input.name, error)) continue;
      try {
        Sweep sweep = load_sweep(library, folder / input.name, overrides);
        if (sweep.inputs.front() == input) return sweep;
      } catch (const InputError&) {
        continue;  // another file of that name
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Sweep sweep_of_dataset(const Library& library, const Manifest& manifest, const Arguments& arguments) {
  SweepOverrides overrides;
  for (const auto& [key, value] : manifest.options) {
    if (key == "mapper") overrides.mapper = value;
    if (key == "budget_seconds") overrides.budget_seconds = std::stod(value);
    if (key == "gap") overrides.gap = std::stod(value);
    if (key == "network" && value == "false") overrides.network = false;
    if (key == "fusion") overrides.fusion = value;
    if (key == "inferences") overrides.inferences = std::stoll(value);
  }
  overrides.seed = manifest.seed;
  overrides.settings = arguments.settings();
  if (design_gap(manifest)) overrides.most_designs = kMostDesignsOfSearch;
  if (!arguments.has("sweep"))
    if (auto own = unchanged_sweep(library, manifest, dataset_of(arguments), overrides)) return std::move(*own);
  const std::string name = arguments.text("sweep").value_or(manifest.sweep_name);
  std::filesystem::path file;
  try {
    file = find_sweep(library, name);
  } catch (const InputError&) {
    if (arguments.has("sweep")) throw;
    throw arguments.bad(
        "--sweep", fmt::format("the sweep {} is not among the shipped ones, and its file is not here unchanged", name),
        "--sweep FILE, the file that the dataset was made from");
  }
  return load_sweep(library, file, overrides);
}

}  // namespace pliant
