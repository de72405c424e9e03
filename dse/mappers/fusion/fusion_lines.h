// SPDX-License-Identifier: Apache-2.0
// The least energy + slope * cycles of a network whose tensors live outside, whole on chip, or as tiles: a shortest
// path over the states of dse/mappers/residency, with groups as edges over several steps.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "dse/mappers/fusion/group_lines.h"
#include "dse/mappers/residency/residency_lines.h"

namespace pliant::fusion {

/// More layers than this are never one group.
inline constexpr std::size_t kMostGroupLayers = 3;

/// A step by itself, or the steps of a group.
struct PathPart {
  int step = 0;                             ///< the first
  residency::PathStep alone;                ///< where it is no group
  const std::vector<int>* steps = nullptr;  ///< of the group's layers
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
  FusionLines(const std::vector<Task>& rows, residency::VariantLines& variants, residency::ResidencyLines& whole,
              TileLines& tiles, std::stop_token stop);

  /// nullptr when some layer fits nowhere.
  const FusedPath* at(double slope);
  /// Are there layers that could pass tiles on?
  bool any_groups() const { return !groups_.empty(); }
  /// Of what a layer of a group runs.
  const LayerPoint& point(int piece, double slope) { return *tiles_.bound(piece, slope).point; }

 private:
  struct Edge {
    int from = 0, to_step = 0, to = 0;  ///< states
    Home made = kOutside;
    GroupLines* group = nullptr;
    const std::vector<int>* steps = nullptr;
  };
  using Key = std::tuple<std::vector<int>, Home, std::vector<std::array<Home, kRoles>>, Reserved>;

  void find_groups(int first);
  void add_group(const std::vector<int>& steps);
  void add_edges(const std::vector<int>& steps, const std::vector<int>& chain_key, Home home);
  std::optional<std::pair<int, int>> next_layer(int step) const;  ///< and the operand that it reads
  std::optional<FusedPath> find(double slope);
  std::optional<FusedPath> shortest(double slope);
  bool solve(FusedPath& path, double slope, bool& changed);
  std::optional<FusedPath> of_whole(double slope, double least);
  void add_up(FusedPath& path, double slope);
  const residency::Step& step(int s) const { return whole_.live().steps[static_cast<std::size_t>(s)]; }

  const std::vector<Task>& rows_;
  residency::VariantLines& variants_;
  residency::ResidencyLines& whole_;
  TileLines& tiles_;
  std::stop_token stop_;
  std::deque<std::vector<int>> step_lists_;
  std::map<std::vector<int>, Chain> chains_;  ///< by rows and what they read
  std::map<Key, std::unique_ptr<GroupLines>> groups_;
  std::vector<std::vector<Edge>> edges_;  ///< by first step
  std::map<double, std::optional<FusedPath>> known_;
};

}  // namespace pliant::fusion
