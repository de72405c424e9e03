// SPDX-License-Identifier: Apache-2.0
// Every MAC of a mapping, listed: the loops as written, in the order of time, with the elements each MAC touches. What
// the walker counts, it counts on this list.
#pragma once

#include <set>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant::reference {

using Tuple = std::vector<Count>;
using Key = Count;  ///< a tuple written as one number in mixed radix

struct NestLoop {
  int level = 0, dim = 0;
  Count bound = 1;
  Count step = 1;  ///< how far one iteration moves along the dim: bounds of the loops over it further in
  bool spatial = false;
};

struct Mac {
  Tuple index;   ///< by loop
  Tuple coords;  ///< by dim
  Key time = 0;
};

class ListedMacs {
 protected:
  ListedMacs(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping);

  bool is_memory(int level) const { return accelerator_.levels[level].is_memory(); }
  bool coupled(int x, int dim) const { return layer_.coupled(x) >> dim & 1U; }

  /// Indices of the loops that satisfy a condition.
  template <class Condition>
  Key indices(const Mac& mac, Condition wanted) const {
    Key key = 0;
    for (std::size_t i = 0; i < loops_.size(); ++i)
      if (wanted(i)) key = key * loops_[i].bound + mac.index[i];
    return key;
  }
  /// Temporal indices outside a level, and spatial ones.
  Key time_of(const Mac& mac, int level) const {
    return indices(mac, [&](std::size_t i) { return !loops_[i].spatial && loops_[i].level < level; });
  }
  Key instance_of(const Mac& mac, int level) const {
    return indices(mac, [&](std::size_t i) { return loops_[i].spatial && loops_[i].level < level; });
  }

  Tuple element(int x, const Tuple& coords) const;
  Key element_key(int x, const Tuple& coords) const;
  static Count box_words(const std::set<Tuple>& elements);
  /// Does the dim move x through exactly one index expression, one with several terms?
  bool slides(int x, int dim) const;
  /// Is the dim by itself, with coefficient 1, the only index of x that mentions it? Then windows along it never
  /// overlap.
  bool plain(int x, int dim) const;

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Mapping& mapping_;
  int levels_ = 0;
  std::vector<NestLoop> loops_;  ///< outermost first; loops of bound 1 do not exist
  std::vector<Mac> macs_;        ///< in order of time
  std::vector<Tuple> extents_;   ///< by tensor and rank: one more than the largest index

 private:
  void add_loop(int level, int dim, Count bound, bool spatial);
  void run_loop(std::size_t i, Mac& at);
};

}  // namespace pliant::reference
