// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choice.h"

#include <algorithm>
#include <map>

#include "core/factors.h"

namespace pliant::exact {

namespace {

/// Dims that may stand on the two sides together.
struct Sides {
  DimSet rows = 0, cols = 0;
};

DimSet dims_named(const Layer& layer, const std::vector<std::string>& names) {
  DimSet set = 0;
  for (const std::string& name : names)
    if (const int d = layer.find_dim(name); d >= 0) set |= DimSet{1} << d;
  return set;
}

std::vector<Sides> allowed_sides(const Layer& layer, const ParallelRule& rule) {
  if (rule.assignments.empty()) {
    const DimSet all = (DimSet{1} << layer.dims.size()) - 1;
    return {{all, all}};
  }
  std::vector<Sides> sides;
  for (const Assignment& assignment : rule.assignments)
    sides.push_back({dims_named(layer, assignment.rows), dims_named(layer, assignment.cols)});
  return sides;
}

/// Largest number of columns beside the given rows, 0 when no allowed shape has that many rows.
Count columns_beside(const Fanout& fanout, const ShapeRule& rule, Count rows) {
  switch (rule.kind) {
    case ShapeRule::Kind::kFixed: return rows <= fanout.rows ? fanout.cols : 0;
    case ShapeRule::Kind::kFree: return fanout.units() / rows;
    case ShapeRule::Kind::kBlocks: {
      const Count blocks = fanout.units() / (rule.block_rows * rule.block_cols);
      const Count tall = (rows + rule.block_rows - 1) / rule.block_rows;
      return tall <= blocks ? fanout.units() / (tall * rule.block_rows) : 0;
    }
  }
  return 0;
}

}  // namespace

std::vector<Unrolling> unrollings(const Task& task, const Problem& problem, int level) {
  const Fanout& fanout = problem.accelerator.levels[level].fanout();
  const LevelFlexibility& rules = task.flexibility.levels[level];
  // With remainders anywhere a factor need not divide the whole dim; the chains judge what it must divide.
  const bool imperfect = task.factorization != Factorization::kPerfect;
  const int most = rules.parallel.max_dims_per_side > 0 ? rules.parallel.max_dims_per_side : problem.dims;
  // With perfect factors only the product of a dim's two loops matters; remainders depend on both.
  std::map<std::pair<std::array<Count, kMaxDims>, std::array<Count, kMaxDims>>, Unrolling> found;
  std::vector<std::vector<Count>> values(problem.dims);
  for (int d = 0; d < problem.dims; ++d) {
    const Count size = task.layer.dims[d].size;
    if (!imperfect) {
      values[d] = divisors(size);
    } else {
      for (Count b = 1; b <= std::min(size, fanout.units()); ++b) values[d].push_back(b);
    }
  }
  for (const Sides& sides : allowed_sides(task.layer, rules.parallel)) {
    std::array<Count, kMaxDims> row{}, col{};
    row.fill(1);
    col.fill(1);
    // Rows first, then the columns that fit beside them.
    const auto place = [&](auto&& self, int d, bool rows, Count used, Count limit, int count) -> void {
      if (d == problem.dims) {
        if (rows) {
          const Count beside = columns_beside(fanout, rules.shape, used);
          if (beside > 0) self(self, 0, false, 1, beside, 0);
          return;
        }
        Unrolling unrolling;
        unrolling.factor.fill(1);
        for (int i = 0; i < problem.dims; ++i) {
          unrolling.factor[i] = row[i] * col[i];
          if (row[i] > 1) unrolling.loops.push_back({i, row[i], Side::kRows});
          if (col[i] > 1) unrolling.loops.push_back({i, col[i], Side::kCols});
        }
        const auto key = std::pair{unrolling.factor, imperfect ? col : std::array<Count, kMaxDims>{}};
        found.try_emplace(key, std::move(unrolling));
        return;
      }
      auto& side = rows ? row : col;
      side[d] = 1;
      self(self, d + 1, rows, used, limit, count);
      if (!((rows ? sides.rows : sides.cols) >> d & 1U) || count == most) return;
      const Count size = task.layer.dims[d].size, other = rows ? 1 : row[d];
      for (const Count b : values[d]) {
        if (b == 1) continue;
        if (used * b > limit) break;
        // Both loops of a dim at one fanout act as one; the columns are inside.
        if (imperfect ? (size + b - 1) / b < other : size % (b * other) != 0) continue;
        side[d] = b;
        self(self, d + 1, rows, used * b, limit, count + 1);
      }
      side[d] = 1;
    };
    place(place, 0, true, 1, fanout.units(), 0);
  }
  std::vector<Unrolling> result;
  for (auto& [key, unrolling] : found) result.push_back(std::move(unrolling));
  return result;
}

std::vector<Spatial> spatial_choices(const Task& task, const Problem& problem,
                                     const std::vector<std::vector<Unrolling>>& by_level) {
  // With remainders anywhere a factor need not divide the whole dim; the chains judge what it must divide.
  const bool imperfect = task.factorization != Factorization::kPerfect;
  std::vector<Spatial> found;
  Spatial start;
  for (auto& level : start.factor) level.fill(1);
  std::array<Count, kMaxDims> left{};
  for (int d = 0; d < problem.dims; ++d) left[d] = task.layer.dims[d].size;
  // From the innermost fanout outwards: what is left of a dim bounds the next factor.
  const auto extend = [&](auto&& self, int level, const Spatial& so_far,
                          const std::array<Count, kMaxDims>& rest) -> void {
    while (level >= 0 && problem.is_memory[level]) --level;
    if (level < 0) {
      found.push_back(so_far);
      return;
    }
    for (const Unrolling& unrolling : by_level[level]) {
      Spatial next = so_far;
      std::array<Count, kMaxDims> after = rest;
      bool fits = true;
      for (int d = 0; d < problem.dims && fits; ++d) {
        const Count b = unrolling.factor[d];
        fits = imperfect || rest[d] % b == 0;
        next.factor[level][d] = b;
        next.parallel *= static_cast<double>(b);
      }
      for (const Side side : {Side::kCols, Side::kRows})
        for (const SpatialLoop& loop : unrolling.loops) {
          if (loop.side != side) continue;
          fits &= loop.bound <= after[loop.dim];
          after[loop.dim] = (after[loop.dim] + loop.bound - 1) / loop.bound;
        }
      if (!fits) continue;
      next.unrolling[level] = &unrolling;
      self(self, level - 1, next, after);
    }
  };
  extend(extend, problem.levels - 1, start, left);
  return found;
}

std::vector<Keeps> keep_choices(const Problem& problem) {
  std::vector<Keeps> found{Keeps{}};
  std::array<bool, kMaxTensors> home{};
  for (int l = 0; l < problem.levels; ++l) {
    if (!problem.is_memory[l]) continue;
    TensorSet must = problem.must_keep[l];
    for (int x = 0; x < problem.tensors; ++x) {
      if (!(problem.may_keep[l] >> x & 1U)) continue;
      if (!home[x]) must |= TensorSet{1} << x;  // the outermost memory that may hold a tensor is its home
      home[x] = true;
    }
    const TensorSet free = problem.may_keep[l] & ~must;
    std::vector<Keeps> next;
    for (const Keeps& keeps : found) {
      for (TensorSet drop = 0;; drop = (drop - free) & free) {
        Keeps more = keeps;
        more[l] = must | (free & ~drop);
        next.push_back(more);
        if (drop == free) break;
      }
    }
    found.swap(next);
  }
  return found;
}

}  // namespace pliant::exact
