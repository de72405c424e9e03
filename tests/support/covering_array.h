// SPDX-License-Identifier: Apache-2.0
// Covering arrays: few rows that hold every pair (or triple) of values that may stand together, at least once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace pliant::tests {

/// By factor, the number of its value.
using Row = std::vector<int>;

/// May these values of two different factors stand in one row?
using MayStandTogether = std::function<bool(int factor, int value, int other_factor, int other_value)>;

struct CoveringArray {
  std::vector<Row> rows;
  std::uint64_t tuples = 0;      ///< that the rows hold: all that can stand in any row
  std::uint64_t impossible = 0;  ///< tuples that no row can hold
};

/// `sizes`: how many values each factor has; `strength`: 2 = pairs, 3 = triples. The same for the same arguments.
CoveringArray covering_array(const std::vector<int>& sizes, int strength, const MayStandTogether& together);

}  // namespace pliant::tests
