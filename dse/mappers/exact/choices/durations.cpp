// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/durations.h"

#include <set>

#include "core/arithmetic.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

const std::vector<Count>& DurationChoices::of_dim(const Spatial& spatial, int d) {
  const Problem& p = resolved_.problem;
  std::vector<Count> key{d};
  for (int l = 0; l < p.levels; ++l)
    if (!p.is_memory[l]) key.insert(key.end(), {spatial.unrolling[l]->rows[d], spatial.unrolling[l]->cols[d]});
  auto [entry, fresh] = known_.try_emplace(std::move(key));
  if (!fresh) return entry->second;
  // From the inside out: what is left, and the iterations in time so far.
  std::set<std::pair<Count, Count>> reached{{resolved_.task.layer.dims[d].size, 1}}, next;
  std::size_t k = 0;
  for (int l = p.levels - 1; l >= 0; --l) {
    next.clear();
    for (const auto& [left, steps] : reached) {
      if (p.is_memory[l]) {
        if (!(resolved_.may_loop[k] >> d & 1U)) next.emplace(left, steps);
        if (resolved_.may_loop[k] >> d & 1U)
          for (const Count b : divisors(left)) next.emplace(left / b, steps * b);
        continue;
      }
      Count after = left;
      bool fits = true;
      for (const Count b : {spatial.unrolling[l]->cols[d], spatial.unrolling[l]->rows[d]}) {
        fits &= b <= after;
        after = ceil_div(after, b);
      }
      if (fits) next.emplace(after, steps);
    }
    if (p.is_memory[l]) ++k;
    reached.swap(next);
  }
  std::set<Count> found;
  for (const auto& [left, steps] : reached)
    if (left == 1) found.insert(steps);
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
