// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/proven_lines.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"

namespace pliant::audit {

double KnownLines::at(double slope) const {
  if (nothing_fits) return kInfinity;
  if (std::isinf(slope)) return fewest;
  const auto above = least.lower_bound(slope);
  if (above != least.end() && above->first == slope) return above->second;
  const auto& [flatter, a] = *std::prev(above);
  double best = a + (slope - flatter) * fewest;
  if (above != least.end())
    best = std::max(best, a + (above->second - a) * (slope - flatter) / (above->first - flatter));
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
}

RunFloor::Least ProvenLines::floor(const LayerVariant& variant) const {
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
    const RunFloor::Least least = floor(variant);
    lines.raise(kInfinity, least.cycles);
    lines.raise(0, least.energy_pj);
  }
  const auto proven = proven_.find(key(variant));
  if (proven == proven_.end()) return lines;
  for (const auto& [taken, known] : proven->second) {
    if (!places_.leaves_room(variant.row, taken, variant.taken)) continue;
    lines.nothing_fits |= known.nothing_fits;
    lines.raise(kInfinity, known.fewest);
    for (const auto& [slope, sum] : known.least) lines.raise(slope, sum);
  }
  return lines;
}

}  // namespace pliant::audit
