// SPDX-License-Identifier: Apache-2.0
// What one layer costs an inflexible design, in closed form; inflexible_design.h has the equations.
#pragma once

#include <array>
#include <cstdint>

#include "dse/studies/inflexible_design.h"

namespace pliant {

inline constexpr int kM = 0, kC = 1, kP = 2, kQ = 3, kR = 4, kS = 5;

/// The largest divisor of `size` that is at most `limit`.
Count largest_divisor(Count size, Count limit);

/// A depthwise layer has no M: where the design says M, its C stands.
std::size_t stands_in(const InflexibleNetwork::Shape& shape, std::size_t dim);
/// The dim of the design whose tile counts for a dim of the layer: a depthwise C has the tile of M.
std::size_t tile_dim(const InflexibleNetwork::Shape& shape, std::size_t dim);

/// Steps of one dim with a tile that divides it, over `rows` and, where it stands on both sides, `cols` units.
Count steps_of(Count size, Count tile, Count rows, Count cols = 1);

/// Steps of a layer with dim a over rows and dim b over columns and the tile that it has (clipped_tile).
double layer_steps(const InflexibleNetwork::Shape& shape, std::size_t a, std::size_t b, Count rows, Count cols,
                   const std::array<Count, 6>& clipped);
/// At most that, whatever the tile.
double least_steps(const InflexibleNetwork::Shape& shape, std::size_t a, std::size_t b, Count rows, Count cols);

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
/// What an order decides about the words of a layer: for each tensor, the loops it stays during and the one it slides
/// along. `moving`: the dims (as bits) whose loop has more than one iteration. Equal signatures, equal words.
std::uint32_t reuse_signature(const std::array<int, 6>& order, std::uint32_t moving, bool depthwise);
/// At most what any order needs. Falls, or stays, where a tile grows.
double least_dram_words(const InflexibleNetwork::Shape& shape, const std::array<Count, 6>& clipped);
/// At most what any tile and order need: every tensor once.
double compulsory_words(const InflexibleNetwork::Shape& shape);

}  // namespace pliant
