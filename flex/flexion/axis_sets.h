// SPDX-License-Identifier: Apache-2.0
// The choices of one axis as sets: P gives pairs of dims, small enough to be listed. (S is FanoutRules::row_counts and
// O OrderRules, both in flex/mapspace; T is flex/flexion/tile_space.h.)
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "flex/mapspace/rules.h"

namespace pliant {

/// A layer of the family with every loop it can have, of size 2: on it a rule is counted without regard to sizes.
Layer whole_nest(const Layer& layer);

/// The memory whose tiles and orders stand for the design: the outermost on-chip one at which anything may loop;
/// -1 when there is none.
int principal_memory(const Accelerator& accelerator, const Flexibility& flexibility);
/// The fanout with most units (the outermost of equals); -1 when no fanout has more than one.
int principal_fanout(const Accelerator& accelerator);

/// The dim that each side of an array runs over; -1 = none. Ordered: rows first.
struct SidePair {
  int rows = -1, cols = -1;
  auto operator<=>(const SidePair&) const = default;
};
/// Pairs of distinct dims that the rule allows, dims of size 1 dropped, ascending. A pair that lost a dim counts only
/// where no allowed pair has the other dim in the same place: idle sides are the same choice as a loop of one
/// iteration. An array with one side gives pairs with one dim.
std::vector<SidePair> parallel_choices(const Layer& layer, const FanoutRules& rules);

/// The size that an array's rows divide among them: of the dims that its one assignment puts on the rows (on the
/// columns, when the array has one row); of several assignments, the baseline's, else the first; where any dim may go
/// and there is no baseline, of the largest dim. Of several dims that share the side, the product; of several of which
/// one can have it, the largest.
Count parallel_size(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, int fanout);

}  // namespace pliant
