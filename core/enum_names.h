// SPDX-License-Identifier: Apache-2.0
// Enumerators by their names, where a table lists the names in the order of the enumerators.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace pliant {

template <class Enum, std::size_t N>
std::optional<Enum> enum_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace pliant
