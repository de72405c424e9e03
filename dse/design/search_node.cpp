// SPDX-License-Identifier: Apache-2.0
#include "dse/design/search_node.h"

#include <algorithm>
#include <utility>

namespace pliant {

namespace {

void add_bounds(const LayerBound& bound, BoxProof& proof) {
  for (const std::int32_t number : bound.rests_on)
    if (number >= 0) proof.bounds.push_back(number);
}

}  // namespace

BoxProof proof_of(const SearchNode& node, TrimmedProof few) {
  BoxProof proof;
  proof.least = std::move(few.least);
  for (const RuleBounds& rule : node.rules) {
    if (rule.nothing_fits && rule.nothing_fits_by >= 0) proof.bounds.push_back(rule.nothing_fits_by);
    if (rule.nothing_fits) continue;
    for (std::size_t i = 0; i < rule.bounds.size(); ++i)
      if (few.needed[i]) add_bounds(rule.bounds[i], proof);
  }
  return proof;
}

BoxProof proof_of(const PointDesign& one, TrimmedProof few, ProvenBounds& proven) {
  BoxProof proof;
  proof.least = std::move(few.least);
  if (one.nothing_fits && one.nothing_fits_by >= 0) proof.bounds.push_back(one.nothing_fits_by);
  for (std::size_t i = 0; i < one.answers.size() && !one.nothing_fits; ++i) {
    const auto& result = one.answers[i].result;
    if (!few.needed[i]) continue;
    if (result && result->status == TaskStatus::kSolved)
      proof.mapped.push_back(
          proven.add({one.design_id, i, one.design->accelerator, one.design->factorization, result}));
    else
      add_bounds(one.bounds[i], proof);
  }
  return proof;
}

bool PointDesign::complete() const {
  return std::ranges::all_of(answers, [](const PoolAnswer& answer) { return answer.result != nullptr; });
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
