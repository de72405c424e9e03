// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/chain_space.h"

#include <algorithm>
#include <set>
#include <span>

#include "flex/mapspace/random_draws.h"

namespace pliant {

ChainSpace::ChainSpace(const MapSpaceRules& rules, int dim)
    : slots_(rules.slots[static_cast<std::size_t>(dim)].size()),
      size_(rules.layer.dims[static_cast<std::size_t>(dim)].size) {
  const std::vector<Slot>& slots = rules.slots[static_cast<std::size_t>(dim)];
  std::size_t s = slots.size();
  for (auto k = static_cast<int>(rules.accelerator.levels.size()); k-- > 0;) {
    while (s > 0 && slots[s - 1].level == k) chain_.push_back({.slot = static_cast<int>(--s)});
    if (!rules.is_memory(k)) continue;
    const Count fixed = rules.memory(k).fixed[static_cast<std::size_t>(dim)];
    if (fixed > 0) chain_.push_back({.fixed = fixed});
  }
  if (rules.factorization == Factorization::kPadding) {
    list_padded(rules, dim);
  } else {
    find_edges(rules, dim);
    count_ways();
  }
}

// Padding ties the tile to the padded size, so its chains are listed.
void ChainSpace::list_padded(const MapSpaceRules& rules, int dim) {
  const std::vector<Slot>& slots = rules.slots[static_cast<std::size_t>(dim)];
  for_each_chain(size_, slots, Factorization::kPadding, [&](std::span<const Count> bounds) {
    Count padded = 1, tile = 1;
    for (const Count b : bounds) padded *= b;
    for (const ChainSlot& place : chain_) {
      if (place.slot >= 0) {
        tile *= bounds[static_cast<std::size_t>(place.slot)];
      } else if (tile != reachable_tile(place.fixed, padded, rules.factorization)) {
        return true;
      }
    }
    count_ += 1;
    listed_.insert(listed_.end(), bounds.begin(), bounds.end());
    return true;
  });
}

void ChainSpace::find_edges(const MapSpaceRules& rules, int dim) {
  const std::vector<Slot>& slots = rules.slots[static_cast<std::size_t>(dim)];
  for (ChainSlot& place : chain_)
    if (place.fixed > 0) place.fixed = reachable_tile(place.fixed, size_, rules.factorization);
  std::vector<std::set<Count>> reached{{1}};  // before each place
  std::set<Count> all{1, size_};
  const auto each_edge = [&](const ChainSlot& place, Count tile, const auto& visit) {
    if (place.slot < 0) {
      if (tile == place.fixed) visit(Count{1}, tile);
      return;
    }
    for (const Count b : slot_bounds(size_, tile, slots[static_cast<std::size_t>(place.slot)], rules.factorization))
      visit(b, grown_tile(tile, b, size_));
  };
  for (const ChainSlot& place : chain_) {
    std::set<Count> after;
    for (const Count tile : reached.back()) each_edge(place, tile, [&](Count, Count to) { after.insert(to); });
    all.insert(after.begin(), after.end());
    reached.push_back(std::move(after));
  }
  tiles_.assign(all.begin(), all.end());
  const auto number = [this](Count tile) {
    return static_cast<std::uint32_t>(std::lower_bound(tiles_.begin(), tiles_.end(), tile) - tiles_.begin());
  };
  for (std::size_t j = 0; j < chain_.size(); ++j) {
    auto& edges = edges_.emplace_back(tiles_.size());
    for (const Count tile : reached[j])
      each_edge(chain_[j], tile, [&](Count bound, Count to) { edges[number(tile)].push_back({bound, number(to)}); });
  }
}

void ChainSpace::count_ways() {
  ways_.assign(chain_.size() + 1, std::vector<double>(tiles_.size(), 0));
  ways_.back().back() = 1;  // the whole dim
  for (std::size_t j = chain_.size(); j-- > 0;)
    for (std::size_t from = 0; from < tiles_.size(); ++from)
      for (const Edge& edge : edges_[j][from]) ways_[j][from] += ways_[j + 1][edge.to];
  count_ = ways_.front().front();
}

void ChainSpace::sample(std::mt19937_64& random, std::vector<Count>& bounds) const {
  bounds.assign(slots_, 1);
  if (ways_.empty()) {
    const std::size_t pick = slots_ == 0 ? 0 : below(random, listed_.size() / slots_);
    std::copy_n(listed_.begin() + static_cast<std::ptrdiff_t>(pick * slots_), slots_, bounds.begin());
    return;
  }
  std::size_t tile = 0;
  for (std::size_t j = 0; j < chain_.size(); ++j) {
    double pick = unit(random) * ways_[j][tile];
    const Edge* taken = nullptr;
    for (const Edge& edge : edges_[j][tile]) {
      if (ways_[j + 1][edge.to] == 0) continue;
      taken = &edge;
      pick -= ways_[j + 1][edge.to];
      if (pick < 0) break;
    }
    if (chain_[j].slot >= 0) bounds[static_cast<std::size_t>(chain_[j].slot)] = taken->bound;
    tile = taken->to;
  }
}

}  // namespace pliant
