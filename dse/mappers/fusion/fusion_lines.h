// SPDX-License-Identifier: Apache-2.0
// The least energy + slope * cycles of a network whose tensors live outside, whole on chip, or as tiles: a shortest
// path over the states of dse/mappers/residency, with groups as edges over several steps.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "dse/mappers/fusion/group_lines.h"
#include "dse/mappers/residency/residency_lines.h"

namespace pliant::fusion {

/// More layers than this are never one group.
inline constexpr std::size_t kMostGroupLayers = 4;

/// Layers of a chain as steps of the run, and the operators between them.
struct ChainSteps {
  std::vector<int> layers;
  std::vector<int> operators;    ///< without those that cost nothing
  std::vector<Between> between;  ///< by link
  const Chain* chain = nullptr;  ///< once it is known to be a group
  int first() const { return layers.front(); }
  int last() const { return layers.back(); }
};

/// An operator inside a group: tile by tile, where the tile is.
struct OperatorStep {
  int step = 0;
  OperatorCost cost{};
};

/// A step by itself, or the steps of a group.
struct PathPart {
  int step = 0;                       ///< the first
  residency::PathStep alone;          ///< where it is no group
  const ChainSteps* steps = nullptr;  ///< of the group
  std::vector<OperatorStep> operators;
  GroupLines* group = nullptr;
  const Plan* plan = nullptr;
  Home made = kOutside;  ///< where the group's result goes
};

struct FusedPath {
  double least = 0;  ///< energy + slope * cycles of any choice
  double energy_pj = 0, cycles = 0;
  std::vector<PathPart> parts;
};

class FusionLines {
 public:
  /// All arguments must outlive it.
  FusionLines(const Workload& workload, const std::vector<Task>& rows, residency::VariantLines& variants,
              residency::ResidencyLines& whole, TileLines& tiles, std::stop_token stop);

  /// nullptr when some layer fits nowhere.
  const FusedPath* at(double slope);
  /// Are there layers that could pass tiles on?
  bool any_groups() const { return !groups_.empty(); }
  /// Layers that could, by steps, in the order of their first.
  const std::deque<ChainSteps>& groups() const { return step_lists_; }
  /// Of what a layer of a group runs.
  const LayerPoint& point(int piece, double slope) { return *tiles_.bound(piece, slope).point; }

 private:
  struct Edge {
    int from = 0, to_step = 0, to = 0;  ///< states
    Home made = kOutside;
    GroupLines* group = nullptr;
    const ChainSteps* steps = nullptr;
    std::vector<OperatorStep> operators;
  };
  using Key = std::tuple<std::vector<int>, Home, std::vector<std::array<Home, kRoles>>, Reserved>;

  void find_groups(int first);
  Heads heads_of(const ChainSteps& steps) const;
  void add_group(const ChainSteps& steps);
  void add_edges(const ChainSteps& steps, const std::vector<int>& chain_key, Home home);
  std::vector<OperatorStep> operators_of(const ChainSteps& steps, Home home,
                                         const std::function<Home(int)>& home_of) const;
  bool adds_layer(ChainSteps& steps) const;
  bool stays_in_place(int operator_step, int tensor) const;
  std::optional<FusedPath> find(double slope);
  std::optional<FusedPath> shortest(double slope);
  bool solve(FusedPath& path, double slope, bool& changed);
  std::optional<FusedPath> of_whole(double slope, double least);
  void add_up(FusedPath& path, double slope);
  const residency::Step& step(int s) const { return whole_.live().steps[static_cast<std::size_t>(s)]; }

  const Workload& workload_;
  const std::vector<Task>& rows_;
  residency::VariantLines& variants_;
  residency::ResidencyLines& whole_;
  TileLines& tiles_;
  std::stop_token stop_;
  std::deque<ChainSteps> step_lists_;
  std::map<std::vector<int>, Chain> chains_;  ///< by rows and what they read
  std::map<std::pair<const Chain*, Home>, std::shared_ptr<ChainStacks>> stacks_;
  std::map<Key, std::unique_ptr<GroupLines>> groups_;
  std::vector<std::vector<Edge>> edges_;  ///< by first step
  std::map<double, std::optional<FusedPath>> known_;
};

}  // namespace pliant::fusion
