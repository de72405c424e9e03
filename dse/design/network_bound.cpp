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
  std::size_t k = 0;
  for (const auto measure : {&LayerBound::energy_pj, &LayerBound::cycles, &LayerBound::edp}) {
    if (other.*measure > this->*measure) {
      this->*measure = other.*measure;
      rests_on[k] = other.rests_on[k];
    }
    ++k;
  }
  for (const LineBound& line : other.lines) raise(line);
}

void LayerBound::raise(const LineBound& line) {
  const auto at = std::ranges::lower_bound(lines, line.slope, {}, &LineBound::slope);
  if (at == lines.end() || at->slope != line.slope) {
    lines.insert(at, line);
    return;
  }
  const double least = std::max(at->least, line.least);
  if (line.here || !at->here) *at = line;
  at->least = least;
}

NetworkBound bound_whole(const LayerBound& workload, double most_cycles) {
  // Sums in another order, and deadlines that are met but for rounding, are no less than this share below.
  constexpr double kRounding = 1e-9;
  const double latest = most_cycles * (1 + kRounding);
  NetworkBound bound{workload.energy_pj, workload.cycles, 0};
  for (const LineBound& line : workload.lines)
    if (std::isinf(line.slope)) bound.cycles = std::max(bound.cycles, line.least);
  const auto energy_at = [&](double cycles) {
    double least = workload.energy_pj;
    for (const LineBound& line : workload.lines)
      if (!std::isinf(line.slope))
        least = std::max(least, line.slope > 0 ? line.least - line.slope * cycles : line.least);
    return least;
  };
  // The border of what the lines leave is convex and falls with the cycles: the least energy is at the end, the least
  // product at a corner or at an end.
  bound.energy_pj = energy_at(latest);
  double product = bound.cycles <= latest ? energy_at(bound.cycles) * bound.cycles : bound.energy_pj * bound.cycles;
  if (latest < kNever) product = std::min(product, bound.energy_pj * std::max(latest, bound.cycles));
  const auto corner = [&](double cycles) {
    if (cycles > bound.cycles && cycles < latest) product = std::min(product, energy_at(cycles) * cycles);
  };
  for (std::size_t i = 0; i < workload.lines.size(); ++i) {
    const LineBound& one = workload.lines[i];
    if (std::isinf(one.slope)) continue;
    if (one.slope > 0) corner((one.least - workload.energy_pj) / one.slope);
    for (std::size_t j = i + 1; j < workload.lines.size(); ++j)
      if (const LineBound& other = workload.lines[j]; !std::isinf(other.slope))
        corner((other.least - one.least) / (other.slope - one.slope));
  }
  bound.edp = std::max({workload.edp, product, bound.energy_pj * bound.cycles});
  return bound;
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
