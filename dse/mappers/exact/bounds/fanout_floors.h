// SPDX-License-Identifier: Apache-2.0
// What unrollings of one of several fanouts cost at least that begin with the same factors, whatever the others are
// (decided_words.h): of millions only those are listed that could be better than the incumbent.
#pragma once

#include <array>
#include <vector>

#include "dse/mappers/exact/bounds/decided_words.h"
#include "dse/mappers/exact/choices/unroller.h"

namespace pliant::exact {

class FanoutFloors final : public FloorOfFactors {
 public:
  FanoutFloors(const ResolvedTask& resolved, const ChoiceBounds& bounds);

  bool apply() const { return several_; }

  void begin(int level, std::span<const int> order, const std::vector<std::vector<Count>>& factors,
             Count units) override;
  /// Factors are chosen depth first: those of the dims before this one are the last that were asked for.
  Place after(const Place& place, int d, std::size_t i) const override;
  double least(const Place& place, int chosen, double steps) const override;

 private:
  const Problem& p_;
  const bool several_;
  mutable DecidedWords words_;
  mutable DecidedWords::Combinations combinations_;
  int level_ = -1;
  double others_ = 1;  // units of the other fanouts
  std::span<const int> order_;
  const std::vector<std::vector<Count>>* factors_ = nullptr;  // by dim
  mutable std::array<Count, kMaxDims> chosen_{}, decided_{};  // 0: not decided
};

}  // namespace pliant::exact
