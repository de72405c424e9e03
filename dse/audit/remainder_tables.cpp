// SPDX-License-Identifier: Apache-2.0
// Tiles of one dim, and words along one index, where factors leave remainders: shared by all choices of a task.
#include <algorithm>
#include <span>

#include "core/arithmetic.h"
#include "dse/audit/index_values.h"
#include "dse/audit/remainder_tiles.h"

namespace pliant::audit {

namespace {

constexpr Count kMostTilesOfADim = 100'000;  // of one dim
constexpr double kMostTuples = 100'000.0;    // of tiles that are looked at for the words of one rank

void sort_once(std::vector<Count>& tiles) {
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
}

/// Where one loop leads from a tile: to a divisor of what is left, or to any number where loops in time round.
template <typename Visit>
void for_each_loop(Count size, Count tile, bool loops_divide, const Visit& visit) {
  const Count left = ceil_div(size, tile);
  if (loops_divide) {
    for (const Count bound : divisors_of(left))
      if (bound > 1) visit(tile * bound);
  } else {
    for (Count bound = 2; bound <= left; ++bound) visit(tile * bound);
  }
}

/// A fanout has at most two loops over a dim, one over its rows and one over its columns, neither of which runs over
/// more than is left for it.
bool may_spread(const SpaceRules& rules, int level, int dim, Count left, Count factor) {
  if (factor == 1 || factor > 2 * left - 1) return factor == 1;
  const FanoutRules& fanout = *std::ranges::find(rules.fanouts, level, &FanoutRules::level);
  for (const Count rows : divisors_of(factor)) {
    const Count cols = factor / rows;
    if (!fanout.holds(rows, cols)) continue;
    if ((rows > 1 && !fanout.may_run(dim, Side::kRows)) || (cols > 1 && !fanout.may_run(dim, Side::kCols))) continue;
    if ((rows <= left && cols <= ceil_div(left, rows)) || (cols <= left && rows <= ceil_div(left, cols))) return true;
  }
  return false;
}

}  // namespace

/// What a dim can be after some loops, from the inside out: at most one loop at a memory. Rules about what fits where
/// are left out, which allows more.
std::shared_ptr<const RemainderAxis> RemainderTables::axis(const TileRules& rules, const ChoiceTransfers& transfers,
                                                           int dim, bool loops_divide, double alike) {
  const Problem& p = transfers.problem();
  std::vector<Count> key{dim, static_cast<Count>(alike * 1024)};
  for (int l = 0; l < p.levels; ++l) key.push_back(transfers.factor(l, dim));
  {
    const std::scoped_lock lock(mutex_);
    const auto known = axes_.find(key);
    if (known != axes_.end()) return known->second;
  }
  const auto size = static_cast<Count>(p.size[dim]);
  auto axis = std::make_shared<RemainderAxis>();
  std::vector<Count> tiles{1};
  int level = p.levels;
  bool too_many = size > kMostTilesOfADim;
  // Fanouts up to the next memory, and where they lead from a tile; 0: nowhere.
  const auto spread = [&](Count tile, int outside) {
    for (int l = level - 1; l > outside && tile > 0; --l) {
      const Count factor = p.is_memory[l] ? 1 : transfers.factor(l, dim);
      tile = may_spread(rules.space, l, dim, ceil_div(size, tile), factor) ? tile * factor : 0;
    }
    return tile;
  };
  const auto place = [](const std::vector<RemainderAxis::Group>& groups, Count tile) {
    const auto after = std::ranges::upper_bound(groups, tile, {}, &RemainderAxis::Group::least);
    return static_cast<std::uint32_t>(after - groups.begin()) - 1;
  };
  const auto note = [](std::vector<std::uint32_t>& to, std::uint32_t group) {
    if (std::ranges::find(to, group) == to.end()) to.push_back(group);
  };
  for (std::size_t k = 0; k <= rules.memories.size() && !too_many; ++k) {
    const bool last = k == rules.memories.size();
    const int outside = last ? -1 : rules.space.memories[rules.memories[k]].level;
    std::vector<Count> before;
    for (const Count tile : tiles)
      if (const Count then = spread(tile, outside); then > 0 && (!last || then >= size)) before.push_back(then);
    sort_once(before);
    std::vector<Count> all = before;
    const bool may_loop = !last && (rules.space.memories[rules.memories[k]].may_loop >> dim & 1U) != 0;
    if (may_loop)
      for (const Count tile : before) for_each_loop(size, tile, loops_divide, [&](Count to) { all.push_back(to); });
    sort_once(all);
    too_many = static_cast<Count>(all.size()) > kMostTilesOfADim;
    RemainderAxis::Stage stage;
    for (const Count tile : all) {
      const bool apart = stage.groups.empty() || (tile >= size) != (stage.groups.back().least() >= size) ||
                         static_cast<double>(tile) >= alike * static_cast<double>(stage.groups.back().least());
      if (apart) stage.groups.emplace_back();
      stage.groups.back().tiles.push_back(tile);
    }
    stage.loops.resize(stage.groups.size());
    if (may_loop)
      for (const Count tile : before) {
        auto& to = stage.loops[place(stage.groups, tile)];
        for_each_loop(size, tile, loops_divide, [&](Count larger) {
          const std::uint32_t group = place(stage.groups, larger);
          if (to.empty() || to.back() != group) to.push_back(group);
        });
      }
    for (auto& to : stage.loops) {
      std::ranges::sort(to);
      to.erase(std::unique(to.begin(), to.end()), to.end());
    }
    // Where tiles of the stage before are now.
    if (k > 0) {
      RemainderAxis::Stage& inside = axis->stages.back();
      inside.onward.resize(inside.groups.size());
      for (std::size_t g = 0; g < inside.groups.size(); ++g)
        for (const Count tile : inside.groups[g].tiles)
          if (const Count then = spread(tile, outside); then > 0 && (!last || then >= size))
            note(inside.onward[g], place(stage.groups, then));
    }
    axis->stages.push_back(std::move(stage));
    tiles = std::move(all);
    level = outside;
  }
  if (too_many) axis = nullptr;
  const std::scoped_lock lock(mutex_);
  return axes_.try_emplace(std::move(key), std::move(axis)).first->second;
}

namespace {

/// Words along a rank whose dims are cut into such blocks. A block of some iterations of every dim brings each value
/// that they make together. Where the iterations of blocks lie next to each other these are counted; anywhere else sums
/// of n and m different numbers take n + m - 1 different values at least, and no fewer blocks cover the dims.
double words_of_blocks(const Problem& problem, const Problem::AffineRank& rank, std::span<const Count> blocks,
                       bool together) {
  const auto terms = static_cast<std::size_t>(rank.terms);
  std::array<Count, kMaxDims> number{};
  std::array<IndexTerm, kMaxDims> values{};
  for (std::size_t i = 0; i < terms; ++i) {
    const auto size = static_cast<Count>(problem.size[rank.dim[i]]);
    number[i] = ceil_div(size, std::min(size, blocks[i]));
    values[i] = {rank.coefficient[i], size};
  }
  if (!together) {
    double all = 1, words = 0;
    for (std::size_t i = 0; i < terms; ++i) all *= static_cast<double>(number[i]);
    for (std::size_t i = 0; i < terms; ++i)
      words += all / static_cast<double>(number[i]) * static_cast<double>(values[i].count);
    words -= static_cast<double>(terms - 1) * all;
    return std::max(words, static_cast<double>(fewest_values(std::span<const IndexTerm>(values.data(), terms))));
  }
  double words = 0;
  const auto add = [&](auto&& self, std::size_t i, double times) -> void {
    if (i == terms) {
      words += times * static_cast<double>(fewest_values(std::span<const IndexTerm>(values.data(), terms)));
      return;
    }
    const auto size = static_cast<Count>(problem.size[rank.dim[i]]);
    const Count block = std::min(size, blocks[i]);
    if (number[i] > 1) {
      values[i].count = block;
      self(self, i + 1, times * static_cast<double>(number[i] - 1));
    }
    values[i].count = size - (number[i] - 1) * block;  // the last one
    self(self, i + 1, times);
  };
  add(add, 0, 1);
  return words;
}

}  // namespace

std::shared_ptr<const std::vector<double>> RemainderTables::words(const Problem& problem,
                                                                  const Problem::AffineRank& rank, const Axes& axes,
                                                                  std::size_t stage, const BlockOfTerm& blocks) {
  const auto terms = static_cast<std::size_t>(rank.terms);
  std::vector<std::int64_t> key;
  double tuples = 1;
  std::size_t count = 1;
  bool together = true;
  std::array<const std::vector<RemainderAxis::Group>*, kMaxDims> groups{};
  for (std::size_t i = 0; i < terms; ++i) {
    groups[i] = &axes[rank.dim[i]]->stages[stage].groups;
    std::size_t tiles = 0;
    for (const RemainderAxis::Group& group : *groups[i]) tiles += group.tiles.size();
    tuples *= static_cast<double>(tiles);
    count *= groups[i]->size();
    together &= blocks[i].together;
    key.insert(key.end(), {rank.dim[i], rank.coefficient[i], reinterpret_cast<std::intptr_t>(groups[i]),
                           blocks[i].inside, blocks[i].shared, blocks[i].together ? 1 : 0});
  }
  {
    const std::scoped_lock lock(mutex_);
    const auto known = words_.find(key);
    if (known != words_.end()) return known->second;
  }
  auto made = std::make_shared<std::vector<double>>();
  made->reserve(count);
  const bool each = together && tuples <= kMostTuples;
  std::array<std::size_t, kMaxDims> at{};
  std::array<Count, kMaxDims> block{};
  for (std::size_t n = 0; n < count; ++n) {
    double least = kInfinity;  // over the tiles of each group
    const auto choose = [&](auto&& self, std::size_t i) -> void {
      if (i == terms) {
        least = std::min(least, words_of_blocks(problem, rank, std::span(block).first(terms), each));
        return;
      }
      const RemainderAxis::Group& group = (*groups[i])[at[i]];
      if (!each) {  // larger blocks, fewer words
        block[i] = ceil_div(group.most(), blocks[i].inside) * blocks[i].shared;
        self(self, i + 1);
        return;
      }
      for (const Count tile : group.tiles) {
        block[i] = tile / blocks[i].inside * blocks[i].shared;
        self(self, i + 1);
      }
    };
    choose(choose, 0);
    made->push_back(least);
    for (std::size_t i = 0; i < terms; ++i) {
      if (++at[i] < groups[i]->size()) break;
      at[i] = 0;
    }
  }
  const std::scoped_lock lock(mutex_);
  return words_.try_emplace(std::move(key), std::move(made)).first->second;
}

}  // namespace pliant::audit
