// SPDX-License-Identifier: Apache-2.0
#include "flex/flexion/axis_sets.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

namespace pliant {

namespace {

bool one_sided(const Fanout& fanout, const ShapeRule& shape) {
  return shape.kind == ShapeRule::Kind::kFixed && (fanout.rows == 1 || fanout.cols == 1);
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
    const bool loops = k >= flexibility.levels.size() || !flexibility.levels[k].loops.dims ||
                       !flexibility.levels[k].loops.dims->empty();
    if (loops) return static_cast<int>(k);
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

std::vector<SidePair> parallel_choices(const Layer& layer, const Fanout& fanout, const LevelFlexibility& rules) {
  const auto resolve = [&layer](const std::vector<std::string>& names) {
    std::vector<int> dims;
    for (const std::string& name : names) {
      const int d = layer.find_dim(name);
      dims.push_back(d >= 0 && layer.dims[static_cast<std::size_t>(d)].size > 1 ? d : -1);
    }
    if (dims.empty()) dims.push_back(-1);
    return dims;
  };
  std::vector<std::string> every;
  for (const Dim& dim : layer.dims) every.push_back(dim.name);
  std::vector<Assignment> assignments = rules.parallel.assignments;
  if (assignments.empty()) assignments.push_back({every, every});

  std::set<SidePair> found;
  for (const Assignment& assignment : assignments) {
    std::vector<int> rows = resolve(assignment.rows), cols = resolve(assignment.cols);
    if (one_sided(fanout, rules.shape)) (fanout.rows == 1 ? rows : cols) = {-1};
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

std::vector<Count> shape_choices(const Fanout& fanout, const ShapeRule& rule) {
  std::vector<Count> rows;
  switch (rule.kind) {
    case ShapeRule::Kind::kFixed: return {fanout.rows};
    case ShapeRule::Kind::kFree:
      rows.resize(static_cast<std::size_t>(fanout.units()));
      std::iota(rows.begin(), rows.end(), Count{1});
      return rows;
    case ShapeRule::Kind::kBlocks:
      for (Count n = 1; n <= fanout.units() / (rule.block_rows * rule.block_cols); ++n)
        rows.push_back(n * rule.block_rows);
      return rows;
  }
  return rows;
}

Count parallel_size(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, int fanout) {
  const auto k = static_cast<std::size_t>(fanout);
  const AxisSettings& baseline = accelerator.baseline.of(layer.operation);
  const std::vector<Assignment>* assignments = nullptr;
  if (k < flexibility.levels.size()) assignments = &flexibility.levels[k].parallel.assignments;
  const bool fixed = assignments != nullptr && assignments->size() == 1;
  if (!fixed && k < baseline.rules.levels.size() && !baseline.rules.levels[k].parallel.assignments.empty())
    assignments = &baseline.rules.levels[k].parallel.assignments;
  if (assignments == nullptr || assignments->empty()) {
    Count largest = 1;
    for (const Dim& dim : layer.dims) largest = std::max(largest, dim.size);
    return largest;
  }
  const bool columns = accelerator.levels[k].fanout().rows == 1;
  const bool one_at_a_time = k < flexibility.levels.size() && flexibility.levels[k].parallel.max_dims_per_side == 1;
  Count product = 1;
  for (const std::string& name : columns ? assignments->front().cols : assignments->front().rows) {
    const int d = layer.find_dim(name);
    if (d < 0) continue;
    const Count size = layer.dims[static_cast<std::size_t>(d)].size;
    product = one_at_a_time ? std::max(product, size) : product * size;
  }
  return product;
}

}  // namespace pliant
