// SPDX-License-Identifier: Apache-2.0
// What it costs when a tensor meets its first coupled loop at a memory: words of its pending transfers as a function of
// the node. Exact with perfect factors; a lower bound where the cost model's count is not a function of the node alone
// (docs/mappers.md lists those corners; complete mappings are always priced by the model itself).
#pragma once

#include <span>

#include "dse/mappers/exact/lattice.h"

namespace pliant::exact {

/// Words of one pair: `varying` times the iterations left of the uncoupled dims at the node, in the linear cost of one
/// functional. Split so that the node-dependent part is a product of small tables.
class ChargeTables {
 public:
  ChargeTables(const Setting& setting, const Spatial& spatial, const Axes& axes, const std::vector<Pair>& pairs,
               const std::vector<int>& pending, int k, int tensor, int slide, const Functional& functional,
               double repetitions);

  double at(const std::array<int, kMaxDims>& node) const;
  /// Fills values for all nodes of a box; dims fastest first.
  void fill(std::span<const int> dims, std::span<const int> extent_by_dim, std::span<double> values) const;

 private:
  struct RankTable {
    std::array<int, kMaxDims> stride{};
    std::vector<double> served, delivered;
  };
  struct Part {                                // one pending pair
    double served = 0, delivered = 0;          // times iterations left of uncoupled dims
    double first_parent = 0, first_child = 0;  // not times them (quickflow's first time per sweep)
    std::vector<RankTable> ranks;
  };
  double combine(double uncoupled, double affine, const std::array<int, kMaxDims>& node) const;

  int dims_ = 0;
  double constant_ = 0;
  double plain_ = 0;  // all pairs without affine ranks, times uncoupled
  DimSet uncoupled_ = 0, affine_ = 0;
  std::array<std::vector<double>, kMaxDims> left_;
  std::vector<Part> parts_;
};

/// With remainders not every unit works in the last round: a lower bound on the share of active ones.
struct Filling {
  const Axes* axes = nullptr;  ///< nullptr = perfect factors
  const std::vector<int>* memories = nullptr;
  int levels = 0;
  double between(DimSet dims, int outside, int inside) const;
};

}  // namespace pliant::exact
