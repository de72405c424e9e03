// SPDX-License-Identifier: Apache-2.0
// A dim whose iterations have nothing in common: every tensor uses it, and no window slides along it (the channels of a
// depthwise convolution, the batch of a batched product). Units that it is spread over share no word, and a loop over
// it saves none. So of two factors of such a dim, everything else being equal, the one that takes fewer rounds is as
// good or better, as long as the memories outside have room for what more units work on.
#pragma once

#include <optional>

#include "costmodel/problem.h"
#include "costmodel/task.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

struct BatchDim {
  int dim;
  Count fits;  ///< iterations of which every memory outside the units holds all that there is
};

/// The longest of these dims; none where there is none, or where some rule or convention could tell its factors apart.
std::optional<BatchDim> find_batch_dim(const Task& task, const Problem& problem, const MapSpaceRules& rules);

}  // namespace pliant::exact
