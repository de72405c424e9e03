// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/footprint.h"

namespace pliant {

Footprint::Footprint(const Layer& layer, Conventions::Footprint convention)
    : distinct_(convention == Conventions::Footprint::kDistinct) {
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    Shape& shape = shapes_[x];
    DimSet seen = 0, repeated = 0;
    for (const Rank& rank : layer.tensors[x].ranks)
      for (const Term& term : rank.terms) {
        repeated |= seen & DimSet{1} << term.dim;
        seen |= DimSet{1} << term.dim;
      }
    // Distinct elements: ranks that share a dim count as one. Boxes: each rank has an extent of its own.
    const std::vector<Rank> ranks = distinct_ ? layer.independent_ranks(static_cast<int>(x)) : layer.tensors[x].ranks;
    for (const Rank& rank : ranks) {
      if (rank.terms.empty()) continue;
      const Term& first = rank.terms.front();
      const DimSet only = DimSet{1} << first.dim;
      if (rank.terms.size() == 1 && (distinct_ || (first.coefficient == 1 && (repeated & only) == 0))) {
        shape.plain |= only;
        continue;
      }
      AffineRank& affine = shape.affine.emplace_back();
      for (const Term& term : rank.terms) {
        const auto i = static_cast<std::size_t>(affine.terms++);
        affine.dim[i] = term.dim;
        affine.coefficient[i] = term.coefficient;
        shape.mixed |= DimSet{1} << term.dim;
      }
    }
  }
}

}  // namespace pliant
