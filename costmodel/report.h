// SPDX-License-Identifier: Apache-2.0
// Everything the model knows about one priced mapping, level by level and tensor by tensor.
#pragma once

#include <string>
#include <vector>

#include "costmodel/nest.h"

namespace pliant {

/// One tensor at one memory. Counts are elements summed over all instances.
struct TensorCost {
  bool kept = false;
  double reads = 0, fills = 0, updates = 0;
  double drains = 0;      ///< the part of reads that empties outputs to the parent
  double tile_words = 0;  ///< per instance
  /// Outputs: updates and drains that are as wide as a result, not as a partial sum.
  double finished_updates = 0, finished_drains = 0;
  double words_read = 0, words_written = 0;  ///< of the memory, as wide as they are
  double energy_pj = 0;
};

struct LevelCost {
  std::string name;
  bool memory = false;
  std::vector<TensorCost> tensors;  ///< by tensor of the layer
  double instances_built = 1, instances_peak = 1, instances_average = 1;
  double capacity_words = 0;  ///< usable, per instance; infinity = unbounded
  double used_words = 0;      ///< per instance
  /// How long its ports need for what is read and what is written; a bus needs both times, one after the other.
  double read_cycles = 0, write_cycles = 0, bus_cycles = 0;
  double fill_cycles = 0;                ///< of a systolic array, in all
  double energy_pj = 0, leakage_pj = 0;  ///< of a fanout: of its network, by tensor as well
};

struct CostReport {
  Totals totals;
  double macs = 0;
  double mac_energy_pj = 0;
  double compute_leakage_pj = 0;
  double units = 0;  ///< compute units built
  double area_um2 = 0;
  std::vector<LevelCost> levels;  ///< parallel to the accelerator's levels, without compute
  std::string bound_by;           ///< "compute", or a memory's port: "GLB read", "GLB bus", "GLB weights read"
};

/// "compute", or the memory and its port. A systolic array takes its steps and its fills one after the other: it is
/// bound by the longer of the two.
std::string bound_name(const Problem& problem, const Totals& totals);

/// Prices one mapping in full. The mapping must have the accelerator's shape; legality is the checker's business.
/// Throws std::logic_error when an invariant of the model is broken, which no input can cause.
CostReport price(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping);

/// The always-true statements about a priced mapping; returns the first broken one, or "".
std::string broken_invariant(const Nest& nest, const Totals& totals);

}  // namespace pliant
