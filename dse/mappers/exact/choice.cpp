// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choice.h"

#include <algorithm>
#include <cmath>

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

Spatial::Spatial() {
  for (auto& level : factor) level.fill(1);
}

std::vector<SpatialLoop> Unrolling::loops(int dims) const {
  std::vector<SpatialLoop> all;
  for (int d = 0; d < dims; ++d) {
    if (rows[d] > 1) all.push_back({d, rows[d], Side::kRows});
    if (cols[d] > 1) all.push_back({d, cols[d], Side::kCols});
  }
  return all;
}

double least_steps(const Task& task, const Problem& problem, const Spatial& spatial) {
  double steps = problem.cycles_per_mac;
  for (int d = 0; d < problem.dims; ++d) {
    double parallel = 1;
    for (int l = 0; l < problem.levels; ++l) parallel *= static_cast<double>(spatial.factor[l][d]);
    steps *= std::ceil(static_cast<double>(task.layer.dims[d].size) / parallel - 1e-9);
  }
  return steps;
}

std::vector<Unrolling> unrollings(const Task& task, const Problem& problem, int level, Meter& meter) {
  const Fanout& fanout = problem.accelerator.levels[level].fanout();
  const LevelFlexibility& rules = task.flexibility.levels[level];
  // With remainders anywhere a factor need not divide the whole dim; the chains judge what it must divide.
  const bool imperfect = task.factorization != Factorization::kPerfect;
  const int most = rules.parallel.max_dims_per_side > 0 ? rules.parallel.max_dims_per_side : problem.dims;
  std::vector<std::vector<Count>> values(problem.dims);
  for (int d = 0; d < problem.dims; ++d) {
    const Count size = task.layer.dims[d].size;
    if (!imperfect) {
      values[d] = divisors(size);
    } else {
      for (Count b = 1; b <= std::min(size, fanout.units()); ++b) values[d].push_back(b);
    }
  }
  const std::vector<Sides> all_sides = allowed_sides(task.layer, rules.parallel);
  bool both_sides = false;
  std::vector<Unrolling> found;
  for (const Sides& sides : all_sides) {
    Unrolling unrolling;
    unrolling.rows.fill(1);
    unrolling.cols.fill(1);
    // Rows first, then the columns that fit beside them.
    const auto place = [&](auto&& self, int d, bool rows, Count used, Count limit, int count) -> void {
      if (d == problem.dims) {
        if (rows) {
          both_sides |= used > 1;
          const Count beside = columns_beside(fanout, rules.shape, used);
          if (beside > 0) self(self, 0, false, 1, beside, 0);
          return;
        }
        if (found.size() % 1024 == 0 && meter.too_large(static_cast<double>(found.size() * sizeof(Unrolling)))) return;
        if (found.size() % 1024 == 0 && meter.expired()) return;
        found.push_back(unrolling);
        return;
      }
      auto& side = rows ? unrolling.rows : unrolling.cols;
      self(self, d + 1, rows, used, limit, count);
      if (!((rows ? sides.rows : sides.cols) >> d & 1U) || count == most) return;
      const Count size = task.layer.dims[d].size, other = rows ? 1 : unrolling.rows[d];
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
    // With perfect factors and any shape, whatever stands on both sides could stand on one.
    const bool one_side = !imperfect && rules.shape.kind == ShapeRule::Kind::kFree && most == problem.dims &&
                          (sides.rows & ~sides.cols) == 0;
    if (one_side)
      place(place, 0, false, 1, fanout.units(), 0);
    else
      place(place, 0, true, 1, rules.shape.kind == ShapeRule::Kind::kFixed ? fanout.rows : fanout.units(), 0);
  }
  if (!both_sides && all_sides.size() == 1) return found;
  // The same factors laid out otherwise: keep the first of each.
  const auto key = [&](const Unrolling& u) {
    std::array<Count, kMaxDims> factors{};
    for (int d = 0; d < problem.dims; ++d) factors[d] = u.factor(d);
    return std::pair{factors, imperfect ? u.cols : std::array<Count, kMaxDims>{}};
  };
  std::stable_sort(found.begin(), found.end(), [&](const Unrolling& a, const Unrolling& b) { return key(a) < key(b); });
  found.erase(
      std::unique(found.begin(), found.end(), [&](const Unrolling& a, const Unrolling& b) { return key(a) == key(b); }),
      found.end());
  return found;
}

SpatialChoices::SpatialChoices(const Task& task, const Problem& problem, Meter& meter) {
  const bool imperfect = task.factorization != Factorization::kPerfect;
  for (int l = problem.levels - 1; l >= 0; --l) {
    if (problem.is_memory[l]) continue;
    fanouts_.push_back(l);
    unrollings_.push_back(unrollings(task, problem, l, meter));
  }
  // From the innermost fanout outwards: what is left of a dim bounds the next factor.
  std::vector<std::uint32_t> at(fanouts_.size());
  using Sizes = std::array<Count, kMaxDims>;
  const auto extend = [&](auto&& self, std::size_t f, const Sizes& left, const Sizes& parallel) -> void {
    if (f == fanouts_.size()) {
      if (steps_.size() % 1024 == 0 && (meter.expired() || meter.too_large(static_cast<double>(steps_.size()) *
                                                                           (8 + 4 * static_cast<double>(at.size())))))
        return;
      double units = 1;
      for (int d = 0; d < problem.dims; ++d) units *= static_cast<double>(parallel[d]);
      if (units < task.accelerator.hints.min_utilization * problem.built[problem.levels]) return;
      index_.insert(index_.end(), at.begin(), at.end());
      double steps = problem.cycles_per_mac;
      for (int d = 0; d < problem.dims; ++d)
        steps *= static_cast<double>((task.layer.dims[d].size + parallel[d] - 1) / parallel[d]);
      steps_.push_back(steps);
      return;
    }
    for (std::size_t i = 0; i < unrollings_[f].size(); ++i) {
      const Unrolling& unrolling = unrollings_[f][i];
      Sizes after = left, factors = parallel;
      bool fits = true;
      for (int d = 0; d < problem.dims && fits; ++d) {
        const Count factor = unrolling.factor(d);
        if (factor == 1) continue;
        fits = imperfect || left[d] % factor == 0;
        factors[d] *= factor;
        for (const Count b : {unrolling.cols[d], unrolling.rows[d]}) {
          fits &= b <= after[d];
          after[d] = (after[d] + b - 1) / b;
        }
      }
      if (!fits) continue;
      at[f] = static_cast<std::uint32_t>(i);
      self(self, f + 1, after, factors);
    }
  };
  Sizes left{}, parallel{};
  for (int d = 0; d < problem.dims; ++d) left[d] = task.layer.dims[d].size;
  parallel.fill(1);
  extend(extend, 0, left, parallel);
}

void SpatialChoices::get(std::size_t i, Spatial& spatial) const {
  for (std::size_t f = 0; f < fanouts_.size(); ++f) {
    const Unrolling& unrolling = unrollings_[f][index_[i * fanouts_.size() + f]];
    auto& factor = spatial.factor[fanouts_[f]];
    for (int d = 0; d < kMaxDims; ++d) factor[d] = unrolling.factor(d);
    spatial.unrolling[fanouts_[f]] = &unrolling;
  }
}

std::vector<std::uint32_t> keep_patterns(const Problem& problem, int tensor) {
  std::vector<std::uint32_t> found{0};
  for (int l = 0; l < problem.levels; ++l) {
    if (!problem.is_memory[l] || !(problem.may_keep[l] >> tensor & 1U)) continue;
    // The outermost memory that may hold a tensor is its home.
    const bool must = found.front() == 0 || (problem.must_keep[l] >> tensor & 1U) != 0;
    std::vector<std::uint32_t> next;
    for (const std::uint32_t levels : found) {
      next.push_back(levels | 1U << l);
      if (!must) next.push_back(levels);
    }
    found.swap(next);
  }
  return found;
}

}  // namespace pliant::exact
