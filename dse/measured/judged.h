// SPDX-License-Identifier: Apache-2.0
// What the model says of kernels that were timed: a bound that is proven, a plain roofline, and a prediction.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/prediction.h"
#include "costmodel/prediction.h"
#include "dse/mappers/mapper.h"
#include "dse/measured/measurements.h"

namespace pliant {

struct JudgeOptions {
  Factorization factorization = Factorization::kRubyS;
  double gap = 0.02;   ///< of searches: a bound is then the proven one, up to so much below the best mapping's
  double seconds = 2;  ///< of one search at most, by a clock of work (counted_clock.h): answers are alike everywhere
  double exponentials_per_cycle = 0;  ///< of the chip, for attention's scores in predictions; 0 = they take no time
  int threads = 1;                    ///< kernels at a time; 0 = all cores
  std::stop_token stop;
  std::function<void(std::size_t done)> on_row;  ///< from any thread, one at a time
};

/// What no kernel beats.
struct KernelBound {
  double seconds = 0;
  std::string by;  ///< "compute", "HBM bus"
  /// Multiply-adds over the peak, or all bytes over the outermost bandwidth, whichever is longer: beside predictions,
  /// which take operands from outside as well.
  double roofline_s = 0;
  bool violated = false;  ///< it was measured faster
};

/// The parts of a prediction, of all layers of the kernel together, with the mapping that makes it shortest.
struct KernelPrediction {
  Predicted predicted;
  std::vector<Mapping> mappings;  ///< by layer; empty of a copy
};

/// What mappings of a kernel take of each level at full bandwidth: enough to predict them with other shares.
struct KernelParts {
  std::vector<std::vector<double>> cycles;  ///< by layer and level; of the compute level: the steps
  double energy_pj = 0;
};

/// One chip and the kernels timed on it.
class Judge {
 public:
  /// InputError when the accelerator has no clock or its outermost memory no bandwidth.
  Judge(Accelerator accelerator, JudgeOptions options);

  std::vector<KernelBound> bounds(const std::vector<Measurement>& rows) const;
  /// StopRequested leaves what is not done at 0 s.
  std::vector<KernelPrediction> predictions(const std::vector<Measurement>& rows,
                                            const PredictionFigures& prediction) const;
  /// The prediction of mappings that were found with other figures.
  Predicted priced(const Measurement& row, const std::vector<Mapping>& mappings,
                   const PredictionFigures& prediction) const;

  KernelParts parts(const Measurement& row, const std::vector<Mapping>& mappings) const;
  /// The same as priced(), but for cycles that are rounded up.
  Predicted of_parts(const Measurement& row, const KernelParts& parts, const PredictionFigures& prediction) const;

  const Accelerator& accelerator() const { return accelerator_; }

 private:
  KernelBound bound(const Measurement& row) const;
  Predicted whole(const Measurement& row, double cycles, double energy_pj, const PredictionFigures& prediction) const;
  KernelPrediction predict(const Measurement& row, const PredictionFigures& prediction) const;
  /// The accelerator as one layer of a kernel finds it: bytes that are warm, or that stay on chip, cost no time
  /// outside.
  /// A bound has to allow for all that may be warm; a prediction takes operands from outside.
  Accelerator seen_by(const Measurement& row, double warm_bytes) const;
  Task task_of(const Layer& layer, Accelerator accelerator) const;
  SearchOptions limited(double gap, const Clock& clock) const;

  Accelerator accelerator_;
  JudgeOptions options_;
  double bytes_per_second_ = 0;  ///< of the outermost memory
};

}  // namespace pliant
