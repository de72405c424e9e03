// SPDX-License-Identifier: Apache-2.0
// A fused group the slow way: its loops run one after the other, tiles are sets of elements, and what is moved, held
// and added up is counted element by element. Shares nothing with dse/mappers/fusion.
//
//   Layers next to each other whose nests begin with the same loop run inside it together. Every element of a tensor
//   between two layers must be whole when it is read, and must still be there: it stays while the loops of its stack
//   stand still (a window: until its last reader). Its place is given for the whole of the next loop inside. What is
//   held is fetched when it is met first and forgotten when a loop outside it moves on; it has its place while the
//   loops that it is held over run. An output whose sums are older is read once more where it is. Rows of an online
//   softmax that are read in parts have two numbers each that stay until the last part; older results are corrected by
//   every part, and divided when they are whole.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant::reference {

/// Where a layer has an axis: after each round it has made what its reader's windows have reached.
struct WalkedPlace {
  int dim = 0;
  Count step = 1, overlap = 0, padding = 0;
  bool window = false;
};
/// What a reader sees of a rank: so many elements of padding before the first, and so many elements.
struct WalkedRank {
  Count padding = 0, size = 0;
};

/// Layers that read each other, described by hand.
struct WalkedChain {
  std::vector<Layer> layers;
  std::vector<std::vector<WalkedRank>> padded;             ///< by link and rank; empty = as it is made
  std::vector<int> reads;                                  ///< by link: tensor of the layer that reads it
  std::map<std::string, Count> sizes;                      ///< of the axes
  std::vector<std::map<std::string, WalkedPlace>> places;  ///< by layer
  /// Axes that count layers of a node instead of indices: by layer, the tensors that are the same for all of them.
  std::map<std::string, std::vector<TensorSet>> same;
  std::vector<std::string> online;  ///< by link: the axis of rows that a softmax takes part by part; empty = none
};
/// So many such chains side by side: `groups` of them, and in each group as many that share some operands.
void count_layers(WalkedChain& chain, Count groups, Count heads, std::vector<TensorSet> same);
/// GEMMs in a row: axes m, and n1, n2, .. of the tensors between them.
WalkedChain walked_gemms(std::vector<Layer> layers);
/// Convolutions in a row, those with padding half of it before the first element, all with one group or depthwise: axes
/// c1, c2, .. of channels (c1 is c2 across a depthwise layer), p1, q1, .. of the readers' results.
WalkedChain walked_convs(std::vector<Layer> layers);

struct WalkedLoop {
  std::string axis;
  Count tile = 1;
};
struct WalkedHold {
  int layer = 0, tensor = 0;
  std::size_t depth = 0;
};
struct WalkedPlan {
  int home = 1;
  std::vector<std::vector<WalkedLoop>> stacks;  ///< by link
  std::vector<WalkedHold> held;
  int result_in = -1;  ///< where the last layer's output lives whole; -1 = outside
};

struct WalkedGroup {
  std::string wrong;                                      ///< why it is no group; empty when it is one
  std::vector<std::map<std::vector<Count>, Count>> runs;  ///< by layer: sizes, and how often
  std::vector<Count> taken;                               ///< by layer: most words of the home that tiles take
  std::vector<bool> adds;            ///< by layer: some runs add to what others made, so all make sums
  std::vector<bool> sums_come_back;  ///< by layer: to the home, from outside
  double energy_pj = 0, cycles = 0;  ///< of what moves between runs
};
WalkedGroup walk_group(const WalkedChain& chain, const Accelerator& machine, const WalkedPlan& plan);

}  // namespace pliant::reference
