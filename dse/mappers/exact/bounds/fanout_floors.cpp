// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/fanout_floors.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

FanoutFloors::FanoutFloors(const ResolvedTask& resolved, const ChoiceBounds& bounds)
    : p_(resolved.problem), several_(std::popcount(resolved.problem.fanouts) > 1), words_(resolved, bounds) {}

void FanoutFloors::begin(int level, std::span<const int> order, const std::vector<std::vector<Count>>& factors, Count) {
  for (int d = 0; d < p_.dims; ++d)
    if (std::exchange(decided_[d], 0) != 0) words_.reopen(level_, d);
  level_ = level;
  order_ = order;
  factors_ = &factors;
  others_ = 1;
  for (const int l : members(p_.fanouts & ~only(level))) others_ *= words_.left(l);
}

FanoutFloors::Place FanoutFloors::after(const Place& place, int d, std::size_t i) const {
  chosen_[d] = (*factors_)[static_cast<std::size_t>(d)][i];
  return place;
}

double FanoutFloors::least(const Place&, int chosen, double steps) const {
  for (int at = 0; at < p_.dims; ++at) {
    const int d = order_[at];
    const Count factor = at < chosen ? chosen_[d] : 0;
    if (decided_[d] == factor) continue;
    if (decided_[d] != 0) words_.reopen(level_, d);
    if (factor != 0) words_.decide_factor(level_, d, factor);
    decided_[d] = factor;
  }
  words_.combine(words_.keepers(), 0, combinations_);
  const double here = steps * p_.cycles_per_mac / others_ * (1 - kRoundingOfFloors);
  return at_least<"L16.14">(words_.least(combinations_, std::max(here, p_.busy_cycles), nullptr), 0);
}

}  // namespace pliant::exact
