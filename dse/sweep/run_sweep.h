// SPDX-License-Identifier: Apache-2.0
// The outer loop: every design of a sweep (or of a shard of it) meets every layer, and the answers become a dataset.
//
// A dataset is cut into parts of a fixed number of designs, whatever runs it. Tasks flow through a pipeline: they are
// named in order, solved in any order by all threads, and collected in order again, so neither threads nor shards nor
// interruptions show in the rows. At any moment only a few thousand tasks are in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/clock.h"
#include "dse/sweep/phase.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// Shard i of n, i from 0. Part k belongs to shard k mod n.
struct Shard {
  int index = 0, count = 1;
  bool owns(std::int64_t part) const { return part % count == index; }
};

struct SweepProgress {
  std::int64_t done = 0, total = 0;        ///< layers of designs
  std::int64_t solved = 0, reused = 0;     ///< of those done: searched now; known before
  std::int64_t without_mapping = 0;        ///< of those done
  std::int64_t parts_done = 0, parts = 0;  ///< of this shard
  double seconds = 0;
  struct Best {
    std::int64_t design_id = 0;
    std::string workload, column, label;
    double value = 0;
  };
  /// Of the whole dataset, all shards, by the first objective: on all workloads together (when there are several), then
  /// on each.
  std::vector<Best> best;
};

struct SweepRunOptions {
  std::filesystem::path dataset;
  std::filesystem::path cache;  ///< empty: DATASET/cache
  int threads = 0;              ///< 0 = all
  Shard shard;
  bool update = false;  ///< replace the rows of a dataset whose inputs have changed
  std::stop_token stop;
  double grace_seconds = 1;  ///< after a stop, how long tasks in flight may take before they are given up
  std::function<void(const SweepProgress&)> on_progress;  ///< at most ten times a second
  OnPhase on_phase;                                       ///< what comes before the first task
  std::function<void(const std::string&)> on_note;        ///< damaged parts and the like, one line each
  const Clock* clock = &real_clock();                     ///< of searches and estimates
};

struct SweepOutcome {
  SweepProgress progress;
  bool interrupted = false;
  bool already_done = false;      ///< nothing had to be computed or written
  bool dataset_complete = false;  ///< all parts of all shards are there
  /// Spent on keeping results: rows, parts, the cache. Without handing an answer over to the cache, which is
  /// about as short as reading the clock.
  double logging_cpu_seconds = 0;
};

/// The dataset was made from other inputs.
class ChangedInputs : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs or continues a sweep. StorageError when the disk refuses, ChangedInputs as above, InputError for a bad option
/// of the mapper; what was finished before stays.
SweepOutcome run_sweep(const Library& library, const Sweep& sweep, const SweepRunOptions& options);

/// Cores that this process may use.
int usable_cores();

/// How the rows are laid out; follows from the sweep alone.
struct SweepLayout {
  std::int64_t designs_raw = 0, designs_in_part = 0, parts = 0;
  std::int64_t layers = 0;  ///< of each design, all workloads
};
SweepLayout layout_of(const Sweep& sweep, std::int64_t designs_raw);

/// What the manifest will say; the hash is of everything that decides the rows.
Manifest make_manifest(const Sweep& sweep, const SweepLayout& layout, std::int64_t designs_allowed);

/// Which designs meet the constraints; empty when all do. In parallel. After a stop the answer is not complete.
std::vector<bool> allowed_designs(const Library& library, const std::shared_ptr<const Sweep>& sweep, int threads,
                                  const OnPhase& on_phase = {}, const std::stop_token& stop = {});

/// For a sweep whose constraints leave nothing: the constraints that no design meets, with what their names run from
/// and to, or that only all of them together are too much.
InputError no_design_left(const Library& library, const std::shared_ptr<const Sweep>& sweep);

/// How far a dataset is, all shards together.
struct DatasetStatus {
  Manifest manifest;
  std::int64_t parts_done = 0, parts_damaged = 0;
  std::int64_t layer_rows = 0, design_rows = 0;
  std::size_t tasks_kept = 0;
  std::vector<std::string> problems;
};
std::optional<DatasetStatus> dataset_status(const std::filesystem::path& dataset);

/// How much work a sweep is.
struct SweepEstimate {
  std::int64_t designs_raw = 0, designs = 0, layers = 0, tasks = 0;
  std::int64_t distinct_tasks = 0, known_tasks = 0;  ///< known = in the cache
  std::int64_t sampled = 0;
  double seconds_per_task = 0;               ///< mean of the sample
  double seconds = 0;                        ///< of the sweep with what is known already, on the threads given
  double seconds_low = 0, seconds_high = 0;  ///< between these with about 95 % confidence
  double share_of_core = 1;                  ///< that the sample had; the rest went to other work of the machine
  bool counted_all = true;                   ///< false: so many tasks that the distinct ones were extrapolated
};
SweepEstimate estimate_sweep(const Library& library, const Sweep& sweep, const SweepRunOptions& options,
                             double sample_seconds);

}  // namespace pliant
