// SPDX-License-Identifier: Apache-2.0
// Every mapping that can be written down for a small task, judged by the checker and by nothing else: no rule of a
// map-space that forbids too much can hide one.
#pragma once

#include <cstdint>
#include <functional>

#include "costmodel/task.h"

namespace pliant::tests {

/// Calls visit for every legal mapping. False: there are more than `most` to judge, and none was visited.
bool for_each_thinkable_mapping(const Task& task, double most, const std::function<void(const Mapping&)>& visit);

}  // namespace pliant::tests
