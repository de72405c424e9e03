// SPDX-License-Identifier: Apache-2.0
// Mappings that were best somewhere, tried elsewhere: what they cost there is the most that a best mapping can cost.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dse/design/bounded_space.h"

namespace pliant {

class TaskPool;

/// The searches that bound layers, and what each bounds.
inline constexpr std::array kBoundObjectives = {Objective::kEdp, Objective::kEnergy, Objective::kRuntime};
inline constexpr std::array kBoundMeasures = {&LayerBound::edp, &LayerBound::energy_pj, &LayerBound::cycles};
using KnownResults = std::array<std::shared_ptr<const TaskResult>, kBoundObjectives.size()>;

/// Energy and cycles of mappings that run on one design, by distinct layer: no bound of it is ever higher.
struct ReachedBounds {
  explicit ReachedBounds(std::size_t layers);
  LayerBounds least;             ///< of any such mapping, each measure by itself; infinite without any
  LayerBounds at_least_product;  ///< of the mapping with the least EDP
  std::vector<KnownResults> by;  ///< by layer and measure: who has the least
};

/// By layer: by how large a share the network's bound could rise if this measure rose to what is reached; infinite
/// where nothing is.
std::vector<double> possible_gains(const DistinctLayers& layers, const LayerBounds& bounds, const LayerBounds& reached,
                                   std::size_t measure);
/// Within the gap of what is reached.
bool sharp_enough(double bound, double reached, double gap);
/// The gap of searches whose bounds may be divided by this much; 0 where there is no room.
double gap_within(double room);

class KnownMappings {
 public:
  /// Threads of the pool that have nothing to search help.
  KnownMappings(const Sweep& sweep, const DistinctLayers& layers, const TaskPool& pool);

  void remember(std::size_t rule, std::size_t layer, const std::shared_ptr<const TaskResult>& result);
  /// Tries for every layer these mappings (which may be null), then those remembered, each once. Of a workload that is
  /// asked as a whole, what its lines reach within the deadline.
  using KnownOfLayer = std::function<std::span<const std::shared_ptr<const TaskResult>>(std::size_t layer)>;
  ReachedBounds reached(const Accelerator& accelerator, std::size_t rule, const LayerBounds& bounds,
                        const std::vector<double>& deadlines, const KnownOfLayer& first) const;
  /// Tries one mapping; the result may be null or without a mapping.
  void reach(ReachedBounds& reached, const Accelerator& accelerator, std::size_t rule, std::size_t layer,
             const std::shared_ptr<const TaskResult>& result) const;

 private:
  class Trial;
  Trial trial(ReachedBounds& reached, const Accelerator& accelerator, std::size_t rule, std::size_t layer) const;

  const Sweep& sweep_;
  const DistinctLayers& layers_;
  const TaskPool& pool_;
  /// The latest first, by rule and layer.
  std::vector<std::vector<std::vector<std::shared_ptr<const TaskResult>>>> latest_;
};

}  // namespace pliant
