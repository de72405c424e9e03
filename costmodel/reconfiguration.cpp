// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reconfiguration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/flexibility_class.h"

namespace pliant {
namespace {

/// Bits that tell so many things apart.
double bits_of(Count choices) {
  return choices <= 1 ? 0 : static_cast<double>(std::bit_width(static_cast<std::uint64_t>(choices - 1)));
}

double kept_roles(const Memory& memory) { return static_cast<double>(std::ranges::count(memory.may_keep, true)); }

}  // namespace

double ConfigurationBits::total_shared() const { return std::accumulate(shared.begin(), shared.end(), 0.0); }
double ConfigurationBits::total_each() const { return std::accumulate(each.begin(), each.end(), 0.0); }

ConfigurationBits configuration_bits(const Accelerator& accelerator, const Flexibility& flexibility, int dims) {
  const PerAxis<Freedom> freedom = axis_freedom(accelerator, flexibility);
  ConfigurationBits bits;
  const auto add = [&](Axis axis, double shared, double each) {
    const auto a = static_cast<std::size_t>(axis);
    if (freedom[a] == Freedom::kFixed) return;
    bits.shared[a] += shared;
    bits.each[a] += each;
  };
  double widest_address = 0;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    const auto copies = static_cast<double>(accelerator.instances(static_cast<int>(l)));
    if (level.is_memory()) {
      const LoopRule& loops = flexibility.levels[l].loops;
      if (!level.memory().capacity_words || (loops.dims && loops.dims->empty())) continue;
      const double address = bits_of(*level.memory().capacity_words);
      widest_address = std::max(widest_address, address);
      const double tile = address * (dims + 2 * kept_roles(level.memory()));
      const double order = dims * bits_of(dims);
      add(Axis::kTiles, tile, copies * tile);
      add(Axis::kOrders, order, copies * order);
    } else if (level.is_fanout() && level.fanout().units() > 1) {
      const auto units = static_cast<double>(level.fanout().units());
      const double sides = 2 * bits_of(dims + 1), rows = bits_of(level.fanout().units());
      add(Axis::kParallel, sides, copies * (sides + units));
      add(Axis::kShape, rows, copies * (rows + units));
    }
  }
  add(Axis::kOrders, widest_address, static_cast<double>(accelerator.macs_units()) * widest_address);
  return bits;
}

double reconfiguration_cycles(double bits, double bits_per_cycle) { return std::ceil(bits / bits_per_cycle); }

}  // namespace pliant
