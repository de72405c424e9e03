// SPDX-License-Identifier: Apache-2.0
// The discrete choices that are fixed before the lattice is walked: spatial factors of every fanout, and which memories
// keep which tensors. A few hundred per task, most of them pruned by a bound.
#pragma once

#include <array>
#include <vector>

#include "costmodel/problem.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {

/// One way of unrolling dims at one fanout.
struct Unrolling {
  std::array<Count, kMaxDims> factor{};  ///< rows times columns, per dim
  std::vector<SpatialLoop> loops;        ///< how it is laid out on the sides
};

using Keeps = std::array<TensorSet, kMaxLevels>;

/// Spatial factors of the whole chain.
struct Spatial {
  std::array<std::array<Count, kMaxDims>, kMaxLevels> factor{};  ///< 1 at memories
  std::array<const Unrolling*, kMaxLevels> unrolling{};
  double parallel = 1;  ///< product of all factors
};

/// All legal unrollings of one fanout, each factor vector once.
std::vector<Unrolling> unrollings(const Task& task, const Problem& problem, int level);

/// All combinations over the fanouts that the dims' sizes allow. Refers to `by_level`.
std::vector<Spatial> spatial_choices(const Task& task, const Problem& problem,
                                     const std::vector<std::vector<Unrolling>>& by_level);

/// All keep/bypass choices, the one that keeps most first.
std::vector<Keeps> keep_choices(const Problem& problem);

}  // namespace pliant::exact
