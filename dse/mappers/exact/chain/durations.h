// SPDX-License-Identifier: Apache-2.0
// How many iterations in time an unrolled dim can take. With perfect factors the spatial factors decide: size over
// units. Where only fanouts may leave a remainder, it depends on the loops inside them: 12 on 4 units take 3
// iterations, but 4 when a loop of 2 lies inside (6 tiles on 4 units, twice 2 each). So steps are a choice of their
// own, and once they are chosen temporal loops are perfect factors of them.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "dse/mappers/exact/task/resolved_task.h"

namespace pliant::exact {

/// Of a dim under Ruby-S, inside some memory's border: iterations left outside, and iterations in time inside.
struct Reached {
  Count left, steps;
  auto operator<=>(const Reached&) const = default;
};
/// All that an unrolling lets loops reach, by memory from the innermost outwards, its own loops included. (Capacities
/// may forbid some, and from some the dim may not be completed.)
std::vector<std::vector<Reached>> reachable(const ResolvedTask& resolved, const Spatial& spatial, int d);

class DurationChoices {
 public:
  explicit DurationChoices(const ResolvedTask& resolved) : resolved_(resolved) {}

  /// Calls visit(durations) for every combination that the unrolling allows under Ruby-S. Combinations whose steps are
  /// not worth it are left out; more steps are worth no more.
  void of(const Spatial& spatial, const std::function<bool(double steps)>& worth,
          const std::function<void(const Durations&)>& visit);
  /// Steps of the slowest of them. Where ports take as long anyway, it does not matter which is chosen.
  double most_steps(const Spatial& spatial);

 private:
  const std::vector<Count>& of_dim(const Spatial& spatial, int d);

  const ResolvedTask& resolved_;
  std::map<std::vector<Count>, std::vector<Count>> known_;  // by dim and the bounds of its unrolled loops; ascending
};

}  // namespace pliant::exact
