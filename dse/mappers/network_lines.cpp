// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network_lines.h"

#include <cmath>

#include "core/wide.h"
#include "costmodel/report.h"
#include "dse/mappers/checked_search.h"

namespace pliant {
namespace {

/// Has some memory no room for one element of each tensor that must come there? What lives on chip may take all of it,
/// and a search would look at every unrolling to find that out.
bool is_full(const Task& task) {
  for (int l = 0; l < static_cast<int>(task.accelerator.levels.size()); ++l) {
    const Level& level = task.accelerator.levels[static_cast<std::size_t>(l)];
    if (!level.is_memory() || !level.memory().capacity_words) continue;
    const Memory& memory = level.memory();
    Wide bits = static_cast<Wide>(*memory.capacity_words) * memory.word_bits;
    for (const Count words : memory.reserved_words) bits -= static_cast<Wide>(words) * memory.word_bits;
    for (std::size_t x = 0; x < task.layer.tensors.size(); ++x) {
      const auto role = static_cast<std::size_t>(task.layer.tensors[x].role);
      if (memory.may_keep[role] && !memory.may_bypass[role] && !memory.resident[role])
        bits -= task.accelerator.held_bits(l, task.layer, static_cast<int>(x));
    }
    if (bits < 0) return true;
  }
  return false;
}

/// The answer of a proof that nothing is legal.
SearchResult nothing_fits() {
  SearchResult none;
  none.infeasible = true;
  none.value = none.lower_bound = kInfinity;
  none.ended_by = EndedBy::kProof;
  return none;
}

}  // namespace

LayerLines::LayerLines(const Mapper& mapper, const NetworkLayer& layer, const SearchOptions& options)
    : mapper_(mapper), layer_(layer), options_(options) {}

SearchResult LayerLines::run(const Task& task, double slope) {
  const bool known = !options_.record_parts && is_full(task);  // parts are what a proof is written of
  searches_ += known ? 0 : 1;
  SearchResult result = known ? nothing_fits() : checked_search(mapper_, task, options_);
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
