// SPDX-License-Identifier: Apache-2.0
// What unrollings of one array cost at least that begin with the same factors, so that of hundreds of millions only
// those are listed that could be better than the incumbent.
//
// The least energy of a tensor depends on the factors of some dims only: of those that it does not use, and of those
// that move its windows. So it is found once for every combination of these, and the least over all ways to go on is
// found for every way to begin. Energies add up by tensor.
#pragma once

#include <array>
#include <vector>

#include "dse/mappers/exact/bounds/choice_bounds.h"
#include "dse/mappers/exact/choices/unroller.h"

namespace pliant::exact {

class FactorFloors final : public FloorOfFactors {
 public:
  FactorFloors(const ResolvedTask& resolved, ChoiceBounds& bounds, SearchLimits& limits);

  /// One array, a line of units: there a factor says everything about its loops.
  bool apply() const { return line_ >= 0; }

  void begin(int level, std::span<const int> order, const std::vector<std::vector<Count>>& factors,
             Count units) override;
  Place after(const Place& place, int d, std::size_t i) const override;
  double least(const Place& place, int chosen, double steps) const override;

  /// Dims whose factors make a difference to the least energy of a tensor.
  static DimSet deciding(const Problem& problem, int tensor);

 private:
  void tabulate(int x, std::span<const int> order, const std::vector<std::vector<Count>>& factors, Count units);

  const ResolvedTask& resolved_;
  const Problem& p_;
  ChoiceBounds& bounds_;
  SearchLimits& limits_;
  int line_ = -1;  // its level
  bool rows_ = false;
  std::array<DimSet, kMaxTensors> dims_{};  // of its table; 0: none, only what holds for every unrolling is known
  std::array<std::uint32_t, kMaxDims> choices_{};                                 // factors of a dim
  std::array<std::array<std::vector<double>, kMaxDims + 1>, kMaxTensors> least_;  // by dims chosen and place
};

}  // namespace pliant::exact
