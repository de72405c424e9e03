// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network_lines.h"

#include <cmath>

#include "costmodel/report.h"
#include "dse/mappers/checked_search.h"

namespace pliant {

LayerLines::LayerLines(const Mapper& mapper, const NetworkLayer& layer, const SearchOptions& options)
    : mapper_(mapper), layer_(layer), options_(options) {}

SearchResult LayerLines::run(const Task& task, double slope) {
  ++searches_;
  SearchResult result = checked_search(mapper_, task, options_);
  const bool bounds = task.most_cycles == kInfinity;
  infeasible_ |= result.infeasible && bounds;
  if (options_.record_parts && bounds) proofs_.push_back({slope, result});
  return result;
}

std::optional<LayerLines::Line> LayerLines::fastest() {
  Task task = layer_.task;
  task.most_cycles = kInfinity;
  task.objective = Objective::kRuntime;
  SearchResult fast = run(task, kInfinity);
  if (!fast.mapping) return std::nullopt;
  if (options_.stop.stop_requested()) return Line{{*fast.mapping, fast.totals}, fast.lower_bound};
  task.objective = Objective::kEnergy;
  task.most_cycles = fast.totals.cycles;
  const SearchResult thrifty = run(task, kInfinity);
  const SearchResult& best = thrifty.mapping ? thrifty : fast;
  return Line{{*best.mapping, best.totals}, fast.lower_bound};
}

std::optional<LayerLines::Line> LayerLines::search(double slope) {
  if (std::isinf(slope)) return fastest();
  Task task = layer_.task;
  task.most_cycles = kInfinity;
  task.objective = Objective::kEnergy;
  task.accelerator.levels.front().memory().leak_pj_per_cycle += slope;  // the outermost memory: there is one of it
  const SearchResult result = run(task, slope);
  if (!result.mapping) return std::nullopt;
  return Line{{*result.mapping, price(task.layer, layer_.task.accelerator, *result.mapping).totals},
              result.lower_bound};
}

const LayerLines::Line* LayerLines::at(double slope) {
  const auto above = known_.lower_bound(slope);
  if (above == known_.end() || above->first != slope) {
    std::optional<Line> line;
    // The least sum is a concave function of the slope. Where the same mapping is proven best on both sides, it is best
    // in between.
    if (above != known_.end() && above != known_.begin() && !std::isinf(above->first)) {
      const auto& [steep, b] = *above;
      const auto& [flat, a] = *std::prev(above);
      const auto proven = [](const Line& of, double at_slope) {
        return of.least >= (of.point.totals.energy_pj + at_slope * of.point.totals.cycles) * (1 - kNetworkRounding);
      };
      if (a && b && a->point.totals.cycles == b->point.totals.cycles &&
          a->point.totals.energy_pj == b->point.totals.energy_pj && proven(*a, flat) && proven(*b, steep))
        line = Line{a->point, a->point.totals.energy_pj + slope * a->point.totals.cycles};
    }
    known_.emplace(slope, line ? std::move(line) : search(slope));
  }
  const std::optional<Line>& found = known_.at(slope);
  return found ? &*found : nullptr;
}

Crossing meet(const NetworkLine& flatter, const NetworkLine& steeper) {
  Crossing corner;
  corner.cycles =
      std::isinf(steeper.slope) ? steeper.least : (steeper.least - flatter.least) / (steeper.slope - flatter.slope);
  corner.energy_pj = flatter.least - flatter.slope * corner.cycles;
  return corner;
}

std::optional<double> chord(const NetworkLine& flatter, const NetworkLine& steeper) {
  const double faster = flatter.cycles - steeper.cycles, dearer = steeper.energy_pj - flatter.energy_pj;
  if (faster <= 0 || dearer <= 0) return std::nullopt;
  const double slope = dearer / faster;
  if (slope <= flatter.slope || slope >= steeper.slope) return std::nullopt;
  return slope;
}

}  // namespace pliant
