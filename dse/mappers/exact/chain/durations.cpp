// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/chain/durations.h"

#include <set>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

std::vector<std::vector<Reached>> reachable(const ResolvedTask& resolved, const Spatial& spatial, int d) {
  const Problem& p = resolved.problem;
  std::vector<std::vector<Reached>> by_memory;
  std::set<Reached> reached{{resolved.task.layer.dims[d].size, 1}}, next;
  for (int l = p.levels - 1; l >= 0; --l) {
    next.clear();
    for (const auto& [left, steps] : reached) {
      if (p.is_memory[l]) {
        const bool loops = contains(resolved.may_loop[by_memory.size()], d);
        if (!loops) next.insert({left, steps});
        if (loops)
          for (const Count b : divisors(left)) next.insert({left / b, steps * b});
        continue;
      }
      Count after = left;
      bool fits = true;
      for (const Count b : {spatial.unrolling[l]->cols[d], spatial.unrolling[l]->rows[d]}) {
        fits &= b <= after;
        after = ceil_div(after, b);
      }
      if (fits) next.insert({after, steps});
    }
    if (p.is_memory[l]) by_memory.emplace_back(next.begin(), next.end());
    reached.swap(next);
  }
  return by_memory;
}

const std::vector<Count>& DurationChoices::of_dim(const Spatial& spatial, int d) {
  const Problem& p = resolved_.problem;
  std::vector<Count> key{d};
  for (int l = 0; l < p.levels; ++l)
    if (!p.is_memory[l]) key.insert(key.end(), {spatial.unrolling[l]->rows[d], spatial.unrolling[l]->cols[d]});
  auto [entry, fresh] = known_.try_emplace(std::move(key));
  if (!fresh) return entry->second;
  std::set<Count> found;
  const std::vector<std::vector<Reached>> reached = reachable(resolved_, spatial, d);
  for (const auto& [left, steps] : reached.back())
    if (!sure<"L10.2">(left != 1)) found.insert(steps);
  entry->second.assign(found.begin(), found.end());
  return entry->second;
}

double DurationChoices::most_steps(const Spatial& spatial) {
  double steps = resolved_.problem.cycles_per_mac;
  for (int d = 0; d < resolved_.problem.dims; ++d) {
    const std::vector<Count>& all = of_dim(spatial, d);
    steps *= all.empty() ? 1 : static_cast<double>(all.back());
  }
  return steps;
}

void DurationChoices::of(const Spatial& spatial, const std::function<bool(double steps)>& worth,
                         const std::function<void(const Durations&)>& visit) {
  Durations chosen{};
  const int dims = resolved_.problem.dims;
  std::array<const std::vector<Count>*, kMaxDims> choices{};
  double fewest = resolved_.problem.cycles_per_mac;
  for (int d = 0; d < dims; ++d) {
    choices[d] = &of_dim(spatial, d);
    if (choices[d]->empty()) return;
    fewest *= static_cast<double>(choices[d]->front());
  }
  const auto choose = [&](auto&& self, int d, double steps) -> void {
    if (!worth(steps)) return;
    if (d == dims) return visit(chosen);
    for (const Count duration : *choices[d]) {
      chosen[d] = duration;
      const double more = steps / static_cast<double>(choices[d]->front()) * static_cast<double>(duration);
      if (!worth(more)) break;
      self(self, d + 1, more);
    }
  };
  choose(choose, 0, fewest);
}

}  // namespace pliant::exact
