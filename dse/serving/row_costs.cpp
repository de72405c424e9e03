// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/row_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant::serving {

RowCosts::RowCosts(const Request& request, std::shared_ptr<KnownRows> known, bool bounds_only)
    : request_(request), mapper_(make_mapper("exact")), known_(std::move(known)), bounds_only_(bounds_only) {}

RowCosts::Key RowCosts::key_of(const Layer& layer) {
  Key key;
  for (const Dim& dim : layer.dims) key.first.push_back(dim.size);
  key.second = layer.bits.of[static_cast<std::size_t>(Role::kWeight)].value_or(0);
  return key;
}

Task RowCosts::task_of(const Layer& layer) const {
  Task task;
  task.layer = layer;
  task.accelerator = request_.accelerator;
  task.flexibility = request_.accelerator.flexibility_of(layer);
  task.factorization = request_.factorization;
  task.objective = request_.objective;
  return task;
}

Layer RowCosts::with_widths(Layer layer, bool reads_cache) const {
  const auto& bits = reads_cache ? request_.kv_bits : request_.weight_bits;
  if (bits) layer.bits.of[static_cast<std::size_t>(Role::kWeight)] = bits;
  return layer;
}

const Spent& RowCosts::of(const Layer& layer) {
  const bool energy = request_.objective == Objective::kEnergy;
  if (bounds_only_) {
    const LayerFloor& floor = floor_of(layer);
    bound_ = {floor.cycles, floor.energy_pj, energy ? floor.energy_pj : floor.cycles};
    return bound_;
  }
  const auto [found, is_new] = known_->found.try_emplace(key_of(layer));
  if (!is_new) return found->second.spent;
  const NetworkLayer one{task_of(layer), 1};
  LayerLines lines(*mapper_, one, request_.search);
  const LayerLines::Line* line = lines.at(energy ? 0 : std::numeric_limits<double>::infinity());
  known_->searches += lines.searches();
  if (line == nullptr) {
    known_->found.erase(found);
    throw NoMapping{layer.name};
  }
  found->second = {{line->point.totals.cycles, line->point.totals.energy_pj, line->least}, line->point.mapping};
  return found->second.spent;
}

Spent RowCosts::repeated(const Layer& layer, int dim, Count times) {
  if (bounds_only_ || times == 1) return of(layer) * static_cast<double>(times);
  of(layer);
  Mapping mapping = known_->found.at(key_of(layer)).mapping;
  auto& outermost = mapping.levels.front().temporal;
  outermost.insert(outermost.begin(), Loop{dim, times});
  Task task = task_of(layer);
  task.layer.dims[static_cast<std::size_t>(dim)].size *= times;
  if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty())
    return {kInfinity, kInfinity, 0};
  const Totals totals = price(task.layer, task.accelerator, mapping).totals;
  // Partial sums may come to a memory that takes none.
  if (std::isinf(task_value(task, totals))) return {task_value(task, totals), task_value(task, totals), 0};
  return {totals.cycles, totals.energy_pj, 0};
}

const LayerFloor& RowCosts::floor_of(const Layer& layer) {
  const auto [known, is_new] = known_->floors.try_emplace(key_of(layer));
  if (is_new) {
    Task task = task_of(layer);
    // Every rule's mappings are mappings with remainders, and of those smaller layers never cost more.
    task.factorization = Factorization::kRuby;
    known->second = layer_floor(task);
  }
  return known->second;
}

double RowCosts::floor(const Layer& layer) {
  const LayerFloor& floor = floor_of(layer);
  return request_.objective == Objective::kEnergy ? floor.energy_pj : floor.cycles;
}

bool RowCosts::repeats(const Layer& layer) const {
  const LevelFlexibility& outermost = request_.accelerator.flexibility_of(layer).levels.front();
  return outermost.order.allowed.empty() && !outermost.loops.dims && outermost.tile.fixed.empty();
}

bool RowCosts::grows(const Layer& layer) const {
  const auto& levels = request_.accelerator.flexibility_of(layer).levels;
  return std::ranges::none_of(levels, [](const LevelFlexibility& level) { return level.tile.burst > 1; });
}

}  // namespace pliant::serving
