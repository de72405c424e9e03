// SPDX-License-Identifier: Apache-2.0
// The least energy + slope * cycles of a network over all choices of where its tensors live: a dynamic programme over
// the steps whose state is where the live tensors are. docs/networks.md has the proof.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "dse/mappers/residency/operator_cost.h"
#include "dse/mappers/residency/variants.h"

namespace pliant::residency {

/// From one state to the next by one step.
struct Transition {
  int from = 0, to = 0;     ///< states before and after the step
  Home made = kOutside;     ///< where the step's output goes
  Home weights = kOutside;  ///< where they stay across inferences
  int variant = -1;         ///< of a layer
  OperatorCost cost{};      ///< of an operator; of a layer, its inference's share of loading the weights
};

/// What one step does on a path: all of it, `count` included.
struct PathStep {
  Home made = kOutside, weights = kOutside;
  int variant = -1;
  const LayerLines::Line* line = nullptr;  ///< of one layer; nullptr for operators
  double energy_pj = 0, cycles = 0;
};

class ResidencyLines;

struct Path {
  const ResidencyLines* of = nullptr;
  double least = 0;  ///< energy + slope * cycles of any choice
  double energy_pj = 0, cycles = 0;
  std::vector<PathStep> steps;
};

/// Where weights may stay across inferences. Those with one place that is a memory take their room there during every
/// step; those with several places are not decided yet, and take none but in their own step, which bounds all
/// decisions.
struct WeightPlaces {
  Count inferences = 1;
  std::vector<std::vector<Home>> allowed;  ///< by LiveTensors::weights; empty = all outside
};

class ResidencyLines {
 public:
  /// With `stay` false every tensor lives outside: the same network without residency.
  ResidencyLines(const Workload& workload, const std::vector<Task>& rows, bool stay, VariantLines& variants,
                 WeightPlaces places = {});

  /// nullptr when some layer fits nowhere.
  const Path* at(double slope);
  /// A price for every word taken of a memory while a layer runs, by step and level; undecided weights pay it in every
  /// step. Empty: nothing costs anything.
  using WordPrices = std::vector<std::vector<double>>;
  std::optional<Path> priced(double slope, const WordPrices& prices);
  /// Every layer with its tensors outside, where it has a mapping if anywhere. Also when the time is up.
  void search_outside(double slope);
  /// Words that are priced while a step of a path runs: all that tensors and decided weights take there, by level.
  std::vector<double> priced_words(int step, int variant, Home weights) const;

  const LiveTensors& live() const { return live_; }
  /// By step.
  const std::vector<std::vector<Transition>>& transitions() const { return transitions_; }
  const std::vector<std::size_t>& states() const { return states_; }  ///< how many before each step, and at the end
  std::optional<int> stuck_row() const { return stuck_row_; }         ///< a layer that fits nowhere

  /// Where each of the tensors is that are alive before a step, in the order in which they were made.
  using State = std::vector<Home>;
  const std::vector<int>& alive(int step) const { return alive_[static_cast<std::size_t>(step)]; }
  const std::vector<State>& states_before(int step) const { return all_states_[static_cast<std::size_t>(step)]; }
  /// A bound for energy + slope * cycles of a transition.
  double weight(const Transition& transition, int step, double slope);
  /// Does a hard partition divide some memory for the row?
  bool divides(int row) const {
    return std::ranges::find(divided_[static_cast<std::size_t>(row)], true) !=
           divided_[static_cast<std::size_t>(row)].end();
  }

  /// What tensors take while a step runs.
  struct Rooms {
    Reserved own;             ///< by those that the step reads and makes, and by what the accelerator's file reserves
    Reserved all;             ///< by those that live through it, too
    std::vector<Home> reads;  ///< where they are, in the order of Step::reads
  };
  /// `home_of` a tensor that is alive, or that the step makes; `weights`: where its own weights are.
  Rooms rooms(int step, const std::function<Home(int)>& home_of, Home weights) const;

 private:
  const Accelerator& machine_of(const Step& step) const {
    return rows_[static_cast<std::size_t>(std::max(step.row, 0))].accelerator;
  }
  void build();
  void note_states(const std::vector<int>& alive, const std::vector<State>& states);
  std::optional<Transition> transition(int step, const std::vector<int>& alive, const State& state, Home made,
                                       Home weights);
  /// Without what it adds up to; nullopt when every path is infinite.
  template <class Weight>
  std::optional<Path> shortest(const Weight& weight);
  std::optional<Path> of_found(double slope, double least);
  void add_up(Path& path) const;
  double price_of(const Transition& transition, int step, const WordPrices& prices,
                  const std::vector<double>& sums) const;
  const std::vector<Home>& weight_homes(int step) const;

  const Workload& workload_;
  const std::vector<Task>& rows_;
  VariantLines& variants_;
  LiveTensors live_;
  WeightPlaces places_;
  std::vector<int> weights_of_;             ///< by step: in LiveTensors::weights, or -1
  std::vector<std::vector<bool>> divided_;  ///< by row and level: a hard partition rules the memory
  std::vector<std::vector<Transition>> transitions_;
  std::vector<std::size_t> states_;
  std::vector<std::vector<int>> alive_;         ///< before each step, and at the end
  std::vector<std::vector<State>> all_states_;  ///< the same
  std::map<double, std::optional<Path>> known_;
  std::optional<int> stuck_row_;
};

}  // namespace pliant::residency
