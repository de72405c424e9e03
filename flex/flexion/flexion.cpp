// SPDX-License-Identifier: Apache-2.0
#include "flex/flexion/flexion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <set>
#include <stdexcept>

#include "core/big_count.h"
#include "flex/flexion/axis_sets.h"
#include "flex/mapspace/chain_count.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/rules.h"

namespace pliant {

namespace {

double ratio(const BigCount& part, const BigCount& whole) {
  if (whole == 0) return 1;
  // Both scaled down together: quotients of numbers beyond 1e308 stay finite.
  const unsigned bits = whole == 0 ? 0 : static_cast<unsigned>(msb(whole));
  const unsigned shift = bits > 1000 ? bits - 1000 : 0;
  return BigCount(part >> shift).convert_to<double>() / BigCount(whole >> shift).convert_to<double>();
}

AxisFlexion about(Measure measure, std::string level = {}) {
  AxisFlexion result;
  result.measure = measure;
  result.level = std::move(level);
  return result;
}

/// Sizes as whole numbers.
struct Sizes {
  BigCount c, a, w, a_and_w, c_and_w;
};

AxisFlexion exact(Measure measure, std::string level, const Sizes& sizes) {
  AxisFlexion result = about(measure, std::move(level));
  result.c = sizes.c.str();
  result.a = sizes.a.str();
  result.w = sizes.w.str();
  result.a_and_w = sizes.a_and_w.str();
  result.c_and_w = sizes.c_and_w.str();
  result.h_f = ratio(sizes.a, sizes.c);
  result.w_f = ratio(sizes.a_and_w, sizes.w);
  return result;
}

std::string whole_number(double value) { return BigCount(std::max(1.0, std::round(value))).str(); }

class Flexion {
 public:
  Flexion(const Accelerator& accelerator, const FlexionOptions& options)
      : accelerator_(accelerator), options_(options) {}

  LayerFlexion of(const Layer& layer, const Flexibility& flexibility) {
    LayerFlexion result;
    result.layer = layer.name;
    const int memory = principal_memory(accelerator_, flexibility);
    const int fanout = principal_fanout(accelerator_);
    const auto rules = [&](int level) -> const LevelFlexibility& {
      return level_rules(flexibility, static_cast<std::size_t>(level));
    };
    result.axes.push_back(memory < 0 ? about(Measure::kTileVolume) : volumes(layer, memory, rules(memory)));
    if (options_.tile_tuples)
      result.axes.push_back(memory < 0 ? about(Measure::kTileTuples) : tuples(layer, memory, rules(memory)));
    result.axes.push_back(memory < 0 ? about(Measure::kOrders) : orders(layer, memory, rules(memory)));
    result.axes.push_back(fanout < 0 ? about(Measure::kPairs) : pairs(layer, fanout, rules(fanout)));
    result.axes.push_back(fanout < 0 ? about(Measure::kShapes) : shapes(layer, fanout, rules(fanout), flexibility));
    return result;
  }

 private:
  const std::string& name(int level) const { return accelerator_.levels[static_cast<std::size_t>(level)].name; }

  // O: permutations of the loops that the memory can have.
  AxisFlexion orders(const Layer& layer, int memory, const LevelFlexibility& rules) const {
    const Layer whole = whole_nest(layer);
    const MemoryRules all = memory_rules(whole, accelerator_, rules, memory);
    const MemoryRules own = memory_rules(layer, accelerator_, rules, memory);
    const BigCount w = factorial(std::popcount(own.may_loop));
    return exact(Measure::kOrders, name(memory),
                 {.c = factorial(std::popcount(all.may_loop)),
                  .a = all.orders.count(all.may_loop),
                  .w = w,
                  .a_and_w = own.orders.count(own.may_loop),
                  .c_and_w = w});
  }

  // P: ordered pairs of distinct dims.
  AxisFlexion pairs(const Layer& layer, int level, const LevelFlexibility& rules) const {
    LevelFlexibility any = rules;
    any.parallel.assignments.clear();
    const Layer whole = whole_nest(layer);
    const auto size = [&](const Layer& of, const LevelFlexibility& under) {
      return BigCount(parallel_choices(of, fanout_rules(of, accelerator_, under, level)).size());
    };
    // A pair with an idle side acts like some pair of all; of those there are no more than all.
    const BigCount c = size(whole, any), w = size(layer, any);
    return exact(Measure::kPairs, name(level),
                 {.c = c,
                  .a = std::min(c, size(whole, rules)),
                  .w = w,
                  .a_and_w = std::min(w, size(layer, rules)),
                  .c_and_w = w});
  }

  // S: rows 1 .. units, the columns are what is left. More rows than the dim over them act like as many as the dim has.
  AxisFlexion shapes(const Layer& layer, int level, const LevelFlexibility& rules,
                     const Flexibility& flexibility) const {
    const FanoutRules fanout = fanout_rules(layer, accelerator_, rules, level);
    const Count size = parallel_size(layer, accelerator_, flexibility, level);
    const std::vector<Count> rows = fanout.row_counts();
    std::set<Count> effective;
    for (const Count r : rows) effective.insert(std::min(r, size));
    return exact(Measure::kShapes, name(level),
                 {.c = fanout.units(),
                  .a = rows.size(),
                  .w = size,
                  .a_and_w = effective.size(),
                  .c_and_w = std::min(size, fanout.units())});
  }

  // T by volume: points (inputs, weights, outputs) of tile sizes in the memory's units (words, where all are as wide);
  // a fixed tile is one point.
  AxisFlexion volumes(const Layer& layer, int level, const LevelFlexibility& written) const {
    const MemoryRules rules = memory_rules(layer, accelerator_, written, level);
    const double capacity = rules.capacity;
    std::vector<double> sizes, shares;
    double whole_share = 0;
    for (std::size_t r = 0; r < kRoles; ++r) {
      const TensorSet tensors = layer.tensors_with_role(static_cast<Role>(r)) & rules.may_keep;
      if (tensors == 0) continue;
      double words = 0;
      for (std::size_t x = 0; x < layer.tensors.size(); ++x)
        if ((tensors >> x & 1) != 0)
          words += static_cast<double>(layer.tensor_words(static_cast<int>(x))) * rules.element[x];
      sizes.push_back(words);
      if (rules.shares) {
        shares.push_back((*rules.shares)[r]);
        whole_share += shares.back();
      }
    }
    const std::size_t n = sizes.size();
    double simplex = 1, workload = 1;
    for (std::size_t i = 0; i < n; ++i) {
      simplex *= capacity / static_cast<double>(i + 1);
      workload *= sizes[i];
    }
    const double reachable = clipped_simplex(sizes, capacity);
    double a = simplex, both = reachable;
    AxisFlexion result = about(Measure::kTileVolume, name(level));
    result.h_f = 1;
    if (rules.has_fixed_tile) {
      a = both = 1;
      result.h_f = 1 / std::max(1.0, simplex);
    } else if (rules.shares) {
      a = both = 1;
      result.h_f = 1;
      for (std::size_t i = 0; i < n; ++i) {
        const double share = shares[i] / whole_share;
        a *= share * capacity;
        both *= std::min(share * capacity, sizes[i]);
        result.h_f *= share * static_cast<double>(i + 1);  // n! times the product of the shares
      }
    }
    result.w_f = std::min(1.0, both / workload);
    result.c = whole_number(simplex);
    result.a = whole_number(a);
    result.w = whole_number(workload);
    result.a_and_w = whole_number(both);
    result.c_and_w = whole_number(reachable);
    return result;
  }

  /// Volume of {0 <= x_i <= limit_i, sum x_i <= capacity}: inclusion and exclusion over the limits overstepped.
  static double clipped_simplex(const std::vector<double>& limits, double capacity) {
    const std::size_t n = limits.size();
    double factorial_n = 1, box = 1, sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      factorial_n *= static_cast<double>(i + 1);
      box *= limits[i];
      sum += limits[i];
    }
    if (sum <= capacity) return box;  // everything fits; the alternating sum below would lose digits
    double total = 0;
    for (std::size_t set = 0; set < std::size_t{1} << n; ++set) {
      double room = capacity;
      for (std::size_t i = 0; i < n; ++i)
        if ((set >> i & 1) != 0) room -= limits[i];
      if (room > 0) total += (std::popcount(set) % 2 == 0 ? 1 : -1) * std::pow(room, static_cast<double>(n));
    }
    return std::clamp(total / factorial_n, 0.0, box);
  }

  // T by tuples: one size per dim. C and A do not depend on the layer's sizes: stride 1, any sizes that fit.
  struct Hardware {
    std::string c = "1", a = "1";
    double h_f = 1;
    std::optional<Interval> interval;
  };

  struct HardwareKey {
    int level;
    std::vector<std::string> dims;
    TileRule tile;
    bool operator==(const HardwareKey&) const = default;
  };

  AxisFlexion tuples(const Layer& layer, int level, const LevelFlexibility& rules) {
    AxisFlexion result = about(Measure::kTileTuples, name(level));
    const Hardware& hardware = tuples_of_hardware(layer, level, rules);
    result.c = hardware.c;
    result.a = hardware.a;
    result.h_f = hardware.h_f;
    result.h_f_interval = hardware.interval;

    BigCount w = 1;
    for (const Dim& dim : layer.dims) w *= dim.size;
    result.w = w.str();
    result.c_and_w = tuples_in_reach(layer, level);
    const TileSpace space(layer, accelerator_, level, rules.tile);
    if (!rules.tile.fixed.empty()) {
      // One tile, clipped to the layer.
      result.a_and_w = "1";
      result.w_f = ratio(1, w);
    } else if (const auto both = space.count(options_.steps)) {
      result.a_and_w = both->str();
      result.w_f = ratio(*both, w);
    } else {
      const Interval part = TileSpace::estimate(space, space, options_.samples, options_.seed).whole;
      const auto whole = w.convert_to<double>();
      result.a_and_w = whole_number(part.value);
      result.w_f = std::min(1.0, part.value / whole);
      result.w_f_interval = {result.w_f, std::max(0.0, part.low / whole), std::min(1.0, part.high / whole)};
    }
    return result;
  }

  /// Tuples of the layer that a soft buffer can hold.
  std::string tuples_in_reach(const Layer& layer, int level) const {
    const TileSpace soft(layer, accelerator_, level, TileRule{});
    if (const auto count = soft.count(options_.steps)) return count->str();
    return whole_number(TileSpace::estimate(soft, soft, options_.samples, options_.seed).whole.value);
  }

  const Hardware& tuples_of_hardware(const Layer& layer, int level, const LevelFlexibility& rules) {
    const Layer whole = whole_nest(layer);
    HardwareKey key{level, {}, rules.tile};
    for (const Dim& dim : whole.dims) key.dims.push_back(dim.name);
    const auto known = std::ranges::find(hardware_, key, &std::pair<HardwareKey, Hardware>::first);
    if (known != hardware_.end()) return known->second;
    Hardware& result = hardware_.emplace_back(key, Hardware{}).second;
    TileRule free_tiles = rules.tile;
    free_tiles.fixed.clear();
    const bool soft = free_tiles == TileRule{};
    const TileSpace any = TileSpace(whole, accelerator_, level, TileRule{}).of_any_layer();
    const TileSpace own = TileSpace(whole, accelerator_, level, free_tiles).of_any_layer();
    const auto c = any.count(options_.steps / 40);
    const auto a = c ? own.count(options_.steps / 40) : std::nullopt;
    TileSpace::Estimate estimate;
    if (c && a) {
      result.c = c->str();
      result.a = a->str();
      result.h_f = ratio(*a, *c);
    } else {
      estimate = TileSpace::estimate(any, own, options_.samples, options_.seed);
      result.c = whole_number(estimate.whole.value);
      result.a = soft ? result.c : whole_number(estimate.part.value);
      if (!soft) {
        result.h_f = estimate.ratio.value;
        result.interval = estimate.ratio;
      }
    }
    if (!rules.tile.fixed.empty()) {
      result.a = "1";
      const double all = c ? c->convert_to<double>() : estimate.whole.value;
      result.h_f = 1 / all;
      result.interval.reset();
      if (!c) result.interval = Interval{result.h_f, 1 / estimate.whole.high, 1 / std::max(1.0, estimate.whole.low)};
    }
    return result;
  }

  const Accelerator& accelerator_;
  const FlexionOptions options_;
  std::deque<std::pair<HardwareKey, Hardware>> hardware_;  ///< what was counted already
};

template <class Rows>
const auto& find_measure(const Rows& rows, Measure measure) {
  for (const auto& row : rows)
    if (row.measure == measure) return row;
  throw std::out_of_range("this measure was not asked for");
}

Measure measure_of(std::size_t axis) {
  constexpr PerAxis<Measure> kMeasureOf{Measure::kTileVolume, Measure::kOrders, Measure::kPairs, Measure::kShapes};
  return kMeasureOf[axis];
}

}  // namespace

std::string_view to_string(Measure measure) {
  constexpr std::array<std::string_view, kMeasures> kNames{"tile volume", "tile tuples", "orders", "pairs", "shapes"};
  return kNames[static_cast<std::size_t>(measure)];
}

Axis axis_of(Measure measure) {
  constexpr std::array<Axis, kMeasures> kAxes{Axis::kTiles, Axis::kTiles, Axis::kOrders, Axis::kParallel, Axis::kShape};
  return kAxes[static_cast<std::size_t>(measure)];
}

const AxisFlexion& LayerFlexion::of(Measure measure) const { return find_measure(axes, measure); }

double LayerFlexion::h_f(const PerAxis<bool>& wanted) const {
  double product = 1;
  for (std::size_t a = 0; a < kAxisCount; ++a)
    if (wanted[a]) product *= of(measure_of(a)).h_f;
  return product;
}

double LayerFlexion::w_f(const PerAxis<bool>& wanted) const {
  double product = 1;
  for (std::size_t a = 0; a < kAxisCount; ++a)
    if (wanted[a]) product *= of(measure_of(a)).w_f;
  return product;
}

LayerFlexion layer_flexion(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                           const FlexionOptions& options) {
  return Flexion(accelerator, options).of(layer, flexibility);
}

const WorkloadFlexion::Mean& WorkloadFlexion::of(Measure measure) const { return find_measure(means, measure); }

WorkloadFlexion workload_flexion(const Workload& workload, const Accelerator& accelerator,
                                 const FlexionOptions& options) {
  WorkloadFlexion result;
  Flexion flexion(accelerator, options);
  double weights = 0;
  for (const Workload::Entry& entry : workload.layers) {
    result.layers.push_back(flexion.of(entry.layer, accelerator.flexibility_of(entry.layer)));
    result.layers.back().count = entry.count;
    weights += static_cast<double>(entry.count);
  }
  if (result.layers.empty()) return result;
  for (std::size_t i = 0; i < result.layers[0].axes.size(); ++i) {
    WorkloadFlexion::Mean mean{result.layers[0].axes[i].measure, 0, 0, 0, 0, 0, 0, 0};
    for (const LayerFlexion& layer : result.layers) {
      const auto share = static_cast<double>(layer.count);
      const AxisFlexion& axis = layer.axes[i];
      const auto number = [](const std::string& digits) { return BigCount(digits).convert_to<double>(); };
      mean.h_f += share * axis.h_f;
      mean.w_f += share * axis.w_f;
      mean.c += share * number(axis.c);
      mean.a += share * number(axis.a);
      mean.w += share * number(axis.w);
      mean.a_and_w += share * number(axis.a_and_w);
      mean.c_and_w += share * number(axis.c_and_w);
    }
    for (double* sum : {&mean.h_f, &mean.w_f, &mean.c, &mean.a, &mean.w, &mean.a_and_w, &mean.c_and_w}) *sum /= weights;
    result.means.push_back(mean);
  }
  return result;
}

}  // namespace pliant
