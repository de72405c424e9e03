// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/displacements.h"

#include <algorithm>
#include <bit>

#include "costmodel/bits.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

bool RememberedSlide::can_follow(const Problem& problem, const Problem::AffineRank& rank) {
  DimSet moving = 0;
  int terms = 0;
  for (int i = 0; i < rank.terms; ++i) {
    if (problem.size[rank.dim[i]] == 1) continue;
    moving |= only(rank.dim[i]);
    ++terms;
  }
  return problem.conventions.halo == Conventions::Halo::kDisplacement && terms == 2 && std::popcount(moving) == 2;
}

RememberedSlide::RememberedSlide(const ResolvedTask& resolved, const Spatial& spatial, int memory, int a,
                                 const Problem::AffineRank& rank)
    : resolved_(resolved), spatial_(spatial), memory_(memory) {
  for (int i = 0; i < rank.terms; ++i)
    if (resolved.problem.size[rank.dim[i]] > 1) (rank.dim[i] == a ? a_ : b_) = dim_of(rank.dim[i], rank.coefficient[i]);
}

RememberedSlide::Dim RememberedSlide::dim_of(int dim, Count coefficient) const {
  const Problem& p = resolved_.problem;
  Dim found;
  found.dim = dim;
  found.coefficient = coefficient;
  found.size = static_cast<Count>(p.size[dim]);
  const int level = resolved_.memories[static_cast<std::size_t>(memory_)];
  for (int l = p.levels - 1; l > level; --l) found.units_inside *= spatial_.factor[l][dim];
  for (int l = level - 1; l >= 0; --l) {
    found.units_outside *= spatial_.factor[l][dim];
    found.loops_before_units |= p.is_memory[l] && found.units_outside == 1;
  }
  return found;
}

std::vector<Count> RememberedSlide::bounds(Count tile_a) const {
  std::vector<Count> found = divisors(tile_a / a_.units_inside);
  found.erase(found.begin());
  return found;
}

const std::vector<RememberedSlide::Reached>& RememberedSlide::reach(
    const Dim& dim, Count tile, bool here, std::map<Count, std::vector<Reached>>& known) const {
  const auto [entry, fresh] = known.try_emplace(tile);
  std::vector<Reached>& found = entry->second;
  if (!fresh) return found;
  std::vector<Reached> now{{tile, 0}};
  Count whole = tile * left_of(dim, tile);  // the tile where all loops stand inside the next units
  bool grown = false;                       // by loops, since the last units
  const auto grow = [&] {
    for (std::size_t i = 0, before = now.size(); i < before; ++i) {
      const Reached from = now[i];
      for (const Count bound : divisors(whole / from.tile))
        if (bound > 1) now.push_back({from.tile * bound, from.residue});
    }
    grown = true;
  };
  if (here) grow();
  for (int l = resolved_.memories[static_cast<std::size_t>(memory_)] - 1; l >= 0; --l) {
    const Count units = spatial_.factor[l][dim.dim];
    if (resolved_.problem.is_memory[l]) {
      if (!grown) grow();
    } else if (units > 1) {
      found.insert(found.end(), now.begin(), now.end());
      for (Reached& state : now) state = {state.tile * units, state.residue + state.tile * (units - 1)};
      whole *= units;
      grown = false;
    }
  }
  found.insert(found.end(), now.begin(), now.end());
  return found;
}

/// Every place that loops of one dim can reach is combined with every place of the other: more than there are.
RememberedSlide::Further RememberedSlide::further(Count tile_a, Count tile_b, Count bound) const {
  const Count left_a = left_of(a_, tile_a), left_b = left_of(b_, tile_b);
  if (left_a < 1 || left_b < 1) return Further::kAny;  // no mapping comes here
  const Further alone = left_a > 1 && a_.loops_before_units ? Further::kGoesOn : Further::kWhole;
  if (left_b == 1) return alone;
  const Count slid = tile_a / bound, remembered = a_.coefficient * slid;
  const auto cheap = [&](Count moved) { return moved == 0 || moved == remembered; };
  bool returns = false;
  for (const Reached& a : reach(a_, tile_a, false, from_a_)) {
    const Count residue_a = slid + a.residue, moved_a = a_.coefficient * (a.tile - residue_a);
    for (const Reached& b : reach(b_, tile_b, true, from_b_)) {
      const Count residue_b = tile_b + b.residue, moved_b = b_.coefficient * (b.tile - residue_b);
      if (cheap(b_.coefficient * residue_b - moved_a)) return Further::kAny;
      returns |= left_a > 1 && moved_b > 0 && cheap(a_.coefficient * residue_a - moved_b);
    }
  }
  return returns ? Further::kReturns : alone;
}

}  // namespace pliant::exact
