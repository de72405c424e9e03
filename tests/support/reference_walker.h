// SPDX-License-Identifier: Apache-2.0
// The cost model the slow way: walk every iteration of the loop nest and move sets of elements. Shares nothing with
// costmodel/ but the vocabulary of core/, so that agreement means something. For layers of a few thousand MACs.
//
// The machine that is walked
//
//   Time. All instances step together through the temporal loops, outermost slowest. A loop ends early where the dim
//   ends (short last tiles); an instance whose part of the dim is used up is idle. Every MAC happens once. The ports of
//   a memory are those of as many instances as work in the step that has most of them; a port takes whole cycles, and
//   nothing ends before its ports do. A bus carries the words of both directions one after the other; a port of a role
//   carries those of its tensors only.
//
//   Transfers. Tensor x moves between neighbouring keepers, parent p and child c. Control is static: it knows the
//   loops, not the data. Loops outside c are read from the inside; a loop of bound 1 does not exist. Up to the first
//   loop over a dim that x's index mentions (the kill), nothing moves: the child keeps its tile. Each advance or
//   restart of the kill or of a loop outside it empties the child and delivers the new tile, even where a remainder
//   leaves the kill a single iteration and the tile happens to be the old one.
//
//   Windows. Where the kill's dim moves x through exactly one index expression, and that has several terms, the kill
//   and the loops over the same dim directly around it are one sliding run: within a run a child receives an
//   element once. A fanout that splits that dim ends the run, because the step of the window changes there.
//
//   Sharing. Under the fanouts between p and c, children form groups; the parent serves a group as if it were one child
//   that needs all its members' elements. Fanouts with no memory between them are one network. Two children are in one
//   group when, network by network, (1) they have the same index on fanouts without multicast (outputs: without
//   reduction), (2) their windows are displaced alike by the fanouts with multicast; fanouts with partial multicast are
//   left out of that comparison, so all their children are in one group. A fanout with partial multicast may be used
//   without it: of all choices of fanouts that use it, the parent takes one that costs it the fewest words.
//   With bounding boxes a group takes the box around its members' windows; along a plain index nothing overlaps and
//   members stay apart.
//
//   Compute units receive one word of each tensor at every step; the same groups share it.
//
//   Outputs go the other way, counted alike: what a child would receive it sends instead. The first arrival of an
//   element at an instance of the parent is a plain write; later ones need the old value read. A child fetches the old
//   value except for elements it meets for the first time. They are as wide as partial sums until all MACs of the
//   element are in them; the last arrival at an instance that has all of them, and the last that leaves it, are as wide
//   as results.
//
//   Networks. A word delivered passes every fanout between p and c, but one further out only once for all children that
//   differ in nothing but indices, of dims that x does not use, on fanouts with multicast (outputs: reduction) further
//   in. Each pays its energy for every bit, as wide as the word is at the parent. Outputs pass on their way out, and
//   their old values on the way in to a memory that fetches them.
//
//   A systolic array does nothing else while it is filled and drained, once for every tile that its stationary tensor
//   has there, whatever else waits for ports meanwhile. A tile of the compute units is one element. Where the child has
//   several buffers, a tile is shifted in while the one before is in use, and is used when both are done; the units
//   start one after the other into the first tile and end so after the last. Fanouts are one array unless a memory
//   between them could hold the tensor.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant::reference {

/// Words of one tensor between neighbouring keepers, summed over instances. child = number of levels without compute:
/// the compute units. The first_ fields are set for the output only.
struct Words {
  int tensor = 0, parent = 0, child = 0;
  Count served = 0, delivered = 0, first_parent = 0, first_child = 0;
  std::vector<Count> steps_of_tiles{};           ///< of every tile that the child gets, in time
  std::vector<std::pair<int, double>> passed{};  ///< fanouts between the two, and words that pass them
};

struct Walked {
  Count macs = 0;                                               ///< innermost iterations that were reached
  Count steps = 0;                                              ///< temporal iterations in which some unit works
  std::vector<Words> words;                                     ///< by tensor, outermost pair first
  std::vector<double> reads, writes;                            ///< by level, all tensors and instances
  std::array<std::vector<double>, kRoles> reads_of, writes_of;  ///< the same of the tensors of one role
  std::vector<Count> peak;                                      ///< by level: most instances that work in one step
  double energy_pj = 0, cycles = 0;
};

/// Under the accelerator's conventions. The `timeloop` and `quickflow` rules are walked for perfect factors only.
Walked walk(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping);

/// Distinct elements that one full tile of a memory touches; bounding boxes where the conventions say so.
Count tile_words(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping, int level, int tensor);

}  // namespace pliant::reference
