// SPDX-License-Identifier: Apache-2.0
// The best mappings of a network together with where its tensors live between layers. docs/networks.md has the model
// and the proof.
#pragma once

#include <optional>
#include <vector>

#include "dse/mappers/network.h"
#include "dse/mappers/residency/residency_lines.h"
#include "dse/mappers/residency/standing_lines.h"

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
  std::vector<Count> taken;     ///< by level: words of each memory that tensors take while it runs
  double energy_pj = 0, cycles = 0;
};

struct Optimum {
  std::vector<Home> homes;        ///< by tensor
  std::vector<Home> weights;      ///< by LiveTensors::weights: where they stay across inferences
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
  /// Weights may stay on chip across so many inferences; figures are of one of them.
  Search(const Mapper& mapper, const Workload& workload, const std::vector<Task>& rows, const SearchOptions& options,
         Count inferences = 1);

  /// With `stay` false every tensor and all weights live outside.
  Optimum run(const NetworkGoal& asked, bool stay);

  const LiveTensors& live() const { return staying_.live(); }
  const Task& task(int variant) const { return variants_.task(variant); }
  const Variant& variant(int id) const { return variants_.variant(id); }
  std::uint64_t searches() const { return variants_.searches() + more_searches_; }

 private:
  const Path* path_at(double slope, bool stay);
  static Optimum taken(const Path& path);
  static void note_rooms(const ResidencyLines& lines, Optimum& best);

  const Mapper& mapper_;
  const SearchOptions& options_;
  VariantLines variants_;
  ResidencyLines staying_, outside_;
  std::optional<StandingLines> standing_;  ///< when there are several inferences
  std::uint64_t more_searches_ = 0;
};

}  // namespace pliant::residency
