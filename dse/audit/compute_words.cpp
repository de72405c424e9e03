// SPDX-License-Identifier: Apache-2.0
// Words that the compute units ask for, one by one: what all loops leave, less what units share.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/audit/index_values.h"
#include "dse/audit/space_rules.h"
#include "dse/audit/transfers.h"

namespace pliant::audit {

namespace {

constexpr Count kMostTiles = 4096;  // looked at for one choice and rank; beyond that all units may share

}  // namespace

/// Every step takes a word for each compute unit, and units with equal words share one: all loops count, unless
/// operands may stay there (quickflow).
void ChoiceTransfers::least_towards_compute(Transfer& t) const {
  const int x = t.tensor;
  if (p_.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory &&
      t.parent != p_.innermost_memory)
    return;
  if (remainders_) {
    t.least_served = std::max(t.least_served, least_with_idle_units(t));
    return;
  }
  double served = t.served_words;
  for_each_bit((below(p_.dims) & ~p_.coupled[x]) | p_.affine_dims[x],
               [&](int d) { served *= static_cast<double>(left_[d]); });
  std::array<Count, kMaxDims> tile;
  tile.fill(1);
  // No loop lies inside the innermost memory, so only fanouts there have a tile that is known; of others the least
  // counts over all tiles. Windows that may be served together count as one.
  for (const Problem::AffineRank& rank : p_.windows[x])
    served *= distinct(rank, t, tile, p_.innermost_memory, p_.uniting[x]);
  t.least_served = std::max(t.least_served, served);
}

/// Every iteration asks for a word. Units share one if they differ in dims that the tensor does not use, or have equal
/// windows.
double ChoiceTransfers::least_with_idle_units(const Transfer& t) const {
  const int x = t.tensor;
  const std::uint32_t fanouts = fanouts_between(t.parent, t.child);
  double words = 1;
  for (int d = 0; d < p_.dims; ++d) {
    double together = 1;
    for_each_bit(fanouts & p_.sharing[x], [&](int l) { together *= static_cast<double>(factor_[l][d]); });
    words *= p_.is_coupled(x, d) ? p_.size[d] : std::ceil(p_.size[d] / together);
  }
  for (const Problem::AffineRank& rank : p_.windows[x]) words *= share_of_windows(rank, t);
  return words;
}

/// Different windows that units ask for, as a share of all words they ask for. In a step with fewer units the share is
/// no less: with every unit more along a dim no more new windows come than with the one before. So where the rounds of
/// a dim are not known, all of its units work that can.
double ChoiceTransfers::share_of_windows(const Problem::AffineRank& rank, const Transfer& t) const {
  const std::uint32_t shares = p_.sharing_equal[t.tensor] | p_.uniting[t.tensor];
  std::uint32_t spread = 0;
  double units = 1;  // that may share
  for_each_bit(fanouts_between(t.parent, t.child), [&](int l) {
    for (int i = 0; i < rank.terms; ++i) {
      if (factor_[l][rank.dim[i]] <= 1) continue;
      spread |= std::uint32_t{1} << l;
      if ((shares >> l & 1U) != 0) units *= static_cast<double>(factor_[l][rank.dim[i]]);
    }
  });
  if (units == 1) return 1;
  const bool one_network = (spread & ~p_.network[std::countr_zero(spread)]) == 0;
  const bool all_equal = (spread & ~(p_.sharing_equal[t.tensor] & ~p_.uniting[t.tensor])) == 0;
  if (!one_network || !all_equal || factorization_ == Factorization::kPadding) return 1 / units;
  std::vector<std::vector<Rounds>> ways;
  double combinations = 1;
  for (int i = 0; i < rank.terms; ++i) {
    ways.push_back(rounds_under(spread, rank.dim[i], rank.coefficient[i]));
    combinations *= static_cast<double>(ways.back().size());
  }
  if (combinations > kMostTiles) return 1 / units;
  double least = 1;
  std::vector<const Rounds*> chosen(ways.size());
  const auto choose = [&](auto&& self, std::size_t i) -> void {
    if (i == ways.size()) {
      least = std::min(least, share_of(chosen));
      return;
    }
    for (const Rounds& way : ways[i]) {
      chosen[i] = &way;
      self(self, i + 1);
    }
  };
  choose(choose, 0);
  return least;
}

/// By iterations in time of a dim that may lie inside some fanouts: what their units do then. The fanouts find more
/// than half as many tiles as they have units. (No bound exceeds what is left for it.)
std::vector<ChoiceTransfers::Rounds> ChoiceTransfers::rounds_under(std::uint32_t fanouts, int dim,
                                                                   Count coefficient) const {
  Count units = 1;
  for_each_bit(fanouts, [&](int l) { units *= factor_[l][dim]; });
  if (units == 1) return {Rounds{1, {{1, 1.0}}}};
  const auto size = static_cast<Count>(p_.size[dim]);
  const Count inside = inside_[31 - std::countl_zero(fanouts)][dim];
  const bool divides = factorization_ == Factorization::kRubyS && inside == 1;
  std::vector<Rounds> ways;
  const auto add = [&](Count m) {
    const Count tiles = ceil_div(size, inside * m);
    if (2 * tiles <= units) return false;
    Rounds way{coefficient * inside * m, {}};
    const Count most = std::min(units, tiles), rest = tiles % most;
    const double full = static_cast<double>(most) / static_cast<double>(tiles);
    way.units.emplace_back(most, divides ? full * static_cast<double>(tiles / most) : 1.0);
    if (divides && rest > 0) way.units.emplace_back(rest, static_cast<double>(rest) / static_cast<double>(tiles));
    ways.push_back(std::move(way));
    return static_cast<Count>(ways.size()) <= kMostTiles;
  };
  if (divides)
    for (const Count m : divisors_of(size)) add(m);
  else
    for (Count m = 1; add(m);) ++m;
  return ways;
}

/// The average of their shares over the words.
double ChoiceTransfers::share_of(std::span<const Rounds* const> dims) {
  double share = 0;
  std::array<IndexTerm, kMaxDims> strides;
  const auto add = [&](auto&& self, std::size_t i, double words, double units) -> void {
    if (i == dims.size()) {
      const Count windows = fewest_values(std::span<const IndexTerm>(strides.data(), dims.size()));
      share += words * static_cast<double>(windows) / units;
      return;
    }
    for (const auto& [count, part] : dims[i]->units) {
      strides[i] = {dims[i]->step, count};
      self(self, i + 1, words * part, units * static_cast<double>(count));
    }
  };
  add(add, 0, 1, 1);
  return share;
}

}  // namespace pliant::audit
