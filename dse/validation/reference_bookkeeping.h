// SPDX-License-Identifier: Apache-2.0
// What Timeloop's bookkeeping yields for a mapping, artefacts included. It follows instance 0 of every level through
// two iterations of each loop and extrapolates; with remainders that is no longer the truth. Validation excuses a
// difference from our model only when the reference's number is the one predicted here, and names the habit that
// caused it. Nothing else uses this: our model walks the loop nest.
#pragma once

#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

/// A loop with the bound of its last iteration. Memories are numbered outermost first; a spatial loop belongs to the
/// memory above its fanout.
struct ReferenceLoop {
  int memory = 0;
  bool spatial = false;
  int dim = 0;
  Count bound = 1, residual = 1;
};

struct ReferenceNest {
  const Layer* layer = nullptr;
  const Accelerator* accelerator = nullptr;
  std::vector<int> levels;           ///< level of the accelerator, by memory
  std::vector<ReferenceLoop> loops;  ///< outermost first
  std::vector<TensorSet> keeps;      ///< by memory
};

/// Bookkeeping that departs from the walked loop nest when there are remainders.
enum class Habit {
  kNone,            ///< the rest: instance 0 stands for all instances, counts are rounded
  kUnseenLast,      ///< the last iteration of the loop just outside a tile is not seen: short tiles count as full ones
  kTwoIterations,   ///< two or three iterations of each loop are visited; windows jump over the others
  kSameTile,        ///< a tile that happens to be the old one is not fetched again; our control is static
  kAveragedFills,   ///< words for the active children are divided by the full fanout, then multiplied by the average
  kAveragedBypass,  ///< requests passing a bypassed memory are scaled by those averaged fills
  kPartition,       ///< an instance's share of the outputs is a quotient of bounding boxes, rounded down
  kTemporalBounds,  ///< cycles are the product of temporal bounds, remainders or not
};
inline constexpr Habit kHabits[] = {Habit::kUnseenLast,    Habit::kTwoIterations,  Habit::kSameTile,
                                    Habit::kAveragedFills, Habit::kAveragedBypass, Habit::kPartition,
                                    Habit::kTemporalBounds};
std::string_view describe(Habit habit);

struct ReferenceCounts {
  double reads = 0, fills = 0, updates = 0;  ///< per instance
  double instances = 1, instances_max = 1;
  double tile_words = 0;
};

struct Prediction {
  double computes = 0, compute_cycles = 0, cycles = 0, utilization = 0;
  double compute_energy_pj = 0, energy_pj = 0;
  std::vector<double> level_energy_pj;               ///< by memory
  std::vector<std::vector<ReferenceCounts>> counts;  ///< [memory][tensor]; zero where the tensor is not kept
};

/// The reference's numbers; with `repaired`, what they would be without that one habit (a nest too long to walk in full
/// keeps kTwoIterations).
Prediction predict_reference(const ReferenceNest& nest, Habit repaired = Habit::kNone);

}  // namespace pliant
