// SPDX-License-Identifier: Apache-2.0
#include "core/accelerator.h"

#include <cmath>

namespace pliant {

std::string_view reduction_name(const Fanout& fanout) {
  const auto [rows, cols] = fanout.wired_sums;
  if (rows && cols) return "always";
  if (rows || cols) return rows ? "rows" : "cols";
  return fanout.reduction ? "true" : "false";
}

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

double Accelerator::peak_macs_per_cycle() const {
  return static_cast<double>(macs_units()) / levels.back().compute().cycles_per_mac;
}

int Accelerator::element_bits(int level, const Layer& layer, int tensor) const {
  return element_bits(level, layer.tensors[static_cast<std::size_t>(tensor)].role, layer.bits);
}

int Accelerator::element_bits(int level, Role role, const ElementBits& of_layer) const {
  const Memory& memory = levels[static_cast<std::size_t>(level)].memory();
  for (const ElementBits* said : {&memory.bits, &of_layer, &bits})
    if (const auto& width = said->of[static_cast<std::size_t>(role)]) return *width;
  return memory.word_bits;
}

int Accelerator::partial_sum_bits(int level, const Layer& layer) const {
  const int finished = element_bits(level, layer, layer.output());
  for (const ElementBits* said : {&levels[static_cast<std::size_t>(level)].memory().bits, &layer.bits, &bits})
    if (said->partial_sums) return std::max(finished, *said->partial_sums);
  return finished;
}

const Flexibility& Accelerator::flexibility_of(const Layer& layer) const { return flexibility_of(layer.operation); }

const Flexibility& Accelerator::flexibility_of(Operation operation) const {
  auto own = flexibility_for.find(operation);
  if (own == flexibility_for.end()) own = flexibility_for.find(parent_family(operation));
  return own == flexibility_for.end() ? flexibility : own->second;
}

std::array<double, 4> flexibility_growth(const Accelerator& accelerator) {
  std::array<double, 4> growth{};
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    if (level.is_memory() && level.memory().capacity_words && !level.memory().off_chip) {
      growth[0] += std::ceil(std::log2(static_cast<double>(*level.memory().capacity_words)));
      growth[1] += 1;
    } else if (level.is_fanout()) {
      const double copies = static_cast<double>(accelerator.instances(static_cast<int>(k)));
      const double units = static_cast<double>(level.fanout().units());
      growth[2] += copies * units * std::log2(units);
      growth[3] += copies * units;
    }
  }
  return growth;
}

}  // namespace pliant
