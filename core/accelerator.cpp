// SPDX-License-Identifier: Apache-2.0
#include "core/accelerator.h"

namespace pliant {

int Accelerator::find_level(std::string_view wanted) const {
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (levels[k].name == wanted) return static_cast<int>(k);
  return -1;
}

Count Accelerator::instances(int level) const {
  Count copies = 1;
  for (int k = 0; k < level; ++k) {
    const Level& outside = levels[static_cast<std::size_t>(k)];
    if (outside.is_fanout()) copies *= outside.fanout().units();
  }
  return copies;
}

Count Accelerator::macs_units() const { return instances(static_cast<int>(levels.size())); }

const Flexibility& Accelerator::flexibility_of(const Layer& layer) const {
  const auto own = flexibility_for.find(layer.operation);
  return own == flexibility_for.end() ? flexibility : own->second;
}

}  // namespace pliant
