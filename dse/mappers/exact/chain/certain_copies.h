// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/spatial.h"

namespace pliant::exact {

/// Copies that the unrolled loops of one dim keep busy at least, added from the outside in. Where a temporal loop of
/// the dim lies outside them its first iteration keeps all of them busy. Otherwise nothing is left outside the
/// outermost of them; it has as many iterations as its bound then, for no bound exceeds what is left. Only the last of
/// these may be short.
struct CertainCopies {
  double outermost = 1, rest = 1;
  void add(const Spatial& spatial, int level, int d) {
    for (const double bound : {static_cast<double>(spatial.unrolling[level]->rows[d]),
                               static_cast<double>(spatial.unrolling[level]->cols[d])})
      (outermost == 1 ? outermost : rest) *= bound;
  }
  double count() const { return at_least<"L3.2">(rest == 1 ? outermost : (outermost - 1) * rest + 1, 1); }
};

}  // namespace pliant::exact
