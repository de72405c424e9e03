// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/quickflow_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "costmodel/report.h"
#include "dse/mappers/local/order_classes.h"
#include "dse/studies/study_task.h"
#include "flex/mapspace/orders.h"

namespace pliant {
namespace {

/// One map-space: what is counted there.
struct Counts {
  double survivors = 0, levels = 0, visited = 0;
  bool another_order = false;
};

/// Order classes that are left to compare at each memory, given which dims loop there.
void count_survivors(const Task& task, const Mapping& mapping, Counts& counts) {
  const Space space(task);
  OrderClasses classes(space);
  for (const int level : space.memories) {
    DimSet loops = 0;
    for (const Loop& loop : mapping.levels[static_cast<std::size_t>(level)].temporal) loops |= DimSet{1} << loop.dim;
    counts.survivors += static_cast<double>(classes.of(level, loops).orders.size());
    counts.levels += 1;
  }
}

/// Is any order of the loops of one memory better than the one that was chosen?
bool another_order_is_better(const Task& task, const SearchResult& found) {
  Mapping mapping = *found.mapping;
  const auto by_dim = [](const Loop& a, const Loop& b) { return a.dim < b.dim; };
  for (LevelMapping& level : mapping.levels) {
    const std::vector<Loop> chosen = level.temporal;
    std::ranges::sort(level.temporal, by_dim);
    do {
      const double value = task_value(task, price(task.layer, task.accelerator, mapping).totals);
      if (value < found.value * (1 - 1e-9)) return true;
    } while (std::ranges::next_permutation(level.temporal, by_dim).found);
    level.temporal = chosen;
  }
  return false;
}

Counts count(const StudyContext& context, const Accelerator& accelerator, const Layer& layer) {
  Counts counts;
  const StudyTask task{.layer = layer, .mapper = "local"};
  const SearchResult found = solve(context, accelerator, task);
  counts.visited = static_cast<double>(found.evaluations);
  const Task question{layer, accelerator, accelerator.flexibility_of(layer), task.factorization, task.objective};
  count_survivors(question, *found.mapping, counts);
  counts.another_order = another_order_is_better(question, found);
  return counts;
}

}  // namespace

void quickflow_counts(const StudyContext& context, StudyResult& result) {
  const Workload kernels = load_workload(context.library, "quickflow_kernels");
  result.found("permutations of a level up to equal reuse, convolution",
               count_reuse_distinct_orders(kernels.layers.front().layer).convert_to<double>());
  if (context.quick) return;
  std::vector<Accelerator> accelerators;
  for (const char* name : {"eyeriss", "simba", "tpuv1"})
    accelerators.push_back(load_accelerator(context.library, name, {{"conventions", "quickflow"}}));
  std::vector<Counts> all(accelerators.size() * kernels.layers.size());
  for_each_task(context, "QuickFlow's counts", all.size(), [&](std::size_t i, const StudyContext& alone) {
    all[i] = count(alone, accelerators[i / kernels.layers.size()], kernels.layers[i % kernels.layers.size()].layer);
  });
  double survivors = 0, levels = 0, visited = 0, other_orders = 0;
  for (const Counts& one : all) {
    survivors += one.survivors;
    levels += one.levels;
    visited += one.visited / static_cast<double>(all.size());
    other_orders += one.another_order ? 1 : 0;
  }
  result.found("permutations that survive at a level, mean", survivors / levels);
  result.found("mappings that local prices, mean", visited);
  result.found("map-spaces where all permutations find another result than one-shot", other_orders);
}

}  // namespace pliant
