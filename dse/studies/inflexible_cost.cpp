// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/inflexible_cost.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "costmodel/whole_cycles.h"

namespace pliant {
namespace {

using Sizes = std::array<Count, 6>;

/// Which dims a tensor depends on: inputs, weights, outputs.
constexpr std::array<std::array<bool, 6>, 3> kCoupled = {{{false, true, true, true, true, true},
                                                          {true, true, false, false, true, true},
                                                          {true, false, true, true, false, false}}};
/// A depthwise layer: outputs depend on C as well, and there is no M.
constexpr std::array<std::array<bool, 6>, 3> kCoupledDepthwise = {{{false, true, true, true, true, true},
                                                                   {false, true, false, false, true, true},
                                                                   {false, true, true, true, false, false}}};

double elements(int tensor, const Sizes& t, bool depthwise) {
  const auto size = [&](int dim) { return static_cast<double>(t[static_cast<std::size_t>(dim)]); };
  const double filters = depthwise ? size(kC) : size(kM);
  switch (tensor) {
    case 0: return size(kC) * (size(kP) + size(kR) - 1) * (size(kQ) + size(kS) - 1);
    case 1: return (depthwise ? 1 : size(kM)) * size(kC) * size(kR) * size(kS);
    default: return filters * size(kP) * size(kQ);
  }
}

/// Words of one tensor under an order, outermost first; `bounds` are those of the loops.
double words_of(int tensor, const InflexibleNetwork::Shape& shape, const Sizes& t, const Sizes& bounds,
                const std::array<int, 6>& order) {
  const auto& coupled = (shape.depthwise ? kCoupledDepthwise : kCoupled)[static_cast<std::size_t>(tensor)];
  Sizes grown = t;
  double outside = 1;
  bool placed = true;  // no loop that the tensor depends on yet
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    const auto d = static_cast<std::size_t>(*dim);
    const Count bound = bounds[d];
    if (bound == 1) continue;
    if (placed && !coupled[d]) continue;  // the tile stays where it is
    if (placed) {
      grown[d] = shape.size[d];  // the tile slides along this loop
      placed = false;
    } else {
      outside *= static_cast<double>(bound);
    }
  }
  return elements(tensor, grown, shape.depthwise) * outside;
}

}  // namespace

Count largest_divisor(Count size, Count limit) {
  if (limit >= size) return size;
  // Large divisors by their small quotients, then the small ones.
  Count quotient = ceil_div(size, limit);
  for (; quotient * quotient <= size; ++quotient)
    if (size % quotient == 0) return size / quotient;
  for (Count t = size / quotient; t > 1; --t)
    if (size % t == 0) return t;
  return 1;
}

std::size_t stands_in(const InflexibleNetwork::Shape& shape, std::size_t dim) {
  return shape.depthwise && dim == kM ? std::size_t{kC} : dim;
}

std::size_t tile_dim(const InflexibleNetwork::Shape& shape, std::size_t dim) {
  return shape.depthwise && dim == kC ? std::size_t{kM} : dim;
}

Count steps_of(Count size, Count tile, Count rows, Count cols) {
  if (tile == size) return ceil_div(size, rows * cols);  // one tile: the last round may leave units idle
  // Temporal loops divide, so every one of several tiles is filled by whole rounds.
  if (cols == 1) return size / largest_divisor(tile, rows);
  Count together = 1;
  for (Count row = 1; row <= std::min(rows, tile); ++row)
    if (tile % row == 0) together = std::max(together, row * largest_divisor(tile / row, cols));
  return size / together;
}

double layer_steps(const InflexibleNetwork::Shape& shape, std::size_t a, std::size_t b, Count rows, Count cols,
                   const Sizes& clipped) {
  a = stands_in(shape, a);
  b = stands_in(shape, b);
  const auto size = [&](std::size_t dim) { return static_cast<double>(shape.size[dim]); };
  if (a == b)  // one dim over both sides
    return shape.macs() / size(a) * static_cast<double>(steps_of(shape.size[a], clipped[a], rows, cols));
  return shape.macs() / (size(a) * size(b)) * static_cast<double>(steps_of(shape.size[a], clipped[a], rows)) *
         static_cast<double>(steps_of(shape.size[b], clipped[b], cols));
}

double least_steps(const InflexibleNetwork::Shape& shape, std::size_t a, std::size_t b, Count rows, Count cols) {
  return layer_steps(shape, a, b, rows, cols, shape.size);  // a tile of the whole layer
}

double transfer_cycles(double words, const InflexibleHardware& hardware) {
  return hardware.words_per_cycle == 0 ? 0 : whole_cycles(words / hardware.words_per_cycle);
}

Sizes clipped_tile(const InflexibleNetwork::Shape& shape, const Sizes& tile) {
  Sizes clipped{};
  for (std::size_t d = 0; d < clipped.size(); ++d)
    clipped[d] = largest_divisor(shape.size[d], tile[tile_dim(shape, d)]);
  return clipped;
}

DramWords dram_words(const InflexibleNetwork::Shape& shape, const Sizes& t, const std::array<int, 6>& order) {
  Sizes bounds{};
  for (std::size_t d = 0; d < bounds.size(); ++d) bounds[d] = t[d] == shape.size[d] ? 1 : shape.size[d] / t[d];
  const auto words = [&](int tensor) { return words_of(tensor, shape, t, bounds, order); };
  const double outputs = words(2);
  // Partial sums are read back, but not the first time.
  return {words(0) + words(1) + outputs - elements(2, shape.size, shape.depthwise), outputs};
}

std::uint32_t reuse_signature(const std::array<int, 6>& order, std::uint32_t moving, bool depthwise) {
  std::uint32_t signature = 0;
  for (const auto& coupled : depthwise ? kCoupledDepthwise : kCoupled) {
    std::uint32_t stays = 0, slides = 7;  // no loop moves the tensor
    for (auto dim = order.rbegin(); dim != order.rend() && slides == 7; ++dim) {
      const auto d = static_cast<std::uint32_t>(*dim);
      if ((moving >> d & 1U) == 0) continue;
      if (coupled[d])
        slides = d;
      else
        stays |= 1U << d;
    }
    signature = signature << 9U | stays << 3U | slides;
  }
  return signature;
}

double least_dram_words(const InflexibleNetwork::Shape& shape, const Sizes& t) {
  std::array<double, 6> bound{};
  double all = 1;
  for (std::size_t d = 0; d < bound.size(); ++d) all *= bound[d] = static_cast<double>(shape.size[d] / t[d]);
  // Inputs slide along one dim, whichever serves them best.
  double inputs = elements(0, t, shape.depthwise) * all;
  for (const int d : {kP, kQ, kR, kS}) {
    const auto dim = static_cast<std::size_t>(d);
    Sizes grown = t;
    grown[dim] = shape.size[dim];
    inputs = std::min(inputs, elements(0, grown, shape.depthwise) * all / bound[dim]);
  }
  const double weights = elements(1, t, shape.depthwise) * all, outputs = elements(2, t, shape.depthwise) * all;
  const double inputs_stay = inputs / bound[kM], weights_stay = weights / (bound[kP] * bound[kQ]);
  const double every_output = elements(2, shape.size, shape.depthwise);
  const double outputs_stay = outputs / ((shape.depthwise ? 1 : bound[kC]) * bound[kR] * bound[kS]);
  // The innermost loop leaves one tensor in place; the others move with every tile.
  return std::min({std::max(inputs_stay + weights + outputs - every_output, outputs),
                   std::max(inputs + weights_stay + outputs - every_output, outputs),
                   std::max(inputs + weights + outputs_stay - every_output, outputs_stay)});
}

double compulsory_words(const InflexibleNetwork::Shape& shape) {
  return std::max(elements(0, shape.size, shape.depthwise) + elements(1, shape.size, shape.depthwise),
                  elements(2, shape.size, shape.depthwise));
}

}  // namespace pliant
