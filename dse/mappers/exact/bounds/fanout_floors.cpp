// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/fanout_floors.h"

#include <algorithm>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

FanoutFloors::FanoutFloors(const ResolvedTask& resolved, const ChoiceBounds& bounds)
    : p_(resolved.problem), words_(resolved, bounds) {}

void FanoutFloors::begin(int level, std::span<const int> order) {
  for (int d = 0; d < p_.dims; ++d)
    if (std::exchange(decided_[d], 0) != 0) words_.reopen(level_, d);
  level_ = level;
  order_ = order;
  others_ = 1;
  for (const int l : members(p_.fanouts & ~only(level))) others_ *= words_.left(l);
}

double FanoutFloors::least(std::span<const Count> chosen, double steps, double enough) {
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const int d = order_[at];
    const Count factor = at < chosen.size() ? chosen[at] : 0;
    if (decided_[d] == factor) continue;
    if (decided_[d] != 0) words_.reopen(level_, d);
    if (factor != 0) words_.decide_factor(level_, d, factor);
    decided_[d] = factor;
  }
  const double here = steps * p_.cycles_per_mac / others_ * (1 - kRoundingOfFloors);
  return at_least<"L16.14">(words_.least(words_.keepers(), std::max(here, p_.busy_cycles), enough), 0);
}

}  // namespace pliant::exact
