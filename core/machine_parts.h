// SPDX-License-Identifier: Apache-2.0
// What an accelerator has beside its chain of levels: a unit for work without MACs, and links to other chips. Mappings
// of layers do not ask for them; networks ask for the unit (dse/mappers/residency), serving for both (dse/serving).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/layer.h"

namespace pliant {

/// Work without MACs, element by element: so many lanes, each one operation a cycle.
struct VectorUnit {
  double lanes = 1;
  /// Operations for each element, by WorkloadGraph::Operator. A softmax takes maximum, difference, exponential, sum and
  /// quotient; a norm square, sum, scale and weight; an activation about as many as an exponential.
  std::array<double, kOperatorNames.size()> ops{1, 1, 0, 4, 5, 4, 0, 0};
  double rotary_ops = 3;    ///< for each element of a query or a key
  double sampling_ops = 2;  ///< for each word of the vocabulary
  double pj_per_op = 0;
  double ops_of(WorkloadGraph::Operator work) const { return ops[static_cast<std::size_t>(work)]; }
  bool operator==(const VectorUnit&) const = default;
};

/// Between chips of one kind. What a chip sends at once, in one direction, over all its links together.
struct Links {
  enum class Topology : std::uint8_t { kRing, kMesh, kSwitch };
  Topology topology = Topology::kSwitch;
  double gb_per_s = 0;
  double us = 0;  ///< from one chip to the next, whatever is sent
  double pj_per_bit = 0;
  bool sums = false;  ///< a switch that adds what passes it
  bool operator==(const Links&) const = default;
};
inline constexpr std::array<std::string_view, 3> kTopologyNames{"ring", "mesh", "switch"};

}  // namespace pliant
