// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/sampler.h"

#include <algorithm>

#include "flex/mapspace/chain_count.h"
#include "flex/mapspace/random_draws.h"

namespace pliant {

namespace {

constexpr int kMostListed = 20'000;

/// Could this chain be legal if every other dim were of size 1?
bool possible_alone(const MapSpace& space, int dim, const Chain& chain) {
  static const Chain one = [] {
    Chain smallest;
    smallest.bound.fill(1);
    smallest.rows.fill(1);
    smallest.cols.fill(1);
    smallest.tile.fill(1);
    return smallest;
  }();
  Candidate candidate;
  candidate.chain.fill(&one);
  candidate.chain[static_cast<std::size_t>(dim)] = &chain;
  return space.fanouts_allowed(candidate, space.dims) && std::ranges::none_of(space.memories, [&](int l) {
           return space.memory_overflows(l, candidate, space.least_kept(l), space.dims);
         });
}

}  // namespace

ChainSource::ChainSource(const MapSpace& space, int dim) : space_(&space), dim_(dim) {
  auto list = std::make_shared<std::vector<Chain>>();
  if (count_chains(space.size(dim), space.slots(dim), space.rules.factorization) <= kMostListed) {
    for (const Chain& chain : space.chains(dim))
      if (possible_alone(space, dim, chain)) list->push_back(chain);
    empty_ = list->empty();
  } else {
    counted_ = std::make_shared<const ChainSpace>(space.rules, dim);
    empty_ = counted_->count() == 0;
  }
  listed_ = std::move(list);
}

const Chain* ChainSource::draw(std::mt19937_64& random) {
  if (!counted_) return &(*listed_)[below(random, listed_->size())];
  counted_->sample(random, bounds_);
  drawn_ = space_->make_chain(dim_, bounds_);
  return &drawn_;
}

Sampler::Sampler(const MapSpace& space) : space_(&space) {
  for (int d = 0; d < space.dims; ++d) {
    sources_.emplace_back(space, d);
    empty_ |= sources_.back().empty();
  }
}

bool Sampler::draw(std::mt19937_64& random) {
  const MapSpace& space = *space_;
  for (int d = 0; d < space.dims; ++d) {
    candidate_.chain[static_cast<std::size_t>(d)] = sources_[static_cast<std::size_t>(d)].draw(random);
    if (!space.fanouts_allowed(candidate_, d + 1)) return false;
  }
  for (const int l : space.memories) {
    const std::vector<TensorSet>& sets = space.keep_sets(l);
    const TensorSet keeps = sets.size() == 1 ? sets.front() : sets[below(random, sets.size())];
    candidate_.keeps[static_cast<std::size_t>(l)] = keeps;
    if (!space.memory_allowed(l, candidate_, keeps)) return false;
  }
  return std::ranges::all_of(space.memories, [&](int l) {
    return draw_order(l, space.loops_at(l, candidate_), random, candidate_.order[static_cast<std::size_t>(l)]);
  });
}

bool Sampler::draw_order(int level, DimSet loops, std::mt19937_64& random, LoopOrder& order) {
  const MapSpace& space = *space_;
  if (!space.any_order(level)) {
    const auto [at, fresh] = orders_.try_emplace({level, loops});
    if (fresh) at->second = space.orders(level, loops);
    if (at->second.empty()) return false;
    order = at->second[below(random, at->second.size())];
    return true;
  }
  std::size_t n = 0;
  for (int d = 0; d < space.dims; ++d)
    if ((loops >> d & 1U) != 0) order[n++] = static_cast<std::uint8_t>(d);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  for (int d = 0; d < space.dims; ++d)
    if ((loops >> d & 1U) == 0) order[n++] = static_cast<std::uint8_t>(d);
  return true;
}

}  // namespace pliant
