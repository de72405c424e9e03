// SPDX-License-Identifier: Apache-2.0
#include "flex/flexion/tile_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "flex/mapspace/factors.h"
#include "flex/mapspace/random_draws.h"

namespace pliant {

namespace {

/// Sizes are whole numbers of this type at most.
constexpr double kLargestSize = 1e18;

struct TooManySteps {};

LevelFlexibility tiles_only(const TileRule& rule) {
  LevelFlexibility rules;
  rules.tile = rule;
  return rules;
}

}  // namespace

TileSpace::TileSpace(const Layer& layer, const Accelerator& accelerator, int memory, const TileRule& rule)
    : layer_(layer),
      convention_(accelerator.conventions.footprint),
      footprint_(layer, convention_),
      rules_(memory_rules(layer, accelerator, tiles_only(rule), memory)) {
  for (int x = 0; x < rules_.tensors; ++x)
    if ((rules_.may_keep >> x & 1U) != 0) kept_.push_back(x);
  for (std::size_t d = 0; d < layer.dims.size(); ++d) fixed_.push_back(std::min(rules_.fixed[d], layer.dims[d].size));
}

TileSpace& TileSpace::divisors_only() {
  divisors_.clear();
  for (const Dim& dim : layer_.dims) divisors_.push_back(divisors(dim.size));
  for (std::size_t d = 0; d < fixed_.size(); ++d)
    if (fixed_[d] > 0) fixed_[d] = *std::prev(std::upper_bound(divisors_[d].begin(), divisors_[d].end(), fixed_[d]));
  return *this;
}

TileSpace& TileSpace::of_any_layer() {
  DimSet used = 0;
  for (const int x : kept_) used |= layer_.coupled(x);
  const auto largest = std::max<Count>(1, static_cast<Count>(std::min(rules_.capacity, kLargestSize)));
  for (std::size_t d = 0; d < layer_.dims.size(); ++d) layer_.dims[d].size = (used >> d & 1) != 0 ? largest : 1;
  return *this;
}

double TileSpace::words(int tensor, std::span<const Count> tile) const {
  return footprint_.words(tensor, [&](int d) { return tile[static_cast<std::size_t>(d)]; });
}

bool TileSpace::fits(std::span<const Count> tile) const {
  return !rules_.overflows(rules_.may_keep, [&](int x) { return words(x, tile); });
}

bool TileSpace::is_held(std::span<const Count> tile) const {
  return rules_.holds(rules_.may_keep, [&](int x) { return words(x, tile); });
}

bool TileSpace::contains(std::span<const Count> tile) const {
  if (tile.size() != layer_.dims.size()) return false;
  for (std::size_t d = 0; d < tile.size(); ++d) {
    if (tile[d] < 1 || tile[d] > layer_.dims[d].size) return false;
    if (fixed_[d] > 0 && tile[d] != fixed_[d]) return false;
    if (!divisors_.empty() && layer_.dims[d].size % tile[d] != 0) return false;
  }
  return is_held(tile);
}

bool TileSpace::for_each(const std::function<bool(std::span<const Count>)>& visit) const {
  std::vector<Count> tile(layer_.dims.size(), 1);
  const auto choose = [&](auto&& self, std::size_t d) -> bool {
    if (d == tile.size()) return !is_held(tile) || visit(tile);
    const auto step = [&](Count size) {
      tile[d] = size;
      // Tiles only grow from here, so what does not fit now never will.
      return fits(tile) ? self(self, d + 1) : true;
    };
    bool go_on = true;
    if (fixed_[d] > 0) {
      go_on = step(fixed_[d]);
    } else if (!divisors_.empty()) {
      for (std::size_t i = 0; i < divisors_[d].size() && go_on; ++i) go_on = step(divisors_[d][i]);
    } else {
      const Count most = largest(static_cast<int>(d), tile);
      for (Count size = 1; size <= most && go_on; ++size) go_on = step(size);
    }
    tile[d] = 1;
    return go_on;
  };
  return choose(choose, 0);
}

bool TileSpace::is_linear(int dim) const {
  return std::ranges::all_of(kept_, [&](int x) { return footprint_.is_linear(x, dim); });
}

Count TileSpace::largest_of_linear(int dim, std::vector<Count>& tile) const {
  const auto d = static_cast<std::size_t>(dim);
  tile[d] = 1;
  // Words of each role, and last of all together: what stays, and what every step of the dim adds.
  std::array<double, kRoles + 1> constant{}, slope{};
  for (const int x : kept_) {
    const double one = words(x, tile) * rules_.element[static_cast<std::size_t>(x)];
    auto& part = (layer_.coupled(x) >> dim & 1) != 0 ? slope : constant;
    part[static_cast<std::size_t>(rules_.role[static_cast<std::size_t>(x)])] += one;
    part[kRoles] += one;
  }
  auto most = static_cast<double>(layer_.dims[d].size);
  for (std::size_t r = 0; r <= kRoles; ++r) {
    const double limit = r < kRoles ? rules_.share_units[r] : rules_.capacity;
    if (constant[r] + slope[r] > limit) return 0;
    if (slope[r] > 0) most = std::min(most, std::floor((limit - constant[r]) / slope[r]));
  }
  return static_cast<Count>(most);
}

Count TileSpace::largest(int dim, std::vector<Count>& tile) const {
  if (is_linear(dim)) return largest_of_linear(dim, tile);
  const auto d = static_cast<std::size_t>(dim);
  const auto ok = [&](Count size) {
    tile[d] = size;
    return fits(tile);
  };
  Count low = 0, high = layer_.dims[d].size;
  while (low < high) {
    const Count middle = low + (high - low + 1) / 2;
    ok(middle) ? low = middle : high = middle - 1;
  }
  tile[d] = 1;
  return low;
}

/// Dims that share an index first, then the others from small to large: the last is counted in closed form.
std::vector<int> TileSpace::counting_order() const {
  std::vector<int> order;
  for (int d = 0; d < static_cast<int>(layer_.dims.size()); ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
    const auto size = [this](int d) { return layer_.dims[static_cast<std::size_t>(d)].size; };
    return std::pair(is_linear(a), size(a)) < std::pair(is_linear(b), size(b));
  });
  return order;
}

std::optional<BigCount> TileSpace::count(std::uint64_t steps) const {
  const std::vector<int> order = counting_order();
  if (order.empty()) return BigCount(1);
  // All sizes up to the largest of the last dim are held, unless a rule refuses some of them.
  const bool all_up_to_largest = rules_.allows_smaller(order.back());
  std::vector<Count> tile(layer_.dims.size(), 1);
  BigCount total = 0;
  std::uint64_t here = 0;  // flushed into the total before it can overflow
  const auto choose = [&](auto&& self, std::size_t i) -> void {
    if (steps-- == 0) throw TooManySteps{};
    if (i == order.size()) {
      here += is_held(tile) ? 1 : 0;
      return;
    }
    const int dim = order[i];
    const auto d = static_cast<std::size_t>(dim);
    const Count most = largest(dim, tile);
    if (fixed_[d] > 0) {
      tile[d] = fixed_[d];
      if (fixed_[d] <= most) self(self, i + 1);
      tile[d] = 1;
      return;
    }
    if (i + 1 == order.size() && all_up_to_largest) {
      here += divisors_.empty()
                  ? static_cast<std::uint64_t>(most)
                  : static_cast<std::uint64_t>(std::upper_bound(divisors_[d].begin(), divisors_[d].end(), most) -
                                               divisors_[d].begin());
      if (here >> 62 != 0) total += std::exchange(here, 0);
      return;
    }
    if (divisors_.empty()) {
      for (tile[d] = 1; tile[d] <= most; ++tile[d]) self(self, i + 1);
    } else {
      for (std::size_t n = 0; n < divisors_[d].size() && divisors_[d][n] <= most; ++n) {
        tile[d] = divisors_[d][n];
        self(self, i + 1);
      }
    }
    tile[d] = 1;
  };
  try {
    choose(choose, 0);
  } catch (const TooManySteps&) {
    return std::nullopt;
  }
  return total + here;
}

std::optional<std::vector<Count>> TileSpace::sample(std::mt19937_64& random, std::uint64_t tries) const {
  std::vector<Count> tile(layer_.dims.size(), 1);
  std::vector<Count> most(tile.size(), 1);
  for (std::size_t d = 0; d < tile.size(); ++d) most[d] = largest(static_cast<int>(d), tile);
  if (std::ranges::find(most, 0) != most.end()) return std::nullopt;
  for (; tries > 0; --tries) {
    for (std::size_t d = 0; d < tile.size(); ++d) {
      tile[d] = fixed_[d];
      if (fixed_[d] > 0) continue;
      const std::size_t n = divisors_.empty() ? static_cast<std::size_t>(most[d]) : divisors_[d].size();
      const std::size_t pick = below(random, n);
      tile[d] = divisors_.empty() ? static_cast<Count>(pick) + 1 : divisors_[d][pick];
    }
    if (is_held(tile)) return tile;
  }
  return std::nullopt;
}

/// How many sizes of the last dim are held when the others are as given; where a rule refuses some of them, by a look
/// at a few.
double TileSpace::held_along(int dim, std::vector<Count>& tile, std::mt19937_64& random) const {
  constexpr int kLooks = 16;
  const auto d = static_cast<std::size_t>(dim);
  tile[d] = 1;
  const Count most = largest(dim, tile);
  if (most == 0 || rules_.allows_smaller(dim)) return static_cast<double>(most);
  int held = 0;
  for (int i = 0; i < kLooks; ++i) {
    tile[d] = 1 + static_cast<Count>(below(random, static_cast<std::size_t>(most)));
    held += is_held(tile) ? 1 : 0;
  }
  tile[d] = 1;
  return static_cast<double>(most) * held / kLooks;
}

// Knuth's estimator: choose the sizes one after the other, each among those that still fit, and weigh the result with
// one over its probability. Sizes are drawn about as likely as 1/size, since small ones leave more room for the others;
// the last dim is counted, not drawn.
TileSpace::Estimate TileSpace::estimate(const TileSpace& whole, const TileSpace& part, std::uint64_t samples,
                                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<int> order = whole.counting_order();
  std::vector<Count> tile(whole.layer_.dims.size(), 1);
  double sum_whole = 0, sum_part = 0, square_whole = 0, square_part = 0, product = 0;
  for (std::uint64_t n = 0; n < samples; ++n) {
    std::fill(tile.begin(), tile.end(), 1);
    double weight = 1;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      const auto d = static_cast<std::size_t>(order[i]);
      const auto most = static_cast<double>(whole.largest(order[i], tile));
      const double logs = std::log(most + 1);
      const double size = std::clamp(std::floor(std::exp(unit(random) * logs)), 1.0, std::max(1.0, most));
      weight *= logs / std::log1p(1 / size);
      tile[d] = static_cast<Count>(size);
    }
    const double in_whole = weight * whole.held_along(order.back(), tile, random);
    const double in_part = weight * part.held_along(order.back(), tile, random);
    sum_whole += in_whole;
    sum_part += in_part;
    square_whole += in_whole * in_whole;
    square_part += in_part * in_part;
    product += in_whole * in_part;
  }
  const auto n = static_cast<double>(samples);
  constexpr double kZ = 1.959963984540054;
  const double mean_whole = sum_whole / n, mean_part = sum_part / n;
  const double var_whole = (square_whole / n - mean_whole * mean_whole) / n;
  const double var_part = (square_part / n - mean_part * mean_part) / n;
  const double covariance = (product / n - mean_whole * mean_part) / n;
  const auto interval = [](double value, double variance) {
    const double reach = kZ * std::sqrt(std::max(0.0, variance));
    return Interval{value, value - reach, value + reach};
  };
  const double ratio = mean_whole > 0 ? mean_part / mean_whole : 0;
  const double var_ratio =
      mean_whole > 0 ? (var_part - 2 * ratio * covariance + ratio * ratio * var_whole) / (mean_whole * mean_whole) : 0;
  return {interval(mean_whole, var_whole), interval(mean_part, var_part), interval(ratio, var_ratio)};
}

}  // namespace pliant
