// SPDX-License-Identifier: Apache-2.0
// A chain under its stacks: what each layer runs and how often, what it may hold, what is moved besides, and how much
// room is taken meanwhile. docs/dev/fusion.md has the equations.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <vector>

#include "dse/mappers/fusion/chain.h"
#include "dse/mappers/fusion/tile_lines.h"
#include "dse/mappers/residency/operator_cost.h"

namespace pliant::fusion {

using residency::Home;
using residency::kOutside;
using residency::OperatorCost;
using residency::Reserved;

/// A group and what is around it.
struct Setting {
  const Chain* chain = nullptr;
  Home home = 0;                                 ///< of the tiles
  std::vector<std::array<Home, kRoles>> places;  ///< by layer: of operands that live whole on chip
  Reserved taken;                                ///< while the group runs, by what is no part of it, and by those

  const Accelerator& accelerator() const { return chain->layers.front()->accelerator; }
  const Memory& memory() const { return accelerator().levels[static_cast<std::size_t>(home)].memory(); }
  /// Which tiles its home may hold.
  FusionRule rule() const { return rule_at(accelerator(), home); }
  int layers() const { return static_cast<int>(chain->layers.size()); }
};

/// The tile under the first `depth` loops of its layer's nest stays while the others run.
struct Held {
  int layer = 0, tensor = 0;
  std::size_t depth = 0;
  auto operator<=>(const Held&) const = default;
};

/// A layer under its nest, and what of it is held.
struct LayerChoice {
  std::vector<Held> held;
  struct Runs {
    int shape = 0;  ///< of TileLines
    double times = 0;
  };
  std::vector<Runs> runs;
  /// Loads, stores or old sums, of all runs together.
  struct Move {
    residency::WordsByLevel words;
    Role role = Role::kInput;
    OperatorCost cost{};
  };
  std::vector<Move> moves;
  OperatorCost moving{};  ///< the sum of the moves
};

/// All of a layer; none where the nest is no choice for it.
std::vector<LayerChoice> layer_choices(const Setting& setting, int layer, const Stack& nest, TileLines& tiles);

/// The loops around each layer: the longer of the stacks beside it.
std::vector<Stack> nests_of(const std::vector<Stack>& stacks);

/// Words of the home that tiles take while each layer runs.
std::vector<Count> tile_words(const Setting& setting, const std::vector<Stack>& stacks, const std::vector<Stack>& nests,
                              const std::vector<Held>& held);

/// Room for each layer: what is taken, tiles included; nothing where it is more than there is.
std::optional<std::vector<Reserved>> rooms_of(const Setting& setting, const std::vector<Count>& tile_words);

}  // namespace pliant::fusion
