// SPDX-License-Identifier: Apache-2.0
#include "dse/design/known_mappings.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant {

namespace {

/// Mappings kept for each layer.
constexpr std::size_t kKeptMappings = 6;

/// Of the room that there is: a better mapping found on the way leaves less.
constexpr double kShareOfRoom = 0.9;

/// A wider gap saves no more time.
constexpr double kWidestGap = 0.5;

}  // namespace

std::vector<double> possible_gains(const DistinctLayers& layers, const LayerBounds& bounds, const LayerBounds& reached,
                                   std::size_t measure) {
  const bool product = kBoundObjectives[measure] == Objective::kEdp;  // sums of roots bound it
  std::vector<double> from, to;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double low = bounds[i].*kBoundMeasures[measure];
    const double high = std::isinf(reached[i].*kBoundMeasures[measure]) ? low : reached[i].*kBoundMeasures[measure];
    from.push_back(product ? std::sqrt(low) : low);
    to.push_back(product ? std::sqrt(high) : high);
  }
  std::vector<double> gains = layers.gains(from, to);
  for (std::size_t i = 0; i < gains.size(); ++i)
    if (std::isinf(reached[i].*kBoundMeasures[measure])) gains[i] = kInfinity;
  return gains;
}

bool sharp_enough(double bound, double reached, double gap) {
  return !std::isinf(reached) && bound >= reached * (1 - gap) * (1 - 1e-12);
}

double gap_within(double room) {
  if (!(room > 1)) return 0;
  constexpr double kSteps = 4096;  // equal questions have equal gaps
  return std::floor(std::min(kWidestGap, kShareOfRoom * (1 - 1 / room)) * kSteps) / kSteps;
}

ReachedBounds::ReachedBounds(std::size_t layers)
    : least(layers, LayerBound{kInfinity, kInfinity, kInfinity}), at_least_product(layers), by(layers) {}

KnownMappings::KnownMappings(const Sweep& sweep, const DistinctLayers& layers) : sweep_(sweep), layers_(layers) {
  latest_.resize(sweep.factorizations.size());
  for (auto& of_rule : latest_) of_rule.resize(layers.layers.size());
}

void KnownMappings::remember(std::size_t rule, std::size_t layer, const std::shared_ptr<const TaskResult>& result) {
  if (result->status != TaskStatus::kSolved || layers_.networks[layer] != nullptr) return;
  auto& latest = latest_[rule][layer];
  const auto same = std::ranges::find_if(latest, [&](const auto& one) { return one->mapping == result->mapping; });
  if (same != latest.end()) latest.erase(same);
  latest.insert(latest.begin(), result);
  if (latest.size() > kKeptMappings) latest.pop_back();
}

void KnownMappings::reach(ReachedBounds& reached, const Accelerator& accelerator, std::size_t rule, std::size_t layer,
                          std::span<const std::shared_ptr<const TaskResult>> first) const {
  const auto& latest = latest_[rule][layer];
  const auto same = [](const std::shared_ptr<const TaskResult>& one) {
    return [&one](const std::shared_ptr<const TaskResult>& other) {
      return one == other || (one && other && one->mapping == other->mapping);
    };
  };
  for (std::size_t k = 0; k < first.size(); ++k)
    if (std::ranges::none_of(first.first(k), same(first[k]))) reach(reached, accelerator, rule, layer, first[k]);
  for (const auto& result : latest)
    if (std::ranges::none_of(first, same(result))) reach(reached, accelerator, rule, layer, result);
}

void KnownMappings::reach(ReachedBounds& reached, const Accelerator& accelerator, std::size_t rule, std::size_t layer,
                          const std::shared_ptr<const TaskResult>& result) const {
  // A whole network has no single mapping.
  if (!result || result->status != TaskStatus::kSolved || layers_.networks[layer] != nullptr) return;
  const Layer& plain = *layers_.layers[layer];
  if (!check_legality(plain, accelerator, accelerator.flexibility_of(plain), sweep_.factorizations[rule],
                      result->mapping)
           .empty())
    return;
  const Totals totals = price(plain, accelerator, result->mapping).totals;
  const LayerBound here{totals.energy_pj, totals.cycles, totals.edp()};
  for (std::size_t k = 0; k < kBoundMeasures.size(); ++k) {
    if (here.*kBoundMeasures[k] >= reached.least[layer].*kBoundMeasures[k]) continue;
    if (kBoundObjectives[k] == Objective::kEdp) reached.at_least_product[layer] = here;
    reached.by[layer][k] = result;
  }
  reached.least[layer].lower(here);
}

}  // namespace pliant
