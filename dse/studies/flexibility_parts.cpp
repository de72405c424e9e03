// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/flexibility_parts.h"

#include <bit>
#include <cmath>

#include "dse/studies/study.h"

namespace pliant {

std::vector<FlexibilityPart> flexibility_parts(const Accelerator& accelerator) {
  constexpr double kTensors = 3;
  const int level = accelerator.find_level("Buffer");
  if (level < 0) throw StudyError("the parts of flexibility are those of a design with a Buffer");
  const Memory& buffer = accelerator.levels[static_cast<std::size_t>(level)].memory();
  const auto address = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(*buffer.capacity_words - 1)));
  const auto word = static_cast<double>(buffer.word_bits);
  const auto units = static_cast<double>(accelerator.macs_units());
  return {{Axis::kTiles, "base, bound and current registers", kTensors * 3 * address},
          {Axis::kTiles, "multiplexer and demultiplexer of the soft partition", kTensors * 2 * word},
          {Axis::kOrders, "address counters", kTensors * address},
          {Axis::kOrders, "address generators", kTensors * address},
          {Axis::kOrders, "count registers of the PEs", units * address},
          {Axis::kParallel, "address counters", kTensors * address},
          {Axis::kParallel, "address generators", kTensors * address},
          {Axis::kParallel, "reduction multiplexers of the PEs", units * word},
          {Axis::kShape, "output demultiplexers of the PEs", units * word}};
}

std::vector<DistributionNetwork> distribution_networks(const Accelerator& accelerator) {
  constexpr double kOperands = 2;
  const Memory& buffer = accelerator.levels[static_cast<std::size_t>(accelerator.find_level("Buffer"))].memory();
  const auto word = static_cast<double>(buffer.word_bits);
  const auto units = static_cast<double>(accelerator.macs_units());
  const double stages = std::ceil(std::log2(units));
  return {{"tree", kOperands * (units - 1) * word, kOperands * stages * word},
          {"Benes network", kOperands * units * (2 * stages - 1) * word, kOperands * (2 * stages - 1) * word}};
}

double part_bits(const std::vector<FlexibilityPart>& parts, Axis axis) {
  double bits = 0;
  for (const FlexibilityPart& part : parts)
    if (part.axis == axis) bits += part.bits;
  return bits;
}

}  // namespace pliant
