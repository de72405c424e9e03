// SPDX-License-Identifier: Apache-2.0
// What is chosen before any tile: spatial factors of every fanout, and which memories keep which tensors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "costmodel/problem.h"
#include "dse/mappers/mapper.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

/// One way of unrolling dims at one fanout: bounds of its loops over rows and, inside them, over columns.
struct Unrolling {
  std::array<std::int32_t, kMaxDims> rows{}, cols{};  // there may be millions, and no array is larger
  Count factor(int d) const { return Count{rows[d]} * cols[d]; }
  std::vector<SpatialLoop> loops(int dims) const;
  bool operator==(const Unrolling&) const = default;
};

using Keeps = std::array<TensorSet, kMaxLevels>;

using Durations = std::array<Count, kMaxDims>;  ///< iterations in time by dim; 0 = not chosen (durations.h)

/// Spatial factors of the whole chain, and what else is chosen with them. Fanouts may be open: nothing is known of
/// their factors, which are 1 here.
struct Spatial {
  Spatial();
  std::array<std::array<Count, kMaxDims>, kMaxLevels> factor;  ///< rows times columns; 1 at memories
  std::array<const Unrolling*, kMaxLevels> unrolling{};        ///< of fanouts
  Durations durations{};
  std::uint32_t open = 0;  ///< fanouts
};

/// Steps of the nest: those of the durations, or at least the iterations of every dim that are not spread over units.
double least_steps(const Task& task, const Problem& problem, const Spatial& spatial);

/// Product of the factors of these dims at fanouts between two levels.
double spatial_between(const Spatial& spatial, DimSet dims, int outside, int inside);

/// One transfer of a tensor between neighbouring keepers; child == Problem::levels is the compute units.
struct KeeperPair {
  int tensor = 0, parent = 0, child = 0;
};

/// All sets of memories that may keep one tensor, as bits by level; the largest first. Keep choices are all
/// combinations over the tensors.
std::vector<std::uint32_t> keep_patterns(const MapSpaceRules& rules, int tensor);

}  // namespace pliant::exact
