// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/inflexible_design.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/arithmetic.h"
#include "dse/studies/inflexible_cost.h"

namespace pliant {
namespace {

using Sizes = std::array<Count, 6>;
using Shape = InflexibleNetwork::Shape;
constexpr std::size_t kDimCount = 6;

/// A pair of parallel dims and an array shape; `floor` bounds the network's cycles for every tile and order.
struct Branch {
  double floor = 0;
  std::size_t a = 0, b = 0;
  Count rows = 1, cols = 1;
};

/// A tile as positions in the lists of sizes.
using TileIndex = std::array<std::uint16_t, kDimCount>;

class Search {
 public:
  Search(const InflexibleNetwork& network, const InflexibleHardware& hardware, std::function<bool()> stopped)
      : network_(network), shapes_(network.shapes()), hardware_(hardware), stopped_(std::move(stopped)) {
    for (const Shape& shape : shapes_) {
      compulsory_.push_back(transfer_time(compulsory_words(shape)));
      std::array<std::vector<Count>, kDimCount> table;
      for (std::size_t d = 0; d < kDimCount; ++d)
        for (const Count tile : network.tiles(d)) table[d].push_back(largest_divisor(shape.size[d], tile));
      if (shape.depthwise) {  // the tile of M is that of C
        table[kC].clear();
        for (const Count tile : network.tiles(kM)) table[kC].push_back(largest_divisor(shape.size[kC], tile));
      }
      clipped_.push_back(std::move(table));
    }
    best_.cycles = kInfinity;
    list_branches();
  }

  InflexibleDesign run() {
    // 1. A good design: the best tile and order of a few promising branches.
    constexpr std::size_t kProbes = 3;
    std::set<std::pair<std::size_t, std::size_t>> probed;
    for (const Branch& branch : branches_)
      if (probed.size() < kProbes && probed.insert({branch.a, branch.b}).second) search_all_tiles(branch);
    if (hardware_.words_per_cycle == 0) {  // tiles of two dims are all that counts
      for (const Branch& branch : branches_)
        if (branch.floor < best_.cycles) search_all_tiles(branch);
      return finished();
    }
    // 2. Tiles that no branch can make good are left out for all branches at once; then the branches that are left.
    const std::vector<TileIndex> tiles = promising_tiles();
    for (const Branch& branch : branches_) {
      if (branch.floor >= best_.cycles) break;
      for (const TileIndex& tile : tiles) {
        set_steps(branch, tile);
        try_tile(branch, tile);
      }
      if (stopped_()) break;
    }
    return finished();
  }

  /// Every pair, shape and tile with an order that takes `cycles`, the optimum; the first such order.
  void ties(double cycles, const std::function<void(const InflexibleDesign&)>& each) {
    const double just_above = std::nextafter(cycles, kInfinity);
    for (const Branch& branch : branches_) {
      if (branch.floor > cycles) break;
      for_each_pair_of_tiles(branch, [&](const TileIndex& tile) {
        for_each_tile(branch.a, branch.b, tile, [&](const TileIndex& whole) {
          best_.cycles = just_above;
          try_tile(branch, whole);
          if (best_.cycles == cycles) each(best_);
          return hardware_.words_per_cycle > 0;  // without a limit the other dims make no difference
        });
      });
    }
  }

 private:
  double transfer_time(double words) const { return transfer_cycles(words, hardware_); }

  InflexibleDesign finished() {
    if (stopped_()) best_.cycles = kInfinity;
    return best_;
  }

  void list_branches() {
    for (std::size_t a = 0; a < kDimCount; ++a)
      for (std::size_t b = 0; b < kDimCount; ++b)
        for (Count rows = 1; a != b && rows <= hardware_.units; ++rows) {
          const Count cols = hardware_.units / rows;
          if (rows < hardware_.units && hardware_.units / (rows + 1) == cols) continue;  // more rows, as many columns
          Branch branch{0, a, b, rows, cols};
          for (std::size_t l = 0; l < shapes_.size(); ++l)
            branch.floor +=
                shapes_[l].count * std::max(layer_steps(shapes_[l], a, b, rows, cols, 0, 0), compulsory_[l]);
          branches_.push_back(branch);
        }
    std::ranges::stable_sort(branches_, {}, &Branch::floor);
  }

  Count size_at(std::size_t dim, const TileIndex& tile) const { return network_.tiles(dim)[tile[dim]]; }
  Sizes sizes_of(const TileIndex& tile) const {
    Sizes sizes{};
    for (std::size_t d = 0; d < kDimCount; ++d) sizes[d] = size_at(d, tile);
    return sizes;
  }
  Sizes clipped(std::size_t layer, const TileIndex& tile) const {
    Sizes sizes{};
    for (std::size_t d = 0; d < kDimCount; ++d) {
      const bool from_m = d == kC && shapes_[layer].depthwise;
      sizes[d] = clipped_[layer][d][tile[from_m ? std::size_t{kM} : d]];
    }
    return sizes;
  }

  void set_steps(const Branch& branch, const TileIndex& tile) {
    steps_.resize(shapes_.size());
    for (std::size_t l = 0; l < shapes_.size(); ++l)
      steps_[l] = layer_steps(shapes_[l], branch.a, branch.b, branch.rows, branch.cols, size_at(branch.a, tile),
                              size_at(branch.b, tile));
  }

  /// Calls each(tile) for every tile that fits and has these positions of two dims; false from `each` ends it.
  template <class Each>
  void for_each_tile(std::size_t a, std::size_t b, TileIndex tile, const Each& each) const {
    std::array<std::size_t, 4> others{};
    std::size_t n = 0;
    for (std::size_t d = 0; d < kDimCount; ++d)
      if (d != a && d != b) others[n++] = d;
    const auto walk = [&](const auto& self, std::size_t at) -> bool {
      if (at == others.size()) return !tile_fits(sizes_of(tile), hardware_.buffer_words) || each(tile);
      for (std::size_t i = 0; i < network_.tiles(others[at]).size(); ++i) {
        tile[others[at]] = static_cast<std::uint16_t>(i);
        if (!self(self, at + 1)) return false;
      }
      return true;
    };
    walk(walk, 0);
  }

  /// Calls visit(tile) for every pair of tiles of the branch's two dims, with the steps set for it.
  template <class Visit>
  void for_each_pair_of_tiles(const Branch& branch, const Visit& visit) {
    for (std::size_t i = 0; i < network_.tiles(branch.a).size(); ++i)
      for (std::size_t j = 0; j < network_.tiles(branch.b).size(); ++j) {
        TileIndex tile{};
        tile[branch.a] = static_cast<std::uint16_t>(i);
        tile[branch.b] = static_cast<std::uint16_t>(j);
        set_steps(branch, tile);
        visit(tile);
      }
  }

  void search_all_tiles(const Branch& branch) {
    for_each_pair_of_tiles(branch, [&](const TileIndex& tile) {
      double floor = 0;
      for (std::size_t l = 0; l < shapes_.size(); ++l) floor += shapes_[l].count * std::max(steps_[l], compulsory_[l]);
      if (floor >= best_.cycles || stopped_()) return;
      for_each_tile(branch.a, branch.b, tile, [&](const TileIndex& whole) {
        try_tile(branch, whole);
        return floor < best_.cycles;
      });
    });
  }

  /// Tiles for which the least steps of every layer, over all branches, leave room below the best design.
  std::vector<TileIndex> promising_tiles() {
    steps_.assign(shapes_.size(), kInfinity);
    for (const Branch& branch : branches_)
      for (std::size_t l = 0; l < shapes_.size(); ++l)
        steps_[l] = std::min(steps_[l], layer_steps(shapes_[l], branch.a, branch.b, branch.rows, branch.cols, 0, 0));
    std::vector<TileIndex> tiles;
    for (std::size_t i = 0; i < network_.tiles(kM).size(); ++i)
      for (std::size_t j = 0; j < network_.tiles(kC).size(); ++j)
        for_each_tile(kM, kC, {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j)},
                      [&](const TileIndex& tile) {
                        if (floor_of(tile) < best_.cycles) tiles.push_back(tile);
                        return true;
                      });
    return tiles;
  }

  /// Cycles with the steps at hand and each layer's own best order; infinite as soon as it reaches the best design.
  double floor_of(const TileIndex& tile) const {
    double sum = 0;
    for (std::size_t l = 0; l < shapes_.size(); ++l) {
      sum += shapes_[l].count * std::max(steps_[l], transfer_time(least_dram_words(shapes_[l], clipped(l, tile))));
      if (sum >= best_.cycles) return kInfinity;
    }
    return sum;
  }

  void try_tile(const Branch& branch, const TileIndex& tile) {
    if (floor_of(tile) >= best_.cycles) return;
    std::vector<Sizes> clips;
    for (std::size_t l = 0; l < shapes_.size(); ++l) clips.push_back(clipped(l, tile));
    std::array<int, kDimCount> order{};
    std::iota(order.begin(), order.end(), 0);
    do {
      double sum = 0;
      for (std::size_t l = 0; l < shapes_.size() && sum < best_.cycles; ++l)
        sum += shapes_[l].count * std::max(steps_[l], transfer_time(dram_words(shapes_[l], clips[l], order).longest()));
      if (sum < best_.cycles) {
        best_ = {branch.a, branch.b, branch.rows, branch.cols, sizes_of(tile), order, sum};
      }
    } while (hardware_.words_per_cycle > 0 && std::ranges::next_permutation(order).found);
  }

  const InflexibleNetwork& network_;
  const std::vector<Shape>& shapes_;
  const InflexibleHardware& hardware_;
  std::function<bool()> stopped_;
  std::vector<double> compulsory_;                                  ///< by layer, cycles
  std::vector<std::array<std::vector<Count>, kDimCount>> clipped_;  ///< by layer, dim and position
  std::vector<Branch> branches_;                                    ///< the least floor first
  std::vector<double> steps_;                                       ///< by layer, of the branch and tile at hand
  InflexibleDesign best_;
};

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
  for (const Workload::Entry& entry : network.layers) {
    Shape shape;
    for (std::size_t d = 0; d < kDimCount; ++d) {
      const int at = entry.layer.find_dim(InflexibleDesign::kDims[d]);
      if (at >= 0) shape.size[d] = entry.layer.dims[static_cast<std::size_t>(at)].size;
    }
    shape.depthwise = entry.layer.operation == Operation::kDepthwise;
    shape.count = 0;
    auto same = std::ranges::find_if(
        shapes_, [&](const Shape& other) { return other.size == shape.size && other.depthwise == shape.depthwise; });
    if (same == shapes_.end()) same = shapes_.insert(shapes_.end(), shape);
    same->count += static_cast<double>(entry.count);
  }
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
    double cycles = layer_steps(shape, design.row_dim, design.col_dim, design.rows, design.cols,
                                design.tile[design.row_dim], design.tile[design.col_dim]);
    const double words = dram_words(shape, clipped_tile(shape, design.tile), design.order).longest();
    cycles = std::max(cycles, transfer_cycles(words, hardware));
    sum += shape.count * cycles;
  }
  return sum;
}

InflexibleDesign InflexibleNetwork::best(const InflexibleHardware& hardware,
                                         const std::function<bool()>& stopped) const {
  return Search(*this, hardware, stopped).run();
}

void InflexibleNetwork::for_each_tie(const InflexibleHardware& hardware, double cycles,
                                     const std::function<void(const InflexibleDesign&)>& each) const {
  Search(*this, hardware, [] { return false; }).ties(cycles, each);
}

}  // namespace pliant
