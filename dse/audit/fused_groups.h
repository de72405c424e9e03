// SPDX-License-Identifier: Apache-2.0
// The groups that a network's run may have, found again from its graph, and the least that each can cost: over all
// stacks of loops and all held tiles, with what is proven of the runs. docs/audit.md says why nothing is left out.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "dse/audit/fused_plan.h"
#include "dse/audit/proven_lines.h"

namespace pliant::audit {

/// What a group does when its stacks and held tiles are chosen.
struct GroupWork {
  struct Runs {
    std::size_t layer = 0;
    LayerVariant variant;
    double times = 0;
  };
  std::vector<Runs> runs;
  MovingCost moving;
};

/// What is the same for all groups of a chain with tiles in one memory: every combination of stacks, and what the
/// layers may do under each nest.
class StackSpace {
 public:
  explicit StackSpace(const ProvenLines& proven) : proven_(proven) {}

  struct OptionFloor {
    const LayerOption* option = nullptr;
    double energy_pj = 0, cycles = 0;  ///< of its runs at least, and its moves
  };
  using LayerList = std::vector<OptionFloor>;
  struct Combination {
    std::vector<GroupLoops> stacks, nests;
    Count most_words = 0;  ///< that tiles take of the home while some layer runs
  };
  const std::vector<Combination>& combinations(const GroupPlace& place);
  const LayerList& options(const GroupPlace& place, std::size_t layer, const GroupLoops& nest);

 private:
  const ProvenLines& proven_;
  bool listed_ = false;
  std::vector<Combination> combinations_;
  using Key = std::tuple<std::size_t, std::array<Place, kRoles>, GroupLoops>;
  std::map<Key, std::pair<std::vector<LayerOption>, LayerList>> options_;
};

/// A chain at one place, with so much taken around it.
class FusedGroup {
 public:
  FusedGroup(GroupPlace place, Taken taken, const ProvenLines& proven, StackSpace& space);

  /// No stacks and held tiles have less energy + slope * cycles.
  double least(double slope);
  /// What stacks and held tiles have whose runs' mappings stand in the certificate, the best for a slope of those that
  /// least() has looked at; endless where none is known.
  MovingCost attained(double slope) const;
  /// Nothing when these are no choice.
  std::optional<GroupWork> work(const std::vector<GroupLoops>& stacks, const std::vector<HeldTile>& held);
  const FusedChain& chain() const { return *place_.chain; }
  std::uint64_t candidates() const { return candidates_.size(); }

 private:
  /// A run in the room that is left of the home; others of the same shape and room share it.
  struct Run {
    int lines = 0;
    double times = 0;
  };
  struct Plan {
    std::vector<Run> runs;
    MovingCost moving;
  };
  using OptionFloor = StackSpace::OptionFloor;
  using LayerList = StackSpace::LayerList;
  struct Candidate {
    const StackSpace::Combination* of = nullptr;
    std::vector<const LayerList*> layers;
    bool opened = false;
    std::vector<Plan> plans;
  };

  void list();
  void open(Candidate& candidate);
  bool fits(Count words) const;
  Taken room(Count words) const;
  int lines_of(const LayerVariant& shape, Count words);

  const GroupPlace place_;
  const Taken taken_;
  const ProvenLines& proven_;
  StackSpace& space_;
  bool listed_ = false;
  std::vector<Candidate> candidates_;
  std::map<std::pair<LayerVariant, Count>, int> line_numbers_;
  std::vector<KnownLines> lines_;
  std::vector<LayerVariant> variants_;  ///< parallel
  std::map<double, double> known_;
};

/// Every group of a run.
class FusedGroups {
 public:
  /// All must outlive it.
  FusedGroups(const NetworkPlaces& places, const NetworkTask& task, const std::vector<Task>& rows,
              const ProvenLines& proven);

  struct Choice {
    const std::vector<std::size_t>* layers = nullptr;  ///< their steps
    Place home = kElsewhere, made = kElsewhere;
    NetworkPlaces::State after;
    MovingCost operators;
    FusedGroup* group = nullptr;
    std::size_t next() const { return layers->back() + 1; }
  };
  /// All that begin at a step in a state.
  std::vector<Choice> from(std::size_t step, const NetworkPlaces::State& before);
  std::uint64_t candidates() const;

 private:
  struct Steps {
    std::vector<std::size_t> layers, operators;
    std::vector<BetweenLayers> between;
    std::vector<int> rows;  ///< by layer: the first of its shape
    const FusedChain* chain = nullptr;
    std::vector<Place> homes;
  };
  using ChainKey = std::tuple<std::vector<int>, std::vector<BetweenLayers>, CountedLayers>;
  using GroupKey = std::tuple<const FusedChain*, Place, std::vector<std::array<Place, kRoles>>, Taken>;

  bool grow(Steps& steps) const;
  void add(Steps steps);
  CountedLayers counted(const Steps& steps) const;
  std::vector<Place> homes_of(const Steps& steps) const;
  Choice choice(const Steps& steps, Place home, Place made, const NetworkPlaces::PlaceOf& place_of);

  const NetworkPlaces& places_;
  const Accelerator& accelerator_;
  const std::vector<Task>& rows_;
  const ProvenLines& proven_;
  std::vector<std::deque<Steps>> by_first_;
  std::map<ChainKey, FusedChain> chains_;
  std::map<std::pair<const FusedChain*, Place>, StackSpace> spaces_;
  std::map<GroupKey, std::unique_ptr<FusedGroup>> groups_;
};

}  // namespace pliant::audit
