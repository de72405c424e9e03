// SPDX-License-Identifier: Apache-2.0
#include "dse/design/network_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A layer whose product is more than its least energy times its fewest cycles, all its repetitions together. A line of
/// slope s (energy lost for a cycle won) touches its region at the end with the least energy while s is small, then on
/// the hyperbola at cycles = root / sqrt(s), and from some slope on at the end with the fewest cycles.
struct Arc {
  double root = 0;                           ///< of the product
  double begins = 0, ends = kNever;          ///< slopes between which the hyperbola is touched
  double least_energy = 0, most_cycles = 0;  ///< before
  double most_energy = 0, least_cycles = 0;  ///< after
};

Arc arc_of(const LayerBound& bound, double times) {
  Arc arc;
  arc.root = times * std::sqrt(bound.edp);
  if (bound.energy_pj > 0) {
    arc.begins = bound.energy_pj * bound.energy_pj / bound.edp;
    arc.least_energy = times * bound.energy_pj;
    arc.most_cycles = times * (bound.edp / bound.energy_pj);
  }
  if (bound.cycles > 0) {
    arc.ends = std::max(arc.begins, bound.edp / (bound.cycles * bound.cycles));
    arc.most_energy = times * (bound.edp / bound.cycles);
    arc.least_cycles = times * bound.cycles;
  }
  return arc;
}

/// The least (energy + roots * x) * (cycles + roots / x) for x from `from` to `to`.
double least_on_piece(double energy, double cycles, double roots, double from, double to) {
  if (roots <= 0) return energy * cycles;
  const double x = std::clamp(cycles > 0 ? std::sqrt(energy / cycles) : energy > 0 ? kNever : from, from, to);
  return energy * cycles + roots * roots + roots * ((energy > 0 ? energy / x : 0) + (cycles > 0 ? cycles * x : 0));
}

/// The border of the sum of all regions is where lines of every slope touch it. Between two slopes where some arc
/// begins or ends the touched point is (energy + roots x, cycles + roots / x) with x the root of the slope.
double least_product(std::vector<Arc> arcs, double energy, double cycles) {
  std::vector<double> energy_before(arcs.size() + 1, 0), cycles_before(arcs.size() + 1, 0);
  std::ranges::sort(arcs, {}, &Arc::begins);
  for (std::size_t k = arcs.size(); k-- > 0;) {
    energy_before[k] = energy_before[k + 1] + arcs[k].least_energy;
    cycles_before[k] = cycles_before[k + 1] + arcs[k].most_cycles;
  }
  std::vector<const Arc*> by_end;
  for (const Arc& arc : arcs) by_end.push_back(&arc);
  std::ranges::sort(by_end, {}, &Arc::ends);
  double least = kNever, slope = 0, roots = 0;
  std::size_t begun = 0, ended = 0;
  while (true) {
    for (; begun < arcs.size() && arcs[begun].begins <= slope; ++begun) roots += arcs[begun].root;
    for (; ended < begun && by_end[ended]->ends <= slope; ++ended) {
      roots -= by_end[ended]->root;
      energy += by_end[ended]->most_energy;
      cycles += by_end[ended]->least_cycles;
    }
    if (ended == begun) roots = 0;  // not what rounding leaves
    const double next =
        std::min(begun < arcs.size() ? arcs[begun].begins : kNever, ended < arcs.size() ? by_end[ended]->ends : kNever);
    least = std::min(least, least_on_piece(energy + energy_before[begun], cycles + cycles_before[begun], roots,
                                           std::sqrt(slope), std::sqrt(next)));
    if (next == kNever) return least;
    slope = next;
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
  std::vector<Arc> arcs;
  double energy = 0, cycles = 0;  // of the layers that have a corner instead
  for (const auto& [layer, count] : layers) {
    const auto times = static_cast<double>(count);
    bound.energy_pj += times * layer.energy_pj;
    bound.cycles += times * layer.cycles;
    if (layer.edp > layer.energy_pj * layer.cycles) {
      arcs.push_back(arc_of(layer, times));
    } else {
      energy += times * layer.energy_pj;
      cycles += times * layer.cycles;
    }
  }
  bound.edp = bound.energy_pj * bound.cycles;
  if (!arcs.empty()) bound.edp = std::max(bound.edp, least_product(std::move(arcs), energy, cycles));
  return bound;
}

}  // namespace pliant
