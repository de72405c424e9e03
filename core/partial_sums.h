// SPDX-License-Identifier: Apache-2.0
// Memories to which outputs come finished or not at all: accumulators further in take every partial sum.
#pragma once

#include <algorithm>

#include "core/accelerator.h"

namespace pliant {

/// What ElementBits::partial_sums of such a memory says, `none` in a file. No tile reserves room for partial sums
/// there, and mappings that bring some are illegal.
inline constexpr int kNoPartialSums = 0;

inline bool takes_partial_sums(const Memory& memory) { return memory.bits.partial_sums != kNoPartialSums; }

inline bool takes_partial_sums_everywhere(const Accelerator& accelerator) {
  return std::ranges::all_of(
      accelerator.levels, [](const Level& level) { return !level.is_memory() || takes_partial_sums(level.memory()); });
}

}  // namespace pliant
