// SPDX-License-Identifier: Apache-2.0
// The 192 optima that GOMA's solver certified (configs/studies/goma_optima.csv), each solved again under the same
// energies in the same map-space, by two searches that share only the cost model, with a proof that is audited.
#pragma once

#include <string>
#include <vector>

#include "core/layer.h"
#include "dse/studies/study.h"

namespace pliant {

struct GomaOptimumRow {
  std::string accelerator, workload, gemm;
  Layer layer;
  double published = 0;  ///< pJ per MAC
};
/// InputError with the line that is wrong.
std::vector<GomaOptimumRow> read_goma_optima(const Library& library);

/// What became of one published certificate.
struct GomaVerdict {
  double goma = 0;       ///< pJ per MAC of the optimum of the closed form, priced by the model
  double exact = 0;      ///< of the proven optimum, all processing elements in use
  double any_use = 0;    ///< of the proven optimum when processing elements may idle
  bool audited = false;  ///< the proof of `exact`, by the auditor's own code
  /// Twelve printed digits: equal, or ours is lower and the published optimum is none.
  bool holds(double published) const { return goma >= published * (1 - 1e-11); }
};
/// Writes the certificate to `file` unless it is empty.
GomaVerdict check_goma_optimum(const StudyContext& context, const GomaOptimumRow& row, const std::string& file);

void goma_certificates(const StudyContext& context, StudyResult& result);

}  // namespace pliant
