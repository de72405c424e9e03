// SPDX-License-Identifier: Apache-2.0
#include "costmodel/area.h"

#include <algorithm>
#include <numeric>

#include "core/flexibility_class.h"

namespace pliant {

double Area::total() const {
  return base + std::accumulate(levels.begin(), levels.end(), 0.0) +
         std::accumulate(flexibility.begin(), flexibility.end(), 0.0);
}

double overhead_share(Freedom freedom) {
  switch (freedom) {
    case Freedom::kFixed: return 0;
    case Freedom::kPartial: return 0.5;  // the published PartFlex overhead is half of the full one
    case Freedom::kFull: return 1;
  }
  return 1;
}

Area component_area_um2(const Accelerator& accelerator) {
  Area area;
  area.base = accelerator.base_area_um2;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    const double one = level.is_memory()   ? level.memory().area_um2
                       : level.is_fanout() ? level.fanout().area_um2
                                           : level.compute().area_um2;
    area.levels.push_back(one * static_cast<double>(accelerator.instances(static_cast<int>(l))));
  }
  return area;
}

Area area_um2(const Accelerator& accelerator) {
  Area area = component_area_um2(accelerator);
  // Hardware is built for the freest family of layers it serves.
  PerAxis<Freedom> freedom = axis_freedom(accelerator, accelerator.flexibility);
  for (const auto& [operation, own] : accelerator.flexibility_for) {
    const PerAxis<Freedom> other = axis_freedom(accelerator, own);
    for (std::size_t a = 0; a < kAxisCount; ++a) freedom[a] = std::max(freedom[a], other[a]);
  }
  for (std::size_t a = 0; a < kAxisCount; ++a)
    area.flexibility[a] = accelerator.flexibility_area_um2[a] * overhead_share(freedom[a]);
  return area;
}

}  // namespace pliant
