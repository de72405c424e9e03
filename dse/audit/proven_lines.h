// SPDX-License-Identifier: Apache-2.0
// What is proven of the variants of a network's layers: points of their least energy + slope * cycles.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "dse/audit/network_places.h"
#include "dse/audit/run_floor.h"

namespace pliant::audit {

inline double sum_at(double slope, const MovingCost& cost) {
  return std::isinf(slope) ? cost.cycles : slope == 0 ? cost.energy_pj : cost.energy_pj + slope * cost.cycles;
}

/// The least energy + slope * cycles of one variant is the least of many linear functions of the slope, so it is
/// concave, and it grows by the fewest cycles at least.
struct KnownLines {
  std::map<double, double> least{{0.0, 0.0}};  ///< by slope
  double fewest = 0;                           ///< cycles
  bool nothing_fits = false;

  double at(double slope) const;
  void raise(double slope, double proven);
};

class ProvenLines {
 public:
  /// Both must outlive it. `floors`: what no mapping can do without counts, too.
  ProvenLines(const NetworkPlaces& places, const std::vector<Task>& rows, bool floors)
      : places_(places), rows_(rows), floors_known_(floors) {}

  /// The proof must outlive it, too.
  void add(const LayerVariant& variant, double slope, const Certificate& proof);
  /// Less room never helps: whatever is proven with no more taken holds.
  KnownLines of(const LayerVariant& variant) const;
  /// What the best for a slope has of the mappings that stand in the proofs, as far as they are legal for the variant;
  /// endless where none is.
  MovingCost attained(const LayerVariant& variant, double slope) const;
  /// Whatever room there is.
  RunFloor::Least floor(const LayerVariant& variant) const;

 private:
  LayerVariant key(LayerVariant variant) const;
  /// A run that so many of these make up: loops over results put around their mapping are one of it, for no more.
  struct Larger {
    LayerVariant run;
    double parts = 1;
  };
  RunFloor::Least own_floor(const LayerVariant& variant) const;
  std::optional<Larger> larger(const LayerVariant& variant) const;
  /// What is proven of it in no less room, for one of so many parts.
  void raise(KnownLines& lines, const LayerVariant& run, const Taken& taken, double parts) const;

  const NetworkPlaces& places_;
  const std::vector<Task>& rows_;
  const bool floors_known_;
  std::map<LayerVariant, std::map<Taken, KnownLines>> proven_;  ///< by variant with nothing taken
  std::map<LayerVariant, std::vector<const Mapping*>> mappings_;
  mutable std::map<LayerVariant, RunFloor> floors_;  ///< and without sizes
};

}  // namespace pliant::audit
