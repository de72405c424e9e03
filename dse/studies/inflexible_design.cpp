// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/inflexible_design.h"

#include <algorithm>
#include <set>

#include "dse/studies/inflexible_cost.h"

namespace pliant {
namespace {

using Sizes = std::array<Count, 6>;
constexpr std::size_t kDimCount = 6;

/// What a dim of the convolution is called in a GEMM, a convolution with P = M, M = N and C = K.
constexpr std::array<const char*, kDimCount> kGemmDims = {"N", "K", "M", "", "", ""};

}  // namespace

bool tile_fits(const Sizes& t, Count buffer_words) {
  const Count window = (t[kP] + t[kR] - 1) * (t[kQ] + t[kS] - 1), outputs = t[kP] * t[kQ], filter = t[kR] * t[kS];
  const Count conv = t[kC] * window + t[kM] * t[kC] * filter + t[kM] * outputs;
  return conv <= buffer_words && t[kM] * (window + filter + outputs) <= buffer_words;
}

double InflexibleNetwork::Shape::macs() const {
  double product = 1;
  for (const Count one : size) product *= static_cast<double>(one);
  return product;
}

InflexibleNetwork::InflexibleNetwork(const Workload& network) {
  add(network, 1);
  list_tiles();
}

InflexibleNetwork::InflexibleNetwork(const std::vector<Workload>& networks) {
  for (const Workload& network : networks) {
    double macs = 0;
    const InflexibleNetwork alone(network);
    for (const Shape& shape : alone.shapes()) macs += shape.count * shape.macs();
    add(network, 1 / macs);
  }
  list_tiles();
}

void InflexibleNetwork::add(const Workload& network, double weight) {
  for (const Workload::Entry& entry : network.layers) {
    Shape shape;
    for (std::size_t d = 0; d < kDimCount; ++d) {
      const bool gemm = entry.layer.operation == Operation::kGemm;
      const int at = entry.layer.find_dim((gemm ? kGemmDims : InflexibleDesign::kDims)[d]);
      if (at >= 0) shape.size[d] = entry.layer.dims[static_cast<std::size_t>(at)].size;
    }
    shape.depthwise = entry.layer.operation == Operation::kDepthwise;
    shape.count = 0;
    auto same = std::ranges::find_if(
        shapes_, [&](const Shape& other) { return other.size == shape.size && other.depthwise == shape.depthwise; });
    if (same == shapes_.end()) same = shapes_.insert(shapes_.end(), shape);
    same->count += weight * static_cast<double>(entry.count);
  }
}

void InflexibleNetwork::list_tiles() {
  for (std::size_t d = 0; d < kDimCount; ++d) {
    std::set<Count> sizes{1};
    for (const Shape& shape : shapes_) {
      if (shape.depthwise && d == kC) continue;  // its tile is that of M
      const Count size = shape.size[shape.depthwise && d == kM ? std::size_t{kC} : d];
      for (Count t = 1; t <= size; ++t)
        if (size % t == 0) sizes.insert(t);
    }
    tiles_[d].assign(sizes.rbegin(), sizes.rend());
  }
}

double InflexibleNetwork::cycles(const InflexibleDesign& design, const InflexibleHardware& hardware) const {
  double sum = 0;
  for (const Shape& shape : shapes_) {
    const Sizes clipped = clipped_tile(shape, design.tile);
    const double steps = layer_steps(shape, design.row_dim, design.col_dim, design.rows, design.cols, clipped);
    const double words = dram_words(shape, clipped, design.order).longest();
    sum += shape.count * std::max(steps, transfer_cycles(words, hardware));
  }
  return sum;
}

}  // namespace pliant
