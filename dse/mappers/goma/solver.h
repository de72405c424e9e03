// SPDX-License-Identifier: Apache-2.0
// GOMA's optimisation problem (its eq. 34), solved exactly: the least closed-form energy over nested divisors, walking
// axes and bypass, with all processing elements in use and tiles that fit.
//
// With walking axes and bypass fixed the energy is a sum over the three axes, and an axis' part depends on its own
// tiles only (eq. 25-27). So every axis has a list of (spatial factor, register tile) with the least energy over its
// SRAM tiles; three of them bound a mapping from below, and only those below the best one found look for the SRAM tiles
// that fit together.
#pragma once

#include <optional>

#include "dse/mappers/goma/closed_form.h"

namespace pliant {

struct GomaProblem {
  std::array<Count, 3> size{1, 1, 1};  ///< along x, y, z (M, N, K)
  Count units = 1;                     ///< all of them are in use
  double sram_words = 0, regfile_words = 0;
  std::array<bool, 3> sram_may_bypass{true, true, true}, regfile_may_bypass{true, true, true};  ///< by normal
  GomaEnergies energies;
};

struct GomaOptimum {
  GomaMapping mapping;
  double energy_pj = 0;            ///< of the closed form, as published
  std::uint64_t combinations = 0;  ///< of three axes that were looked at
};

/// Nothing when no mapping uses all units.
std::optional<GomaOptimum> solve_goma(const GomaProblem& problem);

}  // namespace pliant
