// SPDX-License-Identifier: Apache-2.0
// What the unrollings of the innermost network say of every mapping, whatever the other fanouts are.
//
// The others are open: their loops are like loops in time, but their units work at once, sums begin at each of them,
// each may have ports of its own, and what serves several of them may serve them together. So what lies inside them is
// known: with tiles that fit into the memories there, the units of the network are brought so much. Of millions of
// unrollings most are closed by what a few thousand of the network say.
#pragma once

#include <array>
#include <map>

#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant::exact {

/// Of one list of unrollings, which must outlive it: they are known by their places.
class InnermostNetwork {
 public:
  InnermostNetwork(const ResolvedTask& resolved, ChoiceBounds& bounds);

  /// Is there anything to know?
  bool applies() const { return open_ != 0; }
  /// Every mapping whose innermost fanouts are unrolled like this costs so much, or the limit; 0 where that would take
  /// too long.
  double least(const Spatial& spatial, double limit);
  /// The same where the other fanouts are open.
  Spatial partial(const Spatial& spatial) const;

 private:
  /// So many unrollings of the network are looked at, and one more for so many of all fanouts: it takes as long as
  /// looking at some of these.
  static constexpr std::size_t kTried = 1024, kEach = 8;

  double look_at(const Spatial& spatial, double limit);

  ChoiceBounds& bounds_;
  std::uint32_t fanouts_ = 0, open_ = 0;
  Unrolling alone_;
  std::map<std::array<const Unrolling*, kMaxLevels>, double> known_;
  std::size_t asked_ = 0;
};

}  // namespace pliant::exact
