// SPDX-License-Identifier: Apache-2.0
#include "dse/design/whole_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "core/arithmetic.h"
#include "dse/design/floor_bound.h"
#include "dse/mappers/residency/variants.h"

namespace pliant {

namespace {

/// Of one design: more lines raise a bound by little.
constexpr std::size_t kMostLines = 8;
/// Slopes that differ by less are one.
constexpr double kSameSlope = 1e-3;

using Lines = std::vector<const LineBound*>;

Lines here(const LayerBound& workload) {
  Lines all;
  for (const LineBound& line : workload.lines)
    if (line.here) all.push_back(&line);
  return all;
}

bool asked(const Lines& lines, double slope) {
  return std::ranges::any_of(lines, [&](const LineBound* line) {
    return line->slope == slope || (!std::isinf(slope) && std::abs(line->slope - slope) <= kSameSlope * slope);
  });
}

std::optional<double> unless_asked(const Lines& lines, double slope) {
  return asked(lines, slope) ? std::nullopt : std::optional(slope);
}

/// Where a line could lie above both ends of a chord.
std::optional<double> between(const Lines& lines, const LineBound& slower, const LineBound& faster) {
  if (!(slower.cycles > faster.cycles) || !(faster.energy_pj > slower.energy_pj)) return std::nullopt;
  return unless_asked(lines, (faster.energy_pj - slower.energy_pj) / (slower.cycles - faster.cycles));
}

/// The slope at which the product of the energy and the cycles would not change.
std::optional<double> tangent(const LayerBound& workload) {
  const NetworkBound bound = bound_whole(workload, kInfinity);
  if (!(bound.energy_pj > 0) || !(bound.cycles > 0)) return std::nullopt;
  // Of the product that is bounded, as if both were above their least by the same factor.
  return bound.energy_pj / bound.cycles;
}

/// The line that is highest at the deadline, wherever it was asked.
double slope_at(const LayerBound& workload, double most_cycles) {
  double slope = 0, highest = 0;
  for (const LineBound& line : workload.lines) {
    if (std::isinf(line.slope)) continue;
    const double energy = line.slope > 0 ? line.least - line.slope * most_cycles : line.least;
    if (energy <= highest) continue;
    highest = energy;
    slope = line.slope;
  }
  return slope;
}

std::optional<double> for_deadline(const LayerBound& workload, const Lines& lines, double most_cycles) {
  if (lines.empty()) return slope_at(workload, most_cycles);
  const LineBound *slower = nullptr, *faster = nullptr;  // the nearest on both sides of the deadline
  for (const LineBound* line : lines) {
    if (line->cycles > most_cycles) {
      if (slower == nullptr || line->slope > slower->slope) slower = line;
    } else if (faster == nullptr || line->slope < faster->slope) {
      faster = line;
    }
  }
  if (slower == nullptr) return unless_asked(lines, 0);          // the deadline may not bind
  if (faster == nullptr) return unless_asked(lines, kInfinity);  // does anything keep it?
  return between(lines, *slower, *faster);
}

std::optional<double> for_product(const LayerBound& workload, const Lines& lines) {
  if (lines.empty()) return tangent(workload).value_or(0);
  const LineBound* best = lines.front();
  for (const LineBound* line : lines)
    if (line->energy_pj * line->cycles < best->energy_pj * best->cycles) best = line;
  if (const auto at_best = unless_asked(lines, best->energy_pj / best->cycles)) return at_best;
  std::optional<double> next;
  double least = best->energy_pj * best->cycles * (1 - 1e-4);
  const double fewest = bound_whole(workload, kInfinity).cycles;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const LineBound& flatter = *lines[k];
    if (std::isinf(flatter.slope)) break;
    // Where it meets the next line, or the fewest cycles.
    const LineBound* steeper = k + 1 < lines.size() ? lines[k + 1] : nullptr;
    const double cycles = steeper != nullptr && !std::isinf(steeper->slope)
                              ? (steeper->least - flatter.least) / (steeper->slope - flatter.slope)
                              : fewest;
    const double product = (flatter.least - flatter.slope * cycles) * cycles;
    if (product >= least) continue;
    const auto slope = steeper != nullptr ? between(lines, flatter, *steeper) : unless_asked(lines, kInfinity);
    if (!slope) continue;
    next = slope;
    least = product;
  }
  if (next) return next;
  // Before the flattest and after the steepest line.
  const double flattest = lines.front()->slope, steepest = lines.back()->slope;
  if (flattest > 0 && lines.front() == best) return unless_asked(lines, flattest / 2);
  if (!std::isinf(steepest) && lines.back() == best) return unless_asked(lines, 2 * steepest);
  return std::nullopt;
}

}  // namespace

std::optional<double> next_slope(const LayerBound& workload, const WholeNeeds& needs, double most_cycles) {
  const Lines lines = here(workload);
  if (lines.size() >= kMostLines) return std::nullopt;
  const bool only_keeps = most_cycles < kInfinity && !needs.energy && !needs.edp;
  if ((needs.cycles || only_keeps) && !asked(lines, kInfinity)) return kInfinity;
  if (most_cycles < kInfinity && (needs.energy || needs.edp))
    if (const auto slope = for_deadline(workload, lines, most_cycles)) return slope;
  if (needs.energy && most_cycles == kInfinity && !asked(lines, 0)) return 0;
  return needs.edp ? for_product(workload, lines) : std::nullopt;
}

WholeReached reached_by(const LayerBound& workload, double most_cycles) {
  WholeReached all;
  all.least = {kInfinity, kInfinity, kInfinity};
  const Lines lines = here(workload);
  for (const LineBound* line : lines) {
    all.least.cycles = std::min(all.least.cycles, line->cycles);
    if (line->cycles > most_cycles) continue;
    all.least.energy_pj = std::min(all.least.energy_pj, line->energy_pj);
    if (line->energy_pj * line->cycles >= all.least.edp) continue;
    all.least.edp = line->energy_pj * line->cycles;
    all.at_least_product = {line->energy_pj, line->cycles, all.least.edp};
  }
  // Lines lie below every chord.
  for (const LineBound* slow : lines)
    for (const LineBound* fast : lines)
      if (slow->cycles > most_cycles && fast->cycles <= most_cycles) {
        const double share = (most_cycles - fast->cycles) / (slow->cycles - fast->cycles);
        all.least.energy_pj =
            std::min(all.least.energy_pj, fast->energy_pj + share * (slow->energy_pj - fast->energy_pj));
      }
  return all;
}

LayerBound whole_floor(const Workload& workload, const Accelerator& accelerator, Factorization rule,
                       bool weights_may_stay) {
  using residency::Home;
  using residency::kOutside;
  std::vector<Task> rows;
  for (const Workload::Entry& entry : workload.layers)
    rows.push_back({entry.layer, accelerator, accelerator.flexibility_of(entry.layer), rule, Objective::kEnergy});
  const residency::LiveTensors live = residency::live_tensors(workload, rows);
  if (live.limited) return {};  // another design may let other tensors choose
  using Places = std::array<std::vector<Home>, kRoles>;
  std::map<std::pair<int, Places>, LayerBound> known;
  std::vector<RepeatedBound> all;
  for (int s = 0; s < static_cast<int>(live.steps.size()); ++s) {
    const residency::Step& step = live.steps[static_cast<std::size_t>(s)];
    if (step.row < 0) continue;
    Places places{std::vector<Home>{kOutside}, {kOutside}, {kOutside}};
    const Layer& layer = rows[static_cast<std::size_t>(step.row)].layer;
    for (const residency::Read& read : step.reads)
      places[static_cast<std::size_t>(layer.tensors[static_cast<std::size_t>(read.operand)].role)] =
          live.tensors[static_cast<std::size_t>(read.tensor)].homes;
    if (step.makes >= 0)
      places[static_cast<std::size_t>(Role::kOutput)] = live.tensors[static_cast<std::size_t>(step.makes)].homes;
    for (const residency::StandingWeights& weights : live.weights)
      if (weights_may_stay && weights.step == s) places[static_cast<std::size_t>(Role::kWeight)] = weights.homes;
    const auto [at, fresh] = known.try_emplace({step.row, places}, LayerBound{kInfinity, kInfinity, kInfinity});
    if (fresh) {
      residency::Variant variant;
      variant.row = step.row;
      for (const Home in : places[0])
        for (const Home weights : places[1])
          for (const Home out : places[2]) {
            variant.homes = {in, weights, out};
            const Task task = residency::variant_task(rows[static_cast<std::size_t>(step.row)], variant);
            at->second.lower(floor_bound(task.layer, task.accelerator, rule));
          }
    }
    all.push_back({at->second, step.count});
  }
  const NetworkBound sums = bound_network(all);
  return {sums.energy_pj, sums.cycles, sums.edp};
}

}  // namespace pliant
