// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/factor_floors.h"

#include <algorithm>
#include <bit>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// A tensor that more combinations of factors decide is bounded by what holds for every unrolling.
constexpr double kMostCombinationsOfFactors = 200'000;

}  // namespace

FactorFloors::FactorFloors(const ResolvedTask& resolved, ChoiceBounds& bounds, SearchLimits& limits)
    : resolved_(resolved), p_(resolved.problem), bounds_(bounds), limits_(limits) {
  if (resolved_.perfect || std::popcount(p_.fanouts) != 1) return;
  const int level = std::countr_zero(p_.fanouts);
  const FanoutRules& fanout = resolved_.rules.fanout(level);
  rows_ = fanout.longest(Side::kRows) > 1;
  if (!rows_ || fanout.columns_beside(1) == 1) line_ = level;
}

DimSet FactorFloors::deciding(const Problem& p, int x) {
  const DimSet all = (only(p.dims)) - 1;
  if (x == p.output && deals_boxes(p)) return all;  // shares of a box go to idle units as well
  DimSet dims = all & ~p.coupled[x];
  for (const auto* ranks : {&p.affine[x], &p.windows[x]})
    for (const Problem::AffineRank& rank : *ranks) dims |= dims_of(rank);
  return x == p.output ? dims | p.summing : dims;  // which outputs finish
}

void FactorFloors::begin(int, std::span<const int> order, const std::vector<std::vector<Count>>& factors, Count units) {
  for (int d = 0; d < p_.dims; ++d) choices_[d] = static_cast<std::uint32_t>(factors[d].size());
  for (int x = 0; x < p_.tensors; ++x) {
    double combinations = 1;
    dims_[x] = deciding(p_, x);
    for (const int d : members(dims_[x])) combinations *= choices_[d];
    if (combinations > kMostCombinationsOfFactors) dims_[x] = 0;
    tabulate(x, order, factors, units);
  }
}

/// Combinations are numbered with the factors of the last dim next to each other.
void FactorFloors::tabulate(int x, std::span<const int> order, const std::vector<std::vector<Count>>& factors,
                            Count units) {
  auto& least = least_[x];
  least[0].assign(1, kInfinity);
  for (int at = 0; at < p_.dims; ++at)
    least[at + 1].assign(least[at].size() * (contains(dims_[x], order[at]) ? choices_[order[at]] : 1), kInfinity);
  if (dims_[x] == 0) {
    for (int at = 0; at <= p_.dims; ++at) least[at][0] = bounds_.floor_of(x);
    return;
  }
  Unrolling unrolling;
  unrolling.rows.fill(1);
  unrolling.cols.fill(1);
  Spatial spatial;
  spatial.unrolling[line_] = &unrolling;
  const auto choose = [&](auto&& self, int at, std::size_t place, Count used) -> double {
    double& here = least[at][place];
    if (at == p_.dims) {
      limits_.effort += effort::kCombination;
      return here = bounds_.least_energy_of(x, spatial);
    }
    const int d = order[at];
    if (!contains(dims_[x], d)) return here = self(self, at + 1, place, used);
    for (std::size_t i = 0; i < choices_[d] && used * factors[d][i] <= units; ++i) {
      spatial.factor[line_][d] = factors[d][i];
      (rows_ ? unrolling.rows : unrolling.cols)[d] = static_cast<std::int32_t>(factors[d][i]);
      here = std::min(here, self(self, at + 1, place * choices_[d] + i, used * factors[d][i]));
    }
    spatial.factor[line_][d] = 1;
    unrolling.rows[d] = unrolling.cols[d] = 1;
    return here;
  };
  choose(choose, 0, 0, 1);
}

FactorFloors::Place FactorFloors::after(const Place& place, int d, std::size_t i) const {
  Place next = place;
  for (int x = 0; x < p_.tensors; ++x)
    if (contains(dims_[x], d)) next[x] = next[x] * choices_[d] + static_cast<std::uint32_t>(i);
  return next;
}

double FactorFloors::least(const Place& place, int chosen, double steps) const {
  const double macs = p_.macs * p_.mac_pj;
  double energy = macs;
  for (int x = 0; x < p_.tensors; ++x) energy += least_[x][chosen][place[x]];
  return bounds_.floor(at_least<"L15.1">(energy, macs), steps * p_.cycles_per_mac);
}

}  // namespace pliant::exact
