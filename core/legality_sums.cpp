// SPDX-License-Identifier: Apache-2.0
// Of the checker: memories that take no partial sums.
#include <algorithm>

#include "core/legality_judge.h"
#include "core/partial_sums.h"

namespace pliant::legality {

/// Outputs leave the memory inside it (the compute units, which hold none) when a loop moves them. They are finished
/// then if no loop over a dim that sums is that one or outside it, if no copies of this memory share a sum, and if the
/// network on the way adds up what the copies inside send. A dim that is one of several in an index sums: its
/// iterations have outputs in common.
void Judge::check_partial_sums(std::size_t k) {
  const auto output = static_cast<std::size_t>(layer_.output());
  const auto kept_at = [&](std::size_t l) { return (mapping_.levels[l].keeps >> output & 1) != 0; };
  if (takes_partial_sums(accelerator_.levels[k].memory()) || !kept_at(k)) return;
  std::size_t child = k + 1;
  while (child + 1 < accelerator_.levels.size() && !kept_at(child)) ++child;
  const DimSet moves = layer_.coupled(static_cast<int>(output));
  const auto sums = [&](int dim) {
    return std::ranges::none_of(layer_.tensors[output].ranks,
                                [&](const Rank& rank) { return rank.terms.size() == 1 && rank.terms[0].dim == dim; });
  };
  const auto unfinished = [&](std::size_t l, int dim, Count bound) {
    refuse(Rule::kKeep, level_name(k), layer_.tensors[output].name, dim_name(dim), static_cast<double>(bound), 1,
           level_name(k) + " takes no partial sums; with " + dim_name(dim) + " at " + level_name(l) + " " +
               layer_.tensors[output].name + " come there before they are finished");
  };
  const bool within = accelerator_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  bool moved = accelerator_.levels[child].is_compute();
  for (std::size_t l = child; l-- > 0;) {
    const Level& level = accelerator_.levels[l];
    moved |= within && l < k;  // there loops of memories further out always move them
    for (const SpatialLoop& loop : mapping_.levels[l].spatial) {
      if (loop.bound <= 1 || !sums(loop.dim)) continue;
      const bool added_up = l > k && level.fanout().reduction && (moves >> loop.dim & 1) == 0;
      if (!added_up) return unfinished(l, loop.dim, loop.bound);
    }
    const std::vector<Loop>& loops = mapping_.levels[l].temporal;
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      if (loop->bound <= 1) continue;
      moved |= (moves >> loop->dim & 1) != 0;
      if (moved && sums(loop->dim)) return unfinished(l, loop->dim, loop->bound);
    }
  }
}

}  // namespace pliant::legality
