// SPDX-License-Identifier: Apache-2.0
// What never changes for a task: which loops its memories may have, in which orders, and what the conventions imply.
#pragma once

#include <vector>

#include "dse/mappers/exact/choices/choice.h"
#include "dse/mappers/exact/lattice/axis.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

struct Setting {
  Setting(const Task& task, const Problem& problem);

  /// Dims whose loops may leave an operand at the compute units, by its innermost keeper (quickflow only).
  DimSet staying(int tensor, int keeper) const;

  /// May a rule about tiles divide a slide along the dim between this memory and others further out? Where smaller
  /// tiles are always allowed its loops could as well stand at one memory, and that mapping has a path of its own.
  bool slide_may_be_divided(int memory, int dim) const;

  const Task& task;
  const Problem& problem;
  const MapSpaceRules rules;
  bool perfect = true;           ///< no remainders anywhere
  std::vector<int> memories;     ///< levels, from the innermost outwards
  std::vector<DimSet> may_loop;  ///< by memory
  /// Loop orders by memory, as alternatives; each is a list of groups from the inside out, free order within a group.
  /// A dim in none of the groups does not loop beside the others.
  std::vector<std::vector<std::vector<DimSet>>> orders;
  bool within = false;          ///< stationarity ends at the parent
  bool one_loop = false;        ///< quickflow's window rule
  bool compute_runs = false;    ///< quickflow: operands may stay at the compute units
  bool divides_slides = false;  ///< any slide, anywhere: then the orders of loops that move nothing pending differ
  bool walks = false;           ///< timeloop's window memory: words are not a function of the node, orders all differ
  mutable AxisCache axis_cache;
};

}  // namespace pliant::exact
