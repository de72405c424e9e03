// SPDX-License-Identifier: Apache-2.0
// The best mappings of a network together with where its tensors live: outside, whole on chip, or as tiles that layers
// pass on. docs/fusion.md is for people, docs/dev/fusion.md has the map-space and the proof.
#pragma once

#include <optional>
#include <vector>

#include "dse/mappers/fusion/fusion_lines.h"
#include "dse/mappers/network.h"
#include "dse/mappers/residency/residency.h"

namespace pliant {
class NetworkHull;
}

namespace pliant::fusion {

/// What a layer of a group does so many times.
struct RunChoice {
  int layer = 0;  ///< of the group
  double times = 0;
  Task task;
  Mapping mapping;
  Totals totals;  ///< of one
};

struct GroupChoice {
  std::vector<int> steps;  ///< of its layers
  std::vector<OperatorStep> operators;
  Setting setting;
  Plan plan;
  std::vector<RunChoice> runs;
};

struct Optimum {
  std::vector<Home> homes;                   ///< by tensor
  std::vector<bool> tiles;                   ///< by tensor: it is passed on in tiles there
  std::vector<residency::StepChoice> steps;  ///< by step; those of groups have no parts. Empty when nothing was found
  std::vector<GroupChoice> groups;
  double energy_pj = 0, cycles = 0;
  double value = 0, lower_bound = 0;
  bool certified = false;              ///< value and lower bound meet
  bool infeasible = false;             ///< proven: a layer fits nowhere, or the deadline is too short
  bool between_corners = false;        ///< why it is not certified: a deadline between two points of the hull
  std::optional<int> without_mapping;  ///< a row that fits nowhere
  double fastest_cycles = 0;           ///< proven: no choice is faster
  std::vector<double> slopes;          ///< of the lines below it
  double line_bound = 0;               ///< what these lines prove by themselves
  bool found() const { return !steps.empty(); }
  double gap() const { return certified || value == 0 ? 0 : (value - lower_bound) / value; }
};

class Search {
 public:
  /// `rows` are the tasks of the workload's rows; the workload must have a graph. All arguments must outlive it.
  Search(const Mapper& mapper, const Workload& workload, const std::vector<Task>& rows, const SearchOptions& options);

  /// What it gives refers to the search.
  Optimum run(const NetworkGoal& asked);

  /// The least energy + slope * cycles over all choices: proven, and what was found. A slope of infinity asks for the
  /// fewest cycles. Nullopt when some layer fits nowhere.
  std::optional<residency::Search::Line> line(double slope);
  /// Every search came to its end: what was not found does not exist.
  bool complete() const { return variants_.complete() && tiles_.complete(); }

  const residency::LiveTensors& live() const { return whole_.live(); }
  const Task& task(int variant) const { return variants_.task(variant); }
  const residency::VariantLines& variants() const { return variants_; }
  const TileLines& tiles() const { return tiles_; }
  /// Are there layers that could pass tiles on?
  bool any_groups() const { return lines_.any_groups(); }
  const std::deque<ChainSteps>& groups() const { return lines_.groups(); }
  std::uint64_t searches() const { return variants_.searches() + tiles_.searches() + more_searches_; }

 private:
  const FusedPath* path_at(double slope);
  Optimum taken(const FusedPath& path, double slope);
  void note_rooms(Optimum& best) const;
  bool combine_whole(Optimum& best, const NetworkGoal& goal, const NetworkHull& hull);

  const Mapper& mapper_;
  const SearchOptions& options_;
  residency::VariantLines variants_;
  residency::ResidencyLines whole_;
  TileLines tiles_;
  FusionLines lines_;
  bool begun_ = false;
  std::uint64_t more_searches_ = 0;
};

}  // namespace pliant::fusion
