// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/random/sampler.h"

#include <algorithm>
#include <utility>

namespace pliant {

namespace {

constexpr int kMostListed = 20'000;

/// Could this chain be legal if every other dim were of size 1?
bool possible_alone(const Space& space, int dim, const Chain& chain) {
  static const Chain one = [] {
    Chain unit;
    unit.bound.fill(1);
    unit.rows.fill(1);
    unit.cols.fill(1);
    unit.tile.fill(1);
    return unit;
  }();
  Candidate candidate;
  candidate.chain.fill(&one);
  candidate.chain[static_cast<std::size_t>(dim)] = &chain;
  if (!space.fanouts_allowed(candidate, space.dims)) return false;
  return std::all_of(space.memories.begin(), space.memories.end(), [&](int l) {
    return std::any_of(space.keep_sets[l].begin(), space.keep_sets[l].end(),
                       [&](TensorSet keeps) { return space.memory_allowed(l, candidate, keeps, space.dims); });
  });
}

}  // namespace

ChainSource::ChainSource(const Space& space, const SpaceRules& rules, int dim) : space_(&space), dim_(dim) {
  const Task& task = space.task;
  const Count size = task.layer.dims[static_cast<std::size_t>(dim)].size;
  auto list = std::make_shared<std::vector<Chain>>();
  if (count_chains(size, space.slots[dim].slots, task.factorization) <= kMostListed) {
    for (const Chain& chain : space.chains(dim))
      if (possible_alone(space, dim, chain)) list->push_back(chain);
    empty_ = list->empty();
  } else {
    counted_.emplace(rules, dim, std::vector<int>{});
    empty_ = counted_->counts().front() == 0;
  }
  listed_ = std::move(list);
}

const Chain* ChainSource::draw(std::mt19937_64& random) {
  if (!counted_) return &(*listed_)[below(random, listed_->size())];
  counted_->sample(0, random, bounds_);
  std::reverse(bounds_.begin(), bounds_.end());  // theirs are innermost first
  drawn_ = space_->make_chain(dim_, bounds_);
  return &drawn_;
}

Sampler::Sampler(const Space& space) : space_(&space) {
  const Task& task = space.task;
  const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  for (int d = 0; d < space.dims; ++d) {
    sources_.emplace_back(space, rules, d);
    empty_ |= sources_.back().empty();
  }
}

bool Sampler::draw(std::mt19937_64& random) {
  const Space& space = *space_;
  for (int d = 0; d < space.dims; ++d) {
    candidate_.chain[static_cast<std::size_t>(d)] = sources_[static_cast<std::size_t>(d)].draw(random);
    if (!space.fanouts_allowed(candidate_, d + 1)) return false;
  }
  for (const int l : space.memories) {
    const std::vector<TensorSet>& sets = space.keep_sets[l];
    candidate_.keeps[l] = sets.size() == 1 ? sets.front() : sets[below(random, sets.size())];
    if (!space.memory_allowed(l, candidate_, candidate_.keeps[l], space.dims)) return false;
  }
  return std::all_of(space.memories.begin(), space.memories.end(),
                     [&](int l) { return draw_order(l, space.loops_at(l, candidate_), random, candidate_.order[l]); });
}

bool Sampler::draw_order(int level, DimSet loops, std::mt19937_64& random, std::array<std::uint8_t, kMaxDims>& order) {
  const Space& space = *space_;
  if (!space.any_order(level)) {
    const auto [at, fresh] = orders_.try_emplace({level, loops});
    if (fresh) at->second = space.orders(level, loops);
    if (at->second.empty()) return false;
    order = at->second[below(random, at->second.size())];
    return true;
  }
  int n = 0;
  for (int d = 0; d < space.dims; ++d)
    if (loops >> d & 1U) order[n++] = static_cast<std::uint8_t>(d);
  for (int i = n; i > 1; --i) std::swap(order[i - 1], order[below(random, static_cast<std::size_t>(i))]);
  for (int d = 0; d < space.dims; ++d)
    if ((loops >> d & 1U) == 0) order[n++] = static_cast<std::uint8_t>(d);
  return true;
}

std::mt19937_64 random_stream(std::uint64_t seed, std::uint64_t stream) {
  const auto mix = [](std::uint64_t x) {  // splitmix64: nearby seeds give unrelated streams
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  };
  return std::mt19937_64(mix(mix(seed) + stream));
}

}  // namespace pliant
