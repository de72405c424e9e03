// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace pliant {

/// Words of one tensor between two neighbouring keepers, summed over all instances.
/// child == Problem::levels means the compute units.
struct Transfer {
  std::int8_t tensor = 0, parent = 0, child = 0;
  double served = 0;     ///< leaving (outputs: arriving at) the parent
  double delivered = 0;  ///< arriving at (outputs: leaving) all copies of the child
  /// Outputs: words that reach the parent, or start at the child, for the first time and need no read back.
  double first_parent = 0, first_child = 0;
};

}  // namespace pliant
