// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/flexible_cycles.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/arithmetic.h"
#include "dse/studies/inflexible_cost.h"

namespace pliant {
namespace {

constexpr std::size_t kSixDims = 6;

/// Inputs, weights and outputs of a tile of this layer.
Count words_of_tile(const std::array<Count, kSixDims>& t, bool depthwise) {
  const Count window = (t[kP] + t[kR] - 1) * (t[kQ] + t[kS] - 1), outputs = t[kP] * t[kQ], filter = t[kR] * t[kS];
  if (depthwise) return t[kC] * (window + filter + outputs);
  return t[kC] * window + t[kM] * t[kC] * filter + t[kM] * outputs;
}

void list_tiles(const InflexibleNetwork::Shape& shape, Count room, std::size_t dim, std::array<Count, kSixDims>& tile,
                std::vector<std::array<Count, kSixDims>>& into) {
  if (dim == kSixDims) {
    into.push_back(tile);
    return;
  }
  for (Count size = 1; size <= shape.size[dim]; ++size) {
    if (shape.size[dim] % size != 0) continue;
    tile[dim] = size;
    for (std::size_t later = dim + 1; later < kSixDims; ++later) tile[later] = 1;
    if (words_of_tile(tile, shape.depthwise) > room) break;
    list_tiles(shape, room, dim + 1, tile, into);
  }
}

}  // namespace

FreeAxes free_axes(const std::string& bits) {
  return {bits.at(0) == '1', bits.at(1) == '1', bits.at(2) == '1', bits.at(3) == '1'};
}

FlexibleCycles::FlexibleCycles(const InflexibleNetwork& network, const InflexibleHardware& hardware)
    : network_(network), hardware_(hardware) {
  for (Count rows = 1; rows <= hardware_.units; ++rows) {
    const Count cols = hardware_.units / rows;
    if (rows < hardware_.units && hardware_.units / (rows + 1) == cols) continue;  // more rows, as many columns
    shapes_.emplace_back(rows, cols);
  }
  for (const InflexibleNetwork::Shape& shape : network_.shapes()) {
    LayerTiles& tiles = tiles_.emplace_back();
    Sizes tile{1, 1, 1, 1, 1, 1};
    list_tiles(shape, hardware_.buffer_words, 0, tile, tiles.fitting);
    std::ranges::reverse(tiles.fitting);
  }
}

double FlexibleCycles::cycles(const InflexibleDesign& design, const FreeAxes& free) {
  double sum = 0;
  for (std::size_t layer = 0; layer < network_.shapes().size(); ++layer)
    sum += network_.shapes()[layer].count * layer_cycles(layer, design, free);
  return sum;
}

std::vector<FlexibleCycles::Wiring> FlexibleCycles::wirings(const InflexibleDesign& design,
                                                            const FreeAxes& free) const {
  std::vector<Wiring> all;
  const auto add_shapes = [&](std::size_t a, std::size_t b) {
    if (!free.shape) {
      all.push_back({a, b, design.rows, design.cols});
      return;
    }
    for (const auto& [rows, cols] : shapes_) all.push_back({a, b, rows, cols});
  };
  if (!free.parallel) {
    add_shapes(design.row_dim, design.col_dim);
  } else {
    for (std::size_t a = 0; a < kSixDims; ++a)
      for (std::size_t b = 0; b < kSixDims; ++b) add_shapes(a, b);
  }
  return all;
}

double FlexibleCycles::fewest_steps(std::size_t layer, const Sizes& tile, const std::vector<Wiring>& wirings) const {
  double least = kInfinity;
  for (const Wiring& wiring : wirings)
    least = std::min(least, layer_steps(network_.shapes()[layer], wiring.a, wiring.b, wiring.rows, wiring.cols, tile));
  return least;
}

const FlexibleCycles::StepsOnShapes& FlexibleCycles::steps_on_shapes(Count size, Count tile) {
  const auto [known, is_new] = steps_.try_emplace({size, tile});
  StepsOnShapes& steps = known->second;
  if (!is_new) return steps;
  for (const auto& [rows, cols] : shapes_) {
    steps.over_rows.push_back(static_cast<double>(steps_of(size, tile, rows)));
    steps.over_cols.push_back(static_cast<double>(steps_of(size, tile, cols)));
    steps.over_both = std::min(steps.over_both, static_cast<double>(steps_of(size, tile, rows, cols)));
  }
  return steps;
}

double FlexibleCycles::fewest_steps_of_all(std::size_t layer, const Sizes& tile) {
  const InflexibleNetwork::Shape& shape = network_.shapes()[layer];
  std::array<const StepsOnShapes*, kSixDims> steps{};
  for (std::size_t d = 0; d < kSixDims; ++d) steps[d] = &steps_on_shapes(shape.size[d], tile[d]);
  const double macs = shape.macs();
  double least = kInfinity;
  for (std::size_t a = 0; a < kSixDims; ++a)
    for (std::size_t b = 0; b < kSixDims; ++b) {
      if (stands_in(shape, a) != a || stands_in(shape, b) != b) continue;  // as the dim that stands in for it
      const auto size_a = static_cast<double>(shape.size[a]), size_b = static_cast<double>(shape.size[b]);
      if (a == b) {
        least = std::min(least, macs / size_a * steps[a]->over_both);
        continue;
      }
      for (std::size_t i = 0; i < shapes_.size(); ++i)
        least = std::min(least, macs / (size_a * size_b) * steps[a]->over_rows[i] * steps[b]->over_cols[i]);
    }
  return least;
}

const std::vector<FlexibleCycles::Order>& FlexibleCycles::orders_that_differ(std::uint32_t moving, bool depthwise) {
  const auto [known, is_new] = orders_.try_emplace({moving, depthwise});
  if (is_new) {
    std::set<std::uint32_t> seen;
    Order order{};
    std::iota(order.begin(), order.end(), 0);
    do {
      if (seen.insert(reuse_signature(order, moving, depthwise)).second) known->second.push_back(order);
    } while (std::ranges::next_permutation(order).found);
  }
  return known->second;
}

double FlexibleCycles::fewest_words(std::size_t layer, const Sizes& tile, const InflexibleDesign& design,
                                    bool any_order) {
  const InflexibleNetwork::Shape& shape = network_.shapes()[layer];
  if (!any_order) return dram_words(shape, tile, design.order).longest();
  std::uint32_t moving = 0;
  for (std::size_t d = 0; d < kSixDims; ++d)
    if (tile[d] != shape.size[d]) moving |= 1U << d;
  double least = kInfinity;
  for (const Order& order : orders_that_differ(moving, shape.depthwise))
    least = std::min(least, dram_words(shape, tile, order).longest());
  return least;
}

double FlexibleCycles::layer_cycles(std::size_t layer, const InflexibleDesign& design, const FreeAxes& free) {
  const InflexibleNetwork::Shape& shape = network_.shapes()[layer];
  const bool limited = hardware_.words_per_cycle > 0;
  const Sizes own = clipped_tile(shape, design.tile);
  std::vector<Count> key{static_cast<Count>(layer),
                         free.tile * 8 + free.order * 4 + free.parallel * 2 + static_cast<Count>(free.shape)};
  if (!free.tile) key.insert(key.end(), own.begin(), own.end());
  if (!free.order && limited) key.insert(key.end(), design.order.begin(), design.order.end());
  if (!free.parallel) key.insert(key.end(), {static_cast<Count>(design.row_dim), static_cast<Count>(design.col_dim)});
  if (!free.shape) key.insert(key.end(), {design.rows, design.cols});
  const auto [known, is_new] = known_.try_emplace(std::move(key), kInfinity);
  if (!is_new) return known->second;

  const bool all = free.parallel && free.shape;
  const std::vector<Wiring> ways = all ? std::vector<Wiring>{} : wirings(design, free);
  const auto steps = [&](const Sizes& tile) {
    return all ? fewest_steps_of_all(layer, tile) : fewest_steps(layer, tile, ways);
  };
  const double floor = steps(shape.size);  // a tile of the whole layer
  double best = kInfinity;
  for (const Sizes& tile : free.tile ? tiles_[layer].fitting : std::vector<Sizes>{own}) {
    const double transfer = limited ? transfer_cycles(fewest_words(layer, tile, design, free.order), hardware_) : 0.0;
    if (transfer >= best) continue;
    best = std::min(best, std::max(transfer, steps(tile)));
    if (best <= floor) break;
  }
  return known->second = best;
}

std::vector<InflexibleDesign> evenly_spaced(const std::vector<InflexibleDesign>& designs, std::size_t most) {
  if (designs.size() <= most) return designs;
  std::vector<InflexibleDesign> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(designs[i * designs.size() / most]);
  return some;
}

}  // namespace pliant
