// SPDX-License-Identifier: Apache-2.0
#include "dse/design/network_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dse/mappers/network_lines.h"

namespace pliant {

namespace {

/// Corners this close to what the lines touch are not worth another line.
constexpr double kCloseEnough = 1e-7;
constexpr std::size_t kMostLines = 160;

/// Where a line of this slope touches the sum of the regions.
NetworkLine touch(const std::vector<RepeatedBound>& layers, double slope) {
  NetworkLine line;
  line.slope = slope;
  for (const auto& [bound, count] : layers) {
    const auto times = static_cast<double>(count);
    double cycles = bound.cycles, energy = bound.energy_pj;
    if (bound.edp > cycles * energy) {
      // The hyperbola between its ends: the fewest cycles, and the least energy.
      const double longest = energy > 0 ? bound.edp / energy : std::numeric_limits<double>::infinity();
      cycles = std::clamp(std::sqrt(bound.edp / slope), cycles, std::max(cycles, longest));
      energy = std::max(energy, bound.edp / cycles);
    }
    line.cycles += times * cycles;
    line.energy_pj += times * energy;
  }
  line.least = line.energy_pj + slope * line.cycles;
  return line;
}

double least_product(const std::vector<RepeatedBound>& layers, double energy, double cycles) {
  // The ends: all energy, all cycles.
  std::vector<NetworkLine> lines(2);
  lines[0] = {0, energy, energy, std::numeric_limits<double>::infinity(), {}};
  lines[1] = {std::numeric_limits<double>::infinity(), cycles, std::numeric_limits<double>::infinity(), cycles, {}};
  double touched = std::numeric_limits<double>::infinity();
  double slope = energy / cycles;
  while (true) {
    const auto place = std::ranges::upper_bound(lines, slope, {}, &NetworkLine::slope);
    const NetworkLine line = touch(layers, slope);
    touched = std::min(touched, line.energy_pj * line.cycles);
    lines.insert(place, line);
    double least = std::numeric_limits<double>::infinity();
    std::size_t at = 0;
    for (std::size_t k = 0; k + 1 < lines.size(); ++k) {
      const Crossing corner = meet(lines[k], lines[k + 1]);
      const double product = corner.energy_pj * corner.cycles;
      if (product >= least) continue;
      least = product;
      at = k;
    }
    if (least >= touched * (1 - kCloseEnough) || lines.size() >= kMostLines) return least;
    const double low = lines[at].slope, high = lines[at + 1].slope;
    slope = low == 0 ? high / 4 : std::isinf(high) ? low * 4 : std::sqrt(low * high);
    if (!(slope > low && slope < high)) return least;
  }
}

}  // namespace

void LayerBound::raise(const LayerBound& other) {
  energy_pj = std::max(energy_pj, other.energy_pj);
  cycles = std::max(cycles, other.cycles);
  edp = std::max(edp, other.edp);
}

void LayerBound::lower(const LayerBound& other) {
  energy_pj = std::min(energy_pj, other.energy_pj);
  cycles = std::min(cycles, other.cycles);
  edp = std::min(edp, other.edp);
}

NetworkBound bound_network(const std::vector<RepeatedBound>& layers) {
  NetworkBound bound;
  bool beyond = false;
  double roots = 0;
  for (const auto& [layer, count] : layers) {
    bound.energy_pj += static_cast<double>(count) * layer.energy_pj;
    bound.cycles += static_cast<double>(count) * layer.cycles;
    roots += static_cast<double>(count) * std::sqrt(layer.edp);
    beyond |= layer.edp > layer.energy_pj * layer.cycles;
  }
  // Sums of products are at least the square of the sums of their roots; with one layer that is exact.
  bound.edp = std::max(bound.energy_pj * bound.cycles, roots * roots);
  if (beyond && layers.size() > 1 && bound.energy_pj > 0 && bound.cycles > 0)
    bound.edp = std::max(bound.edp, least_product(layers, bound.energy_pj, bound.cycles));
  return bound;
}

}  // namespace pliant
