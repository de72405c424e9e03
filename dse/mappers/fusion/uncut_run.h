// SPDX-License-Identifier: Apache-2.0
// A run of a layer, and the run of which it is a part: what is proven of the larger bounds the smaller.
// docs/dev/fusion.md has the lemma.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/task.h"

namespace pliant::fusion {

/// A run with all dims that tell results apart as long as the layer has them.
struct UncutRun {
  std::vector<Count> sizes;  ///< by dim
  double parts = 1;          ///< so many smaller runs make it up, and cost no less together
};

/// Nothing where no dim is cut, or where the rules could keep smaller runs from being put together.
std::optional<UncutRun> uncut_run(const Task& layer, const std::vector<Count>& sizes);

}  // namespace pliant::fusion
