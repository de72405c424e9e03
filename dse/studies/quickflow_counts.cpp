// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/quickflow_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/mappers/local/local_mapper.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_task.h"
#include "flex/mapspace/orders.h"

namespace pliant {
namespace {

/// The paper's N = 8 in every round. Its search by eight hops has no limit and takes more than an hour; ours may price
/// five times as many mappings in its dearer steps as `local` otherwise does.
const std::vector<std::pair<std::string, std::string>> kEightHops = {
    {"hops1", "8"}, {"hops2", "8"}, {"hops3", "8"}, {"effort", "200000"}};

/// One map-space: what is counted there.
struct Counts {
  LocalCounts visited;
  double priced = 0;
  bool another_order = false;
  double eight_hops = 1;  ///< EDP of eight hops over that of `local`
  double spread = 1;      ///< EDP with all loops outermost over that of `local`
};

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

/// How far EDP goes at least in a map-space: all loops at the outermost memory, in the worst order, over what was
/// found.
double spread_of(const Task& task, const SearchResult& found) {
  Mapping mapping = empty_mapping(task.layer, task.accelerator);
  std::vector<Loop>& loops = mapping.levels.front().temporal;
  for (std::size_t d = 0; d < task.layer.dims.size(); ++d)
    if (task.layer.dims[d].size > 1) loops.push_back({static_cast<int>(d), task.layer.dims[d].size});
  double most = 0;
  do {
    if (check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty())
      most = std::max(most, task_value(task, price(task.layer, task.accelerator, mapping).totals));
  } while (std::ranges::next_permutation(loops, {}, &Loop::dim).found);
  if (most == 0) throw StudyError(fmt::format("{}: loops may not all be outermost", task.layer.name));
  return most / found.value;
}

Counts count(const StudyContext& context, const Accelerator& accelerator, const Layer& layer) {
  Counts counts;
  const Task question{layer, accelerator, accelerator.flexibility_of(layer), Factorization::kPerfect, Objective::kEdp};
  SearchOptions options;
  options.threads = 1;
  options.stop = context.stop;
  const SearchResult found = search_and_count(question, options, counts.visited);
  counts.priced = static_cast<double>(found.evaluations);
  counts.another_order = another_order_is_better(question, found);
  counts.spread = spread_of(question, found);
  const SearchResult wider = solve(context, accelerator, {.layer = layer, .mapper = "local", .options = kEightHops});
  counts.eight_hops = wider.value / found.value;
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
  double orders = 0, memories = 0, allocations = 0, priced = 0, other_orders = 0, better = 0, least = 1;
  std::vector<double> steps, beams, reached, spreads;
  for (const Counts& one : all) {
    orders += static_cast<double>(one.visited.orders);
    memories += static_cast<double>(one.visited.memories);
    allocations += static_cast<double>(one.visited.allocations) / static_cast<double>(all.size());
    priced += one.priced / static_cast<double>(all.size());
    other_orders += one.another_order ? 1 : 0;
    better += one.eight_hops < 1 - 1e-9 ? 1 : 0;
    least = std::min(least, one.eight_hops);
    steps.push_back(static_cast<double>(one.visited.steps));
    beams.push_back(static_cast<double>(one.visited.beams));
    reached.insert(reached.end(), one.visited.reached.begin(), one.visited.reached.end());
    spreads.push_back(one.spread);
  }
  result.found("permutations that survive at a level, mean", orders / memories);
  result.found("allocations of factors that local visits, mean", allocations);
  result.found("mappings that local prices, mean", priced);
  result.found("map-spaces where all permutations find another result than one-shot", other_orders);
  result.found("map-spaces where local with eight hops finds a better mapping", better);
  result.found("largest EDP saved by eight hops of local (%)", 100 * (1 - least));
  result.found("steps of local, least", std::ranges::min(steps));
  result.found("steps of local, largest", std::ranges::max(steps));
  result.found("beam steps of local, least", std::ranges::min(beams));
  result.found("beam steps of local, largest", std::ranges::max(beams));
  result.found("legal allocations that a step of local reaches, median", median(reached));
  result.found("legal allocations that a step of local reaches, largest", std::ranges::max(reached));
  result.found("EDP with all loops outermost over the best found, least of a map-space", std::ranges::min(spreads));
  result.found("EDP with all loops outermost over the best found, median of 60 map-spaces", median(spreads));
  result.found("EDP with all loops outermost over the best found, largest of a map-space", std::ranges::max(spreads));
}

}  // namespace pliant
