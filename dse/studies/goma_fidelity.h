// SPDX-License-Identifier: Apache-2.0
// How faithful GOMA's closed form is to the cost model (its Section IV-G), on the authors' own 8064 mappings: 7 GEMMs x
// 8 tilings x 9 pairs of walking axes x 16 bypasses (configs/studies/goma_tilings.csv). And on random tilings, to see
// how much the answer depends on them.
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

/// Walking axes and bypass of a mapping; which tile stays where is by normal: B (x), A (y), P (z).
struct GomaChoice {
  std::array<int, 2> walking{};
  std::array<bool, 3> in_sram{}, in_regfile{};
};
std::vector<GomaChoice> all_goma_choices();    ///< 9 pairs of axes x 64 bypasses
std::vector<GomaChoice> paper_goma_choices();  ///< 9 pairs of axes x the 16 bypasses of the authors' study

/// Closed form and model side by side on some mappings.
struct GomaFidelity {
  double literal = 0;    ///< mappings on which the closed form agrees with the model, walking axes taken as they are
  double identical = 0;  ///< with walking axes that move, as the authors compare
  double repaired = 0;   ///< with both repairs of closed_form.h
  double difference = 0, total = 0;             ///< energies per MAC, summed
  std::vector<double> errors;                   ///< relative to the larger of the two, in percent
  std::vector<std::array<double, 2>> energies;  ///< closed form and model, in pJ, as mappings were added

  void add(const Layer& gemm, const Accelerator& accelerator, const GomaTiling& tiling,
           const std::vector<GomaChoice>& choices);
  double mappings() const { return static_cast<double>(errors.size()); }
  double percent(double count) const { return 100 * count / mappings(); }
  double mean_error() const;
};

/// A tiling of nested divisors, each chain equally likely, that keeps all PEs at work and fits into SRAM and register
/// file even with every tensor kept. StudyError when a million draws find none.
GomaTiling random_goma_tiling(const Layer& gemm, const Accelerator& accelerator, std::uint64_t seed);

void goma_fidelity(const StudyContext& context, StudyResult& result);

}  // namespace pliant
