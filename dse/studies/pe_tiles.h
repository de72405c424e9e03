// SPDX-License-Identifier: Apache-2.0
// Cycles of mappings whose tiles belong to PEs, as GAMMA and MAESTRO write them: a dim is cut into tiles, and where it
// is spread over units each unit takes one tile after the other. Every MAC is counted once, and a step takes as long as
// its fullest unit.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/input/load.h"

namespace pliant {

/// Dims K, C, Y, X, R, S, sizes in outputs.
struct PeTiles {
  std::size_t clusters_over = 0, pes_over = 1;  ///< dims
  Count clusters = 1, pes = 1;                  ///< how many, and PEs of each
  std::array<Count, 6> outer{1, 1, 1, 1, 1, 1}, inner{1, 1, 1, 1, 1, 1};
};
/// What the fullest unit has to do along a dim of this size when units take tiles in turn.
Count fullest_unit(Count size, Count tile, Count units);
/// In a depthwise layer C takes the place of K.
double cycles_of(const std::array<Count, 6>& size, const PeTiles& tiles, bool depthwise);

/// One line of configs/studies/gamma_runs.csv.
struct GammaRun {
  std::string layer;
  bool depthwise = false;
  std::array<Count, 6> inputs{};    ///< sizes as the tools were given them
  std::array<Count, 6> outputs{};   ///< Y and X less the filter's reach
  double reported = 0, closed = 0;  ///< cycles; `closed` is 0 where it was not run
  PeTiles mapping;                  ///< behind `reported`
};
/// InputError with the line that is wrong.
std::vector<GammaRun> read_gamma_runs(const Library& library);

double macs_of(const std::array<Count, 6>& size);

}  // namespace pliant
