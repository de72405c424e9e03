// SPDX-License-Identifier: Apache-2.0
#include <tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "dse/results/task_store.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/mean_interval.h"
#include "dse/sweep/network_task.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {
namespace {

/// Beyond this the distinct tasks are counted on evenly spaced designs only.
constexpr std::int64_t kTasksNamed = 400'000;

/// Of the golden ratio: multiples of it, taken modulo 1, are spread evenly however many there are.
constexpr double kGoldenStep = 0.6180339887498949;

/// A task that no earlier run has solved.
struct UnknownTask {
  std::int64_t design;
  const Layer* layer;
};

/// Names the tasks, counts those that differ and those that are solved already, and lists the others.
std::vector<UnknownTask> name_tasks(const Sweep& sweep, DesignSpace& space, const std::vector<bool>& allowed,
                                    const SweepRunOptions& options, SweepEstimate& estimate) {
  const std::int64_t stride = std::max<std::int64_t>(1, estimate.tasks / kTasksNamed);
  estimate.counted_all = stride == 1;
  TaskNamer namer(sweep);
  const TaskStore store(options.cache.empty() ? options.dataset / "cache" : options.cache, false);
  std::unordered_set<TaskKey, TaskKeyHash> seen;
  std::vector<UnknownTask> unknown;
  std::int64_t named_designs = 0, number = 0;
  Phase naming(options.on_phase, "naming the tasks", space.size());
  for (std::int64_t i = 0; i < space.size() && !options.stop.stop_requested(); ++i) {
    naming.advance(1);
    if (!allowed.empty() && !allowed[static_cast<std::size_t>(i)]) continue;
    if (number++ % stride != 0) continue;
    ++named_designs;
    const DesignPoint design = space.design(i);
    if (!design.accelerator) continue;
    for (const Workload& workload : sweep.workloads) {
      for (const Workload::Entry& entry : workload.layers) {
        const TaskKey key = namer.key(design, entry.layer);
        if (!seen.insert(key).second) continue;
        if (store.contains(key)) {
          ++estimate.known_tasks;
        } else {
          unknown.push_back({i, &entry.layer});
        }
      }
    }
  }
  const double scale =
      static_cast<double>(estimate.designs) / static_cast<double>(std::max<std::int64_t>(1, named_designs));
  estimate.distinct_tasks = static_cast<std::int64_t>(static_cast<double>(seen.size()) * scale);
  estimate.known_tasks = static_cast<std::int64_t>(static_cast<double>(estimate.known_tasks) * scale);
  return unknown;
}

using DoNumber = std::function<void(std::size_t)>;

/// Does something with numbers below `count`, far apart, until all were taken or the time for it is over. The seconds
/// that each took, without those in which it was made ready.
std::vector<double> time_far_apart(std::size_t count, double most_seconds, const SweepRunOptions& options,
                                   const char* what, const DoNumber& ready, const DoNumber& work) {
  Phase sampling(options.on_phase, what, count == 0 ? 0 : static_cast<std::int64_t>(1000 * most_seconds));
  const auto now = [&] { return options.clock->wall_seconds(); };
  const double start = now();
  double at = 0;
  std::vector<double> times;
  while (times.size() < count && now() - start < most_seconds && !options.stop.stop_requested()) {
    const auto number = static_cast<std::size_t>(at * static_cast<double>(count));
    ready(number);
    const double before = now();
    work(number);
    times.push_back(now() - before);
    sampling.advance(static_cast<std::int64_t>(1000 * times.back()));
    at += kGoldenStep;
    at -= at >= 1 ? 1 : 0;
  }
  return times;
}

std::vector<double> time_tasks(const Sweep& sweep, DesignSpace& space, const std::vector<UnknownTask>& unknown,
                               const SweepRunOptions& options, double sample_seconds) {
  const auto mapper = make_mapper(sweep.mapper);
  // Reading a design takes as long as some tasks do, and a sweep reads it once for all of them.
  DesignPoint design;
  const auto read = [&](std::size_t i) { design = space.design(unknown[i].design); };
  const auto solve = [&](std::size_t i) {
    solve_task(*mapper, sweep, design, *unknown[i].layer, 1, options.stop, *options.clock);
  };
  return time_far_apart(unknown.size(), sample_seconds, options, "solving a sample for the estimate, milliseconds",
                        read, solve);
}

/// What a design takes beside its tasks: it is read, its tasks are named, its flexion is counted.
std::vector<double> time_designs(const Sweep& sweep, DesignSpace& space, const std::vector<std::int64_t>& designs,
                                 const SweepRunOptions& options, double sample_seconds) {
  TaskNamer namer(sweep);
  const auto mapper = make_mapper(sweep.mapper);
  const auto count = [&](std::size_t i) {
    const DesignPoint design = space.design(designs[i]);
    if (!design.accelerator) return;
    for (const Workload& workload : sweep.workloads) {
      for (const Workload::Entry& entry : workload.layers) namer.key(design, entry.layer);
      if (sweep.flexion) design_flexion(workload, design);
      if (Sweep::asked_whole(workload))
        solve_network(*mapper, sweep, design, workload, 1, options.stop, *options.clock);
    }
  };
  const auto nothing = [](std::size_t) {};
  return time_far_apart(designs.size(), sample_seconds, options, "counting flexion for the estimate, milliseconds",
                        nothing, count);
}

}  // namespace

SweepEstimate estimate_sweep(const Library& library, const Sweep& sweep, const SweepRunOptions& options,
                             double sample_seconds) {
  const auto shared = std::make_shared<const Sweep>(sweep);
  DesignSpace space(library, shared);
  const int threads = options.threads > 0 ? options.threads : tbb::this_task_arena::max_concurrency();
  const std::vector<bool> allowed = allowed_designs(library, shared, threads, options.on_phase, options.stop);
  const SweepLayout layout = layout_of(sweep, space.size());

  SweepEstimate estimate;
  estimate.designs_raw = layout.designs_raw;
  estimate.designs = allowed.empty() ? layout.designs_raw : std::count(allowed.begin(), allowed.end(), true);
  estimate.layers = layout.layers;
  estimate.tasks = estimate.designs * layout.layers;
  if (estimate.designs == 0 && !options.stop.stop_requested()) throw no_design_left(library, shared);
  if (estimate.tasks == 0) return estimate;

  const std::vector<UnknownTask> unknown = name_tasks(*shared, space, allowed, options, estimate);
  const double wall = options.clock->wall_seconds(), cpu = options.clock->cpu_seconds();
  const std::vector<double> times = time_tasks(*shared, space, unknown, options, sample_seconds);
  const double took = options.clock->wall_seconds() - wall;
  if (took > 0) estimate.share_of_core = std::min(1.0, (options.clock->cpu_seconds() - cpu) / took);
  estimate.sampled = static_cast<std::int64_t>(times.size());
  if (times.empty()) return estimate;
  std::vector<std::int64_t> some;
  for (const UnknownTask& task : unknown)
    if (some.empty() || some.back() != task.design) some.push_back(task.design);
  const MeanInterval each = mean_interval(times);
  const std::vector<double> design_times = time_designs(*shared, space, some, options, sample_seconds / 5);
  const MeanInterval beside = design_times.empty() ? MeanInterval{} : mean_interval(design_times);
  const auto tasks = static_cast<double>(estimate.distinct_tasks - estimate.known_tasks) / threads;
  const auto designs = static_cast<double>(estimate.designs) / threads;
  estimate.seconds_per_task = each.mean;
  estimate.seconds = each.mean * tasks + beside.mean * designs;
  estimate.seconds_low = each.low * tasks + beside.low * designs;
  estimate.seconds_high = each.high * tasks + beside.high * designs;
  return estimate;
}

}  // namespace pliant
