// SPDX-License-Identifier: Apache-2.0
// What one layer costs an inflexible design, in closed form; inflexible_design.h has the equations.
#pragma once

#include <array>

#include "dse/studies/inflexible_design.h"

namespace pliant {

inline constexpr int kM = 0, kC = 1, kP = 2, kQ = 3, kR = 4, kS = 5;

/// The largest divisor of `size` that is at most `limit`.
Count largest_divisor(Count size, Count limit);

/// Steps of one dim over `units`; no tile limit when `tile` is 0.
Count steps_of(Count size, Count tile, Count units);

/// Steps of a layer with dim a over rows and dim b over columns; tile 0: whatever the tile, a lower bound.
double layer_steps(const InflexibleNetwork::Shape& shape, std::size_t a, std::size_t b, Count rows, Count cols,
                   Count row_tile, Count col_tile);

/// Words that a layer moves between DRAM and buffer.
struct DramWords {
  double reads = 0, writes = 0;
  double longest() const { return reads > writes ? reads : writes; }
};
/// Whole cycles that the DRAM needs for so many words in one direction; 0 without a limit.
double transfer_cycles(double words, const InflexibleHardware& hardware);
/// The tile as this layer has it: divisors, a depthwise C with the tile of M.
std::array<Count, 6> clipped_tile(const InflexibleNetwork::Shape& shape, const std::array<Count, 6>& tile);
DramWords dram_words(const InflexibleNetwork::Shape& shape, const std::array<Count, 6>& clipped,
                     const std::array<int, 6>& order);
/// At most what any order needs.
double least_dram_words(const InflexibleNetwork::Shape& shape, const std::array<Count, 6>& clipped);
/// At most what any tile and order need: every tensor once.
double compulsory_words(const InflexibleNetwork::Shape& shape);

}  // namespace pliant
