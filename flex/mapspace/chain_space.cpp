// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/chain_space.h"

#include <algorithm>
#include <set>
#include <span>

#include "flex/mapspace/factors.h"

namespace pliant {

ChainSpace::ChainSpace(const SpaceRules& rules, int dim, const std::vector<int>& tracked)
    : counts_(std::size_t{1} << tracked.size(), 0),
      slots_(rules.slots[static_cast<std::size_t>(dim)].size()),
      size_(rules.layer.dims[static_cast<std::size_t>(dim)].size),
      padded_(size_) {
  const auto d = static_cast<std::size_t>(dim);
  const auto& slots = rules.slots[d];
  for (std::size_t k = rules.accelerator.levels.size(); k-- > 0;) {
    for (std::size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].level != static_cast<int>(k)) continue;
      Step step{.slot = static_cast<int>(s)};
      const auto at = std::find(tracked.begin(), tracked.end(), rules.memory_at[k]);
      if (!slots[s].spatial && at != tracked.end()) step.bit = static_cast<int>(at - tracked.begin());
      steps_.push_back(step);
    }
    if (rules.memory_at[k] < 0) continue;
    const Count fixed = rules.memories[static_cast<std::size_t>(rules.memory_at[k])].fixed[d];
    if (fixed > 0) steps_.push_back({.fixed = fixed});
  }
  if (rules.rule == Factorization::kPadding) {
    listed_.resize(counts_.size());
    list_padded(rules, dim);
  } else {
    build(rules, dim);
  }
}

// Padding ties the tile to the padded size, so its chains are listed.
void ChainSpace::list_padded(const SpaceRules& rules, int dim) {
  const auto& own = rules.slots[static_cast<std::size_t>(dim)];
  std::vector<Slot> slots;  // outermost first, as core wants them
  for (std::size_t s = own.size(); s-- > 0;) slots.push_back({own[s].spatial, own[s].limit});
  for_each_chain(size_, slots, Factorization::kPadding, [&](std::span<const Count> bounds) {
    Count padded = 1;
    for (const Count b : bounds) padded *= b;
    Count tile = 1;
    std::uint32_t pattern = 0;
    for (const Step& step : steps_) {
      if (step.slot >= 0) {
        const Count b = bounds[bounds.size() - 1 - static_cast<std::size_t>(step.slot)];
        tile *= b;
        if (step.bit >= 0 && b > 1) pattern |= std::uint32_t{1} << step.bit;
      } else if (tile != reachable_tile(step.fixed, padded, rules.rule)) {
        return true;
      }
    }
    counts_[pattern] += 1;
    listed_[pattern].insert(listed_[pattern].end(), bounds.rbegin(), bounds.rend());
    return true;
  });
}

void ChainSpace::build(const SpaceRules& rules, int dim) {
  const auto& slots = rules.slots[static_cast<std::size_t>(dim)];
  for (Step& step : steps_)
    if (step.fixed > 0) step.fixed = reachable_tile(step.fixed, size_, rules.rule);
  // 1. Tiles that the steps can form, from the innermost outwards.
  std::set<Count> reached{1, size_};
  {
    std::set<Count> before{1};
    for (const Step& step : steps_) {
      std::set<Count> after;
      for (const Count tile : before) {
        if (step.slot < 0) {
          if (tile == step.fixed) after.insert(tile);
          continue;
        }
        for (const Count b : slot_bounds(size_, tile, slots[static_cast<std::size_t>(step.slot)], rules.rule))
          after.insert(grown_tile(tile, b, size_));
      }
      reached.insert(after.begin(), after.end());
      before = std::move(after);
    }
  }
  tiles_.assign(reached.begin(), reached.end());
  const auto number = [this](Count tile) {
    return static_cast<std::uint32_t>(std::lower_bound(tiles_.begin(), tiles_.end(), tile) - tiles_.begin());
  };
  // 2. Moves of every step, and the chains by pattern: ways[tile][pattern so far].
  std::vector<std::vector<double>> ways(tiles_.size());
  ways[0].assign(counts_.size(), 0);
  ways[0][0] = 1;
  for (const Step& step : steps_) {
    auto& moves = moves_.emplace_back(tiles_.size());
    std::vector<std::vector<double>> after(tiles_.size());
    for (std::uint32_t from = 0; from < tiles_.size(); ++from) {
      if (ways[from].empty()) continue;  // not reached at this step
      if (step.slot < 0) {
        if (tiles_[from] == step.fixed) moves[from].push_back({1, from});
      } else {
        for (const Count b : slot_bounds(size_, tiles_[from], slots[static_cast<std::size_t>(step.slot)], rules.rule))
          moves[from].push_back({b, number(grown_tile(tiles_[from], b, size_))});
      }
      for (const Move& move : moves[from]) {
        if (after[move.to].empty()) after[move.to].assign(counts_.size(), 0);
        const std::uint32_t bit = step.bit >= 0 && move.bound > 1 ? std::uint32_t{1} << step.bit : 0;
        for (std::uint32_t pattern = 0; pattern < counts_.size(); ++pattern)
          if (ways[from][pattern] != 0) after[move.to][pattern | bit] += ways[from][pattern];
      }
    }
    ways = std::move(after);
  }
  if (!ways[number(size_)].empty()) counts_ = ways[number(size_)];
}

const ChainSpace::Table& ChainSpace::table(std::uint32_t pattern) {
  const auto [at, fresh] = tables_.try_emplace(pattern);
  if (!fresh) return at->second;
  Table& table = at->second;
  table.assign(steps_.size() + 1, std::vector<double>(tiles_.size(), 0));
  table.back().back() = 1;  // the whole dim
  for (std::size_t j = steps_.size(); j-- > 0;) {
    const int bit = steps_[j].bit;
    const bool loops = bit >= 0 && (pattern >> bit & 1) != 0;
    for (std::size_t from = 0; from < tiles_.size(); ++from)
      for (const Move& move : moves_[j][from])
        if (bit < 0 || loops == (move.bound > 1)) table[j][from] += table[j + 1][move.to];
  }
  return table;
}

void ChainSpace::sample(std::uint32_t pattern, std::mt19937_64& random, std::vector<Count>& bounds) {
  bounds.assign(slots_, 1);
  padded_ = size_;
  if (!listed_.empty()) {
    const auto pick = slots_ == 0 ? 0 : uniform_below(listed_[pattern].size() / slots_, random);
    padded_ = 1;
    for (std::size_t s = 0; s < slots_; ++s) {
      bounds[s] = listed_[pattern][pick * slots_ + s];
      padded_ *= bounds[s];
    }
    return;
  }
  const Table& ways = table(pattern);
  std::size_t tile = 0;
  for (std::size_t j = 0; j < steps_.size(); ++j) {
    const int bit = steps_[j].bit;
    const bool loops = bit >= 0 && (pattern >> bit & 1) != 0;
    double pick = uniform_real(random) * ways[j][tile];
    const Move* taken = nullptr;
    for (const Move& move : moves_[j][tile]) {
      if ((bit >= 0 && loops != (move.bound > 1)) || ways[j + 1][move.to] == 0) continue;
      taken = &move;
      pick -= ways[j + 1][move.to];
      if (pick < 0) break;
    }
    if (steps_[j].slot >= 0) bounds[static_cast<std::size_t>(steps_[j].slot)] = taken->bound;
    tile = taken->to;
  }
}

}  // namespace pliant
