// SPDX-License-Identifier: Apache-2.0
// From the bound of a mapping to what a good kernel takes: docs/model.md, "Predictions".
#pragma once

#include "core/accelerator.h"
#include "core/prediction.h"
#include "costmodel/nest.h"
#include "costmodel/task.h"

namespace pliant {

/// The accelerator with the bandwidths and the peak that kernels reach, and without leakage: an ordinary accelerator,
/// whose mappings have energy for what they do and cycles for the same.
Accelerator achievable_accelerator(const Accelerator& accelerator, const PredictionFigures& prediction);

/// Power that is drawn whatever runs: the prediction's idle power, which has leakage in it, or all levels' leakage.
double standing_w(const Accelerator& accelerator, const PredictionFigures& prediction);

struct Predicted {
  double seconds = 0, joules = 0;
  bool throttled = false;  ///< the limit on power is what takes the time
};

/// Of a mapping whose energy and cycles are those of achievable_accelerator(). Both grow with either.
class Predictor {
 public:
  /// InputError when the limit on power leaves nothing beside the standing power.
  Predictor(const Accelerator& accelerator, const PredictionFigures& prediction);
  Predicted of(double energy_pj, double cycles) const;
  /// objective_value() of what is predicted, in pJ and cycles.
  double value(Objective objective, double energy_pj, double cycles) const;

 private:
  double hz_ = 0, overhead_s_ = 0, standing_w_ = 0;
  double moving_w_ = 0;  ///< what the limit leaves for the work; infinite without one
};

}  // namespace pliant
