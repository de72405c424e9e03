// SPDX-License-Identifier: Apache-2.0
// What an inflexible design would take if some of its axes followed the layer, in closed form (inflexible_design.h has
// the equations): of the axes that are free every choice is tried for every layer, the others stand as they are.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dse/studies/inflexible_design.h"

namespace pliant {

/// Which axes follow the layer.
struct FreeAxes {
  bool tile = false, order = false, parallel = false, shape = false;
};
/// "1010": T and P.
FreeAxes free_axes(const std::string& bits);

/// One network on one piece of hardware; remembers what designs have in common. Not for several threads at once.
class FlexibleCycles {
 public:
  FlexibleCycles(const InflexibleNetwork& network, const InflexibleHardware& hardware);

  /// Of the whole network.
  double cycles(const InflexibleDesign& design, const FreeAxes& free);

 private:
  using Sizes = std::array<Count, 6>;
  using Order = std::array<int, 6>;
  /// An array that the steps of a layer are counted on.
  struct Wiring {
    std::size_t a = 0, b = 0;
    Count rows = 1, cols = 1;
  };
  /// Steps of one dim by the array's shape; `over_both`: over rows and columns together, the fewest of all shapes.
  struct StepsOnShapes {
    std::vector<double> over_rows, over_cols;
    double over_both = std::numeric_limits<double>::infinity();
  };
  const StepsOnShapes& steps_on_shapes(Count size, Count tile);
  struct LayerTiles {
    std::vector<Sizes> fitting;  ///< every tile of divisors that fits, the largest first
  };

  double layer_cycles(std::size_t layer, const InflexibleDesign& design, const FreeAxes& free);
  double fewest_steps(std::size_t layer, const Sizes& tile, const std::vector<Wiring>& wirings) const;
  /// The same over every pair of dims and every shape.
  double fewest_steps_of_all(std::size_t layer, const Sizes& tile);
  double fewest_words(std::size_t layer, const Sizes& tile, const InflexibleDesign& design, bool any_order);
  std::vector<Wiring> wirings(const InflexibleDesign& design, const FreeAxes& free) const;
  const std::vector<Order>& orders_that_differ(std::uint32_t moving, bool depthwise);

  const InflexibleNetwork& network_;
  InflexibleHardware hardware_;
  std::vector<std::pair<Count, Count>> shapes_;  ///< rows and columns of every array that has its units
  std::vector<LayerTiles> tiles_;
  std::map<std::pair<Count, Count>, StepsOnShapes> steps_;  ///< by size and tile
  std::map<std::pair<std::uint32_t, bool>, std::vector<Order>> orders_;
  std::map<std::vector<Count>, double> known_;  ///< by layer, class and what of the design counts there
};

/// At most `most` of them, evenly spaced, the first one included.
std::vector<InflexibleDesign> evenly_spaced(const std::vector<InflexibleDesign>& designs, std::size_t most);

}  // namespace pliant
