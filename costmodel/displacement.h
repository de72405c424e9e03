// SPDX-License-Identifier: Apache-2.0
// Timeloop's window reuse: a memory of the last displacement decides whether a moved tile is fetched in part or in
// full. Exact for every loop bound, without walking the iterations: the state after a block of loops depends only on
// the state before it, and there are few states.
#pragma once

#include "costmodel/nest.h"

namespace pliant {

class DisplacementWalk {
 public:
  explicit DisplacementWalk(const Nest& nest) : nest_(nest), problem_(nest.problem()) {}

  /// True when two or more loops outside the child move windows of the tensor; with fewer the run formula is the same.
  bool needed(int tensor, int child) const;
  /// Words delivered to one instance of the child over the whole run; or to all children of the `united` fanouts (bit l
  /// = level l) as if they were one, whose window spans theirs.
  double words(int tensor, int child, std::uint32_t united = 0) const;

 private:
  const Nest& nest_;
  const Problem& problem_;
};

}  // namespace pliant
