// SPDX-License-Identifier: Apache-2.0
#include "dse/design/hardware_box.h"

namespace pliant {

std::int64_t HardwareBox::points() const {
  std::int64_t all = 1;
  for (const Range& range : axes) all *= range.size();
  return all;
}

bool HardwareBox::contains(const std::vector<std::int32_t>& positions) const {
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (positions[a] < axes[a].first || positions[a] > axes[a].last) return false;
  return true;
}

std::pair<HardwareBox, HardwareBox> HardwareBox::split(std::size_t axis, std::int32_t last_of_first) const {
  std::pair<HardwareBox, HardwareBox> halves{*this, *this};
  halves.first.axes[axis].last = last_of_first;
  halves.second.axes[axis].first = last_of_first + 1;
  return halves;
}

HardwareBox whole_box(const Sweep& sweep) {
  HardwareBox box;
  for (const SweepAxis& axis : sweep.axes) box.axes.push_back({0, static_cast<std::int32_t>(axis.values.size()) - 1});
  return box;
}

std::int64_t hardware_number(const Sweep& sweep, const std::vector<std::int32_t>& positions) {
  std::int64_t number = 0;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a)
    number = number * static_cast<std::int64_t>(sweep.axes[a].values.size()) + positions[a];
  return number;
}

std::vector<std::int32_t> hardware_positions(const Sweep& sweep, std::int64_t number) {
  std::vector<std::int32_t> positions(sweep.axes.size());
  for (std::size_t a = sweep.axes.size(); a-- > 0;) {
    const auto size = static_cast<std::int64_t>(sweep.axes[a].values.size());
    positions[a] = static_cast<std::int32_t>(number % size);
    number /= size;
  }
  return positions;
}

}  // namespace pliant
