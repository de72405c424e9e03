// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/lower_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/audit/choices.h"

namespace pliant::audit {

namespace {

constexpr std::array<std::string_view, 5> kMeans = {"enumeration", "moved once", "tiles", "lines", "not decided"};

/// Lines are added while they cut off the lowest corner; a handful is enough where they help at all.
constexpr std::size_t kMostLines = 12;

/// With remainders a node takes more time and memory, and where loops in time round it has many neighbours.
constexpr double kShareOfNodes = 0.1, kShareWhereLoopsRound = 0.002;

/// There, tiles within such a factor of each other are one: few nodes close most choices.
constexpr std::array<double, 3> kAlike = {4, 1.5, 1};

/// The least number for which something is true that is true of all larger ones, or a little more; infinity: none.
template <typename True>
double least_that(const True& is) {
  double no = 0, yes = 1;
  while (!is(yes)) {
    no = yes;
    yes *= 1024;
    if (yes > 1e300) return kInfinity;
  }
  for (int i = 0; i < 60; ++i) (is((no + yes) / 2) ? yes : no) = (no + yes) / 2;
  return yes;
}

}  // namespace

std::string_view to_string(Means means) { return kMeans[static_cast<std::size_t>(means)]; }

double least_value(const pliant::Task& task, const Problem& problem, double energy, double cycles, double steps) {
  Totals totals;
  totals.cycles = std::max(cycles, steps);
  totals.steps = steps;
  totals.energy_pj = energy + problem.leak_pj_per_cycle_total * totals.cycles;
  totals.utilization = problem.busy_cycles / totals.cycles;
  return task_value(task, totals);
}

ChoiceBound::ChoiceBound(const pliant::Task& task, const Problem& problem, const SpaceRules& rules,
                         std::function<bool()> late)
    : task_(task), p_(problem), space_(rules), late_(std::move(late)), measures_(problem), rules_(rules, problem) {}

/// A port works in whole cycles, and a run that is longer than its steps ends with a port.
double ChoiceBound::whole_cycles(double load, double steps) const {
  if (load <= steps) return steps;
  const bool whole = p_.conventions.stall_rounding == Conventions::StallRounding::kExact;
  return std::max(steps, whole ? std::ceil(load * (1 - kRounding)) : load);
}

/// Where the region above all lines and right of the least cycles touches the lowest value. Values grow with energy and
/// with cycles and are quasi-concave along a line, so it is a corner, or a whole number of cycles beside one.
ChoiceBound::Corner ChoiceBound::lowest_corner(const std::vector<Line>& lines, double least_cycles,
                                               double steps) const {
  const auto energy_at = [&](double cycles) {
    double energy = 0;
    for (const Line& line : lines) energy = std::max(energy, line.sum - line.slope * cycles);
    return energy;
  };
  Corner lowest{0, 0, kInfinity};
  const auto look_at = [&](double cycles) {
    if (cycles < least_cycles || !std::isfinite(cycles)) return;
    const double energy = energy_at(cycles), value = least_value(task_, p_, energy, cycles, steps);
    if (value < lowest.value) lowest = {energy, cycles, value};
  };
  look_at(least_cycles);
  look_at(task_.most_cycles);  // beyond it nothing counts, so the region ends there
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      if (lines[i].slope == lines[j].slope) continue;
      const double corner = (lines[i].sum - lines[j].sum) / (lines[i].slope - lines[j].slope);
      look_at(whole_cycles(corner, steps));
      if (p_.conventions.stall_rounding == Conventions::StallRounding::kExact) look_at(std::floor(corner));
    }
  return lowest;
}

double ChoiceBound::by_lines(NestedTiles& tiles, double energy, double cycles, double steps, std::size_t port,
                             double target) const {
  std::vector<Line> lines{{0, energy}};
  const double least_cycles = whole_cycles(cycles, steps);
  Corner corner = lowest_corner(lines, least_cycles, steps);
  for (std::size_t i = 0; i < kMostLines && corner.value < target; ++i) {
    // The slope of the curve of equal products through the corner.
    const double slope = corner.energy / corner.cycles;
    std::vector<double> weights(measures_.size(), 0);
    weights[0] = 1;
    weights[port] = slope;
    const double sum = tiles.least(weights) + p_.macs * p_.mac_pj;
    if (sum <= (corner.energy + slope * corner.cycles) * (1 + kRounding)) break;
    lines.push_back({slope, sum});
    corner = lowest_corner(lines, least_cycles, steps);
  }
  return corner.value;
}

/// Ruby-S has remainders in space alone: loops in time outside a memory with a fixed tile make whole tiles of it, and
/// those inside cover it, each with at most as many units as stand inside. So both counts multiply, where nothing is
/// spread outside.
double ChoiceBound::steps_of(const Factors& unrolling) const {
  if (task_.factorization != Factorization::kRubyS) return least_steps(task_, unrolling);
  const std::size_t dims = task_.layer.dims.size();
  double steps = task_.accelerator.levels.back().compute().cycles_per_mac;
  for (std::size_t d = 0; d < dims; ++d) {
    const Count size = task_.layer.dims[d].size;
    Count spread = 1;
    for (std::size_t f = 0; f < space_.fanouts.size(); ++f) spread *= unrolling[f * dims + d];
    Count most = ceil_div(size, spread);
    for (const auto& memory : space_.memories) {
      const Count tile = space_.fixed_tile(memory, static_cast<int>(d), size);
      if (tile <= 0) continue;
      Count outside = 1, inside = 1;
      for (std::size_t f = 0; f < space_.fanouts.size(); ++f)
        (space_.fanouts[f].level < memory.level ? outside : inside) *= unrolling[f * dims + d];
      if (outside == 1) most = std::max(most, ceil_div(size, tile) * ceil_div(tile, inside));
    }
    steps *= static_cast<double>(most);
  }
  return steps;
}

ChoiceBound::Result ChoiceBound::of(const Factors& unrolling, const Kept& kept, double target,
                                    double most_nodes) const {
  const double enough = target * (1 - kRounding), compute = p_.macs * p_.mac_pj;
  Result result{0, Means::kMovedOnce};
  const auto closed = [&] { return result.lower_bound >= enough; };
  const double steps = steps_of(unrolling);
  // 1. Every transfer happens at least once. Padded work is more work, so what the layer itself needs is certain; but
  // more of it arrives for the first time, so nothing is read back for certain.
  const bool padded = task_.factorization == Factorization::kPadding;
  const bool remainders = task_.factorization != Factorization::kPerfect;
  const ChoiceTransfers transfers(p_, measures_, unrolling, kept, task_.factorization);
  std::vector<double> least(measures_.size(), 0);
  least[0] = compute;
  for (int x = 0; x < p_.tensors; ++x)
    for (const Transfer& transfer : transfers.of(x))
      for (std::size_t m = 0; m < least.size(); ++m)
        least[m] += transfer.served[m] * transfer.least_served + transfer.delivered[m] * transfer.least_delivered +
                    (padded ? 0 : transfer.constant[m]);
  double cycles = steps;
  for (std::size_t m = 1; m < least.size(); ++m) cycles = std::max(cycles, whole_cycles(least[m], steps));
  result.lower_bound = least_value(task_, p_, least[0], cycles, steps);
  if (closed()) return result;
  // 2. The least energy over all tiles, and the least cycles of every port.
  if (padded) {
    result.means = Means::kNotDecided;
    return result;
  }
  if (remainders) {
    result.lower_bound = std::max(result.lower_bound, by_ends(transfers, kept, least, target, most_nodes));
    result.means = closed() ? Means::kTiles : Means::kNotDecided;
    return result;
  }
  if (TileLattice::nodes(transfers) > most_nodes) {
    result.means = Means::kNotDecided;
    return result;
  }
  by_tiles(transfers, unrolling, kept, least, target, result);
  return result;
}

ChoiceBound::Way::Way(const ChoiceBound& bound, const ChoiceTransfers& transfers, const Kept& kept,
                      std::vector<double> known, double steps)
    : tiles(bound.rules_, transfers, kept), least(std::move(known)), cycles(steps) {
  for (std::size_t m = 1; m < least.size(); ++m) cycles = std::max(cycles, bound.whole_cycles(least[m], steps));
}

/// The least of one measure over all tiles, as far as the target needs it.
double ChoiceBound::by_measure(Way& way, std::size_t m, double steps, double target) const {
  const double enough = target * (1 - kRounding), known = m == 0 ? p_.macs * p_.mac_pj : 0;
  std::vector<double> weights(measures_.size(), 0);
  weights[m] = 1;
  const double needed = least_that([&](double sum) {
    return least_value(task_, p_, m == 0 ? sum : way.least[0], m == 0 ? way.cycles : std::max(way.cycles, sum),
                       steps) >= enough;
  });
  const double found = way.tiles.least(weights, needed - known);
  // What is needed less what is known and this again need not be what is needed.
  way.least[m] = std::max({way.least[m], found + known, found >= needed - known ? needed : 0});
  if (m > 0) way.cycles = std::max(way.cycles, whole_cycles(way.least[m], steps));
  return least_value(task_, p_, way.least[0], way.cycles, steps);
}

/// Energy and the cycles of one port together.
double ChoiceBound::by_all_lines(Way& way, double steps, double target) const {
  double bound = 0;
  for (std::size_t port = 1; port < way.least.size() && bound < target * (1 - kRounding); ++port)
    bound = std::max(bound, by_lines(way.tiles, way.least[0], way.cycles, steps, port, target));
  return bound;
}

void ChoiceBound::by_tiles(const ChoiceTransfers& transfers, const Factors& unrolling, const Kept& kept,
                           const std::vector<double>& least, double target, Result& result) const {
  const double enough = target * (1 - kRounding), steps = least_steps(task_, unrolling);
  const auto closed = [&] { return result.lower_bound >= enough; };
  const auto raise = [&](Way& way, std::size_t m) {
    result.lower_bound = std::max(result.lower_bound, by_measure(way, m, steps, target));
  };
  result.means = Means::kTiles;
  Way plain(*this, transfers, kept, least, steps);
  raise(plain, 0);
  if (closed()) return;
  std::optional<ChoiceTransfers> differences;
  std::optional<Way> other;
  if (p_.affine_dims[p_.output] != 0) {
    differences.emplace(p_, measures_, unrolling, kept, task_.factorization, true);
    other.emplace(*this, *differences, kept, least, steps);
    raise(*other, 0);
  }
  for (Way* const way : {&plain, other ? &*other : nullptr})
    for (std::size_t m = 1; way != nullptr && m < least.size() && !closed(); ++m) raise(*way, m);
  if (closed()) return;
  // 3. Energy and the cycles of one port together, of all tiles and then of each.
  result.means = Means::kLines;
  const auto ways = {&plain, other ? &*other : nullptr};
  for (Way* const way : ways)
    if (way != nullptr && !closed() && target < kInfinity)
      result.lower_bound = std::max(result.lower_bound, by_all_lines(*way, steps, target));
  for (Way* const way : ways)
    if (way != nullptr && !closed() && target < kInfinity)
      result.lower_bound = std::max(result.lower_bound, tile_by_tile(*way, steps, target));
  if (closed()) return;
  result.means = Means::kNotDecided;
  Way& last = other ? *other : plain;
  const double value = attained(last.tiles, unrolling, kept, last.least[0], last.cycles);
  if (value < enough) result.attained = value;
}

double ChoiceBound::by_ends(const ChoiceTransfers& transfers, const Kept& kept, const std::vector<double>& least,
                            double target, double most_nodes) const {
  double best = 0;
  const double share = task_.factorization == Factorization::kRubyS ? kShareOfNodes : kShareWhereLoopsRound;
  for (const double alike : kAlike) {
    RemainderTiles tiles(rules_, transfers, kept, task_.factorization, remainders_, alike);
    if (tiles.nodes() > share * most_nodes) break;
    best = std::max(best, by_ends(tiles, transfers, least, target, alike == kAlike.back()));
    if (best >= target * (1 - kRounding)) break;
  }
  return best;
}

double ChoiceBound::by_ends(RemainderTiles& tiles, const ChoiceTransfers& transfers, const std::vector<double>& least,
                            double target, bool to_the_end) const {
  std::vector<double> constant(measures_.size(), 0);  // what does not depend on tiles
  constant[0] = p_.macs * p_.mac_pj;
  for (int x = 0; x < p_.tensors; ++x)
    for (const Transfer& transfer : transfers.of(x))
      for (std::size_t m = 0; m < constant.size(); ++m)
        constant[m] +=
            transfer.constant[m] + (transfer.child == p_.levels ? transfer.served[m] * transfer.least_served : 0);
  const double enough = target * (1 - kRounding);
  const std::vector<double>& steps = tiles.steps();
  struct End {
    std::vector<Line> lines;
    double cycles = 0;
    Corner corner;
  };
  std::vector<End> ends(steps.size());
  const auto lowest = [&] {
    return std::ranges::min_element(ends, {}, [](const End& end) { return end.corner.value; });
  };
  const auto open = [&] { return !ends.empty() && lowest()->corner.value < enough; };
  const auto look_at = [&](std::size_t e) { ends[e].corner = lowest_corner(ends[e].lines, ends[e].cycles, steps[e]); };
  // The least energy, then the least cycles of one port after the other, then both together.
  std::vector<double> weights(measures_.size(), 0);
  weights[0] = 1;
  const std::vector<double> energies = tiles.least(weights);
  for (std::size_t e = 0; e < ends.size(); ++e) {
    ends[e].lines.push_back({0, std::max(least[0], constant[0] + energies[e])});
    ends[e].cycles = steps[e];
    for (std::size_t m = 1; m < least.size(); ++m)
      ends[e].cycles = std::max(ends[e].cycles, whole_cycles(least[m], steps[e]));
    if (energies[e] == kInfinity)
      ends[e].corner = {kInfinity, kInfinity, kInfinity};
    else
      look_at(e);
  }
  const bool by_cycles = to_the_end || task_.objective == Objective::kRuntime;
  for (std::size_t m = 1; m < least.size() && by_cycles && open(); ++m) {
    weights.assign(measures_.size(), 0);
    weights[m] = 1;
    const std::vector<double> loads = tiles.least(weights);
    for (std::size_t e = 0; e < ends.size(); ++e) {
      if (ends[e].corner.value >= enough) continue;
      ends[e].cycles = std::max(ends[e].cycles, whole_cycles(constant[m] + loads[e], steps[e]));
      look_at(e);
    }
  }
  for (std::size_t m = 1, drawn = 0; m < least.size() && to_the_end && open(); ++m)
    for (; drawn < kMostLines && open(); ++drawn) {
      const Corner corner = lowest()->corner;
      const double slope = corner.energy / corner.cycles;
      weights.assign(measures_.size(), 0);
      weights[0] = 1;
      weights[m] = slope;
      const std::vector<double> sums = tiles.least(weights);
      const double before = corner.value;
      for (std::size_t e = 0; e < ends.size(); ++e) {
        if (ends[e].corner.value >= enough) continue;
        ends[e].lines.push_back({slope, constant[0] + slope * constant[m] + sums[e]});
        look_at(e);
      }
      if (lowest()->corner.value <= before * (1 + kRounding)) break;
    }
  return ends.empty() ? kInfinity : lowest()->corner.value;
}

double ChoiceBound::attained(NestedTiles& tiles, const Factors& unrolling, const Kept& kept, double energy,
                             double cycles) const {
  Mapping mapping = empty_mapping(task_.layer, task_.accelerator);
  const std::size_t dims = task_.layer.dims.size();
  for (std::size_t f = 0; f < space_.fanouts.size(); ++f)
    mapping.levels[static_cast<std::size_t>(space_.fanouts[f].level)].spatial =
        layout_of(space_.fanouts[f], std::span(unrolling).subspan(f * dims, dims));
  for (std::size_t m = 0; m < kept.size(); ++m)
    mapping.levels[static_cast<std::size_t>(space_.memories[m].level)].keeps = kept[m];
  double best = kInfinity;
  for (std::size_t port = 0; port < measures_.size(); ++port) {
    std::vector<double> weights(measures_.size(), 0);
    if (port > 0) weights[port] = energy / cycles;
    weights[0] = 1;
    const std::vector<std::vector<Loop>> loops = tiles.least_loops(weights);
    for (std::size_t m = 0; m < loops.size(); ++m)
      mapping.levels[static_cast<std::size_t>(space_.memories[m].level)].temporal = loops[m];
    if (!check_legality(task_.layer, task_.accelerator, task_.flexibility, task_.factorization, mapping).empty())
      continue;
    best = std::min(best, task_value(task_, price(task_.layer, task_.accelerator, mapping).totals));
  }
  return best;
}

}  // namespace pliant::audit
