// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/best_of_searches.h"

namespace pliant {

void BestOfSearches::add(const Rows& layers, const Rows::Where& wanted) {
  const std::vector<std::size_t> rows = layers.where(wanted);
  if (!best_.empty() && best_.size() != rows.size()) throw StudyError("searches of different layers");
  best_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto of = [&](const char* column) { return layers.number(rows[i], column); };
    const double edp = of("edp_pj_cycles"), count = of("count");
    if (edp < best_[i].edp) best_[i] = {edp, of("energy_pj") * count, of("runtime_cycles") * count};
  }
}

double BestOfSearches::network_edp() const {
  double energy = 0, cycles = 0;
  for (const LayerCost& one : best_) {
    energy += one.energy;
    cycles += one.cycles;
  }
  return energy * cycles;
}

std::size_t BestOfSearches::layers_worse_than(const BestOfSearches& other) const {
  std::size_t worse = 0;
  for (std::size_t i = 0; i < best_.size(); ++i) worse += best_[i].edp > other.best_[i].edp ? 1 : 0;
  return worse;
}

}  // namespace pliant
