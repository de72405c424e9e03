// SPDX-License-Identifier: Apache-2.0
// The legal unrollings of every fanout of a task, each fanout by itself: what combinations are made of.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "dse/mappers/exact/choices/mirror.h"
#include "dse/mappers/exact/choices/network_unrollings.h"
#include "dse/mappers/exact/choices/spatial_choices.h"

namespace pliant::exact {

struct FanoutLists {
  FanoutLists(const Task& task, const Problem& problem, SearchLimits& limits, const SpatialChoices::LeftOut& left_out);

  /// By fanout, from the innermost outwards.
  std::vector<int> levels;
  std::vector<Count> units;
  std::vector<std::shared_ptr<const std::vector<Unrolling>>> unrollings;
  bool many = false;                         ///< combinations of several; then lists are sorted by dim
  std::vector<std::vector<int>> differs_at;  ///< by unrolling: the first dim along which it differs from the one before
  std::optional<Mirror> mirror;
  /// What the innermost fanouts can be together; none where there are few combinations and one fanout only.
  std::shared_ptr<const NetworkUnrollings> network;
  /// What was left out, as SpatialChoices has it.
  double slow = std::numeric_limits<double>::infinity(), unlisted = std::numeric_limits<double>::infinity();
  double dear = std::numeric_limits<double>::infinity(), unlisted_floor = std::numeric_limits<double>::infinity();
};

}  // namespace pliant::exact
