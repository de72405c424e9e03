// SPDX-License-Identifier: Apache-2.0
// What unrollings of one fanout cost at least that begin with the same factors, whatever the others are
// (decided_words.h): of millions only those are listed that could be better than the incumbent.
#pragma once

#include <array>

#include "dse/mappers/exact/bounds/decided_words.h"
#include "dse/mappers/exact/choices/unroller.h"

namespace pliant::exact {

class FanoutFloors final : public FloorOfFactors {
 public:
  FanoutFloors(const ResolvedTask& resolved, const ChoiceBounds& bounds);

  void begin(int level, std::span<const int> order) override;
  double least(std::span<const Count> chosen, double steps, double enough) override;

 private:
  const Problem& p_;
  DecidedWords words_;
  int level_ = -1;
  double others_ = 1;  // units of the other fanouts
  std::span<const int> order_;
  std::array<Count, kMaxDims> decided_{};  // 0: not decided
};

}  // namespace pliant::exact
