// SPDX-License-Identifier: Apache-2.0
// The inflexible design searched as the flexibility paper searched: a genetic algorithm with 10,000 samples,
// population, generations and rates as printed (its footnote 5). It proves nothing; it shows what the search
// contributes.
#include <algorithm>
#include <numeric>
#include <random>

#include "dse/studies/inflexible_cost.h"
#include "dse/studies/inflexible_design.h"

namespace pliant {
namespace {

constexpr std::size_t kPopulation = 100, kGenerations = 100, kElite = 10;
constexpr std::size_t kDesignDims = 6;

class Breeder {
 public:
  Breeder(const InflexibleNetwork& network, const InflexibleHardware& hardware, std::uint64_t seed)
      : network_(network), hardware_(hardware), random_(seed) {}

  InflexibleDesign random_design() {
    InflexibleDesign design;
    choose_pair(design);
    choose_shape(design);
    do {
      for (std::size_t d = 0; d < kDesignDims; ++d) choose_tile(design, d);
    } while (!tile_fits(design.tile, hardware_.buffer_words));
    std::iota(design.order.begin(), design.order.end(), 0);
    std::ranges::shuffle(design.order, random_);
    return priced(design);
  }

  InflexibleDesign child(const InflexibleDesign& mother, const InflexibleDesign& father) {
    InflexibleDesign design = mother;
    if (often()) design.tile = father.tile;
    if (often()) design.order = father.order;
    if (often()) design.row_dim = father.row_dim, design.col_dim = father.col_dim;
    if (often()) design.rows = father.rows, design.cols = father.cols;
    if (often()) {
      const std::array<Count, kDesignDims> kept = design.tile;
      choose_tile(design, below(kDesignDims));
      if (!tile_fits(design.tile, hardware_.buffer_words)) design.tile = kept;
    }
    if (often()) std::swap(design.order[below(kDesignDims)], design.order[below(kDesignDims)]);
    if (often()) choose_pair(design);
    if (often()) choose_shape(design);
    return priced(design);
  }

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

 private:
  bool often() { return (random_() & 1U) != 0; }  // every rate is 0.5
  void choose_tile(InflexibleDesign& design, std::size_t d) {
    design.tile[d] = network_.tiles(d)[below(network_.tiles(d).size())];
  }
  void choose_pair(InflexibleDesign& design) {
    design.row_dim = below(kDesignDims);
    design.col_dim = (design.row_dim + 1 + below(kDesignDims - 1)) % kDesignDims;
  }
  void choose_shape(InflexibleDesign& design) {
    design.rows = static_cast<Count>(1 + below(static_cast<std::size_t>(hardware_.units)));
    design.cols = hardware_.units / design.rows;
  }
  InflexibleDesign priced(InflexibleDesign design) {
    design.cycles = network_.cycles(design, hardware_);
    return design;
  }

  const InflexibleNetwork& network_;
  const InflexibleHardware& hardware_;
  std::mt19937_64 random_;
};

}  // namespace

InflexibleDesign InflexibleNetwork::genetic(const InflexibleHardware& hardware, std::uint64_t seed) const {
  Breeder breeder(*this, hardware, seed);
  std::vector<InflexibleDesign> population;
  for (std::size_t i = 0; i < kPopulation; ++i) population.push_back(breeder.random_design());
  std::ranges::stable_sort(population, {}, &InflexibleDesign::cycles);
  for (std::size_t generation = 1; generation < kGenerations; ++generation) {
    std::vector<InflexibleDesign> next(population.begin(), population.begin() + kElite);
    while (next.size() < kElite + kPopulation)  // parents from the better half
      next.push_back(
          breeder.child(population[breeder.below(kPopulation / 2)], population[breeder.below(kPopulation / 2)]));
    std::ranges::stable_sort(next, {}, &InflexibleDesign::cycles);
    next.resize(kPopulation);
    population = std::move(next);
  }
  return population.front();
}

}  // namespace pliant
