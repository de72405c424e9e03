// SPDX-License-Identifier: Apache-2.0
// A network's run, counted again from its graph for the auditor: which tensors live when and where they may, what room
// they take while each step runs, and what operators without MACs cost. Written after docs/networks.md; nothing of the
// mappers' own bookkeeping is used.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/workload_graph.h"
#include "dse/audit/moving.h"
#include "dse/audit/network_certificate.h"

namespace pliant::audit {

/// What one step does with its tensors at certain places.
struct Move {
  int variant = -1;                  ///< of a layer, in NetworkPlaces::variants(); -1 = an operator
  double energy_pj = 0, cycles = 0;  ///< of an operator
};

class NetworkPlaces {
 public:
  /// Both must outlive it.
  NetworkPlaces(const NetworkTask& task, const std::vector<Task>& rows);

  struct Step {
    int row = -1;
    Count count = 1;
    std::vector<std::pair<int, int>> reads;  ///< tensor, operand
    Count words_from_outside = 0;            ///< of an operator
    int makes = -1;                          ///< -1: it changes its operand where that is
    WorkloadGraph::Operator work = WorkloadGraph::Operator::kAdd;
    bool online = false;     ///< of a softmax: rows may pass in parts
    Count words = 0;         ///< of its output
    std::vector<int> alive;  ///< tensors before it
  };
  struct Lived {
    Count elements = 0;
    std::size_t made = 0, last = 0;
    std::vector<Place> places{kElsewhere};
  };

  std::size_t steps() const { return steps_.size(); }
  const Step& step(std::size_t s) const { return steps_[s]; }
  const Lived& tensor(int t) const { return tensors_[static_cast<std::size_t>(t)]; }
  int row(std::size_t step) const { return steps_[step].row; }  ///< -1 = an operator
  double count(std::size_t step) const { return static_cast<double>(steps_[step].count); }

  /// The places of the tensors that are alive before a step, in the order in which they were made.
  using State = std::vector<Place>;
  struct Choice {
    Place made = kElsewhere;
    State after;
    Move move;
  };
  /// All that a step may do from a state: one for each place of its output where everything fits.
  std::vector<Choice> choices(std::size_t step, const State& before);

  const std::vector<LayerVariant>& variants() const { return variants_; }

  /// Words that a tensor takes of a memory while a step runs.
  Count words(int tensor, std::size_t step, int level) const;
  using PlaceOf = std::function<Place(int tensor)>;
  /// What an operator costs with its tensors at these places.
  Move operator_move(const Step& step, const PlaceOf& place_of) const;

  /// The first row of the same shape and rules: what is proven of one holds of the other.
  int shape_of(int row) const { return shapes_[static_cast<std::size_t>(row)]; }
  /// Has everything that is legal with `tighter` room been legal with `wider`, for the row?
  bool leaves_room(int row, const Taken& wider, const Taken& tighter) const;

 private:
  void follow(const WorkloadGraph& graph);
  void find_places(int tensor);
  bool keeps_whole(int row, int operand, int level) const;
  int finished_bits(int tensor, int level) const;
  Move worked_on(const Step& step, const MovingCost& moving) const;
  std::optional<Move> move(std::size_t step, const PlaceOf& place_of);
  int number(LayerVariant variant);

  const NetworkTask& task_;
  const Accelerator& accelerator_;
  const std::vector<Task>& rows_;
  std::vector<int> shapes_;  ///< by row
  std::vector<Step> steps_;
  std::vector<Lived> tensors_;
  std::vector<LayerVariant> variants_;
  std::map<LayerVariant, int> numbers_;
};

}  // namespace pliant::audit
