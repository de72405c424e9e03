// SPDX-License-Identifier: Apache-2.0
// Axes on which a state stands for a group of neighbouring tiles, for dims that have too many tiles to walk. Each state
// is the smallest tile and the fewest iterations left of its group, and one group leads to another where any of its
// tiles may: what tables say about groups is a lower bound (docs/dev/proof, L12).
#pragma once

#include <optional>
#include <vector>

#include "dse/mappers/exact/chain/axis.h"
#include "dse/mappers/exact/task/resolved_task.h"

namespace pliant::exact {

/// Iterations in time of one dim inside a memory: from `first` to `last`.
struct TimeRange {
  Count first, last;
};

/// All that a dim can have, in ranges. `spread`: its units inside each memory, from the innermost outwards. Within a
/// range the iterations left outside no memory differ by more than the ratio. The last range completes the dim.
std::vector<TimeRange> time_ranges(Count size, const std::vector<Count>& spread, double ratio);

/// Are bounds of groups implemented for the task? Temporal loops may leave remainders, no operand stays at the compute
/// units, words of a rank with windows are known by that rank alone, and more words never cost less.
bool may_group_tiles(const ResolvedTask& resolved);

/// As build_axes(), with groups as narrow as a lattice of so many nodes allows: within this ratio. Nothing where that
/// is impossible.
struct GroupedAxes {
  std::optional<Axes> axes;
  double ratio = 0;
};
GroupedAxes build_grouped_axes(const ResolvedTask& resolved, const Spatial& spatial, const Keeps& keeps, double nodes);

}  // namespace pliant::exact
