// SPDX-License-Identifier: Apache-2.0
#include "dse/measured/judged.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/input/diagnostics.h"
#include "costmodel/report.h"
#include "dse/mappers/predicted.h"
#include "dse/measured/counted_clock.h"

namespace pliant {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kGapOfBounds = 0.001;

/// One kernel after the other, or several at once.
void for_each_row(const JudgeOptions& options, std::size_t count, const std::function<void(std::size_t)>& run) {
  std::mutex telling;
  std::size_t done = 0;
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t row) {
      if (options.stop.stop_requested()) return;
      run(row);
      const std::lock_guard lock(telling);
      if (options.on_row) options.on_row(++done);
    });
  });
}

double outermost_words_per_cycle(const Memory& memory) {
  return memory.bus_words_per_cycle.value_or(memory.read_words_per_cycle.value_or(0));
}

void unlimited(Memory& memory) {
  memory.bus_words_per_cycle.reset();
  memory.read_words_per_cycle.reset();
  memory.write_words_per_cycle.reset();
  memory.bandwidth_of = {};
}

/// Several layers in one kernel pass tensors on chip: what stands outside the units is counted by itself.
bool passes_tensors(const Measurement& row) { return row.layers.size() > 1; }
bool counts_bytes(const Measurement& row) { return row.layers.size() != 1; }

}  // namespace

Judge::Judge(Accelerator accelerator, JudgeOptions options)
    : accelerator_(std::move(accelerator)), options_(std::move(options)) {
  const Memory& outermost = accelerator_.levels.front().memory();
  const double words = outermost_words_per_cycle(outermost);
  if (!accelerator_.clock_hz || words <= 0)
    throw InputError(Diagnostic{"", 0, 0, "--accelerator",
                                fmt::format("{} has no clock, or {} no bandwidth: nothing to set beside seconds",
                                            accelerator_.name, accelerator_.levels.front().name),
                                "an accelerator with both, such as h200", ""});
  bytes_per_second_ = words * outermost.word_bits / kBitsPerByte * *accelerator_.clock_hz;
}

Task Judge::task_of(const Layer& layer, Accelerator accelerator) const {
  Task task;
  task.layer = layer;
  task.flexibility = accelerator.flexibility_of(layer);
  task.accelerator = std::move(accelerator);
  task.factorization = options_.factorization;
  task.objective = Objective::kRuntime;
  return task;
}

Accelerator Judge::seen_by(const Measurement& row, double warm_bytes) const {
  Accelerator seen = accelerator_;
  if (passes_tensors(row)) {
    for (Level& level : seen.levels) {
      if (level.is_fanout()) break;
      unlimited(level.memory());
      level.memory().read_pj = level.memory().write_pj = level.memory().update_pj = 0;
    }
    return seen;
  }
  // A mapping moves at least `bytes`, of which up to `warm_bytes` are there already: its time is at least the share of
  // the rest.
  Memory& outermost = seen.levels.front().memory();
  if (warm_bytes >= row.bytes) {
    unlimited(outermost);
  } else if (warm_bytes > 0) {
    for (auto* rate : {&outermost.bus_words_per_cycle, &outermost.read_words_per_cycle})
      if (*rate) **rate *= row.bytes / (row.bytes - warm_bytes);
  }
  return seen;
}

SearchOptions Judge::limited(double gap, const Clock& clock) const {
  SearchOptions search;
  search.gap = gap;
  search.budget.seconds = options_.seconds;
  search.stop = options_.stop;
  search.clock = &clock;
  return search;
}

KernelBound Judge::bound(const Measurement& row) const {
  const double hz = *accelerator_.clock_hz, moved = (row.bytes - row.warm_bytes) / bytes_per_second_;
  KernelBound bound;
  double macs = 0;
  const std::string outermost = accelerator_.levels.front().name;
  for (const Layer& layer : row.layers) {
    const CountedClock clock;
    const SearchOptions search = limited(kGapOfBounds, clock);
    const Task task = task_of(layer, seen_by(row, row.warm_bytes));
    const SearchResult result = run_mapper(*make_mapper("exact"), task, search);
    macs += static_cast<double>(layer.macs());
    bound.seconds += row.share * result.lower_bound / hz;
    if (result.mapping) bound.by = bound_name(Problem(task.layer, task.accelerator), result.totals);
  }
  if (counts_bytes(row) && moved >= bound.seconds) bound.seconds = moved, bound.by = outermost;
  bound.roofline_s =
      std::max(row.bytes / bytes_per_second_, row.share * macs / (accelerator_.peak_macs_per_cycle() * hz));
  bound.violated = row.seconds < bound.seconds * (1 - 1e-9);
  return bound;
}

Predicted Judge::priced(const Measurement& row, const std::vector<Mapping>& mappings,
                        const PredictionFigures& prediction) const {
  const Accelerator real = achievable_accelerator(seen_by(row, 0), prediction);
  double cycles = 0, energy_pj = 0;
  for (std::size_t l = 0; l < row.layers.size(); ++l) {
    const CostReport cost = price(row.layers[l], real, mappings[l]);
    cycles += row.share * cost.totals.cycles;
    energy_pj += row.share * cost.totals.energy_pj;
  }
  return whole(row, cycles, energy_pj, prediction);
}

KernelParts Judge::parts(const Measurement& row, const std::vector<Mapping>& mappings) const {
  const Accelerator full = achievable_accelerator(seen_by(row, 0), {});
  KernelParts parts;
  for (std::size_t l = 0; l < row.layers.size(); ++l) {
    const CostReport cost = price(row.layers[l], full, mappings[l]);
    std::vector<double>& cycles = parts.cycles.emplace_back(full.levels.size(), 0);
    for (std::size_t k = 0; k < cost.levels.size(); ++k) {
      const LevelCost& level = cost.levels[k];
      cycles[k] = std::max({level.read_cycles, level.write_cycles, level.bus_cycles});
      cycles.back() += level.fill_cycles;
    }
    cycles.back() += cost.totals.steps;
    parts.energy_pj += row.share * cost.totals.energy_pj;
  }
  return parts;
}

Predicted Judge::of_parts(const Measurement& row, const KernelParts& parts, const PredictionFigures& prediction) const {
  double cycles = 0;
  for (const std::vector<double>& layer : parts.cycles) {
    double longest = 0;
    for (std::size_t l = 0; l < layer.size(); ++l)
      longest = std::max(longest, layer[l] / (prediction.achievable.empty() ? 1 : prediction.achievable[l]));
    cycles += row.share * longest;
  }
  return whole(row, cycles, parts.energy_pj, prediction);
}

Predicted Judge::whole(const Measurement& row, double cycles, double energy_pj,
                       const PredictionFigures& prediction) const {
  // What stands between two products waits for the first and holds up the second.
  if (options_.exponentials_per_cycle > 0) cycles += row.exponentials / options_.exponentials_per_cycle;
  if (counts_bytes(row)) {
    const Memory& outermost = accelerator_.levels.front().memory();
    const double share = prediction.achievable.empty() ? 1 : prediction.achievable.front();
    cycles = std::max(cycles, row.bytes / (bytes_per_second_ * share) * *accelerator_.clock_hz);
    energy_pj += row.bytes * kBitsPerByte / outermost.word_bits * outermost.read_pj;
  }
  return Predictor(accelerator_, prediction).of(energy_pj, cycles);
}

KernelPrediction Judge::predict(const Measurement& row, const PredictionFigures& prediction) const {
  KernelPrediction found;
  for (const Layer& layer : row.layers) {
    const CountedClock clock;
    const SearchOptions search = limited(options_.gap, clock);
    const Task task = task_of(layer, seen_by(row, 0));
    const PredictedOptimum best = search_predicted(*make_mapper("exact"), task, prediction, search);
    if (!best.result.mapping) {
      if (options_.stop.stop_requested()) return {};
      throw InputError(Diagnostic{"", 0, 0, row.name, fmt::format("no mapping fits accelerator {}", accelerator_.name),
                                  "kernels that the accelerator runs", ""});
    }
    found.mappings.push_back(*best.result.mapping);
  }
  found.predicted = priced(row, found.mappings, prediction);
  return found;
}

std::vector<KernelBound> Judge::bounds(const std::vector<Measurement>& rows) const {
  std::vector<KernelBound> all(rows.size());
  for_each_row(options_, rows.size(), [&](std::size_t row) { all[row] = bound(rows[row]); });
  return all;
}

std::vector<KernelPrediction> Judge::predictions(const std::vector<Measurement>& rows,
                                                 const PredictionFigures& prediction) const {
  std::vector<KernelPrediction> all(rows.size());
  for_each_row(options_, rows.size(), [&](std::size_t row) { all[row] = predict(rows[row], prediction); });
  return all;
}

}  // namespace pliant
