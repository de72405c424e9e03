// SPDX-License-Identifier: Apache-2.0
// One budget for a question of many searches, such as the best mappings of a network.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "dse/mappers/mapper.h"

namespace pliant {

/// Of a layer in a network: its fastest mapping, the one with the least energy within that time, the least energy.
inline constexpr std::size_t kSearchesOfALayer = 3;

/// Each search may take a share of the time that is left, so that all of them together keep the budget. Those that
/// come after it is spent have a millisecond each: whoever asks for more than it needs should end at the stop.
class SharedBudget final : public Mapper {
 public:
  /// `parts`: so many searches are needed in any case. Mapper and clock must outlive it.
  SharedBudget(const Mapper& mapper, const SearchOptions& options, std::size_t parts);

  std::string_view name() const override { return mapper_.name(); }
  SearchResult search(const Task& task, const SearchOptions& options) const override;

  /// What to ask it with: without a budget for each search, and with a stop when the budget is spent, or when whoever
  /// made this asks for one.
  const SearchOptions& options() const { return options_; }

 private:
  const Mapper& mapper_;
  const double until_;  ///< by the clock
  const double parts_;
  const std::stop_token asked_;
  mutable std::stop_source spent_;
  std::stop_callback<std::function<void()>> ask_;
  SearchOptions options_;
};

}  // namespace pliant
