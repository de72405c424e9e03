// SPDX-License-Identifier: Apache-2.0
// A search with several threads, each with its own stream of mappings, keeps the best of what they found, layer by
// layer.
#pragma once

#include <limits>
#include <vector>

#include "dse/studies/study_sweep.h"

namespace pliant {

class BestOfSearches {
 public:
  /// The rows of one more search, in the same order of layers each time.
  void add(const Rows& layers, const Rows::Where& wanted);
  /// The network's whole energy times its whole runtime.
  double network_edp() const;
  std::size_t layers_worse_than(const BestOfSearches& other) const;

 private:
  struct LayerCost {
    double edp = std::numeric_limits<double>::infinity();
    double energy = 0, cycles = 0;  ///< of all layers of this kind
  };
  std::vector<LayerCost> best_;
};

}  // namespace pliant
