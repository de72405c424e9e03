// SPDX-License-Identifier: Apache-2.0
// GOMA's closed-form GEMM energy (its eq. 10-33), written down from the paper. Its template has five levels: DRAM,
// SRAM, PE array, register file, MAC; a walking axis per stage; bypass at SRAM and register file.
//
// The model of this project differs in two situations that the formula leaves out:
//
//   idle walking axis   the stage's innermost loop has one iteration, so the next loop decides what stays
//   crossing stages     all loops of the SRAM stage leave a tensor in place, so its run goes on into the DRAM stage
#pragma once

#include <array>

#include "core/accelerator.h"
#include "core/mapping.h"

namespace pliant {

/// Axes x, y, z of the paper are our M, N, K; the tensor with normal x is B (Weights), y is A (Inputs), z is P
/// (Outputs).
struct GomaMapping {
  std::array<std::array<double, 3>, 4> tile{};  ///< L^(p)_d, p = 0..3
  std::array<int, 2> walking{};                 ///< of the stages 0-1 and 1-2
  std::array<bool, 3> in_sram{}, in_regfile{};  ///< by normal
};

struct GomaEnergies {
  double dram_read = 0, dram_write = 0, sram_read = 0, sram_write = 0, reg_read = 0, reg_write = 0, mac = 0;
};
/// The same mapping with walking axes that walk: an axis with one iteration gives way to the next loop of its stage,
/// as in the authors' own comparison with Timeloop. Their closed form of this mapping leaves out crossing stages only.
GomaMapping with_moving_axes(GomaMapping mapping);

/// Of one of the shipped templates.
GomaEnergies goma_energies(const Accelerator& accelerator);

/// How many consecutive tiles of a stage leave the projection with normal d in place.
struct GomaCompression {
  std::array<double, 3> dram_stage{1, 1, 1}, sram_stage{1, 1, 1};
};
GomaCompression as_published(const GomaMapping& mapping);  ///< along the walking axis only
GomaCompression as_walked(const GomaMapping& mapping);     ///< through idle loops and across stages

/// The part of the projection with normal d: it depends on the tiles along d only.
double goma_axis_energy(const GomaMapping& mapping, int d, const GomaEnergies& energies,
                        const GomaCompression& compression);
/// Eq. 10-33 without leakage, not normalised: the MACs and the three axes.
double goma_energy(const GomaMapping& mapping, const GomaEnergies& energies, const GomaCompression& compression);

/// The same mapping for the cost model; the accelerator has the template's five levels.
Mapping to_mapping(const GomaMapping& mapping, const Layer& gemm);

}  // namespace pliant
