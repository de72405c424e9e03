// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/legal_count.h"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/affine.h"
#include "core/arithmetic.h"
#include "flex/mapspace/count.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/orders.h"

namespace pliant {

namespace {

/// Fixed width keeps the tables flat; beyond 1e77 the count is given up.
using Ways = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    256, 256, boost::multiprecision::unsigned_magnitude, boost::multiprecision::checked, void>>;

struct BeyondLimits {};

/// Tile sizes one dim can have, and the temporal loops that lead from one to another.
struct Axis {
  struct Move {
    std::size_t from, to;
  };
  Count size = 1;
  std::vector<Count> tiles;  ///< ascending, from 1 to size
  std::vector<Move> temporal;
  std::size_t stride = 1;  ///< of this dim in the table of tiles

  std::size_t find(Count tile) const {
    return static_cast<std::size_t>(std::lower_bound(tiles.begin(), tiles.end(), tile) - tiles.begin());
  }
};

/// Bounds a slot may take when `tile` lies inside it.
std::vector<Count> bounds(Count size, Count tile, Factorization rule, const Slot& slot) {
  const Count left = ceil_div(size, tile);
  const Count most = slot.limit == 0 ? left : std::min(left, slot.limit);
  std::vector<Count> allowed;
  if (may_be_imperfect(rule, slot.spatial)) {
    for (Count b = 1; b <= most; ++b) allowed.push_back(b);
  } else {
    for (const Count b : divisors(left))
      if (b <= most) allowed.push_back(b);
  }
  return allowed;
}

Count grown(Count tile, Count bound, Count size) { return tile > size / bound ? size : std::min(size, tile * bound); }

Axis make_axis(Count size, const std::vector<Slot>& slots, Factorization rule, std::uint64_t most_tiles) {
  Axis axis;
  axis.size = size;
  std::set<Count> reached{1};
  for (std::size_t k = slots.size(); k-- > 0;) {
    std::set<Count> next = reached;
    for (const Count tile : reached) {
      for (const Count b : bounds(size, tile, rule, slots[k])) next.insert(grown(tile, b, size));
      if (next.size() > most_tiles) throw BeyondLimits{};
    }
    reached = std::move(next);
  }
  reached.insert(size);
  axis.tiles.assign(reached.begin(), reached.end());
  for (std::size_t from = 0; from < axis.tiles.size(); ++from)
    for (const Count b : bounds(size, axis.tiles[from], rule, Slot{})) {
      const Count tile = grown(axis.tiles[from], b, size);
      const std::size_t to = axis.find(tile);
      // A tile that no chain of slots forms cannot occur.
      if (b > 1 && axis.tiles[to] == tile) axis.temporal.push_back({from, to});
    }
  return axis;
}

class LegalCount {
 public:
  LegalCount(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, Factorization rule,
             const LegalCountLimits& limits)
      : layer_(layer), accelerator_(accelerator), flexibility_(flexibility), rule_(rule), steps_left_(limits.steps) {
    std::uint64_t tiles = 1;
    for (std::size_t d = 0; d < layer.dims.size(); ++d) {
      slots_.push_back(slots_of(layer, accelerator, flexibility, static_cast<int>(d)));
      axes_.push_back(make_axis(layer.dims[d].size, slots_.back().slots, rule, limits.tiles));
      axes_.back().stride = tiles;
      tiles *= axes_.back().tiles.size();
      if (tiles > limits.tiles) throw BeyondLimits{};
    }
    ways_.assign(tiles, Ways(0));
    ways_[0] = 1;
  }

  BigCount run() {
    for (std::size_t k = accelerator_.levels.size(); k-- > 0;) {
      const Level& level = accelerator_.levels[k];
      if (level.is_fanout()) pass_fanout(k);
      if (!level.is_memory()) continue;
      pass_memory(k);
      for (std::size_t node = 0; node < ways_.size(); ++node)
        if (ways_[node] != 0) ways_[node] *= choices_that_fit(k, node);
    }
    return BigCount(ways_.back());  // the tile that is the whole layer
  }

 private:
  using Table = std::vector<Ways>;

  const LevelFlexibility& rules(std::size_t k) const {
    static const LevelFlexibility unrestricted;
    return k < flexibility_.levels.size() ? flexibility_.levels[k] : unrestricted;
  }
  Count tile(std::size_t node, std::size_t d) const {
    return axes_[d].tiles[node / axes_[d].stride % axes_[d].tiles.size()];
  }
  void spend(std::uint64_t steps) {
    if (steps > steps_left_) throw BeyondLimits{};
    steps_left_ -= steps;
  }

  // Temporal loops: for every set of dims that loop here, the tables along those dims, times the orders of the set.
  void pass_memory(std::size_t k) {
    Table after(ways_.size(), Ways(0));
    choose_loops(k, 0, 0, ways_, after);
    ways_ = std::move(after);
  }

  void choose_loops(std::size_t k, std::size_t d, DimSet chosen, const Table& ways, Table& after) {
    if (d == axes_.size()) {
      const auto orders = static_cast<std::uint64_t>(count_orders(layer_, chosen, rules(k).order));
      spend(ways.size());
      if (orders == 0) return;
      for (std::size_t node = 0; node < ways.size(); ++node)
        if (ways[node] != 0) after[node] += ways[node] * orders;
      return;
    }
    choose_loops(k, d + 1, chosen, ways, after);
    const Axis& axis = axes_[d];
    const bool allowed =
        std::find(slots_[d].levels.begin(), slots_[d].levels.end(), static_cast<int>(k)) != slots_[d].levels.end();
    if (!allowed || axis.temporal.empty()) return;
    Table moved(ways.size(), Ways(0));
    const std::size_t block = axis.stride * axis.tiles.size();
    spend(ways.size() / axis.tiles.size() * axis.temporal.size());
    bool any = false;
    for (std::size_t base = 0; base < ways.size(); base += block)
      for (const Axis::Move& move : axis.temporal)
        for (std::size_t i = 0; i < axis.stride; ++i) {
          const Ways& from = ways[base + move.from * axis.stride + i];
          if (from == 0) continue;
          moved[base + move.to * axis.stride + i] += from;
          any = true;
        }
    if (any) choose_loops(k, d + 1, chosen | DimSet{1} << d, moved, after);
  }

  // Kept tensors: how many choices fit the memory with this tile.
  std::uint64_t choices_that_fit(std::size_t k, std::size_t node) {
    const TileRule& rule = rules(k).tile;
    for (const TileRule::Tile& fixed : rule.fixed) {
      const int d = layer_.find_dim(fixed.dim);
      if (d >= 0 && tile(node, static_cast<std::size_t>(d)) !=
                        reachable_tile(fixed.size, axes_[static_cast<std::size_t>(d)].size, rule_))
        return 0;
    }
    const std::vector<TensorSet> choices = keep_choices(layer_, accelerator_, static_cast<int>(k));
    const Memory& memory = accelerator_.levels[k].memory();
    spend(choices.size());
    if (!memory.capacity_words) return choices.size();
    const Count capacity = *memory.capacity_words / std::max(1, memory.buffers);
    std::vector<double> words(layer_.tensors.size(), 1);  // exact below 2^53, and larger than any capacity above
    for (std::size_t x = 0; x < words.size(); ++x) words[x] = words_of(layer_.tensors[x], node);
    std::uint64_t fitting = 0;
    for (const TensorSet choice : choices) {
      double total = 0;
      std::array<double, kRoles> by_role{};
      for (std::size_t x = 0; x < words.size(); ++x) {
        if ((choice >> x & 1) == 0) continue;
        total += words[x];
        by_role[static_cast<std::size_t>(layer_.tensors[x].role)] += words[x];
      }
      bool fits = total <= static_cast<double>(capacity);
      if (rule.partition) {
        const auto& shares = *rule.partition;
        const double whole = shares[0] + shares[1] + shares[2];
        for (std::size_t role = 0; role < kRoles; ++role)
          fits &= by_role[role] * whole <= shares[role] * static_cast<double>(capacity) * (1 + 1e-12);
      }
      fitting += fits;
    }
    return fitting;
  }

  double words_of(const Tensor& tensor, std::size_t node) const {
    double words = 1;
    std::vector<Stride> strides;
    for (const Rank& rank : tensor.ranks) {
      strides.clear();
      for (const Term& term : rank.terms)
        strides.push_back({term.coefficient, tile(node, static_cast<std::size_t>(term.dim))});
      const bool distinct = accelerator_.conventions.footprint == Conventions::Footprint::kDistinct;
      words *= static_cast<double>(distinct ? distinct_values(strides) : bounding_extent(strides));
    }
    return words;
  }

  // Spatial loops: every choice of bounds over rows and columns for all dims together.
  struct Parallel {
    Count rows, cols;
    std::size_t to;
  };

  void pass_fanout(std::size_t k) {
    // options[d][i]: what dim d can do when its tile is number i.
    std::vector<std::vector<std::vector<Parallel>>> options(axes_.size());
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      Slot sides[2] = {{.spatial = true, .limit = 1}, {.spatial = true, .limit = 1}};
      for (std::size_t s = 0; s < slots_[d].slots.size(); ++s)
        if (slots_[d].levels[s] == static_cast<int>(k))
          sides[static_cast<int>(slots_[d].sides[s])] = slots_[d].slots[s];
      for (const Count inside : axes_[d].tiles) {
        auto& here = options[d].emplace_back();
        for (const Count cols : bounds(axes_[d].size, inside, rule_, sides[static_cast<int>(Side::kCols)])) {
          const Count column_tile = grown(inside, cols, axes_[d].size);
          for (const Count rows : bounds(axes_[d].size, column_tile, rule_, sides[static_cast<int>(Side::kRows)])) {
            const Count outside = grown(column_tile, rows, axes_[d].size);
            const std::size_t to = axes_[d].find(outside);
            if (axes_[d].tiles[to] == outside) here.push_back({rows, cols, to});
          }
        }
      }
    }
    Table after(ways_.size(), Ways(0));
    for (std::size_t node = 0; node < ways_.size(); ++node)
      if (ways_[node] != 0) choose_parallel(k, options, node, 0, 0, {1, 1, 0, 0}, after);
    ways_ = std::move(after);
  }

  struct Used {
    Count rows, cols;
    DimSet row_dims, col_dims;
  };

  void choose_parallel(std::size_t k, const std::vector<std::vector<std::vector<Parallel>>>& options, std::size_t node,
                       std::size_t d, std::size_t to, const Used& used, Table& after) {
    spend(1);
    if (!fits_array(k, used.rows, used.cols)) return;
    if (d == axes_.size()) {
      if (explained(rules(k).parallel, used)) after[to] += ways_[node];
      return;
    }
    const std::size_t i = node / axes_[d].stride % axes_[d].tiles.size();
    for (const Parallel& option : options[d][i]) {
      Used next = used;
      next.rows *= option.rows;
      next.cols *= option.cols;
      if (option.rows > 1) next.row_dims |= DimSet{1} << d;
      if (option.cols > 1) next.col_dims |= DimSet{1} << d;
      choose_parallel(k, options, node, d + 1, to + option.to * axes_[d].stride, next, after);
    }
  }

  bool fits_array(std::size_t k, Count rows, Count cols) const {
    const Fanout& fanout = accelerator_.levels[k].fanout();
    const ShapeRule& rule = rules(k).shape;
    switch (rule.kind) {
      case ShapeRule::Kind::kFixed: return rows <= fanout.rows && cols <= fanout.cols;
      case ShapeRule::Kind::kFree: return rows <= fanout.units() / cols;
      case ShapeRule::Kind::kBlocks: {
        const Count blocks = fanout.units() / (rule.block_rows * rule.block_cols);
        const Count shape_rows = ceil_div(rows, rule.block_rows) * rule.block_rows;
        return shape_rows <= blocks * rule.block_rows && cols <= fanout.units() / shape_rows;
      }
    }
    return false;
  }

  DimSet set_of(const std::vector<std::string>& names) const {
    DimSet set = 0;
    for (const std::string& name : names)
      if (const int d = layer_.find_dim(name); d >= 0) set |= DimSet{1} << d;
    return set;
  }

  bool explained(const ParallelRule& rule, const Used& used) const {
    if (rule.max_dims_per_side > 0 &&
        std::max(std::popcount(used.row_dims), std::popcount(used.col_dims)) > rule.max_dims_per_side)
      return false;
    return rule.assignments.empty() ||
           std::any_of(rule.assignments.begin(), rule.assignments.end(), [&](const Assignment& assignment) {
             return (used.row_dims & ~set_of(assignment.rows)) == 0 && (used.col_dims & ~set_of(assignment.cols)) == 0;
           });
  }

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Flexibility& flexibility_;
  const Factorization rule_;
  std::uint64_t steps_left_;
  std::vector<DimSlots> slots_;
  std::vector<Axis> axes_;
  Table ways_;
};

}  // namespace

std::optional<BigCount> count_legal_mappings(const Layer& layer, const Accelerator& accelerator,
                                             const Flexibility& flexibility, Factorization rule,
                                             const LegalCountLimits& limits) {
  if (rule == Factorization::kPadding) return std::nullopt;
  try {
    return LegalCount(layer, accelerator, flexibility, rule, limits).run();
  } catch (const BeyondLimits&) {
    return std::nullopt;
  } catch (const std::runtime_error&) {  // Ways overflowed
    return std::nullopt;
  }
}

}  // namespace pliant
