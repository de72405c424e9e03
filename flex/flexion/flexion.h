// SPDX-License-Identifier: Apache-2.0
// Flexion: how much of what could be done a design can do. Per axis there are three sets of choices,
//
//     C  what a fully flexible design with the same resources could do, whatever the layer
//     A  what this design can do
//     W  what the layer has, whatever the hardware
//
// and two ratios: hardware flexion H-F = |A| / |C|, workload flexion W-F = |A and W| / |W|. docs/flexibility.md defines
// the sets of every axis.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/flexibility_class.h"
#include "core/layer.h"
#include "flex/flexion/tile_space.h"

namespace pliant {

/// What is counted. The T axis is measured twice.
enum class Measure : std::uint8_t {
  kTileVolume,  ///< T: volume of tile sizes in (inputs, weights, outputs) space, words^3: the published measure
  kTileTuples,  ///< T: vectors of one size per dim
  kOrders,      ///< O: permutations of the loops
  kPairs,       ///< P: ordered pairs of dims, rows and columns
  kShapes,      ///< S: numbers of rows, the columns being what is left
};
inline constexpr int kMeasures = 5;
std::string_view to_string(Measure measure);  ///< "tile volume", "tile tuples", "orders", "pairs", "shapes"
Axis axis_of(Measure measure);

/// Sizes as decimal numbers without exponent: they may have any number of digits.
struct AxisFlexion {
  Measure measure = Measure::kOrders;
  std::string level;  ///< the memory or fanout it is about; empty when the design has none (all sets have one element)
  std::string c = "1", a = "1", w = "1", a_and_w = "1";
  std::string c_and_w = "1";  ///< what a fully flexible design could do of the layer
  double h_f = 1, w_f = 1;
  /// Where only sampling could count: 95 % confidence. The sizes are then estimates too.
  std::optional<Interval> h_f_interval, w_f_interval;
};

struct LayerFlexion {
  std::string layer;
  Count count = 1;                ///< repetitions in the workload
  std::vector<AxisFlexion> axes;  ///< one for each measure, in their order; without kTileTuples when left out

  const AxisFlexion& of(Measure measure) const;
  /// Of several axes together, tiles by volume: the product. Exact where the axes do not limit each other; S is
  /// measured for the dims that P puts on the rows, so those two do (docs/flexibility.md).
  double h_f(const PerAxis<bool>& axes) const;
  double w_f(const PerAxis<bool>& axes) const;
};

struct FlexionOptions {
  bool tile_tuples = true;            ///< by far the most work
  std::uint64_t steps = 100'000'000;  ///< per set of tile tuples; beyond them it is sampled
  std::uint64_t samples = 200'000;
  std::uint64_t seed = 1;
};

LayerFlexion layer_flexion(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                           const FlexionOptions& options = {});

/// Means over the layers, each as often as the workload repeats it.
struct WorkloadFlexion {
  std::vector<LayerFlexion> layers;
  struct Mean {
    Measure measure = Measure::kOrders;
    double h_f = 1, w_f = 1;
    double c = 1, a = 1, w = 1, a_and_w = 1, c_and_w = 1;  ///< mean sizes, for drawing
  };
  std::vector<Mean> means;
  const Mean& of(Measure measure) const;
};
WorkloadFlexion workload_flexion(const Workload& workload, const Accelerator& accelerator,
                                 const FlexionOptions& options = {});

}  // namespace pliant
