// SPDX-License-Identifier: Apache-2.0
// Mappings may come from a file, so no number in them is trusted: tiles are clipped to the dim at every step, and sums
// and products are formed in 128 bits and cut off far above any real limit.
#include "core/legality.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/affine.h"
#include "core/wide.h"

namespace pliant {

namespace {

constexpr Wide kHuge = Wide{1} << 100;

Wide times(Wide a, Wide b) { return a == 0 || b == 0 ? 0 : (a > kHuge / b ? kHuge : a * b); }
Count ceil_div(Count a, Count b) { return a / b + (a % b != 0); }
double number(Wide value) { return static_cast<double>(value); }
std::string text(Wide value) {
  return value >= kHuge      ? std::string("more than 1e30")
         : value > INT64_MAX ? std::string("more than 9.2e18")
                             : std::to_string(static_cast<Count>(value));
}
const char* word(Side side) { return side == Side::kRows ? "rows" : "columns"; }

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined.empty() ? "none" : joined;
}

std::string describe(const OrderPattern& pattern) {
  if (pattern.stationary) return std::string(to_string(*pattern.stationary)) + " stationary";
  return list(pattern.dims);
}

/// One loop of one dim on the way from the MAC outwards.
struct Step {
  std::size_t level;
  Count bound;
  bool spatial;
};

class Judge {
 public:
  Judge(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, Factorization rule,
        const Mapping& mapping)
      : layer_(layer), accelerator_(accelerator), flexibility_(flexibility), rule_(rule), mapping_(mapping) {}

  std::vector<Violation> check() {
    if (!well_formed()) return std::move(found_);  // nothing else means anything then
    for (std::size_t d = 0; d < layer_.dims.size(); ++d) check_chain(d);
    check_homes();
    tiles_.assign(layer_.dims.size(), 1);
    for (std::size_t k = accelerator_.levels.size(); k-- > 0;) {
      const Level& level = accelerator_.levels[k];
      grow_tiles(k);
      if (level.is_memory()) check_memory(k);
      if (level.is_fanout()) check_fanout(k);
    }
    return std::move(found_);
  }

 private:
  using Rule = Violation::Rule;

  Violation& refuse(Rule rule, std::string level, std::string tensor, std::string dim, double needed, double available,
                    std::string message) {
    found_.push_back(
        {rule, std::move(level), std::move(tensor), std::move(dim), needed, available, std::move(message)});
    return found_.back();
  }
  void malformed(std::string level, std::string dim, double needed, double available, std::string message) {
    refuse(Rule::kShape, std::move(level), {}, std::move(dim), needed, available, std::move(message));
  }
  const std::string& level_name(std::size_t k) const { return accelerator_.levels[k].name; }
  const std::string& dim_name(int d) const { return layer_.dims[static_cast<std::size_t>(d)].name; }
  const LevelFlexibility& rules(std::size_t k) const {
    static const LevelFlexibility unrestricted;
    return k < flexibility_.levels.size() ? flexibility_.levels[k] : unrestricted;
  }
  Count size(std::size_t d) const { return mapping_.padded.empty() ? layer_.dims[d].size : mapping_.padded[d]; }

  // 1. The mapping speaks about these levels, these dims and these tensors, with positive bounds.
  bool well_formed() {
    const std::size_t levels = accelerator_.levels.size();
    if (mapping_.levels.size() != levels) {
      malformed({}, {}, static_cast<double>(mapping_.levels.size()), static_cast<double>(levels),
                "the mapping has " + std::to_string(mapping_.levels.size()) + " levels, the accelerator " +
                    std::to_string(levels));
      return false;
    }
    if (!mapping_.padded.empty() && rule_ != Factorization::kPadding)
      malformed({}, {}, 0, 0, "padded sizes are given, but the factorization rule is " + std::string(to_string(rule_)));
    if (!mapping_.padded.empty() && mapping_.padded.size() != layer_.dims.size())
      malformed({}, {}, static_cast<double>(mapping_.padded.size()), static_cast<double>(layer_.dims.size()),
                "padded sizes must be given for all " + std::to_string(layer_.dims.size()) + " dims or for none");
    for (std::size_t k = 0; k < levels; ++k) {
      const Level& level = accelerator_.levels[k];
      const LevelMapping& loops = mapping_.levels[k];
      if (!level.is_memory() && !loops.temporal.empty())
        malformed(level.name, {}, 0, 0, level.name + " is no memory and cannot have temporal loops");
      if (!level.is_fanout() && !loops.spatial.empty())
        malformed(level.name, {}, 0, 0, level.name + " is no fanout and cannot have spatial loops");
      if (!level.is_memory() && loops.keeps != 0)
        malformed(level.name, {}, 0, 0, level.name + " is no memory and cannot keep tensors");
      if (loops.keeps >> layer_.tensors.size() != 0)
        malformed(level.name, {}, 0, 0, level.name + " keeps a tensor that the layer does not have");
      DimSet temporal = 0, rows = 0, cols = 0;
      for (const Loop& loop : loops.temporal) check_loop(level, loop.dim, loop.bound, temporal);
      for (const SpatialLoop& loop : loops.spatial)
        check_loop(level, loop.dim, loop.bound, loop.side == Side::kRows ? rows : cols);
    }
    return found_.empty();
  }

  void check_loop(const Level& level, int dim, Count bound, DimSet& seen) {
    if (dim < 0 || static_cast<std::size_t>(dim) >= layer_.dims.size()) {
      malformed(level.name, {}, dim, static_cast<double>(layer_.dims.size()),
                "a loop at " + level.name + " is over a dim that the layer does not have");
      return;
    }
    if (bound < 1)
      malformed(level.name, dim_name(dim), static_cast<double>(bound), 1,
                "the bound of " + dim_name(dim) + " at " + level.name + " is " + std::to_string(bound) +
                    "; a loop runs at least once");
    if (seen >> dim & 1)
      malformed(level.name, dim_name(dim), 2, 1, dim_name(dim) + " has two loops in one place at " + level.name);
    seen |= DimSet{1} << dim;
  }

  // 2. Coverage and factorization: along each dim, walk the loops from the innermost outwards. What is left to iterate
  // starts at D; a loop of bound b leaves ceil(left / b). It is perfect when b divides what is left (Ruby's R = P).
  std::vector<Step> chain(std::size_t d) const {
    std::vector<Step> steps;
    const int dim = static_cast<int>(d);
    for (std::size_t k = accelerator_.levels.size(); k-- > 0;) {
      for (const Side side : {Side::kCols, Side::kRows})
        for (const SpatialLoop& loop : mapping_.levels[k].spatial)
          if (loop.dim == dim && loop.side == side) steps.push_back({k, loop.bound, true});
      for (const Loop& loop : mapping_.levels[k].temporal)
        if (loop.dim == dim) steps.push_back({k, loop.bound, false});
    }
    return steps;
  }

  bool may_be_imperfect(const Step& step) const {
    switch (rule_) {
      case Factorization::kPerfect:
      case Factorization::kPadding: return false;
      case Factorization::kRubyS: return step.spatial;
      case Factorization::kRubyT: return !step.spatial;
      case Factorization::kRuby: return true;
    }
    return false;
  }

  void check_chain(std::size_t d) {
    const std::vector<Step> steps = chain(d);
    const std::string& name = layer_.dims[d].name;
    if (rule_ == Factorization::kPadding) check_padding(d, steps);
    Count left = size(d);
    Wide product = 1;
    for (const Step& step : steps) {
      const std::string where =
          "the bound " + std::to_string(step.bound) + " of " + name + " at " + level_name(step.level);
      if (left % step.bound != 0 && !may_be_imperfect(step)) {
        refuse(Rule::kFactorization, level_name(step.level), {}, name, static_cast<double>(step.bound),
               static_cast<double>(left),
               where + " does not divide the " + std::to_string(left) + " iterations left there, as rule " +
                   std::string(to_string(rule_)) + " wants of a " + (step.spatial ? "spatial" : "temporal") + " loop");
      } else if (step.bound > left) {
        refuse(Rule::kCoverage, level_name(step.level), {}, name, static_cast<double>(step.bound),
               static_cast<double>(left),
               where + " is more than the " + std::to_string(left) + " iterations left there");
      }
      left = ceil_div(left, step.bound);
      product = times(product, step.bound);
    }
    if (left != 1)
      refuse(Rule::kCoverage, {}, {}, name, static_cast<double>(size(d)), number(product),
             "the loops of " + name + " cover " + text(product) + " of its " + std::to_string(size(d)) + " iterations");
  }

  /// A dim is padded to the next multiple of its spatial factor and no further.
  void check_padding(std::size_t d, const std::vector<Step>& steps) {
    Wide spatial = 1;
    for (const Step& step : steps)
      if (step.spatial) spatial = times(spatial, step.bound);
    const Count unpadded = layer_.dims[d].size;
    const std::string& name = layer_.dims[d].name;
    if (spatial > unpadded) {
      refuse(Rule::kCoverage, {}, {}, name, number(spatial), static_cast<double>(unpadded),
             "the spatial loops of " + name + " run over " + text(spatial) + ", more than its size " +
                 std::to_string(unpadded));
      return;
    }
    const auto factor = static_cast<Count>(spatial);
    const Wide wanted = times(ceil_div(unpadded, factor), factor);
    if (size(d) != wanted)
      refuse(Rule::kFactorization, {}, {}, name, static_cast<double>(size(d)), number(wanted),
             name + " is padded from " + std::to_string(unpadded) + " to " + std::to_string(size(d)) +
                 "; the next multiple of its spatial factor " + std::to_string(factor) + " is " + text(wanted));
  }

  // 3. Every tensor has a home: the outermost memory that may hold it, and does.
  void check_homes() {
    for (const Tensor& tensor : layer_.tensors) {
      const auto role = static_cast<std::size_t>(tensor.role);
      const auto x = static_cast<std::size_t>(&tensor - layer_.tensors.data());
      bool home = false;
      for (std::size_t k = 0; k < accelerator_.levels.size(); ++k) {
        const Level& level = accelerator_.levels[k];
        if (!level.is_memory()) continue;
        const Memory& memory = level.memory();
        const bool kept = (mapping_.levels[k].keeps >> x & 1) != 0;
        if (kept && !memory.may_keep[role])
          refuse(Rule::kKeep, level.name, tensor.name, {}, 1, 0, level.name + " cannot hold " + tensor.name);
        const bool first = memory.may_keep[role] && !std::exchange(home, home || memory.may_keep[role]);
        if (kept || !memory.may_keep[role]) continue;
        if (first) {
          refuse(Rule::kKeep, level.name, tensor.name, {}, 0, 1,
                 tensor.name + " bypasses " + level.name + ", the outermost memory that holds it");
        } else if (!memory.may_bypass[role]) {
          refuse(Rule::kKeep, level.name, tensor.name, {}, 0, 1, tensor.name + " may not bypass " + level.name);
        }
      }
      if (!home) refuse(Rule::kKeep, {}, tensor.name, {}, 0, 1, "no memory of the accelerator can hold " + tensor.name);
    }
  }

  // 4. Tiles: what lies inside a level, its own loops included.
  void grow_tiles(std::size_t k) {
    const auto grow = [this](int dim, Count bound) {
      const auto d = static_cast<std::size_t>(dim);
      tiles_[d] = static_cast<Count>(std::min<Wide>(times(tiles_[d], bound), size(d)));
    };
    for (const Loop& loop : mapping_.levels[k].temporal) grow(loop.dim, loop.bound);
    for (const SpatialLoop& loop : mapping_.levels[k].spatial) grow(loop.dim, loop.bound);
  }

  Wide footprint(const Tensor& tensor) const {
    Wide words = 1;
    std::vector<Stride> strides;
    for (const Rank& rank : tensor.ranks) {
      strides.clear();
      for (const Term& term : rank.terms)
        strides.push_back({term.coefficient, tiles_[static_cast<std::size_t>(term.dim)]});
      const bool distinct = accelerator_.conventions.footprint == Conventions::Footprint::kDistinct;
      words = times(words, distinct ? distinct_values(strides) : bounding_extent(strides));
    }
    return words;
  }

  // 5. Memories: capacity, hard partition, fixed tile, allowed loops, allowed orders.
  void check_memory(std::size_t k) {
    const Level& level = accelerator_.levels[k];
    const LevelMapping& loops = mapping_.levels[k];
    check_capacity(level, loops, rules(k).tile);
    for (const TileRule::Tile& tile : rules(k).tile.fixed) check_fixed_tile(level, tile);
    if (const auto& allowed = rules(k).loops.dims) {
      for (const Loop& loop : loops.temporal)
        if (loop.bound > 1 && !contains(*allowed, dim_name(loop.dim)))
          refuse(Rule::kLoops, level.name, {}, dim_name(loop.dim), static_cast<double>(loop.bound), 1,
                 dim_name(loop.dim) + " may not loop at " + level.name + "; allowed there: " + list(*allowed));
    }
    check_order(level, loops, rules(k).order);
  }

  void check_capacity(const Level& level, const LevelMapping& loops, const TileRule& rule) {
    const Memory& memory = level.memory();
    if (!memory.capacity_words) return;
    const Count capacity = *memory.capacity_words / std::max(1, memory.buffers);
    Wide total = 0;
    std::string parts;
    std::array<Wide, kRoles> by_role{};
    std::array<std::string, kRoles> names;
    for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
      if ((loops.keeps >> x & 1) == 0) continue;
      const Tensor& tensor = layer_.tensors[x];
      const auto role = static_cast<std::size_t>(tensor.role);
      const Wide words = footprint(tensor);
      total += words;
      by_role[role] += words;
      names[role] += (names[role].empty() ? "" : " + ") + tensor.name;
      parts += (parts.empty() ? "" : ", ") + tensor.name + " " + text(words);
    }
    if (total > capacity)
      refuse(Rule::kCapacity, level.name, {}, {}, number(total), static_cast<double>(capacity),
             "tiles at " + level.name + " need " + text(total) + " words (" + parts + "); it holds " +
                 std::to_string(capacity));
    if (!rule.partition) return;
    double shares = 0;
    for (const double share : *rule.partition) shares += share;
    for (std::size_t role = 0; role < kRoles; ++role) {
      const double share = shares > 0 ? (*rule.partition)[role] / shares : 0;
      const double available = share * static_cast<double>(capacity);
      // A share such as 1/3 is not exact in binary; words are whole, so a little slack decides rightly.
      if (number(by_role[role]) <= available * (1 + 1e-12)) continue;
      refuse(Rule::kTile, level.name, names[role], {}, number(by_role[role]), available,
             names[role] + " at " + level.name + " needs " + text(by_role[role]) + " words; its partition holds " +
                 std::to_string(static_cast<Count>(available)));
    }
  }

  /// A temporal loop that must divide cannot reach every tile: there the fixed tile is the largest divisor of the dim
  /// that does not exceed it.
  Count clipped(Count fixed, Count whole) const {
    fixed = std::min(fixed, whole);
    if (rule_ == Factorization::kRubyT || rule_ == Factorization::kRuby) return fixed;
    for (Count co = ceil_div(whole, fixed); co <= whole / co; ++co)
      if (whole % co == 0) return whole / co;
    // Divisors at or above the square root have been tried as whole / co; so has everything between it and whole /
    // fixed.
    Count divisor = fixed <= whole / fixed ? fixed : whole / fixed;
    while (whole % divisor != 0) --divisor;
    return divisor;
  }

  void check_fixed_tile(const Level& level, const TileRule::Tile& tile) {
    const int dim = layer_.find_dim(tile.dim);
    if (dim < 0) return;
    const auto d = static_cast<std::size_t>(dim);
    const Count wanted = clipped(std::max<Count>(1, tile.size), size(d));
    if (tiles_[d] == wanted) return;
    refuse(Rule::kTile, level.name, {}, tile.dim, static_cast<double>(tiles_[d]), static_cast<double>(wanted),
           "the tile of " + tile.dim + " at " + level.name + " is " + std::to_string(tiles_[d]) + "; it is fixed at " +
               std::to_string(tile.size) + (wanted == tile.size ? "" : ", here " + std::to_string(wanted)));
  }

  void check_order(const Level& level, const LevelMapping& loops, const OrderRule& rule) {
    if (rule.allowed.empty()) return;
    std::vector<int> order;
    std::string used;
    for (const Loop& loop : loops.temporal) {
      if (loop.bound == 1) continue;
      order.push_back(loop.dim);
      used += (used.empty() ? "" : ", ") + dim_name(loop.dim);
    }
    std::string allowed;
    for (const OrderPattern& pattern : rule.allowed) {
      if (matches(order, pattern)) return;
      allowed += (allowed.empty() ? "" : " or ") + describe(pattern);
    }
    refuse(Rule::kOrder, level.name, {}, {}, 0, 0,
           "the loops at " + level.name + " run in order " + used + "; allowed: " + allowed);
  }

  bool matches(const std::vector<int>& order, const OrderPattern& pattern) const {
    std::size_t reached = 0;
    for (const int dim : order) {
      const auto named = std::find(pattern.dims.begin(), pattern.dims.end(), dim_name(dim));
      if (named == pattern.dims.end()) continue;
      const auto position = static_cast<std::size_t>(named - pattern.dims.begin());
      if (position < reached) return false;
      reached = position;
    }
    if (!pattern.stationary) return true;
    for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
      if (layer_.tensors[x].role != *pattern.stationary) continue;
      const DimSet coupled = layer_.coupled(static_cast<int>(x));
      bool uncoupled_outside = false;
      for (const int dim : order) {
        const bool moves = (coupled >> dim & 1) != 0;
        if (moves && uncoupled_outside) return false;
        uncoupled_outside |= !moves;
      }
    }
    return true;
  }

  // 6. Fanouts: units, array shape, parallel dims.
  void check_fanout(std::size_t k) {
    const Level& level = accelerator_.levels[k];
    const auto& loops = mapping_.levels[k].spatial;
    Wide rows = 1, cols = 1;
    for (const SpatialLoop& loop : loops) {
      Wide& side = loop.side == Side::kRows ? rows : cols;
      side = times(side, loop.bound);
    }
    check_shape(level, rules(k).shape, rows, cols);
    check_parallel(level, rules(k).parallel, loops);
  }

  void check_shape(const Level& level, const ShapeRule& rule, Wide rows, Wide cols) {
    const Fanout& fanout = level.fanout();
    const Wide units = times(fanout.rows, fanout.cols);
    if (rule.kind == ShapeRule::Kind::kFixed) {
      const std::array<std::pair<Wide, Count>, 2> sides{{{rows, fanout.rows}, {cols, fanout.cols}}};
      for (const Side side : {Side::kRows, Side::kCols}) {
        const auto& [needed, available] = sides[static_cast<std::size_t>(side)];
        if (needed > available)
          refuse(Rule::kFanout, level.name, {}, {}, number(needed), static_cast<double>(available),
                 "the loops over " + std::string(word(side)) + " of " + level.name + " need " + text(needed) +
                     "; it has " + std::to_string(available));
      }
      return;
    }
    if (times(rows, cols) > units) {
      refuse(Rule::kFanout, level.name, {}, {}, number(times(rows, cols)), number(units),
             "the spatial loops need " + text(rows) + " x " + text(cols) + " units of " + level.name + "; it has " +
                 text(units));
      return;
    }
    if (rule.kind != ShapeRule::Kind::kBlocks) return;
    // Shapes are (r, floor(units / r)) with r a whole number of block rows, at most as many as there are blocks.
    const Wide block = times(rule.block_rows, rule.block_cols);
    const Wide blocks = block > 0 ? units / block : 0;
    const Wide tall = (rows + rule.block_rows - 1) / rule.block_rows;
    if (tall > blocks) {
      refuse(Rule::kArrayShape, level.name, {}, {}, number(rows), number(blocks * rule.block_rows),
             "the loops over rows of " + level.name + " need " + text(rows) + "; its blocks make at most " +
                 text(blocks * rule.block_rows) + " rows");
    } else if (cols > units / (tall * rule.block_rows)) {
      const Wide shape_rows = tall * rule.block_rows;
      refuse(Rule::kArrayShape, level.name, {}, {}, number(cols), number(units / shape_rows),
             "the spatial loops need " + text(rows) + " x " + text(cols) + " units of " + level.name +
                 "; the nearest shape of its blocks is " + text(shape_rows) + " x " + text(units / shape_rows));
    }
  }

  void check_parallel(const Level& level, const ParallelRule& rule, const std::vector<SpatialLoop>& loops) {
    std::array<std::vector<std::string>, 2> used;
    for (const SpatialLoop& loop : loops)
      if (loop.bound > 1) used[static_cast<std::size_t>(loop.side)].push_back(dim_name(loop.dim));
    if (rule.max_dims_per_side > 0) {
      for (const Side side : {Side::kRows, Side::kCols}) {
        const std::size_t count = used[static_cast<std::size_t>(side)].size();
        if (count > static_cast<std::size_t>(rule.max_dims_per_side))
          refuse(Rule::kParallel, level.name, {}, {}, static_cast<double>(count), rule.max_dims_per_side,
                 list(used[static_cast<std::size_t>(side)]) + " share the " + word(side) + " of " + level.name +
                     "; it takes " + std::to_string(rule.max_dims_per_side) + " per side");
      }
    }
    if (rule.assignments.empty()) return;
    // One assignment must explain all loops; the one that explains most is the one to talk about.
    const auto stranger = [&used](const Assignment& assignment, std::string& dim, Side& side) {
      std::size_t unexplained = 0;
      for (const Side s : {Side::kRows, Side::kCols})
        for (const std::string& name : used[static_cast<std::size_t>(s)])
          if (!contains(s == Side::kRows ? assignment.rows : assignment.cols, name) && unexplained++ == 0) {
            dim = name;
            side = s;
          }
      return unexplained;
    };
    std::string dim, allowed;
    Side side = Side::kRows;
    std::size_t fewest = SIZE_MAX;
    for (const Assignment& assignment : rule.assignments) {
      std::string candidate;
      Side candidate_side = Side::kRows;
      const std::size_t unexplained = stranger(assignment, candidate, candidate_side);
      if (unexplained == 0) return;
      if (unexplained < fewest) {
        fewest = unexplained;
        dim = candidate;
        side = candidate_side;
      }
      allowed += (allowed.empty() ? "" : "; ") + std::string("rows ") + list(assignment.rows) + ", columns " +
                 list(assignment.cols);
    }
    refuse(Rule::kParallel, level.name, {}, dim, static_cast<double>(fewest), 0,
           dim + " may not run over the " + word(side) + " of " + level.name + "; allowed: " + allowed);
  }

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Flexibility& flexibility_;
  const Factorization rule_;
  const Mapping& mapping_;
  std::vector<Count> tiles_;
  std::vector<Violation> found_;
};

}  // namespace

std::string_view to_string(Violation::Rule rule) {
  using Rule = Violation::Rule;
  switch (rule) {
    case Rule::kShape: return "shape";
    case Rule::kCoverage: return "coverage";
    case Rule::kFactorization: return "factorization";
    case Rule::kKeep: return "keep";
    case Rule::kCapacity: return "capacity";
    case Rule::kFanout: return "fanout";
    case Rule::kTile: return "tile";
    case Rule::kOrder: return "order";
    case Rule::kLoops: return "loops";
    case Rule::kParallel: return "parallel";
    case Rule::kArrayShape: return "array-shape";
  }
  return "?";
}

std::vector<Violation> check_legality(const Layer& layer, const Accelerator& accelerator,
                                      const Flexibility& flexibility, Factorization rule, const Mapping& mapping) {
  return Judge(layer, accelerator, flexibility, rule, mapping).check();
}

}  // namespace pliant
