// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/fixed_design.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

#include "core/arithmetic.h"

namespace pliant {
namespace {

constexpr std::array<const char*, 6> kDims = {"M", "C", "P", "Q", "R", "S"};

Count largest_divisor(Count size, Count limit) {
  for (Count t = std::min(size, limit); t > 1; --t)
    if (size % t == 0) return t;
  return 1;
}

/// f of the header; no tile limit when `tile` is 0.
Count steps_of(Count size, Count tile, Count units) {
  if (tile == 0) return ceil_div(size, units);
  const Count t = largest_divisor(size, tile);
  return size / t * ceil_div(t, std::min(units, t));
}

/// A layer as the design sees it.
struct Shape {
  std::array<Count, 6> size{};
  double macs = 1, count = 1;
  bool depthwise = false;
};

Shape shape_of(const Workload::Entry& entry) {
  Shape shape;
  for (std::size_t d = 0; d < kDims.size(); ++d) {
    const int at = entry.layer.find_dim(kDims[d]);
    shape.size[d] = at < 0 ? 1 : entry.layer.dims[static_cast<std::size_t>(at)].size;
  }
  shape.macs = static_cast<double>(entry.layer.macs());
  shape.count = static_cast<double>(entry.count);
  shape.depthwise = entry.layer.operation == Operation::kDepthwise;
  return shape;
}

/// Dim 0 is M, dim 1 is C.
std::size_t stands_in(const Shape& shape, std::size_t dim) { return shape.depthwise && dim == 0 ? 1 : dim; }

double cycles_of(const Shape& shape, std::size_t a, std::size_t b, Count rows, Count cols, Count row_tile,
                 Count col_tile) {
  a = stands_in(shape, a);
  b = stands_in(shape, b);
  if (a == b) {  // one dim over both sides; its tile is the row's
    const auto size = static_cast<double>(shape.size[a]);
    return shape.count * shape.macs / size * static_cast<double>(steps_of(shape.size[a], row_tile, rows * cols));
  }
  const auto both = static_cast<double>(shape.size[a]) * static_cast<double>(shape.size[b]);
  return shape.count * shape.macs / both * static_cast<double>(steps_of(shape.size[a], row_tile, rows)) *
         static_cast<double>(steps_of(shape.size[b], col_tile, cols));
}

/// Tiles that make a difference: the divisors of the layers' sizes.
std::vector<Count> tiles_of(const std::vector<Shape>& shapes, std::size_t dim) {
  std::set<Count> tiles;
  for (const Shape& shape : shapes) {
    const Count size = shape.size[stands_in(shape, dim)];
    for (Count t = 1; t <= size; ++t)
      if (size % t == 0) tiles.insert(t);
  }
  return {tiles.rbegin(), tiles.rend()};  // the largest first
}

/// Words of a tile with these sizes of two dims and 1 of the others: inputs, weights, outputs.
Count tile_words(std::size_t a, Count row_tile, std::size_t b, Count col_tile) {
  std::array<Count, 6> t{1, 1, 1, 1, 1, 1};
  t[a] = row_tile;
  t[b] = col_tile;
  const Count inputs = t[1] * (t[2] + t[4] - 1) * (t[3] + t[5] - 1);
  return inputs + t[0] * t[1] * t[4] * t[5] + t[0] * t[2] * t[3];
}

}  // namespace

double fixed_design_cycles(const FixedDesign& design, const Workload& network) {
  const auto dim = [](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(kDims, name) - kDims.begin());
  };
  double sum = 0;
  for (const Workload::Entry& entry : network.layers)
    sum += cycles_of(shape_of(entry), dim(design.row_dim), dim(design.col_dim), design.rows, design.cols,
                     design.row_tile, design.col_tile);
  return sum;
}

FixedDesign best_fixed_design(const Workload& network, Count units, Count buffer_words) {
  std::vector<Shape> shapes;
  for (const Workload::Entry& entry : network.layers) shapes.push_back(shape_of(entry));
  const auto sum = [&](std::size_t a, std::size_t b, Count rows, Count row_tile, Count col_tile) {
    double cycles = 0;
    for (const Shape& shape : shapes) cycles += cycles_of(shape, a, b, rows, units / rows, row_tile, col_tile);
    return cycles;
  };
  // 1. The bound of every pair and shape.
  struct Branch {
    double bound;
    std::size_t a, b;
    Count rows;
  };
  std::vector<Branch> branches;
  for (std::size_t a = 0; a < kDims.size(); ++a)
    for (std::size_t b = 0; b < kDims.size(); ++b)
      for (Count rows = 1; a != b && rows <= units; ++rows) branches.push_back({sum(a, b, rows, 0, 0), a, b, rows});
  std::ranges::stable_sort(branches, {}, &Branch::bound);
  // 2. Tiles of each, best bound first.
  FixedDesign best;
  best.cycles = std::numeric_limits<double>::infinity();
  best.pairs_and_shapes = static_cast<double>(branches.size());
  for (const Branch& branch : branches) {
    if (branch.bound >= best.cycles) break;
    for (const Count row_tile : tiles_of(shapes, branch.a)) {
      for (const Count col_tile : tiles_of(shapes, branch.b)) {
        if (tile_words(branch.a, row_tile, branch.b, col_tile) > buffer_words) continue;
        const double cycles = sum(branch.a, branch.b, branch.rows, row_tile, col_tile);
        if (cycles >= best.cycles) continue;
        best.row_dim = kDims[branch.a];
        best.col_dim = kDims[branch.b];
        best.rows = branch.rows;
        best.cols = units / branch.rows;
        best.row_tile = row_tile;
        best.col_tile = col_tile;
        best.cycles = cycles;
        if (cycles <= branch.bound) break;
      }
      if (best.cycles <= branch.bound) break;
    }
  }
  best.lower_bound = best.cycles;  // every branch left has a bound at least as large
  return best;
}

}  // namespace pliant
