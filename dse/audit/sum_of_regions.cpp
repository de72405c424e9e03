// SPDX-License-Identifier: Apache-2.0
// The sum of convex regions is convex: for every slope s it lies above the line E + s T = sum of the layers' least
// E + s T. Above two such lines, and between them, the product is least where they meet, because it rises and then
// falls along each. So a few lines make a polygon around the sum, and the least product of its corners is a bound. A
// corner that is too low is cut off by one more line, until it is a point of the sum or the corners are high enough.
#include "dse/audit/sum_of_regions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant::audit {

namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();
/// A corner that the next line would cut by less is a point of the sum.
constexpr double kSharp = 1e-11;
/// Where lines are closer, their corner is known no better: it is a difference of sums over one of slopes. Between
/// them the product of the sum is above that of the corner by less than the square of this share.
constexpr double kCloseSlopes = 2e-5;
constexpr int kMostCuts = 100;  ///< one inside the other

/// The least energy + slope * cycles of one layer.
double least_sum(const Region& layer, double slope) {
  const double corner = layer.energy + slope * layer.cycles;
  if (layer.energy * layer.cycles >= layer.product) return corner;
  double energy = std::sqrt(layer.product * slope);
  if (energy < layer.energy) return layer.energy + slope * (layer.product / layer.energy);
  if (layer.product < layer.cycles * energy) return layer.product / layer.cycles + slope * layer.cycles;
  return 2 * energy;
}

class Polygon {
 public:
  Polygon(const std::vector<Region>& layers, double enough) : layers_(layers), enough_(enough) {}

  double least() {
    double energy = 0, cycles = 0;
    for (const Region& layer : layers_) {
      energy += layer.times * layer.energy;
      cycles += layer.times * layer.cycles;
    }
    return cut({0, energy}, {kNowhere, cycles}, 0);
  }

 private:
  /// An infinite slope: the cycles are at least `sum`.
  struct Line {
    double slope = 0, sum = 0;
  };

  Line line(double slope) const {
    double sum = 0;
    for (const Region& layer : layers_) sum += layer.times * least_sum(layer, slope);
    return {slope, sum};
  }

  /// The least product at the corners between two lines, the flatter one first.
  double cut(const Line& flat, const Line& steep, int depth) const {
    const double cycles = steep.slope == kNowhere ? steep.sum : (steep.sum - flat.sum) / (steep.slope - flat.slope);
    const double energy = flat.sum - flat.slope * cycles;
    const double product = energy * cycles;
    const bool close = flat.slope > 0 && steep.slope <= flat.slope * (1 + kCloseSlopes);
    if (product >= enough_ || close || depth == kMostCuts) return product;
    const double slope = flat.slope > 0 && steep.slope < kNowhere ? std::sqrt(flat.slope * steep.slope)
                         : steep.slope < kNowhere                 ? steep.slope / 16
                         : flat.slope > 0                         ? flat.slope * 16
                         : energy > 0 && cycles > 0               ? energy / cycles
                                                                  : 1;
    const Line between = line(slope);
    if (between.sum <= (energy + slope * cycles) * (1 + kSharp)) return product;
    return std::min(cut(flat, between, depth + 1), cut(between, steep, depth + 1));
  }

  const std::vector<Region>& layers_;
  double enough_;
};

}  // namespace

double least_product(const std::vector<Region>& layers, double enough) { return Polygon(layers, enough).least(); }

}  // namespace pliant::audit
