// SPDX-License-Identifier: Apache-2.0
// The best mappings of a network together with where its tensors live between layers. docs/networks.md has the model
// and the proof.
#pragma once

#include <optional>
#include <vector>

#include "dse/mappers/network.h"
#include "dse/mappers/residency/residency_lines.h"

namespace pliant::residency {

/// Some of the layers of a step with the same mapping.
struct StepPart {
  Count count = 1;
  Mapping mapping;
  Totals totals;  ///< of one
};

struct StepChoice {
  int variant = -1;             ///< -1 = an operator
  std::vector<StepPart> parts;  ///< of a layer
  double energy_pj = 0, cycles = 0;
};

struct Optimum {
  std::vector<Home> homes;        ///< by tensor
  std::vector<StepChoice> steps;  ///< by step; empty when nothing was found
  double energy_pj = 0, cycles = 0;
  double value = 0, lower_bound = 0;
  bool certified = false;              ///< value and lower bound meet
  bool infeasible = false;             ///< proven: a layer fits nowhere, or the deadline is too short
  std::optional<int> without_mapping;  ///< a row that fits nowhere
  double fastest_cycles = 0;           ///< proven: no choice is faster
  bool found() const { return !steps.empty(); }
  double gap() const { return certified || value == 0 ? 0 : (value - lower_bound) / value; }
};

class Search {
 public:
  /// `rows` are the tasks of the workload's rows; the workload must have a graph. All arguments must outlive it.
  Search(const Mapper& mapper, const Workload& workload, const std::vector<Task>& rows, const SearchOptions& options);

  /// With `stay` false every tensor lives outside.
  Optimum run(const NetworkGoal& asked, bool stay);

  const LiveTensors& live() const { return staying_.live(); }
  const Task& task(int variant) const { return variants_.task(variant); }
  const Variant& variant(int id) const { return variants_.variant(id); }
  std::uint64_t searches() const { return variants_.searches() + more_searches_; }

 private:
  Optimum taken(const ResidencyLines& lines, const Path& path) const;

  const Mapper& mapper_;
  const SearchOptions& options_;
  VariantLines variants_;
  ResidencyLines staying_, outside_;
  std::uint64_t more_searches_ = 0;
};

}  // namespace pliant::residency
