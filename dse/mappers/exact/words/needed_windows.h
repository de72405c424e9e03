// SPDX-License-Identifier: Apache-2.0
// Words of operands with windows that units need whatever the tiles: windows of different units overlap, but each unit
// is brought what it works on, and only equal windows are served once for several.
#pragma once

#include <array>

#include "dse/mappers/exact/task/resolved_task.h"

namespace pliant::exact {

class NeededWindows {
 public:
  NeededWindows(const ResolvedTask& resolved, const Spatial& spatial);

  /// Words of the tensor that all units along its dims need, each what it works on.
  double of(const KeeperPair& pair) const {
    const Problem& p = resolved_.problem;
    return more_ && windowed(pair.tensor) ? needed_[pair.tensor][pair.child] : p.tensor_words[pair.tensor];
  }
  /// Of these what the parent serves at least, where equal windows are served once.
  double asked_for(const KeeperPair& pair) const;

 private:
  /// Is it an operand with windows?
  bool windowed(int tensor) const {
    return tensor != resolved_.problem.output && !resolved_.problem.affine[tensor].empty();
  }

  const ResolvedTask& resolved_;
  const Spatial& spatial_;
  std::array<std::array<double, kMaxLevels + 1>, kMaxTensors> needed_;  // by child, of operands with windows
  bool more_ = false;                                                   // than every element once
};

}  // namespace pliant::exact
