// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/uncut_run.h"

#include <algorithm>

namespace pliant::fusion {

namespace {

/// May loops over any dims be put around a mapping, in any order? They would stand at the outermost memory, which
/// then must hold everything and rule nothing; fixed tiles inside would grow with the layer.
bool takes_loops_outside(const Task& task) {
  if (task.factorization != Factorization::kPerfect) return false;
  const std::vector<Level>& levels = task.accelerator.levels;
  if (!levels.front().is_memory()) return false;
  const Memory& outside = levels.front().memory();
  for (std::size_t role = 0; role < kRoles; ++role)
    if (!outside.may_keep[role] || outside.may_bypass[role]) return false;
  const LevelFlexibility& rules = task.flexibility.levels.front();
  return !outside.capacity_words && rules.tile == TileRule{} && rules.order == OrderRule{} &&
         rules.loops == LoopRule{} && std::ranges::all_of(task.flexibility.levels, [](const LevelFlexibility& level) {
           return level.tile.fixed.empty();
         });
}

/// Dims that tell results apart: a rank of the output is nothing but one of them. Of a window (transposed convolutions)
/// elements are added up.
DimSet dims_of_results(const Layer& layer) {
  DimSet plain = 0, added = 0;
  for (const Rank& rank : layer.tensors[static_cast<std::size_t>(layer.output())].ranks)
    for (const Term& term : rank.terms) (rank.terms.size() == 1 ? plain : added) |= DimSet{1} << term.dim;
  return plain & ~added;
}

}  // namespace

std::optional<UncutRun> uncut_run(const Task& task, const std::vector<Count>& sizes) {
  if (!takes_loops_outside(task)) return std::nullopt;
  const DimSet results = dims_of_results(task.layer);
  UncutRun uncut{sizes};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const Count whole = task.layer.dims[d].size;
    if ((results >> d & 1U) == 0 || whole == sizes[d] || whole % sizes[d] != 0) continue;
    uncut.parts *= static_cast<double>(whole / sizes[d]);
    uncut.sizes[d] = whole;
  }
  if (uncut.parts == 1) return std::nullopt;
  return uncut;
}

}  // namespace pliant::fusion
