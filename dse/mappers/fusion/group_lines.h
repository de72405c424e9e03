// SPDX-License-Identifier: Apache-2.0
// The least energy + slope * cycles of one group over all stacks and held sets: best bound first, until the best is
// solved. docs/dev/fusion.md has the bounds.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "dse/mappers/fusion/group.h"

namespace pliant::fusion {

/// Stacks and held sets, with the runs that they ask for.
struct Plan {
  std::vector<Stack> stacks;  ///< by link
  std::vector<Held> held;
  struct Runs {
    int layer = 0, piece = 0;
    double times = 0;
  };
  std::vector<Runs> runs;
  std::vector<const LayerChoice*> layers;  ///< what each does besides its runs; as long as the GroupLines live
  std::vector<Count> tile_words;           ///< by layer: of the home
};

/// The stacks that a chain can have in a memory, whatever lives around it: listed once for all groups of the chain
/// there, with the layers' choices under each nest.
class ChainStacks {
 public:
  struct Choices {
    std::vector<LayerChoice> all;
    std::map<double, std::pair<int, double>> least;  ///< by slope: a bound for the layer, and what it is of
  };
  struct Combination {
    std::vector<Stack> stacks;  ///< by link
    std::vector<int> nests;     ///< by layer: number of the loops around it
    Count most_words = 0;       ///< of the home, that tiles take while some layer runs
  };
  /// Tiles that do not fit an empty memory are left out.
  const std::vector<Combination>& combinations(const Setting& setting);
  /// Of a layer under a nest, with its operands at the places that the setting says.
  Choices& choices(const Setting& setting, int layer, int nest, TileLines& tiles);

 private:
  int number(int layer, const Stack& nest);

  bool listed_ = false;
  std::vector<Combination> combinations_;
  std::vector<std::map<Stack, int>> numbers_;     ///< by layer
  std::vector<std::vector<const Stack*>> nests_;  ///< the same by number
  std::map<std::pair<int, std::array<Home, kRoles>>, std::vector<std::unique_ptr<Choices>>> choices_;  ///< by number
};

class GroupLines {
 public:
  /// `stacks`: those of the chain and the home, where several groups share them.
  GroupLines(Setting setting, TileLines& tiles, std::shared_ptr<ChainStacks> stacks = nullptr);

  /// No stacks and held sets have less; infinity where there are none.
  double bound(double slope);
  /// The plan that reaches the bound, once it is known.
  const Plan* solved(double slope);
  /// Raises the bound or solves the best plan. False when the time is up, or a search found nothing without a proof.
  bool refine(double slope);

  const Setting& setting() const { return setting_; }

 private:
  using Choices = ChainStacks::Choices;
  struct Candidate {
    const ChainStacks::Combination* of = nullptr;
    std::vector<Choices*> layers;
    bool opened = false;
    std::vector<int> plans;
  };
  struct Item {
    double bound = 0;
    int candidate = 0, plan = -1;              ///< no plan: all of the candidate's
    bool operator<(const Item& other) const {  // the queue's top is its greatest
      if (bound != other.bound) return bound > other.bound;
      return candidate != other.candidate ? candidate > other.candidate : plan > other.plan;
    }
  };
  using Queue = std::priority_queue<Item>;

  void list_candidates();
  double least_of(Choices& choices, double slope);
  double candidate_bound(const Candidate& candidate, double slope);
  double plan_bound(const Plan& plan, double slope);
  void open(Candidate& candidate);
  Queue& queue(double slope);

  Setting setting_;
  TileLines& tiles_;
  std::shared_ptr<ChainStacks> stacks_;
  bool listed_ = false;
  std::vector<Candidate> candidates_;
  std::deque<Plan> plans_;  ///< told to others, so they stay where they are
  std::map<double, Queue> queues_;
  std::map<double, int> solved_;
};

}  // namespace pliant::fusion
