// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/task/facts.h"

#include <span>

#include "core/affine.h"
#include "costmodel/bits.h"

namespace pliant::exact {

DimSet dims_of(const Problem::AffineRank& rank) {
  DimSet set = 0;
  for (int i = 0; i < rank.terms; ++i) set |= only(rank.dim[i]);
  return set;
}

double extent(const Problem& problem, const Problem::AffineRank& rank, const std::array<double, kMaxDims>& tile,
              bool distinct) {
  std::array<Stride, kMaxDims> strides;
  std::size_t n = 0;
  for (int i = 0; i < rank.terms; ++i)
    if (tile[rank.dim[i]] > 1) strides[n++] = {rank.coefficient[i], static_cast<Count>(tile[rank.dim[i]])};
  const std::span<const Stride> all(strides.data(), n);
  if (n == 0) return 1;
  if (!distinct && problem.conventions.footprint == Conventions::Footprint::kBoundingBox)
    return static_cast<double>(bounding_extent(all));
  if (n == 1) return static_cast<double>(strides[0].count);
  return static_cast<double>(distinct_values(all));
}

bool displacement_walks(const Problem& problem, const Problem::AffineRank& rank) {
  if (problem.conventions.halo != Conventions::Halo::kDisplacement &&
      problem.conventions.halo != Conventions::Halo::kTwoIterations)
    return false;
  int moving = 0;
  for (int i = 0; i < rank.terms; ++i) moving += problem.size[rank.dim[i]] > 1 ? 1 : 0;
  return moving > 1;
}

bool displacement_walks(const Problem& problem) {
  for (int x = 0; x < problem.tensors; ++x)
    for (const Problem::AffineRank& rank : problem.affine[x])
      if (displacement_walks(problem, rank)) return true;
  return false;
}

bool rounds_demands(const Problem& problem) {
  return problem.conventions.stall_rounding == Conventions::StallRounding::kDemandRatio && !problem.ports.empty();
}

bool deals_boxes(const Problem& problem) {
  return problem.conventions.footprint == Conventions::Footprint::kBoundingBox &&
         !problem.affine[problem.output].empty();
}

DimSet dims_of_windows(const Problem& problem, int tensor, const Problem::AffineRank& rank) {
  DimSet dims = rank.dims;
  for (const Problem::AffineRank& joint : problem.windows[tensor])
    if ((joint.dims & rank.dims) != 0) dims |= joint.dims;
  return dims;
}

}  // namespace pliant::exact
