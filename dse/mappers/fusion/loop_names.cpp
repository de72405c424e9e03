// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/loop_names.h"

#include <fmt/format.h>

#include "core/input/source_text.h"

namespace pliant::fusion {

std::string axis_name(const Chain& chain, int axis, const std::vector<std::string>& layers) {
  if (axis == chain.groups || axis == chain.heads)
    return layers.front() + (axis == chain.groups && chain.heads >= 0 ? ".groups" : ".layers");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Place& place = chain.place(axis, static_cast<int>(l));
    if (place.dim >= 0 && place.step == 1 && !place.slides)
      return layers[l] + "." + chain.layer(static_cast<int>(l)).dims[static_cast<std::size_t>(place.dim)].name;
  }
  return "?";
}

std::string loops_text(const Chain& chain, const Stack& loops, const std::vector<std::string>& layers) {
  std::vector<std::string> all;
  for (const TileLoop& loop : loops)
    all.push_back(fmt::format("{} {} x {}", axis_name(chain, loop.axis, layers), chain.trips(loop), loop.tile));
  return all.empty() ? "-" : join(all);
}

}  // namespace pliant::fusion
