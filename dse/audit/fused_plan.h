// SPDX-License-Identifier: Apache-2.0
// A chain under its loops, counted again: what each layer runs and how often, what may be held, what moves besides, and
// how much room is left. Written after docs/dev/fusion.md.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <vector>

#include "dse/audit/fused_chain.h"
#include "dse/audit/moving.h"
#include "dse/audit/network_certificate.h"

namespace pliant::audit {

/// A chain in one place: the memory of its tiles, and where the other operands live.
struct GroupPlace {
  const FusedChain* chain = nullptr;
  std::vector<int> rows;  ///< by layer
  Place home = kElsewhere;
  std::vector<std::array<Place, kRoles>> places;  ///< by layer

  const Accelerator& accelerator() const { return chain->layers.front()->accelerator; }
  const Memory& memory() const { return accelerator().levels[static_cast<std::size_t>(home)].memory(); }
};

/// The tile of an operand under the first loops of its layer's nest stays while the others run.
struct HeldTile {
  std::size_t layer = 0;
  int tensor = 0;
  std::size_t loops = 0;
  auto operator<=>(const HeldTile&) const = default;
};

/// One way for a layer to work under its nest.
struct LayerOption {
  std::vector<HeldTile> held;
  struct Runs {
    LayerVariant shape;  ///< with nothing taken yet
    double times = 0;
  };
  std::vector<Runs> runs;
  MovingCost moving;
};
std::vector<LayerOption> layer_options(const GroupPlace& group, std::size_t layer, const GroupLoops& nest);

/// By layer: the longer of the stacks beside it.
std::vector<GroupLoops> nests(const std::vector<GroupLoops>& stacks);
/// Is the shorter one the beginning of the longer one?
bool nest_in_each_other(const GroupLoops& a, const GroupLoops& b);

/// By layer: words of the home that tiles, held operands and carried rows take while it runs.
std::vector<Count> words_of_tiles(const GroupPlace& group, const std::vector<GroupLoops>& stacks,
                                  const std::vector<GroupLoops>& nests, const std::vector<HeldTile>& held);

}  // namespace pliant::audit
