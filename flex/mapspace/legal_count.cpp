// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/legal_count.h"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <vector>

#include "flex/mapspace/rules.h"

namespace pliant {

namespace {

/// Fixed width keeps the tables flat; beyond 1e77 the count is given up.
using Ways = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    256, 256, boost::multiprecision::unsigned_magnitude, boost::multiprecision::checked, void>>;

struct BeyondLimits {};

/// Tile sizes one dim can have, and the temporal loops that lead from one to another.
struct Axis {
  struct Edge {
    std::size_t from, to;
  };
  Count size = 1;
  std::vector<Count> tiles;  ///< ascending, from 1 to size
  std::vector<Edge> temporal;
  std::size_t stride = 1;  ///< of this dim in the table of tiles

  std::size_t find(Count tile) const {
    return static_cast<std::size_t>(std::lower_bound(tiles.begin(), tiles.end(), tile) - tiles.begin());
  }
};

Axis make_axis(Count size, const std::vector<Slot>& slots, Factorization rule, std::uint64_t most_tiles) {
  Axis axis;
  axis.size = size;
  std::set<Count> reached{1};
  for (std::size_t k = slots.size(); k-- > 0;) {
    std::set<Count> next = reached;
    for (const Count tile : reached) {
      for (const Count b : slot_bounds(size, tile, slots[k], rule)) next.insert(grown_tile(tile, b, size));
      if (next.size() > most_tiles) throw BeyondLimits{};
    }
    reached = std::move(next);
  }
  reached.insert(size);
  axis.tiles.assign(reached.begin(), reached.end());
  for (std::size_t from = 0; from < axis.tiles.size(); ++from)
    for (const Count b : slot_bounds(size, axis.tiles[from], Slot{}, rule)) {
      const Count tile = grown_tile(axis.tiles[from], b, size);
      const std::size_t to = axis.find(tile);
      // A tile that no chain of slots forms cannot occur.
      if (b > 1 && axis.tiles[to] == tile) axis.temporal.push_back({from, to});
    }
  return axis;
}

class LegalCount {
 public:
  LegalCount(const MapSpaceRules& rules, const LegalCountLimits& limits) : rules_(rules), steps_left_(limits.steps) {
    std::uint64_t tiles = 1;
    for (std::size_t d = 0; d < rules.layer.dims.size(); ++d) {
      axes_.push_back(make_axis(rules.layer.dims[d].size, rules.slots[d], rules.factorization, limits.tiles));
      axes_.back().stride = tiles;
      tiles *= axes_.back().tiles.size();
      if (tiles > limits.tiles) throw BeyondLimits{};
    }
    ways_.assign(tiles, Ways(0));
    ways_[0] = 1;
  }

  BigCount run() {
    for (auto level = static_cast<int>(rules_.accelerator.levels.size()); level-- > 0;) {
      if (rules_.is_fanout(level)) pass_fanout(rules_.fanout(level));
      if (!rules_.is_memory(level)) continue;
      const MemoryRules& memory = rules_.memory(level);
      pass_memory(memory);
      Tile fixed{};
      for (std::size_t d = 0; d < axes_.size(); ++d)
        fixed[d] = rules_.fixed_tile(memory, static_cast<int>(d), axes_[d].size);
      for (std::size_t node = 0; node < ways_.size(); ++node)
        if (ways_[node] != 0) ways_[node] *= choices_that_fit(memory, fixed, node);
    }
    return BigCount(ways_.back());  // the tile that is the whole layer
  }

 private:
  using Table = std::vector<Ways>;
  using Tile = std::array<Count, kMaxDims>;

  Count tile(std::size_t node, std::size_t d) const {
    return axes_[d].tiles[node / axes_[d].stride % axes_[d].tiles.size()];
  }
  void spend(std::uint64_t steps) {
    if (steps > steps_left_) throw BeyondLimits{};
    steps_left_ -= steps;
  }

  // Temporal loops: for every set of dims that loop here, the tables along those dims, times the orders of the set.
  void pass_memory(const MemoryRules& memory) {
    Table after(ways_.size(), Ways(0));
    choose_loops(memory, 0, 0, ways_, after);
    ways_ = std::move(after);
  }

  void choose_loops(const MemoryRules& memory, std::size_t d, DimSet chosen, const Table& ways, Table& after) {
    if (d == axes_.size()) {
      const std::uint64_t orders = memory.orders.count(chosen);
      spend(ways.size());
      if (orders == 0) return;
      for (std::size_t node = 0; node < ways.size(); ++node)
        if (ways[node] != 0) after[node] += ways[node] * orders;
      return;
    }
    choose_loops(memory, d + 1, chosen, ways, after);
    const Axis& axis = axes_[d];
    if ((memory.may_loop >> d & 1U) == 0 || axis.temporal.empty()) return;
    Table moved(ways.size(), Ways(0));
    const std::size_t block = axis.stride * axis.tiles.size();
    spend(ways.size() / axis.tiles.size() * axis.temporal.size());
    bool any = false;
    for (std::size_t base = 0; base < ways.size(); base += block)
      for (const Axis::Edge& edge : axis.temporal)
        for (std::size_t i = 0; i < axis.stride; ++i) {
          const Ways& from = ways[base + edge.from * axis.stride + i];
          if (from == 0) continue;
          moved[base + edge.to * axis.stride + i] += from;
          any = true;
        }
    if (any) choose_loops(memory, d + 1, chosen | DimSet{1} << d, moved, after);
  }

  // Kept tensors: how many choices fit the memory with this tile.
  std::uint64_t choices_that_fit(const MemoryRules& memory, const Tile& fixed, std::size_t node) {
    Tile tiles{};
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      tiles[d] = tile(node, d);
      if (fixed[d] != 0 && tiles[d] != fixed[d]) return 0;
    }
    spend(memory.keeps.size());
    if (memory.holds_everything()) return memory.keeps.size();
    std::array<double, kMaxTensors> words{};
    const auto tile_of = [&](int d) { return tiles[static_cast<std::size_t>(d)]; };
    for (int x = 0; x < memory.tensors; ++x) words[static_cast<std::size_t>(x)] = rules_.footprint.words(x, tile_of);
    const auto words_of = [&](int x) { return words[static_cast<std::size_t>(x)]; };
    return static_cast<std::uint64_t>(
        std::ranges::count_if(memory.keeps, [&](TensorSet kept) { return memory.holds(kept, words_of); }));
  }

  // Spatial loops: every choice of bounds over rows and columns for all dims together.
  struct Parallel {
    Count rows, cols;
    std::size_t to;
  };

  /// By dim and number of its tile: what the dim can do at the fanout.
  using Options = std::vector<std::vector<std::vector<Parallel>>>;

  Options options_at(const FanoutRules& fanout) const {
    Options options(axes_.size());
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const Axis& axis = axes_[d];
      const auto bounds = [&](Count tile, Side side) {
        const Count limit = fanout.may_run_over(side, static_cast<int>(d)) ? fanout.longest(side) : 1;
        return slot_bounds(axis.size, tile, {.spatial = true, .limit = limit}, rules_.factorization);
      };
      for (const Count inside : axis.tiles) {
        auto& here = options[d].emplace_back();
        for (const Count cols : bounds(inside, Side::kCols)) {
          const Count column_tile = grown_tile(inside, cols, axis.size);
          for (const Count rows : bounds(column_tile, Side::kRows)) {
            const Count outside = grown_tile(column_tile, rows, axis.size);
            const std::size_t to = axis.find(outside);
            if (axis.tiles[to] == outside) here.push_back({rows, cols, to});
          }
        }
      }
    }
    return options;
  }

  void pass_fanout(const FanoutRules& fanout) {
    const Options options = options_at(fanout);
    Table after(ways_.size(), Ways(0));
    for (std::size_t node = 0; node < ways_.size(); ++node)
      if (ways_[node] != 0) choose_parallel(fanout, options, node, 0, 0, {1, 1, 0, 0}, after);
    ways_ = std::move(after);
  }

  struct Used {
    Count rows, cols;
    DimSet row_dims, col_dims;
  };

  void choose_parallel(const FanoutRules& fanout, const Options& options, std::size_t node, std::size_t d,
                       std::size_t to, const Used& used, Table& after) {
    spend(1);
    if (!fanout.holds(used.rows, used.cols)) return;
    if (d == axes_.size()) {
      if (fanout.assigns(used.row_dims, used.col_dims)) after[to] += ways_[node];
      return;
    }
    const std::size_t i = node / axes_[d].stride % axes_[d].tiles.size();
    for (const Parallel& option : options[d][i]) {
      Used next = used;
      next.rows *= option.rows;
      next.cols *= option.cols;
      if (option.rows > 1) next.row_dims |= DimSet{1} << d;
      if (option.cols > 1) next.col_dims |= DimSet{1} << d;
      choose_parallel(fanout, options, node, d + 1, to + option.to * axes_[d].stride, next, after);
    }
  }

  const MapSpaceRules& rules_;
  std::uint64_t steps_left_;
  std::vector<Axis> axes_;
  Table ways_;
};

}  // namespace

std::optional<BigCount> count_legal_mappings(const Layer& layer, const Accelerator& accelerator,
                                             const Flexibility& flexibility, Factorization rule,
                                             const LegalCountLimits& limits) {
  if (rule == Factorization::kPadding) return std::nullopt;
  try {
    const MapSpaceRules rules(layer, accelerator, flexibility, rule);
    return LegalCount(rules, limits).run();
  } catch (const BeyondLimits&) {
    return std::nullopt;
  } catch (const std::runtime_error&) {  // Ways overflowed
    return std::nullopt;
  }
}

}  // namespace pliant
