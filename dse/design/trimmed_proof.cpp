// SPDX-License-Identifier: Apache-2.0
#include "dse/design/trimmed_proof.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"

namespace pliant {

namespace {

/// By how large a share the sums of a network rise with the bounds of a layer.
std::vector<double> shares(const DistinctLayers& layers, const std::vector<LayerBounds>& bounds,
                           const LayerBounds& floors) {
  std::vector<double> all(floors.size(), 0);
  for (const LayerBounds& rule : bounds) {
    for (const auto measure : {&LayerBound::energy_pj, &LayerBound::cycles, &LayerBound::edp}) {
      std::vector<double> from, to;
      for (std::size_t i = 0; i < floors.size(); ++i) {
        const bool root = measure == &LayerBound::edp;
        from.push_back(root ? std::sqrt(floors[i].*measure) : floors[i].*measure);
        to.push_back(root ? std::sqrt(rule[i].*measure) : rule[i].*measure);
      }
      const std::vector<double> gains = layers.gains(from, to);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], gains[i]);
    }
  }
  return all;
}

}  // namespace

std::optional<TrimmedProof> trimmed(const GoalBounds& goals, const DistinctLayers& layers, const FoundDesigns& found,
                                    const HardwareFacts& facts, const std::vector<LayerBounds>& bounds,
                                    const Accelerator& ideal) {
  LayerBounds floors;
  for (const auto& layer : layers.layers) floors.push_back(compute_bound(*layer, ideal));
  const std::vector<double> share = shares(layers, bounds, floors);
  std::vector<std::size_t> order = layers.by_work;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return share[i]; });
  const auto with = [&](std::size_t count) {
    TrimmedProof proof{std::vector<bool>(floors.size(), false), {}};
    for (std::size_t k = 0; k < count; ++k) proof.needed[order[k]] = true;
    for (const LayerBounds& rule : bounds) {
      LayerBounds some = floors;
      for (std::size_t k = 0; k < count; ++k) some[order[k]] = rule[order[k]];
      const Point one = goals.least(facts, some);
      if (proof.least.empty()) proof.least.resize(one.size(), kInfinity);
      for (std::size_t g = 0; g < one.size(); ++g) proof.least[g] = std::min(proof.least[g], one[g]);
    }
    return proof;
  };
  std::size_t enough = order.size();
  TrimmedProof best = with(enough);
  if (!found.beating(best.least)) return std::nullopt;
  for (std::size_t too_few = 0; too_few < enough;) {  // more bounds never close less
    const std::size_t middle = too_few + (enough - too_few) / 2;
    TrimmedProof half = with(middle);
    if (found.beating(half.least)) {
      enough = middle;
      best = std::move(half);
    } else {
      too_few = middle + 1;
    }
  }
  return best;
}

}  // namespace pliant
