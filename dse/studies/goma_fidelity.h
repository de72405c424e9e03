// SPDX-License-Identifier: Apache-2.0
// How faithful GOMA's closed form is to the cost model (its Section IV-G): on 8064 mappings, 7 GEMMs x 2 tilings x 9
// pairs of walking axes x 64 bypasses, as in the paper, which does not print its tilings. So: two of our own, and
// random ones, to see how much the answer depends on them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "dse/mappers/goma/closed_form.h"
#include "dse/studies/study.h"

namespace pliant {

/// The tiles of a GEMM: of the whole, of the SRAM, of the PE array, of a register file.
using GomaTiling = std::array<std::array<double, 3>, 4>;

/// Closed form and model side by side on some mappings.
struct GomaFidelity {
  double identical = 0, repaired = 0;  ///< mappings on which the published form, and the form with both repairs, agree
  double difference = 0, total = 0;    ///< energies, summed
  std::vector<double> errors;          ///< relative, in percent
  std::vector<std::array<double, 2>> energies;  ///< closed form and model, in pJ, as mappings were added

  /// All pairs of walking axes and all bypasses of one tiling.
  void add(const Layer& gemm, const Accelerator& accelerator, const GomaTiling& tiling);
  double mappings() const { return static_cast<double>(errors.size()); }
  double identical_percent() const { return 100 * identical / mappings(); }
  double mean_error() const;
};

/// A tiling of nested divisors, each chain equally likely, that keeps all PEs at work and fits into SRAM and register
/// file even with every tensor kept. StudyError when a million draws find none.
GomaTiling random_goma_tiling(const Layer& gemm, const Accelerator& accelerator, std::uint64_t seed);

void goma_fidelity(const StudyContext& context, StudyResult& result);

}  // namespace pliant
