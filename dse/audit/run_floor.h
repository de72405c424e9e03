// SPDX-License-Identifier: Apache-2.0
// What no mapping of a layer can do without, whatever its sizes: the auditor's own, for the thousands of runs that the
// groups of a network could ask for and that nobody has to search. docs/audit.md has the argument.
#pragma once

#include <vector>

#include "costmodel/task.h"

namespace pliant::audit {

/// Elements of a tensor of a layer whose dims have other sizes.
Count elements_of(const Layer& layer, int tensor, const std::vector<Count>& sizes);

class RunFloor {
 public:
  /// Of a layer on an accelerator, its dims as yet unknown. Zeros under conventions other than `physical`.
  explicit RunFloor(const Task& task);

  struct Least {
    double energy_pj = 0, cycles = 0;
    double moved_pj = 0;  ///< of the energy, without leakage
  };
  Least of(const std::vector<Count>& sizes) const;

 private:
  /// One way to keep a tensor: where the compute units get its words, and where its elements pass besides.
  struct Way {
    double units = 1;          ///< that may share a word of the innermost keeper
    double nearest_pj = 0;     ///< of a word there that a unit takes
    double each_pj = 0;        ///< of every element, once
    std::vector<double> load;  ///< by port: words of every element, once
  };
  Way way(const Task& task, int tensor, const std::vector<int>& keepers) const;
  double least_words(const Task& task, int tensor, int level) const;

  Layer layer_;
  bool known_ = false, padded_ = false;
  double mac_pj_ = 0, step_ = 1, leak_ = 0;
  double cycles_of_a_mac_ = 0;  ///< where all units work
  struct Port {
    int level = 0;
    std::size_t role = 0;
    enum { kReads, kWrites, kBoth } passes = kBoth;
    bool any_role = true;
    double bandwidth = 0;
  };
  std::vector<Port> ports_;
  std::vector<std::vector<Way>> ways_;  ///< by tensor
};

}  // namespace pliant::audit
