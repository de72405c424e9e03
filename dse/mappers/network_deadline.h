// SPDX-License-Identifier: Apache-2.0
// The least energy of a network within a deadline that lies between two corners of its hull: a few repetitions take
// other mappings than the rest. The layers' frontiers are combined, and everything that the lines rule out is left out.
#pragma once

#include <vector>

#include "dse/mappers/network_lines.h"

namespace pliant {

class DeadlineCombination {
 public:
  /// `line`: the line that bounds the energy at the deadline best.
  DeadlineCombination(const Mapper& mapper, const std::vector<NetworkLayer>& layers, const SearchOptions& options,
                      double most_cycles, const NetworkLine& line);

  /// Replaces `best` (which meets the deadline) when there is something better. True when what `best` then holds is
  /// proven to be the optimum; false when a frontier is not proven or there are too many combinations.
  bool improve(NetworkOptimum& best);
  std::uint64_t searches() const { return searches_; }

 private:
  /// A mapping of the layer on its frontier, and how far above the line it lies.
  struct Choice {
    LayerPoint point;
    double above = 0;
  };
  /// A choice for each repetition so far.
  struct Partial {
    double energy_pj = 0, cycles = 0, above = 0;
    int before = -1;  ///< of the stage before
    int choice = 0;
  };
  using Stage = std::vector<Partial>;

  bool find_choices(double slack);
  static void keep_best(Stage& stage);
  void take(const std::vector<Stage>& stages, std::size_t last, NetworkOptimum& best) const;

  const Mapper& mapper_;
  const std::vector<NetworkLayer>& layers_;
  const SearchOptions& options_;
  double most_cycles_;
  const NetworkLine& line_;
  std::vector<std::vector<Choice>> choices_;  ///< by layer
  std::vector<std::size_t> layer_of_;         ///< by stage
  std::uint64_t searches_ = 0;
};

}  // namespace pliant
