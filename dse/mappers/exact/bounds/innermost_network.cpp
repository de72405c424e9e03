// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/innermost_network.h"

#include <algorithm>

#include "costmodel/bits.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

/// Where words are not counted unit by unit and round by round, units of open fanouts are not like rounds.
bool counts_by_pairs(const ResolvedTask& resolved) {
  const Problem& p = resolved.problem;
  const Conventions& conventions = p.conventions;
  if (resolved.perfect || resolved.compute_runs || resolved.remembered != 0 || resolved.walks) return false;
  if (!p.affine[p.output].empty() || conventions.footprint != Conventions::Footprint::kDistinct) return false;
  if (conventions.first_time != Conventions::FirstTime::kDistinctElements) return false;
  if (conventions.drain == Conventions::Drain::kParentWrites) return false;
  return std::ranges::none_of(p.ports, [](const Port& port) { return port.stationary >= 0; });
}

}  // namespace

InnermostNetwork::InnermostNetwork(const ResolvedTask& resolved, ChoiceBounds& bounds) : bounds_(bounds) {
  const Problem& p = resolved.problem;
  alone_.rows.fill(1);
  alone_.cols.fill(1);
  if (p.fanouts == 0 || !counts_by_pairs(resolved)) return;
  int innermost = p.levels - 1;
  while (!contains(p.fanouts, innermost)) --innermost;
  fanouts_ = p.network[innermost];
  // All that the compute units are served by must lie inside the others.
  const std::uint32_t others = p.fanouts & ~fanouts_;
  for (int x = 0; x < p.tensors; ++x)
    for (const ChoiceBounds::Pattern& pattern : bounds.patterns_of(x))
      if (others >> pattern.pairs.front().parent != 0) return;
  open_ = others;
}

Spatial InnermostNetwork::partial(const Spatial& spatial) const {
  Spatial partial = spatial;
  partial.open = open_;
  partial.durations = {};
  for (const int l : members(open_)) {
    partial.factor[l].fill(1);
    partial.unrolling[l] = &alone_;
  }
  return partial;
}

double InnermostNetwork::least(const Spatial& spatial, double limit) {
  std::array<const Unrolling*, kMaxLevels> key{};
  for (const int l : members(fanouts_)) key[l] = spatial.unrolling[l];
  ++asked_;
  const auto entry = known_.find(key);
  if (entry != known_.end()) return entry->second;
  if (known_.size() > kTried + asked_ / kEach) return 0;
  return known_[key] = at_least<"L16.15">(look_at(spatial, limit), 0);
}

double InnermostNetwork::look_at(const Spatial& spatial, double limit) {
  const auto [moved_once, looked] = bounds_.look_at(partial(spatial), limit);
  double least = limit;
  if (looked != nullptr)
    looked->keeps_below(least, [&](std::size_t, const SharedBound& bound) { least = std::min(least, bound.value); });
  return std::max(moved_once, least);
}

}  // namespace pliant::exact
