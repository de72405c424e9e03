// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/space_sampler.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pliant {

namespace {

constexpr std::size_t kMaxStates = 200'000;
constexpr std::size_t kMaxTracked = 12;

/// By number of loops: the largest number of orders that any set of that many dims is allowed.
std::vector<double> most_orders(const MemoryRules& memory) {
  const int n = std::popcount(memory.may_loop);
  std::vector<double> most(static_cast<std::size_t>(n) + 1, 1);
  for (std::size_t i = 2; i < most.size(); ++i) most[i] = most[i - 1] * static_cast<double>(i);
  if (memory.orders.unrestricted() || n > 8) return most;
  std::fill(most.begin(), most.end(), 0);
  for (DimSet set = memory.may_loop;; set = (set - 1) & memory.may_loop) {
    auto& here = most[static_cast<std::size_t>(std::popcount(set))];
    here = std::max(here, static_cast<double>(memory.orders.count(set)));
    if (set == 0) break;
  }
  return most;
}

}  // namespace

SpaceSampler::SpaceSampler(std::shared_ptr<const SpaceRules> rules) : rules_(std::move(rules)) {
  // 1. Which memories to track: all whose orders depend on the number of loops, as long as the table stays small.
  std::size_t states = 1;
  for (std::size_t m = 0; m < rules_->memories.size(); ++m) {
    bound_.push_back(most_orders(rules_->memories[m]));
    auto& most = bound_.back();
    const bool varies = std::adjacent_find(most.begin(), most.end(), std::not_equal_to<>()) != most.end();
    if (varies && states <= kMaxStates / most.size() && tracked_.size() < kMaxTracked) {
      tracked_.push_back(static_cast<int>(m));
      stride_.push_back(states);
      states *= most.size();
    } else {
      std::fill(most.begin(), most.end(), *std::max_element(most.begin(), most.end()));
    }
  }
  // 2. Chains of every dim by pattern of tracked memories.
  const std::size_t dims = rules_->layer.dims.size();
  for (std::size_t d = 0; d < dims; ++d) chains_.emplace_back(*rules_, static_cast<int>(d), tracked_);
  // 3. Orders of everything, backwards over the dims; the state holds the number of loops at each tracked memory.
  to_finish_.assign(dims + 1, std::vector<double>(states, 0));
  for (std::size_t state = 0; state < states; ++state) {
    double orders = 1;
    for (std::size_t m = 0, i = 0; m < bound_.size(); ++m) {
      const bool is_tracked = i < tracked_.size() && tracked_[i] == static_cast<int>(m);
      orders *= is_tracked ? bound_[m][state / stride_[i] % bound_[m].size()] : bound_[m][0];
      i += is_tracked ? 1 : 0;
    }
    to_finish_[dims][state] = orders;
  }
  for (std::size_t d = dims; d-- > 0;) {
    const std::vector<double>& counts = chains_[d].counts();
    for (std::uint32_t pattern = 0; pattern < counts.size(); ++pattern) {
      if (counts[pattern] == 0) continue;
      std::size_t step = 0;
      for (std::size_t i = 0; i < tracked_.size(); ++i)
        if (pattern >> i & 1) step += stride_[i];
      for (std::size_t state = 0; state + step < states; ++state) {
        bool room = true;
        for (std::size_t i = 0; i < tracked_.size() && room; ++i) {
          const std::size_t most = bound_[static_cast<std::size_t>(tracked_[i])].size() - 1;
          room = (pattern >> i & 1) == 0 || state / stride_[i] % (most + 1) < most;
        }
        if (room) to_finish_[d][state] += counts[pattern] * to_finish_[d + 1][state + step];
      }
    }
  }
  outcomes_ = to_finish_[0][0];
  for (const MemoryRules& memory : rules_->memories) outcomes_ *= static_cast<double>(memory.keeps.size());
}

std::uint32_t SpaceSampler::choose_pattern(std::size_t d, std::size_t state, std::mt19937_64& random) const {
  const std::vector<double>& counts = chains_[d].counts();
  double pick = uniform_real(random) * to_finish_[d][state];
  std::uint32_t chosen = 0;
  for (std::uint32_t pattern = 0; pattern < counts.size(); ++pattern) {
    if (counts[pattern] == 0) continue;
    std::size_t step = 0;
    for (std::size_t i = 0; i < tracked_.size(); ++i)
      if (pattern >> i & 1) step += stride_[i];
    const double weight = counts[pattern] * to_finish_[d + 1][state + step];
    if (weight == 0) continue;
    chosen = pattern;
    pick -= weight;
    if (pick < 0) break;
  }
  return chosen;
}

std::optional<Mapping> SpaceSampler::try_once(std::mt19937_64& random) {
  if (outcomes_ == 0) return std::nullopt;
  const std::size_t dims = rules_->layer.dims.size();
  const std::size_t levels = rules_->accelerator.levels.size();
  Mapping mapping;
  mapping.levels.resize(levels);
  if (rules_->rule == Factorization::kPadding) mapping.padded.resize(dims);

  // 1. Factors of every dim.
  std::vector<std::vector<Count>> bounds(dims);
  std::vector<Count> sizes(dims);
  std::vector<DimSet> looping(levels, 0);
  for (std::size_t d = 0, state = 0; d < dims; ++d) {
    const std::uint32_t pattern = choose_pattern(d, state, random);
    for (std::size_t i = 0; i < tracked_.size(); ++i)
      if (pattern >> i & 1) state += stride_[i];
    chains_[d].sample(pattern, random, bounds[d]);
    sizes[d] = chains_[d].padded_size();
    if (!mapping.padded.empty()) mapping.padded[d] = sizes[d];
    for (std::size_t s = 0; s < bounds[d].size(); ++s)
      if (bounds[d][s] > 1) looping[static_cast<std::size_t>(rules_->slots[d][s].level)] |= DimSet{1} << d;
  }
  // 2. Kept tensors; then the joint limits, from the MAC outwards.
  std::vector<Count> tiles(dims, 1);
  std::vector<std::size_t> next(dims, 0);
  for (std::size_t k = levels; k-- > 0;) {
    LevelMapping& here = mapping.levels[k];
    Count rows = 1, cols = 1;
    DimSet row_dims = 0, col_dims = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      const auto& slots = rules_->slots[d];
      for (std::size_t& s = next[d]; s < slots.size() && slots[s].level == static_cast<int>(k); ++s) {
        const Count b = bounds[d][s];
        if (b == 1) continue;
        tiles[d] = grown_tile(tiles[d], b, sizes[d]);
        if (!slots[s].spatial) continue;
        here.spatial.push_back({static_cast<int>(d), b, slots[s].side});
        (slots[s].side == Side::kRows ? rows : cols) *= b;
        (slots[s].side == Side::kRows ? row_dims : col_dims) |= DimSet{1} << d;
      }
    }
    if (const int f = rules_->fanout_at[k]; f >= 0) {
      const FanoutRules& fanout = rules_->fanouts[static_cast<std::size_t>(f)];
      if (!fanout.holds(rows, cols) || !fanout.assigns(row_dims, col_dims)) return std::nullopt;
      std::stable_sort(here.spatial.begin(), here.spatial.end(), [](const SpatialLoop& a, const SpatialLoop& b) {
        return std::pair(a.dim, a.side) < std::pair(b.dim, b.side);
      });
    }
    if (const int m = rules_->memory_at[k]; m >= 0) {
      const MemoryRules& memory = rules_->memories[static_cast<std::size_t>(m)];
      here.keeps = memory.keeps[memory.keeps.size() == 1 ? 0 : uniform_below(memory.keeps.size(), random)];
      if (!rules_->fits(memory, here.keeps, tiles)) return std::nullopt;
    }
  }
  // 3. Orders. The proposal counted at least as many as there are; the surplus is refused.
  for (std::size_t m = 0; m < rules_->memories.size(); ++m) {
    const MemoryRules& memory = rules_->memories[m];
    const auto k = static_cast<std::size_t>(memory.level);
    if (!memory.orders.unrestricted() || bound_[m].front() == bound_[m].back()) {
      const double assumed = bound_[m][static_cast<std::size_t>(std::popcount(looping[k]))];
      if (uniform_real(random) * assumed >= static_cast<double>(memory.orders.count(looping[k]))) return std::nullopt;
    }
    if (looping[k] == 0) continue;
    for (const int dim : memory.orders.sample(looping[k], random)) {
      const auto d = static_cast<std::size_t>(dim);
      for (std::size_t s = 0; s < bounds[d].size(); ++s)
        if (rules_->slots[d][s].level == memory.level) mapping.levels[k].temporal.push_back({dim, bounds[d][s]});
    }
  }
  return mapping;
}

std::optional<Mapping> SpaceSampler::sample(std::mt19937_64& random, std::uint64_t tries) {
  for (std::uint64_t i = 0; i < tries; ++i)
    if (auto mapping = try_once(random)) return mapping;
  return std::nullopt;
}

}  // namespace pliant
