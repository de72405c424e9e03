// SPDX-License-Identifier: Apache-2.0
// A design search as a dataset: rows of the designs that were mapped, in the tables of a sweep, and boxes.parquet,
// which says what became of every other design.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "dse/design/design_search.h"
#include "dse/results/data_table.h"

namespace pliant {

struct DesignRunOptions {
  std::filesystem::path dataset;
  std::filesystem::path cache;          ///< empty: DATASET/cache
  bool update = false;                  ///< replace a dataset that was made from other inputs
  std::filesystem::path certificate{};  ///< folder of the proof that is written down; empty: none is
  bool audit = false;                   ///< check that proof; the manifest says what came of it
  DesignSearchOptions search;
  std::function<void(const std::string&)> on_note;
};

/// SweepOverrides::most_designs of a search: axes may be long, but numbers of designs stay far from what 64 bits hold.
inline constexpr Count kMostDesignsOfSearch = 1'000'000'000'000'000;

/// Searches, or continues: what was searched before is in the cache, so the search comes to where it was at once.
/// After an interruption no rows are written, nor by a shard: the whole search, run when all shards are done, finds
/// their answers in the cache. StorageError, ChangedInputs and InputError as run_sweep.
DesignFrontier run_design(const Library& library, const Sweep& sweep, const DesignRunOptions& options);

/// The gap that a dataset of a design search was made with; nullopt when it is of a sweep.
std::optional<double> design_gap(const Manifest& manifest);
/// What the manifest of such a dataset says, but for what was found.
Manifest design_manifest(const Library& library, const Sweep& sweep, double gap);

std::filesystem::path boxes_path(const std::filesystem::path& dataset);
DataTable boxes_table(const Sweep& sweep, const std::vector<ClosedBox>& boxes);
/// StorageError when the table cannot be understood.
std::vector<ClosedBox> read_boxes(const Sweep& sweep, const std::filesystem::path& dataset);
/// "edp_pj_cycles", or "edp_pj_cycles_of_resnet50".
std::string goal_name(const Sweep& sweep, const DesignGoals::Goal& goal);

}  // namespace pliant
