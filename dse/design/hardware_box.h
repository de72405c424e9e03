// SPDX-License-Identifier: Apache-2.0
// A box of hardware: a range of positions on every axis of a sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dse/sweep/sweep.h"

namespace pliant {

struct HardwareBox {
  struct Range {
    std::int32_t first = 0, last = 0;  ///< both inside
    std::int64_t size() const { return last - first + 1; }
    bool operator==(const Range&) const = default;
  };
  std::vector<Range> axes;
  bool operator==(const HardwareBox&) const = default;

  std::int64_t points() const;
  bool is_point() const { return points() == 1; }
  bool contains(const std::vector<std::int32_t>& positions) const;
  /// Everything up to and including this position of an axis, and the rest.
  std::pair<HardwareBox, HardwareBox> split(std::size_t axis, std::int32_t last_of_first) const;
};

HardwareBox whole_box(const Sweep& sweep);
/// The number of a hardware point in the product of the axes, the last of which varies fastest; and back.
std::int64_t hardware_number(const Sweep& sweep, const std::vector<std::int32_t>& positions);
std::vector<std::int32_t> hardware_positions(const Sweep& sweep, std::int64_t number);

}  // namespace pliant
