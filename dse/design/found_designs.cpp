// SPDX-License-Identifier: Apache-2.0
#include "dse/design/found_designs.h"

#include <algorithm>

#include "core/arithmetic.h"

namespace pliant {

void FoundDesigns::add(std::int64_t design, const Point& values) {
  for (const Found& other : all_)
    if (dominates(other.values, values) || other.values == values) return;
  std::erase_if(all_, [&](const Found& other) { return dominates(values, other.values); });
  all_.insert(std::ranges::upper_bound(all_, design, {}, &Found::design), {design, values});
}

std::optional<std::int64_t> FoundDesigns::within(const Point& least, double slack) const {
  for (const Found& found : all_) {
    bool nowhere_worse = true;
    for (std::size_t k = 0; k < least.size() && nowhere_worse; ++k) nowhere_worse = found.values[k] <= least[k] * slack;
    if (nowhere_worse) return found.design;
  }
  return std::nullopt;
}

double FoundDesigns::distance(const Point& least) const {
  double nearest = kInfinity;
  for (const Found& found : all_) {
    double worst = 1;
    for (std::size_t k = 0; k < least.size(); ++k)
      if (found.values[k] > least[k]) worst = std::max(worst, least[k] > 0 ? found.values[k] / least[k] : kInfinity);
    nearest = std::min(nearest, worst - 1);
  }
  return nearest;
}

double FoundDesigns::room(const Point& least, const std::vector<bool>& fixed) const {
  double most = 0;
  for (const Found& found : all_) {
    double room = kInfinity;
    for (std::size_t k = 0; k < least.size(); ++k) {
      const double share = found.values[k] > 0 ? least[k] * slack_ / found.values[k] : kInfinity;
      if (!fixed[k])
        room = std::min(room, share);
      else if (share < 1)
        room = 0;
    }
    most = std::max(most, room);
  }
  return most;
}

}  // namespace pliant
