// SPDX-License-Identifier: Apache-2.0
#include "dse/design/search_node.h"

#include <algorithm>

namespace pliant {

bool PointDesign::complete() const {
  return std::ranges::all_of(answers, [](const Answer& answer) { return answer.result != nullptr; });
}

LayerBounds PointDesign::of_rows() const {
  LayerBounds all = bounds;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& result = answers[i].result;
    if (!result || result->status != TaskStatus::kSolved) continue;
    all[i] = {result->energy_pj, result->runtime_cycles, result->energy_pj * result->runtime_cycles};
  }
  return all;
}

bool contains(const FlexibilityClass& larger, const FlexibilityClass& smaller) {
  if (larger == smaller) return true;
  using enum FlexibilityClass::Degree;
  // An inflexible axis has the baseline's one choice in both; partial settings need not contain it.
  if (larger.degree == kPartFlex && freedom_of(larger) > 0) return false;
  for (std::size_t a = 0; a < kAxisCount; ++a) {
    const bool more = larger.degree != kInFlex && larger.flexible[a];
    const bool wanted = smaller.degree != kInFlex && smaller.flexible[a];
    if (wanted && !more) return false;
  }
  return true;
}

int freedom_of(const FlexibilityClass& flexibility) {
  if (flexibility.degree == FlexibilityClass::Degree::kInFlex) return 0;
  int axes = 0;
  for (const bool flexible : flexibility.flexible) axes += flexible ? 1 : 0;
  return flexibility.degree == FlexibilityClass::Degree::kFullFlex ? 2 * axes : axes;
}

}  // namespace pliant
