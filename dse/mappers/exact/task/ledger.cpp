// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/task/ledger.h"

#ifdef PLIANT_LEDGER
#include <cstdlib>
#include <ranges>
#endif

namespace pliant::exact {

#ifdef PLIANT_LEDGER
RowState row_state(std::string_view id) {
  const auto names = [&](const char* variable) {
    const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nothing sets it
    if (value == nullptr) return false;
    for (const auto name : std::views::split(std::string_view(value), ','))
      if (std::ranges::equal(name, id)) return true;
    return false;
  };
  return names("PLIANT_BREAK") ? RowState::kBroken : names("PLIANT_WITHOUT") ? RowState::kOff : RowState::kOn;
}

std::size_t length(std::size_t usual, std::size_t few) {
  static const bool small = std::getenv("PLIANT_FEW") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  return small ? few : usual;
}
#endif

}  // namespace pliant::exact
