// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/variants.h"

#include <algorithm>
#include <cmath>

#include "core/legality.h"

namespace pliant::residency {

namespace {

bool same_shape(const Task& a, const Task& b) {
  return a.layer.dims == b.layer.dims && a.layer.tensors == b.layer.tensors && a.layer.operation == b.layer.operation &&
         a.layer.bits == b.layer.bits && a.flexibility == b.flexibility && a.factorization == b.factorization &&
         a.accelerator == b.accelerator;
}

}  // namespace

Task variant_task(const Task& row, const Variant& variant) {
  Task task = row;
  std::vector<Level>& levels = task.accelerator.levels;
  for (std::size_t role = 0; role < kRoles; ++role) {
    const Home home = variant.homes[role];
    if (home == kOutside) continue;
    for (int l = 0; l < home; ++l) {
      if (!levels[static_cast<std::size_t>(l)].is_memory()) continue;
      Memory& outside = levels[static_cast<std::size_t>(l)].memory();
      outside.may_keep[role] = outside.may_bypass[role] = false;
      outside.bandwidth_of[role] = {};
    }
    levels[static_cast<std::size_t>(home)].memory().resident[role] = true;
  }
  for (std::size_t l = 0; l < variant.reserved.size(); ++l)
    if (levels[l].is_memory()) levels[l].memory().reserved_words = variant.reserved[l];
  return task;
}

VariantLines::VariantLines(const Mapper& mapper, const std::vector<Task>& rows, const SearchOptions& options)
    : mapper_(mapper), rows_(rows), options_(options) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t first = 0;
    while (!same_shape(rows[first], rows[r])) ++first;
    shapes_.push_back(static_cast<int>(first));
  }
}

int VariantLines::add(Variant variant) {
  const auto [at, is_new] = known_.emplace(variant, static_cast<int>(entries_.size()));
  if (!is_new) return at->second;
  Entry entry;
  entry.layer = std::make_unique<NetworkLayer>();
  entry.layer->task = variant_task(rows_[static_cast<std::size_t>(variant.row)], variant);
  entry.lines = std::make_unique<LayerLines>(mapper_, *entry.layer, options_);
  entry.variant = std::move(variant);
  entries_.push_back(std::move(entry));
  return at->second;
}

int VariantLines::intern(Variant variant, Variant own) {
  variant.row = own.row = shape_of(variant.row);
  const int id = add(std::move(variant)), base = add(std::move(own));
  if (base != id) entries_[static_cast<std::size_t>(id)].own = base;
  return id;
}

bool VariantLines::holds(int id, const Mapping& mapping) const {
  const Task& task = entries_[static_cast<std::size_t>(id)].layer->task;
  return check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty();
}

VariantLines::Known VariantLines::search(int id, double slope) {
  Entry& entry = entries_[static_cast<std::size_t>(id)];
  const LayerLines::Line* line = entry.lines->at(slope);
  complete_ &= line != nullptr || entry.lines->infeasible();
  entry.found.emplace(slope, line ? std::optional(*line) : std::nullopt);
  const auto& kept = entry.found.at(slope);
  Known known;
  known.nothing_fits = !kept && entry.lines->infeasible();
  known.least = kept ? kept->least : known.nothing_fits ? kInfinity : floor(entry, slope);
  known.line = kept ? &*kept : nullptr;
  return entry.settled[slope] = known;
}

double VariantLines::floor(Entry& entry, double slope) {
  if (!entry.floor) entry.floor = layer_floor(entry.layer->task);
  return std::isinf(slope) ? entry.floor->cycles : entry.floor->energy_pj + slope * entry.floor->cycles;
}

const LayerLines::Line* VariantLines::best_found(int id, double slope) const {
  const Entry& entry = entries_[static_cast<std::size_t>(id)];
  const LayerLines::Line* best = nullptr;
  double least = kInfinity;
  const auto offer = [&](const LayerLines::Line& line) {
    const Totals& totals = line.point.totals;
    const double value = std::isinf(slope) ? totals.cycles : totals.energy_pj + slope * totals.cycles;
    if (value >= least) return;
    least = value;
    best = &line;
  };
  for (const auto& [at, line] : entry.found)
    if (line) offer(*line);
  for (const auto& [at, known] : entry.settled)
    if (known.line != nullptr) offer(*known.line);
  return best;
}

bool VariantLines::may_search(int id, double slope) const {
  return !options_.stop.stop_requested() && !entries_[static_cast<std::size_t>(id)].settled.contains(slope);
}

/// The least sum is a concave function of the slope: between two slopes it is above their chord, beyond one it grows at
/// least by the fewest cycles.
double VariantLines::below(const Entry& entry, double slope) {
  if (std::isinf(slope)) return 0;
  double least = 0, fewest = 0;
  if (const auto fastest = entry.found.find(kInfinity); fastest != entry.found.end() && fastest->second)
    fewest = fastest->second->least;
  const auto above = entry.found.upper_bound(slope);
  if (above == entry.found.begin()) return 0;
  const auto& [flat, a] = *std::prev(above);
  if (!a) return entry.lines->infeasible() ? kInfinity : 0;
  least = a->least + (slope - flat) * fewest;
  if (above != entry.found.end() && above->second && !std::isinf(above->first))
    least = std::max(least, a->least + (above->second->least - a->least) * (slope - flat) / (above->first - flat));
  return least;
}

/// Less room never helps, and a mapping that fits into less room is as good as it was.
VariantLines::Known VariantLines::from_own(int id, double slope) {
  Entry& entry = entries_[static_cast<std::size_t>(id)];
  const int base = entry.own;
  const Known best = bound(base, slope);
  if (best.nothing_fits) return entry.settled[slope] = best;
  if (best.line != nullptr && !entry.misfits.contains(slope)) {
    if (holds(id, best.line->point.mapping)) return entry.settled[slope] = best;
    entry.misfits.insert(slope);
  }
  return {std::max(best.least, below(entry, slope)), nullptr, false};
}

VariantLines::Known VariantLines::bound(int id, double slope) {
  Entry& entry = entries_[static_cast<std::size_t>(id)];
  if (const auto known = entry.settled.find(slope); known != entry.settled.end()) return known->second;
  if (entry.own >= 0) return from_own(id, slope);
  const bool stopped = options_.stop.stop_requested();
  if (!stopped && (std::isinf(slope) || entry.found.size() < 2)) return search(id, slope);
  if (entry.lines->infeasible()) return {kInfinity, nullptr, true};
  const double least = below(entry, slope);
  return {least > 0 ? least : floor(entry, slope), nullptr, false};
}

VariantLines::Known VariantLines::exact(int id, double slope) {
  Entry& entry = entries_[static_cast<std::size_t>(id)];
  if (const auto known = entry.settled.find(slope); known != entry.settled.end()) return known->second;
  if (entry.own >= 0) {
    exact(entry.own, slope);
    if (const Known known = from_own(id, slope); known.line != nullptr || known.nothing_fits) return known;
  }
  return search(id, slope);
}

std::uint64_t VariantLines::searches() const {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.lines->searches();
  return sum;
}

}  // namespace pliant::residency
