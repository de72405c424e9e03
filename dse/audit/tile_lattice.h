// SPDX-License-Identifier: Apache-2.0
// The nodes of one choice with perfect factors (see transfers.h): what tensors need to know of them, and which of them
// a mapping can have at a memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dse/audit/space_rules.h"
#include "dse/audit/transfers.h"

namespace pliant::audit {

/// What does not change from choice to choice: which dims may loop at which memory, and in which orders.
struct TileRules {
  TileRules(const SpaceRules& rules, const Problem& problem);

  const SpaceRules& space;
  /// Memories (indices of SpaceRules::memories and of Kept), from the inside out.
  std::vector<std::size_t> memories;
  /// By memory: alternatives, each a list of dim sets from the inside out; within a set any order is allowed. They
  /// allow every order that the rules do, and may allow more.
  std::vector<std::vector<std::vector<DimSet>>> orders;
  /// By memory: dims whose loop there may be moved to the next memory outside, where a slide along the dim goes on.
  /// A slide along another dim is charged as if it went on as far as it can.
  std::vector<DimSet> movable;
};

/// Nodes have numbers; a larger tile has a larger one. What is asked of a node is found when it is asked for: a
/// programme that does not follow every path sees few of them.
class TileLattice {
 public:
  TileLattice(const TileRules& rules, const ChoiceTransfers& transfers, const Kept& kept);

  static double nodes(const ChoiceTransfers& transfers);
  std::uint32_t nodes() const { return nodes_; }
  const std::vector<Count>& divisors(int dim) const { return divisors_[static_cast<std::size_t>(dim)]; }
  std::uint32_t stride(int dim) const { return stride_[static_cast<std::size_t>(dim)]; }
  /// Of the node's tile along the dim among its divisors.
  std::uint32_t index(std::uint32_t node, int dim) const {
    const Half& half = halves_[dim < split_ ? 0 : 1];
    return half.index[(dim < split_ ? node % low_ : node / low_) * kMaxDims + static_cast<std::size_t>(dim)];
  }
  /// By prime of a dim: by index of a divisor that of its product with the prime; 0: none.
  using Steps = std::vector<std::vector<std::uint32_t>>;
  const Steps& steps(int dim) const { return steps_[static_cast<std::size_t>(dim)]; }

  /// Iterations of dims outside the node that the tensor does not use.
  double repeats(int tensor, std::uint32_t node) const {
    const auto x = static_cast<std::size_t>(tensor);
    return halves_[0].repeats[x][node % low_] * halves_[1].repeats[x][node / low_];
  }
  /// The node's tile along the tensor's affine dims.
  std::uint32_t window(int tensor, std::uint32_t node) const {
    const auto x = static_cast<std::size_t>(tensor);
    return halves_[0].window[x][node % low_] + halves_[1].window[x][node / low_];
  }
  using Tile = std::array<Count, kMaxDims>;
  const std::vector<Tile>& windows(int tensor) const { return windows_[static_cast<std::size_t>(tensor)]; }

  /// May a mapping have this tile at the memory (counted from the inside)? It fits, and lies inside one of the next.
  bool ends(std::size_t memory, std::uint32_t node) { return (state_of(memory, node) & kEnds) != 0; }
  /// May it have the tile between the loops there? They lead to one at which the memory ends.
  bool passes(std::size_t memory, std::uint32_t node) { return (state_of(memory, node) & kPasses) != 0; }

 private:
  static constexpr char kKnown = 1, kEnds = 2, kPasses = 4;
  char state_of(std::size_t memory, std::uint32_t node) {
    const char known = state_[memory][node];
    return known != 0 ? known : find_state(memory, node);
  }
  char find_state(std::size_t memory, std::uint32_t node);
  bool fits(std::size_t memory, std::uint32_t node) const;
  void find_all(std::size_t memory);

  const TileRules& rules_;
  const ChoiceTransfers& transfers_;
  const Kept& kept_;
  std::vector<std::vector<Count>> divisors_;  // by dim, ascending
  std::vector<std::uint32_t> stride_;         // by dim
  std::uint32_t nodes_ = 1;
  std::vector<Steps> steps_;  // by dim
  // What is known of a node follows from the dims before the split, its number modulo `low`, and the others.
  struct Half {
    std::vector<std::uint32_t> index;                // by dim
    std::vector<std::vector<double>> repeats;        // by tensor
    std::vector<std::vector<std::uint32_t>> window;  // by tensor
  };
  int split_ = 0;
  std::uint32_t low_ = 1;
  std::array<Half, 2> halves_;
  std::vector<std::vector<Tile>> windows_;  // by tensor
  std::vector<std::vector<char>> state_;    // by memory and node; 0: not known yet
  std::vector<char> smaller_fit_;           // by memory: a tile inside one that fits does, too
};

}  // namespace pliant::audit
