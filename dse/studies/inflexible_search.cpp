// SPDX-License-Identifier: Apache-2.0
// The exact search of inflexible_design.h: branches are pairs of parallel dims with an array shape; tiles are cut where
// neither the steps nor the words of any completion leave room below the best design; what is left meets every order
// that differs in reuse.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/arithmetic.h"
#include "dse/studies/inflexible_cost.h"
#include "dse/studies/inflexible_design.h"

namespace pliant {
namespace {

using Sizes = std::array<Count, 6>;
using Shape = InflexibleNetwork::Shape;
using Order = std::array<int, 6>;
constexpr std::size_t kSearchDims = 6;

/// A pair of parallel dims and an array shape; `floor` bounds the network's cycles for every tile and order.
struct Branch {
  double floor = 0;
  std::size_t a = 0, b = 0;
  Count rows = 1, cols = 1;
};

/// A tile as positions in the lists of sizes, the largest first.
using TileIndex = std::array<std::uint16_t, kSearchDims>;

/// Of the 720 orders one for each way in which they differ for these layers.
class DistinctOrders {
 public:
  const std::vector<Order>& of(const std::vector<Shape>& shapes, const std::vector<Sizes>& tiles) {
    std::vector<std::pair<std::uint32_t, bool>> nests;
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      std::uint32_t moving = 0;
      for (std::size_t d = 0; d < kSearchDims; ++d)
        if (tiles[l][d] != shapes[l].size[d]) moving |= 1U << d;
      nests.emplace_back(moving, shapes[l].depthwise);
    }
    std::ranges::sort(nests);
    nests.erase(std::unique(nests.begin(), nests.end()), nests.end());
    const auto [known, is_new] = known_.try_emplace(nests);
    if (is_new) {
      std::set<std::vector<std::uint32_t>> seen;
      Order order{};
      std::iota(order.begin(), order.end(), 0);
      do {
        std::vector<std::uint32_t> signature;
        for (const auto& [moving, depthwise] : nests) signature.push_back(reuse_signature(order, moving, depthwise));
        if (seen.insert(std::move(signature)).second) known->second.push_back(order);
      } while (std::ranges::next_permutation(order).found);
    }
    return known->second;
  }

 private:
  std::map<std::vector<std::pair<std::uint32_t, bool>>, std::vector<Order>> known_;
};

class Search {
 public:
  Search(const InflexibleNetwork& network, const InflexibleHardware& hardware, std::function<bool()> stopped)
      : network_(network), shapes_(network.shapes()), hardware_(hardware), stopped_(std::move(stopped)) {
    for (const Shape& shape : shapes_) {
      compulsory_.push_back(transfer_cycles(compulsory_words(shape), hardware_));
      std::array<std::vector<Count>, kSearchDims> table;
      for (std::size_t d = 0; d < kSearchDims; ++d)
        for (const Count tile : network.tiles(tile_dim(shape, d)))
          table[d].push_back(largest_divisor(shape.size[d], tile));
      clipped_.push_back(std::move(table));
      depthwise_ = depthwise_ || shape.depthwise;
    }
    clips_.resize(shapes_.size());
    steps_.resize(shapes_.size());
    by_tile_.resize(shapes_.size());
    best_.cycles = kInfinity;
    list_branches();
  }

  InflexibleDesign run() {
    // A good design first: the most promising shape of each of a few pairs, or what a genetic search finds.
    if (limited()) {
      best_ = network_.genetic(hardware_, 1);
    } else {
      constexpr std::size_t kProbes = 3;
      std::set<std::pair<std::size_t, std::size_t>> probed;
      for (const Branch& branch : branches_)
        if (probed.size() < kProbes && probed.insert({branch.a, branch.b}).second) search(branch);
    }
    for (const Branch& branch : branches_) {
      if (branch.floor >= best_.cycles || stopped_()) break;
      search(branch);
    }
    if (stopped_()) best_.cycles = kInfinity;
    return best_;
  }

  /// Every pair, shape and tile with an order that takes `cycles`, the optimum; the first such order.
  void ties(double cycles, const std::function<void(const InflexibleDesign&)>& each) {
    constexpr double kOtherOrder = 1e-12;  // sums in another order
    tie_ = &each;
    best_.cycles = cycles * (1 + kOtherOrder);
    for (const Branch& branch : branches_) {
      if (branch.floor >= best_.cycles) break;
      search(branch);
    }
  }

 private:
  bool limited() const { return hardware_.words_per_cycle > 0; }

  void list_branches() {
    for (std::size_t a = 0; a < kSearchDims; ++a)
      for (std::size_t b = 0; b < kSearchDims; ++b)
        for (Count rows = 1; a != b && rows <= hardware_.units; ++rows) {
          const Count cols = hardware_.units / rows;
          if (rows < hardware_.units && hardware_.units / (rows + 1) == cols) continue;  // more rows, as many columns
          Branch branch{0, a, b, rows, cols};
          for (std::size_t l = 0; l < shapes_.size(); ++l)
            branch.floor += shapes_[l].count * std::max(least_steps(shapes_[l], a, b, rows, cols), compulsory_[l]);
          branches_.push_back(branch);
        }
    std::ranges::stable_sort(branches_, {}, &Branch::floor);
  }

  Sizes sizes_of(const TileIndex& tile) const {
    Sizes sizes{};
    for (std::size_t d = 0; d < kSearchDims; ++d) sizes[d] = network_.tiles(d)[tile[d]];
    return sizes;
  }
  Sizes clipped(std::size_t layer, const TileIndex& tile) const {
    Sizes sizes{};
    for (std::size_t d = 0; d < kSearchDims; ++d) sizes[d] = clipped_[layer][d][tile[tile_dim(shapes_[layer], d)]];
    return sizes;
  }

  /// Dims whose tiles decide the steps of a branch come first: the two parallel ones, and M where a depthwise C stands
  /// in for it. The others follow, with the words in view.
  void search(const Branch& branch) {
    branch_ = &branch;
    dims_ = {branch.a, branch.b};
    if (depthwise_ && (branch.a == kC || branch.b == kC) && branch.a != kM && branch.b != kM) dims_.push_back(kM);
    deciding_ = dims_.size();
    for (const std::size_t d : {kM, kC, kP, kQ, kR, kS})
      if (std::ranges::find(dims_, d) == dims_.end()) dims_.push_back(d);
    for (std::size_t d = 0; d < kSearchDims; ++d)
      smallest_[d] = static_cast<std::uint16_t>(network_.tiles(d).size() - 1);
    tile_ = smallest_;
    for (std::size_t l = 0; l < shapes_.size(); ++l) by_tile_[l] = steps_by_tile(l);
    walk(0);
  }

  /// Steps of a layer as a product: by the tile of the dim on the rows, by that on the columns, and the rest.
  struct StepsByTile {
    std::size_t row_dim = 0, col_dim = 0;  ///< whose positions count
    std::vector<double> row, col;
    double rest = 1;
  };
  StepsByTile steps_by_tile(std::size_t l) const {
    const Shape& shape = shapes_[l];
    const std::size_t a = stands_in(shape, branch_->a), b = stands_in(shape, branch_->b);
    StepsByTile steps{tile_dim(shape, a), tile_dim(shape, b), {}, {}, shape.macs()};
    const auto side = [&](std::size_t dim, Count rows, Count cols) {
      std::vector<double> all;
      for (const Count tile : clipped_[l][dim])
        all.push_back(static_cast<double>(steps_of(shape.size[dim], tile, rows, cols)));
      steps.rest /= static_cast<double>(shape.size[dim]);
      return all;
    };
    steps.row = side(a, branch_->rows, a == b ? branch_->cols : 1);
    steps.col = a == b ? std::vector<double>(steps.row.size(), 1) : side(b, branch_->cols, 1);
    return steps;
  }

  /// Chooses dims_[at] and what follows; dims that are not chosen yet stand at their smallest tile, which is 1.
  bool walk(std::size_t at) {
    if (at == kSearchDims) return try_tile();
    const std::size_t dim = dims_[at];
    bool go_on = true;
    for (std::size_t i = 0; go_on && i < network_.tiles(dim).size(); ++i) {
      tile_[dim] = static_cast<std::uint16_t>(i);
      if (!tile_fits(sizes_of(tile_), hardware_.buffer_words)) continue;
      if (at + 1 >= deciding_ && floor_of_completions(at + 1) >= best_.cycles) continue;
      go_on = walk(at + 1);
      if (at + 1 == deciding_) go_on = !stopped_();
    }
    tile_[dim] = smallest_[dim];
    return go_on;
  }

  /// Below every tile with the first `chosen` dims as they are: the steps are known, and each other dim is taken as
  /// large as it may be beside them alone.
  double floor_of_completions(std::size_t chosen) {
    TileIndex largest = tile_;
    if (limited())
      for (std::size_t at = chosen; at < kSearchDims; ++at) {
        TileIndex alone = tile_;
        std::uint16_t& i = alone[dims_[at]];
        for (i = 0; !tile_fits(sizes_of(alone), hardware_.buffer_words);) ++i;
        largest[dims_[at]] = i;
      }
    double sum = 0;
    for (std::size_t l = 0; l < shapes_.size(); ++l) {
      clips_[l] = clipped(l, largest);
      if (chosen == deciding_) {
        const StepsByTile& by = by_tile_[l];
        steps_[l] = by.rest * by.row[tile_[by.row_dim]] * by.col[tile_[by.col_dim]];
      }
      double cycles = std::max(steps_[l], compulsory_[l]);
      if (limited()) cycles = std::max(cycles, transfer_cycles(least_dram_words(shapes_[l], clips_[l]), hardware_));
      sum += shapes_[l].count * cycles;
    }
    return sum;
  }

  /// The whole tile: clips_ and steps_ are set. False: no other tile of the dims that do not decide is any different.
  bool try_tile() {
    const bool more = limited();
    static const std::vector<Order> kAnyOrder = {{0, 1, 2, 3, 4, 5}};
    for (const Order& order : more ? orders_.of(shapes_, clips_) : kAnyOrder) {
      double sum = 0;
      for (std::size_t l = 0; l < shapes_.size() && sum < best_.cycles; ++l)
        sum += shapes_[l].count *
               std::max(steps_[l],
                        more ? transfer_cycles(dram_words(shapes_[l], clips_[l], order).longest(), hardware_) : 0.0);
      if (sum >= best_.cycles) continue;
      const InflexibleDesign found{branch_->a, branch_->b, branch_->rows, branch_->cols, sizes_of(tile_), order, sum};
      if (tie_ == nullptr) {
        best_ = found;
        continue;
      }
      (*tie_)(found);
      break;  // the first order
    }
    return more;
  }

  const InflexibleNetwork& network_;
  const std::vector<Shape>& shapes_;
  const InflexibleHardware& hardware_;
  std::function<bool()> stopped_;
  bool depthwise_ = false;                                            ///< is any layer?
  std::vector<double> compulsory_;                                    ///< by layer, cycles
  std::vector<std::array<std::vector<Count>, kSearchDims>> clipped_;  ///< by layer, dim and position
  std::vector<Branch> branches_;                                      ///< the least floor first
  DistinctOrders orders_;
  InflexibleDesign best_;
  const std::function<void(const InflexibleDesign&)>* tie_ = nullptr;  ///< set: list what is below best_.cycles
  // The branch and tile at hand.
  const Branch* branch_ = nullptr;
  std::vector<std::size_t> dims_;
  std::size_t deciding_ = 0;  ///< the first so many of dims_ decide the steps
  TileIndex tile_{}, smallest_{};
  std::vector<StepsByTile> by_tile_;  ///< by layer, of the branch
  std::vector<Sizes> clips_;          ///< by layer, of the tile
  std::vector<double> steps_;
};

}  // namespace

InflexibleDesign InflexibleNetwork::best(const InflexibleHardware& hardware,
                                         const std::function<bool()>& stopped) const {
  return Search(*this, hardware, stopped).run();
}

void InflexibleNetwork::for_each_tie(const InflexibleHardware& hardware, double cycles,
                                     const std::function<void(const InflexibleDesign&)>& each) const {
  Search(*this, hardware, [] { return false; }).ties(cycles, each);
}

}  // namespace pliant
