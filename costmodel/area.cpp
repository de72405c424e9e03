// SPDX-License-Identifier: Apache-2.0
#include "costmodel/area.h"

#include <algorithm>
#include <numeric>

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

std::array<Freedom, 4> axis_freedom(const Accelerator& accelerator, const Flexibility& flexibility) {
  std::array<Freedom, 4> axis{};
  axis.fill(Freedom::kFixed);
  const auto raise = [](Freedom& freedom, Freedom to) { freedom = std::max(freedom, to); };
  for (std::size_t l = 0; l + 1 < accelerator.levels.size() && l < flexibility.levels.size(); ++l) {
    const LevelFlexibility& rules = flexibility.levels[l];
    if (accelerator.levels[l].is_memory()) {
      if (!accelerator.levels[l].memory().capacity_words) continue;  // off chip: nothing to build
      raise(axis[0], !rules.tile.fixed.empty() ? Freedom::kFixed
                     : rules.tile.partition    ? Freedom::kPartial
                                               : Freedom::kFull);
      raise(axis[1], rules.order.allowed.empty()       ? Freedom::kFull
                     : rules.order.allowed.size() == 1 ? Freedom::kFixed
                                                       : Freedom::kPartial);
    } else if (accelerator.levels[l].is_fanout() && accelerator.levels[l].fanout().units() > 1) {
      raise(axis[2], rules.parallel.assignments.empty()       ? Freedom::kFull
                     : rules.parallel.assignments.size() == 1 ? Freedom::kFixed
                                                              : Freedom::kPartial);
      raise(axis[3], rules.shape.kind == ShapeRule::Kind::kFixed    ? Freedom::kFixed
                     : rules.shape.kind == ShapeRule::Kind::kBlocks ? Freedom::kPartial
                                                                    : Freedom::kFull);
    }
  }
  return axis;
}

Area area_um2(const Accelerator& accelerator) {
  Area area;
  area.base = accelerator.base_area_um2;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    const double one = level.is_memory()   ? level.memory().area_um2
                       : level.is_fanout() ? level.fanout().area_um2
                                           : level.compute().area_um2;
    area.levels.push_back(one * static_cast<double>(accelerator.instances(static_cast<int>(l))));
  }
  const std::array<Freedom, 4> axis = axis_freedom(accelerator, accelerator.flexibility);
  for (std::size_t a = 0; a < 4; ++a)
    area.flexibility[a] = accelerator.flexibility_area_um2[a] * overhead_share(axis[a]);
  return area;
}

}  // namespace pliant
