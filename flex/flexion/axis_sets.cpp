// SPDX-License-Identifier: Apache-2.0
#include "flex/flexion/axis_sets.h"

#include <algorithm>
#include <set>
#include <string>

namespace pliant {

namespace {

/// The dims of a side that loop, and -1 where it may stand idle.
std::vector<int> members(const Layer& layer, DimSet side, bool idle) {
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(layer.dims.size()); ++d)
    if ((side >> d & 1U) != 0 && layer.dims[static_cast<std::size_t>(d)].size > 1) dims.push_back(d);
  if (idle) dims.push_back(-1);
  return dims;
}

}  // namespace

Layer whole_nest(const Layer& layer) {
  const auto size = [&](std::string_view dim) {
    const int d = layer.find_dim(dim);
    return d >= 0 && layer.dims[static_cast<std::size_t>(d)].size > 1 ? Count{2} : Count{1};
  };
  switch (layer.operation) {
    case Operation::kConv:
    case Operation::kDepthwise: {
      const Count groups = size("G");
      return make_conv(
          "whole",
          {.B = size("B"), .M = 2 * groups, .C = 2 * groups, .P = 2, .Q = 2, .R = 2, .S = 2, .groups = groups});
    }
    case Operation::kGemm: return make_gemm("whole", {.B = size("B"), .M = 2, .N = 2, .K = 2});
    case Operation::kEinsum: break;
  }
  Layer whole = layer;
  for (Dim& dim : whole.dims) dim.size = 2;
  return whole;
}

int principal_memory(const Accelerator& accelerator, const Flexibility& flexibility) {
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    if (!accelerator.levels[k].is_memory() || !accelerator.levels[k].memory().capacity_words) continue;
    const LoopRule& loops = level_rules(flexibility, k).loops;
    if (!loops.dims || !loops.dims->empty()) return static_cast<int>(k);
  }
  return -1;
}

int principal_fanout(const Accelerator& accelerator) {
  int found = -1;
  Count most = 1;
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    if (!accelerator.levels[k].is_fanout() || accelerator.levels[k].fanout().units() <= most) continue;
    most = accelerator.levels[k].fanout().units();
    found = static_cast<int>(k);
  }
  return found;
}

std::vector<SidePair> parallel_choices(const Layer& layer, const FanoutRules& rules) {
  // One unit on a side for good: only the other side is chosen.
  const bool one_row = rules.longest(Side::kRows) == 1, one_col = !one_row && rules.longest(Side::kCols) == 1;
  std::set<SidePair> found;
  for (const FanoutRules::Sides& sides : rules.assignments) {
    std::vector<int> rows = members(layer, sides.rows, sides.rows_idle);
    std::vector<int> cols = members(layer, sides.cols, sides.cols_idle);
    if (one_row) rows = {-1};
    if (one_col) cols = {-1};
    for (const int r : rows)
      for (const int c : cols) found.insert({r, c == r ? -1 : c});
  }
  std::vector<SidePair> choices;
  for (const SidePair& pair : found) {
    const bool covered = std::any_of(found.begin(), found.end(), [&](const SidePair& other) {
      return other != pair && (pair.rows == -1 || pair.rows == other.rows) &&
             (pair.cols == -1 || pair.cols == other.cols);
    });
    if (!covered) choices.push_back(pair);
  }
  return choices;
}

Count parallel_size(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, int fanout) {
  const auto k = static_cast<std::size_t>(fanout);
  const auto rules_in = [&](const Flexibility& of) {
    return fanout_rules(layer, accelerator, level_rules(of, k), fanout);
  };
  const FanoutRules own = rules_in(flexibility);
  const FanoutRules baseline = rules_in(accelerator.baseline.of(layer.operation).rules);
  const bool one_assignment = !own.any_dims && own.assignments.size() == 1;
  const FanoutRules& telling = one_assignment || baseline.any_dims ? own : baseline;
  Count largest = 1, product = 1;
  const FanoutRules::Sides& first = telling.assignments.front();
  const DimSet side = accelerator.levels[k].fanout().rows == 1 ? first.cols : first.rows;
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    if ((side >> d & 1U) == 0) continue;
    largest = std::max(largest, layer.dims[d].size);
    product *= layer.dims[d].size;
  }
  return telling.any_dims || own.max_dims_per_side == 1 ? largest : product;
}

}  // namespace pliant
