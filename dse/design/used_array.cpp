// SPDX-License-Identifier: Apache-2.0
#include "dse/design/used_array.h"

#include <fmt/format.h>

#include <algorithm>

#include "dse/results/content_hash.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/rules.h"

namespace pliant {

namespace {

/// More products than this are as good as all numbers.
constexpr std::size_t kMostProducts = 1024;

/// Products of divisors of at most so many of these dims, ascending, up to the limit; empty when there are too many.
std::vector<Count> products_of(const Layer& layer, DimSet dims, int most, Count limit) {
  std::vector<std::vector<Count>> by_count(static_cast<std::size_t>(most) + 1);
  by_count[0] = {1};
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    if ((dims >> d & 1U) == 0) continue;
    const std::vector<Count> all = divisors(layer.dims[d].size);
    for (std::size_t count = by_count.size() - 1; count > 0; --count) {
      std::vector<Count>& here = by_count[count];
      for (const Count product : by_count[count - 1])
        for (const Count divisor : all) {
          if (product > limit / divisor) break;
          here.push_back(product * divisor);
        }
      std::ranges::sort(here);
      here.erase(std::unique(here.begin(), here.end()), here.end());
      if (here.size() > kMostProducts) return {};
    }
  }
  std::vector<Count> products;
  for (const std::vector<Count>& of_count : by_count) products.insert(products.end(), of_count.begin(), of_count.end());
  std::ranges::sort(products);
  products.erase(std::unique(products.begin(), products.end()), products.end());
  return products;
}

/// The largest product of one of each up to the limit.
Count largest(const std::vector<Count>& rows, const std::vector<Count>& cols, Count limit) {
  Count most = 1;
  std::size_t end = cols.size();
  for (const Count row : rows) {
    while (end > 0 && cols[end - 1] > limit / row) --end;
    if (end == 0) break;
    most = std::max(most, row * cols[end - 1]);
  }
  return most;
}

/// Does an answer follow from nothing of an array but which mappings fit it?
bool only_room_counts(const DesignPoint& design) {
  const Accelerator& accelerator = *design.accelerator;
  if (design.factorization != Factorization::kPerfect || design.objective == Objective::kEdpOverUtilization ||
      accelerator.hints.min_utilization > 0 || accelerator.levels.back().compute().leak_pj_per_cycle > 0)
    return false;
  bool inside = false;
  for (const Level& level : accelerator.levels) {
    inside |= level.is_fanout();
    if (inside && level.is_memory() && level.memory().leak_pj_per_cycle > 0) return false;
    if (level.is_fanout() && level.fanout().systolic) return false;
  }
  return true;
}

}  // namespace

std::optional<UsedSizes> used_sizes(const Layer& layer, const Accelerator& accelerator, const LevelFlexibility& rules,
                                    int level) {
  if (rules.shape.kind == ShapeRule::Kind::kBlocks) return std::nullopt;
  const FanoutRules fanout = fanout_rules(layer, accelerator, rules, level);
  const bool any_shape = fanout.any_shape();
  const int most = std::min(fanout.max_dims_per_side, static_cast<int>(layer.dims.size()));
  const Count most_rows = fanout.longest(Side::kRows), most_cols = fanout.longest(Side::kCols);
  UsedSizes used;
  for (const FanoutRules::Sides& sides : fanout.assignments) {
    const std::vector<Count> rows = products_of(layer, sides.rows, most, most_rows);
    const std::vector<Count> cols = products_of(layer, sides.cols, most, most_cols);
    if (rows.empty() || cols.empty()) return any_shape ? UsedSizes{1, fanout.units()} : UsedSizes{most_rows, most_cols};
    if (any_shape) {
      used.cols = std::max(used.cols, largest(rows, cols, fanout.units()));
    } else {
      used.rows = std::max(used.rows, rows.back());
      used.cols = std::max(used.cols, cols.back());
    }
  }
  return used;
}

std::optional<TaskKey> QuestionsByUse::key(const DesignPoint& design, const Layer& layer) {
  if (!only_room_counts(design)) return std::nullopt;
  const Accelerator& accelerator = *design.accelerator;
  const Flexibility& flexibility = accelerator.flexibility_of(layer);
  std::string sizes;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    if (!accelerator.levels[l].is_fanout()) continue;
    const auto used = used_sizes(layer, accelerator, level_rules(flexibility, l), static_cast<int>(l));
    if (!used) return std::nullopt;
    sizes += fmt::format("used {} {}\n", used->rows, used->cols);
  }
  if (last_ != design.accelerator) {
    Accelerator plain = accelerator;
    for (Level& level : plain.levels)
      if (level.is_fanout()) level.fanout().rows = level.fanout().cols = 1;
    last_ = design.accelerator;
    without_sizes_ = std::make_shared<const Accelerator>(std::move(plain));
  }
  DesignPoint plain;
  plain.accelerator = without_sizes_;
  plain.factorization = design.factorization;
  plain.objective = design.objective;
  return TaskKey::parse(sha256(namer_.key(plain, layer).text() + "\n" + sizes));
}

TaskResult answer_on(const Accelerator& accelerator, const Layer& layer, TaskResult result) {
  double macs = 1;
  for (const Dim& dim : layer.dims) macs *= static_cast<double>(dim.size);
  const double busy_cycles =
      macs * accelerator.levels.back().compute().cycles_per_mac / static_cast<double>(accelerator.macs_units());
  result.utilization = busy_cycles / result.runtime_cycles;
  for (TaskResult::Memory& memory : result.memories)
    memory.instances = static_cast<double>(accelerator.instances(memory.level));
  return result;
}

}  // namespace pliant
