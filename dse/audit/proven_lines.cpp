// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/proven_lines.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant::audit {

double KnownLines::at(double slope) const {
  if (nothing_fits) return kInfinity;
  if (std::isinf(slope)) return fewest;
  // What is proven at a slope may be less than what others say of it together: every chord counts.
  double best = 0;
  const auto above = least.upper_bound(slope);
  for (auto flat = least.begin(); flat != above; ++flat) {
    const auto& [flatter, a] = *flat;
    best = std::max(best, a + (slope - flatter) * fewest);
    for (auto steep = above; steep != least.end(); ++steep)
      best = std::max(best, a + (steep->second - a) * (slope - flatter) / (steep->first - flatter));
  }
  return best;
}

void KnownLines::raise(double slope, double proven) {
  if (std::isinf(proven)) return;
  if (std::isinf(slope))
    fewest = std::max(fewest, proven);
  else if (double& known = least[slope]; known < proven)
    known = proven;
}

LayerVariant ProvenLines::key(LayerVariant variant) const {
  variant.row = places_.shape_of(variant.row);
  variant.taken.clear();
  return variant;
}

void ProvenLines::add(const LayerVariant& variant, double slope, const Certificate& proof) {
  KnownLines& lines = proven_[key(variant)][variant.taken];
  lines.nothing_fits |= proof.infeasible;
  lines.raise(slope, proof.lower_bound);
  if (proof.mapping) mappings_[key(variant)].push_back(&*proof.mapping);
}

MovingCost ProvenLines::attained(const LayerVariant& variant, double slope) const {
  MovingCost best{kInfinity, kInfinity};
  const auto known = mappings_.find(key(variant));
  if (known == mappings_.end()) return best;
  const Task task = line_task(rows_[static_cast<std::size_t>(variant.row)], variant, 0);
  for (const Mapping* mapping : known->second) {
    if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *mapping).empty()) continue;
    const Totals totals = price(task.layer, task.accelerator, *mapping).totals;
    const MovingCost cost{totals.energy_pj, totals.cycles};
    if (!totals.unfinished && sum_at(slope, cost) < sum_at(slope, best)) best = cost;
  }
  return best;
}

/// Loops come in at the outermost memory. It must hold whatever there is, and have no say in tiles, orders and dims; a
/// fixed tile anywhere is clipped to the layer, so it is another one of another layer.
std::optional<ProvenLines::Larger> ProvenLines::larger(const LayerVariant& variant) const {
  const Task& row = rows_[static_cast<std::size_t>(variant.row)];
  if (variant.sizes.empty() || row.factorization != Factorization::kPerfect) return std::nullopt;
  const Level& outermost = row.accelerator.levels.front();
  if (!outermost.is_memory() || outermost.memory().capacity_words) return std::nullopt;
  for (std::size_t r = 0; r < kRoles; ++r)
    if (outermost.memory().may_bypass[r] || !outermost.memory().may_keep[r]) return std::nullopt;
  for (std::size_t l = 0; l < row.flexibility.levels.size(); ++l) {
    const LevelFlexibility& rules = row.flexibility.levels[l];
    if (!rules.tile.fixed.empty()) return std::nullopt;
    if (l == 0 && (rules.tile.partition || rules.tile.burst != 1 || !rules.order.allowed.empty() || rules.loops.dims))
      return std::nullopt;
  }
  Larger larger{variant};
  // Where two dims are one index of the results (transposed convolutions) elements are added up.
  for (const Rank& rank : row.layer.tensors[static_cast<std::size_t>(row.layer.output())].ranks)
    for (const Term& term : rank.terms) {
      const auto d = static_cast<std::size_t>(term.dim);
      if (rank.terms.size() > 1) return std::nullopt;
      if (row.layer.dims[d].size % variant.sizes[d] == 0) larger.run.sizes[d] = row.layer.dims[d].size;
    }
  for (std::size_t d = 0; d < variant.sizes.size(); ++d)
    larger.parts *= static_cast<double>(larger.run.sizes[d]) / static_cast<double>(variant.sizes[d]);
  if (larger.run.sizes == variant.sizes) return std::nullopt;
  return larger;
}

void ProvenLines::raise(KnownLines& lines, const LayerVariant& run, const Taken& taken, double parts) const {
  const auto proven = proven_.find(key(run));
  if (proven == proven_.end()) return;
  for (const auto& [with, known] : proven->second) {
    if (!places_.leaves_room(run.row, with, taken)) continue;
    lines.nothing_fits |= known.nothing_fits;
    lines.raise(kInfinity, known.fewest / parts);
    for (const auto& [slope, sum] : known.least) lines.raise(slope, sum / parts);
  }
}

RunFloor::Least ProvenLines::floor(const LayerVariant& variant) const {
  RunFloor::Least least = own_floor(variant);
  if (const std::optional<Larger> one = larger(variant)) {
    KnownLines lines;
    raise(lines, one->run, Taken(rows_[static_cast<std::size_t>(variant.row)].accelerator.levels.size()), one->parts);
    least.energy_pj = std::max(least.energy_pj, lines.at(0));
    least.cycles = std::max(least.cycles, lines.at(kInfinity));
  }
  return least;
}

RunFloor::Least ProvenLines::own_floor(const LayerVariant& variant) const {
  const Task& row = rows_[static_cast<std::size_t>(variant.row)];
  LayerVariant shape = key(variant);
  shape.sizes.clear();
  auto known = floors_.find(shape);
  if (known == floors_.end()) {
    LayerVariant free = shape;
    free.taken.assign(row.accelerator.levels.size(), {});
    known = floors_.emplace(shape, RunFloor(line_task(row, free, 0))).first;
  }
  if (!variant.sizes.empty()) return known->second.of(variant.sizes);
  std::vector<Count> whole;
  for (const Dim& dim : row.layer.dims) whole.push_back(dim.size);
  return known->second.of(whole);
}

KnownLines ProvenLines::of(const LayerVariant& variant) const {
  KnownLines lines;
  if (floors_known_) {
    const RunFloor::Least least = own_floor(variant);
    lines.raise(kInfinity, least.cycles);
    lines.raise(0, least.energy_pj);
  }
  raise(lines, variant, variant.taken, 1);
  if (const std::optional<Larger> one = larger(variant)) raise(lines, one->run, variant.taken, one->parts);
  return lines;
}

}  // namespace pliant::audit
