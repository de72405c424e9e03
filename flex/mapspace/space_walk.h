// SPDX-License-Identifier: Apache-2.0
// Every legal mapping of a map-space, one by one: from the MAC outwards, level by level, leaving a branch as soon as a
// tile does not fit, a fixed tile is missed or an array is too small.
#pragma once

#include <functional>

#include "core/mapping.h"
#include "flex/mapspace/space_rules.h"

namespace pliant {

/// Each legal mapping once, in an order that never changes. visit returns false to stop, and so does the function then.
bool for_each_legal_mapping(const SpaceRules& rules, const std::function<bool(const Mapping&)>& visit);

}  // namespace pliant
