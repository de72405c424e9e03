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

/// Of standing weights; more make no difference that a figure shows.
inline constexpr Count kMostInferences = 1'000'000'000;

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
  NetworkParts parts;  ///< of the two
  double value = 0, lower_bound = 0;
  bool certified = false;                 ///< value and lower bound meet
  bool infeasible = false;                ///< proven: a layer fits nowhere, or the deadline is too short
  std::optional<int> without_mapping;     ///< a row that fits nowhere
  double fastest_cycles = 0;              ///< proven: no choice is faster
  bool standing_within_deadline = false;  ///< why it is not certified: such choices are bounded by lines only
  std::vector<double> slopes;             ///< of the lines below it
  double line_bound = 0;                  ///< what these lines prove by themselves
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

  /// The least energy + slope * cycles over all choices: proven, and what was found. A slope of infinity asks for the
  /// fewest cycles. Nullopt when some layer fits nowhere.
  struct Line {
    double least = 0, energy_pj = 0, cycles = 0;
  };
  std::optional<Line> line(double slope);
  /// Every search came to its end: what was not found does not exist.
  bool complete() const { return variants_.complete(); }

  const LiveTensors& live() const { return staying_.live(); }
  const VariantLines& variants() const { return variants_; }
  const Task& task(int variant) const { return variants_.task(variant); }
  const Variant& variant(int id) const { return variants_.variant(id); }
  Count inferences() const { return inferences_; }
  std::uint64_t searches() const { return variants_.searches() + more_searches_; }

 private:
  const Path* path_at(double slope, bool stay);
  double floor(Objective objective) const;
  static Optimum taken(const Path& path);
  static void note_rooms(const ResidencyLines& lines, Optimum& best);
  void note_parts(const ResidencyLines& lines, Optimum& best) const;

  const Mapper& mapper_;
  const std::vector<Task>& rows_;
  const SearchOptions& options_;
  Count inferences_;
  VariantLines variants_;
  ResidencyLines staying_, outside_;
  std::optional<StandingLines> standing_;  ///< when there are several inferences
  bool begun_ = false;
  std::uint64_t more_searches_ = 0;
};

}  // namespace pliant::residency
