// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/setting.h"

#include <algorithm>

#include "dse/mappers/exact/lattice/windows.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

namespace {

DimSet named(const Layer& layer, const std::vector<std::string>& names) {
  DimSet set = 0;
  for (const std::string& name : names)
    if (const int d = layer.find_dim(name); d >= 0) set |= DimSet{1} << d;
  return set;
}

/// Every way to interleave the unnamed dims with a pattern's fixed sequence, as groups from the inside out.
std::vector<std::vector<DimSet>> groups_of(const Layer& layer, const OrderPattern& pattern, DimSet dims) {
  std::vector<DimSet> fixed;  // inside out
  if (pattern.stationary) {
    for (int x = 0; x < static_cast<int>(layer.tensors.size()); ++x) {
      if (layer.tensors[x].role != *pattern.stationary) continue;
      fixed = {dims & ~layer.coupled(x), dims & layer.coupled(x)};
      break;
    }
    return {fixed};
  }
  DimSet placed = 0;
  for (auto name = pattern.dims.rbegin(); name != pattern.dims.rend(); ++name) {
    const int d = layer.find_dim(*name);
    if (d < 0 || !(dims >> d & 1U)) continue;
    fixed.push_back(DimSet{1} << d);
    placed |= DimSet{1} << d;
  }
  // Floating dims take any gap: gap i lies inside fixed loop i.
  std::vector<std::vector<DimSet>> found;
  std::vector<int> floating;
  for (int d = 0; d < static_cast<int>(layer.dims.size()); ++d)
    if ((dims & ~placed) >> d & 1U) floating.push_back(d);
  std::vector<DimSet> gaps(fixed.size() + 1, 0);
  const auto place = [&](auto&& self, std::size_t i) -> void {
    if (i == floating.size()) {
      std::vector<DimSet> groups;
      for (std::size_t g = 0; g <= fixed.size(); ++g) {
        if (gaps[g] != 0) groups.push_back(gaps[g]);
        if (g < fixed.size()) groups.push_back(fixed[g]);
      }
      found.push_back(std::move(groups));
      return;
    }
    for (DimSet& gap : gaps) {
      gap |= DimSet{1} << floating[i];
      self(self, i + 1);
      gap &= ~(DimSet{1} << floating[i]);
    }
  };
  place(place, 0);
  return found;
}

}  // namespace

Setting::Setting(const Task& task_in, const Problem& problem_in) : task(task_in), problem(problem_in) {
  perfect = task.factorization == Factorization::kPerfect;
  within = problem.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  one_loop = problem.conventions.halo == Conventions::Halo::kOneLoop;
  compute_runs = problem.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory;
  walks = displacement_walks(problem);
  for (const Dim& dim : task.layer.dims) divisors.push_back(pliant::divisors(dim.size));
  for (int l = problem.levels - 1; l >= 0; --l) {
    if (!problem.is_memory[l]) continue;
    memories.push_back(l);
    const LevelFlexibility& rules = task.flexibility.levels[l];
    DimSet dims = (DimSet{1} << problem.dims) - 1;
    if (rules.loops.dims) dims = named(task.layer, *rules.loops.dims);
    for (int d = 0; d < problem.dims; ++d)
      if (task.layer.dims[d].size == 1) dims &= ~(DimSet{1} << d);
    may_loop.push_back(dims);
    std::vector<std::vector<DimSet>> alternatives;
    for (const OrderPattern& pattern : rules.order.allowed) {
      for (auto& groups : groups_of(task.layer, pattern, dims))
        if (std::find(alternatives.begin(), alternatives.end(), groups) == alternatives.end())
          alternatives.push_back(std::move(groups));
    }
    if (alternatives.empty()) alternatives = {{dims}};
    orders.push_back(std::move(alternatives));
  }
  for (int x = 0; x < problem.tensors; ++x)
    for (int d = 0; d < problem.dims; ++d)
      divides_slides |= (problem.sliding[x] >> d & 1U) != 0 && slide_may_be_divided(0, d);
}

bool Setting::slide_may_be_divided(int memory, int dim) const {
  if (one_loop) return false;
  for (auto k = static_cast<std::size_t>(memory); k + 1 < memories.size(); ++k)
    for (const TileRule::Tile& tile : task.flexibility.levels[memories[k]].tile.fixed)
      if (tile.dim == task.layer.dims[dim].name) return true;
  return false;
}

DimSet Setting::staying(int tensor, int keeper) const {
  // Only outside an innermost memory that does not keep the tensor.
  if (!compute_runs || keeper == problem.innermost_memory) return 0;
  DimSet growable = 0;
  for (std::size_t k = 1; k < memories.size() && memories[k] >= (within ? keeper : 0); ++k) growable |= may_loop[k];
  return growable & ~problem.coupled[tensor];
}

}  // namespace pliant::exact
