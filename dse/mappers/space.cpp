// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/space.h"

namespace pliant {

FlatMapping Space::flat(const Candidate& candidate) const {
  FlatMapping flat{};
  for (int l = 0; l < levels; ++l) {
    for (int d = 0; d < dims; ++d) flat.bound[l][d] = candidate.chain[d]->bound[l];
    flat.order[l] = candidate.order[l];
    flat.keeps[l] = candidate.keeps[l];
  }
  return flat;
}

Pricer::Pricer(const Space& space) : space_(space), nest_(space.problem), current_(&nest_) {}

Nest& Pricer::load(const Candidate& candidate) {
  current_ = &nest_;  // a pricer may have been moved since
  if (space_.task.factorization == Factorization::kPadding) {
    std::array<Count, kMaxDims> sizes{};
    for (int d = 0; d < space_.dims; ++d) sizes[static_cast<std::size_t>(d)] = candidate.chain[d]->size;
    std::unique_ptr<Padded>& padded = padded_[sizes];
    if (!padded) {
      Layer layer = space_.task.layer;
      for (std::size_t d = 0; d < layer.dims.size(); ++d) layer.dims[d].size = sizes[d];
      padded = std::make_unique<Padded>(layer, space_.task.accelerator, space_.problem.macs);
    }
    current_ = &padded->nest;
    useful_ = padded->useful;
  }
  current_->load(space_.flat(candidate));
  return *current_;
}

Totals Pricer::price() {
  Totals totals = current_->price();
  totals.utilization *= useful_;
  return totals;
}

bool better(double value_a, const Totals& a, double value_b, const Totals& b) {
  if (value_a != value_b) return value_a < value_b;
  if (a.energy_pj != b.energy_pj) return a.energy_pj < b.energy_pj;
  return a.cycles < b.cycles;
}

}  // namespace pliant
