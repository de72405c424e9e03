// SPDX-License-Identifier: Apache-2.0
// Words along one affine rank of a tensor in one run, as a function of the node: the windows of the children, what
// fanouts share of them, and what a slide brings. Each rule states its inequality; docs/dev/proof, L5.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dse/mappers/exact/chain/axis.h"
#include "dse/mappers/exact/task/resolved_task.h"
#include "dse/mappers/exact/words/costs.h"
#include "dse/mappers/exact/words/displacements.h"

namespace pliant::exact {

/// Words of all runs along one rank, by the states of its dims. (Iterations along a dim of several ranks are in the
/// table of the first.)
struct RankTable {
  std::array<int, kMaxDims> stride{};  ///< 0 = does not depend on the dim
  std::vector<double> served, delivered;
  bool alike = false;       ///< both are the same
  std::size_t counted = 0;  ///< windows looked at
};

/// Tables that one lattice has asked for, by memory, tensor, slide, parent, child and rank.
using KnownWindows = std::vector<std::pair<std::array<std::int8_t, 6>, std::shared_ptr<const RankTable>>>;

/// Where a tensor meets its first coupled loop: what a charge depends on besides the transfer.
struct ChargePlace {
  const ResolvedTask& resolved;
  const Spatial& spatial;
  const Axes& axes;
  const Costs& costs;
  int memory = 0;  ///< whose loop it is; from the inside out
  int tensor = 0;
  int slide = -1;  ///< the dim of that loop where windows overlap along it, else -1
  KnownWindows& known;

  int level() const { return resolved.memories[memory]; }
  const Axis& axis(int dim) const { return (*axes[dim])[memory]; }
  const std::vector<Axis::State>& states(int dim) const { return axis(dim).states; }
};

class WindowWords {
 public:
  WindowWords(const ChargePlace& place, const KeeperPair& pair, const Problem::AffineRank& rank);

  RankTable table() const;

 private:
  using Sizes = std::array<double, kMaxDims>;
  struct Node {
    Sizes tile{}, left{};  // by dim of the rank
    Sizes child{};         // the tile of the child; 1 along other dims
  };
  /// By copy of the parent, and by copy of the child.
  struct Words {
    double served, delivered;
  };
  /// Under bounding boxes ranks that share a dim have extents of their own, but their neighbours are the same.
  struct RanksTogether {
    DimSet dims = 0;    // of all of them
    int ranks = 0;      // how many
    bool first = true;  // is this rank the first of them? It counts the neighbours for all.
  };

  Node node_at(const RankTable& table, int cell) const;
  void set(Node& node, int dim, const Axis::State& state) const;
  Words least_of_group(RankTable& table, int cell) const;
  Words at(const Node& node) const;
  void find_ranks_together();
  double units(int dim, int outside, int inside) const;
  /// The child's tile and those of all its neighbours between two levels, as one.
  Sizes united(const Node& node, int outside, int inside) const;
  double different_windows(std::pair<int, int> network, const Sizes& below, bool shared) const;
  bool slides_over_holes(const Node& node) const;
  bool windows_are_full(const Node& node) const;

  // The rules, in the order in which they apply.
  double short_last_windows(const Node& node) const;
  Words of_the_run(const Node& node, double covered) const;
  double side_by_side(const Node& node, double window) const;
  void past_neighbours(const Node& node, Words& words) const;
  void over_holes(const Node& node, Words& words) const;
  void divided_slide(const Node& node, Words& words) const;
  double share_beyond(const Node& node, std::pair<int, int> network) const;
  double remembered_displacements(const Node& node) const;
  void follow_slide(const Node& node, Words& words) const;
  Words slid(const Node& node, Count bound, Count further, const Words& certain) const;
  void one_by_one(const Node& node, Words& words) const;
  void every_value_once(const Node& node, Words& words) const;
  double values_by_iteration(const Node& node) const;

  const ChargePlace& place_;
  const Problem& p_;
  const Spatial& spatial_;
  const KeeperPair& pair_;
  const Problem::AffineRank& rank_;
  const int level_;    // of the memory
  const int serving_;  // the parent, or the memory where that is further in: what lies inside it is known
  const DimSet dim_set_;
  std::vector<int> dims_;
  std::vector<std::pair<int, int>> networks_inside_, networks_beyond_;
  RanksTogether together_;
  double values_ = 0;  // of the whole rank
  bool slides_ = false, divided_ = false;
  bool walks_ = false;                         // displacements are remembered, and any loop may find its own again
  std::optional<RememberedSlide> remembered_;  // displacements are remembered, and this is known of loops further out
};

}  // namespace pliant::exact
