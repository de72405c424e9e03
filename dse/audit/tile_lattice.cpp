// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/tile_lattice.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "costmodel/bits.h"

namespace pliant::audit {

namespace {

std::vector<std::vector<DimSet>> order_sets(const MemoryRules& rules) {
  const DimSet may_loop = rules.may_loop;
  if (rules.orders.empty()) return {{may_loop}};
  std::vector<std::vector<DimSet>> alternatives;
  for (const AllowedOrder& pattern : rules.orders) {
    std::vector<DimSet>& sets = alternatives.emplace_back();
    if (!pattern.outside.empty()) {
      // Loops that do not move a stationary tensor are inside those that do. Of several tensors one is enough here.
      const DimSet coupled = pattern.outside.front();
      sets = {may_loop & ~coupled, may_loop & coupled};
      continue;
    }
    DimSet named = 0;
    for (const int d : pattern.sequence) named |= DimSet{1} << d;
    // One named dim after the other, the innermost first; those not named stand anywhere.
    for (auto d = pattern.sequence.rbegin(); d != pattern.sequence.rend(); ++d)
      sets.push_back(((DimSet{1} << *d) | ~named) & may_loop);
    if (sets.empty()) sets.push_back(may_loop);
  }
  return alternatives;
}

}  // namespace

TileRules::TileRules(const SpaceRules& rules, const Problem& problem) : space(rules) {
  const bool within = problem.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  for (std::size_t m = rules.memories.size(); m-- > 0;) {
    const MemoryRules& memory = rules.memories[m];
    memories.push_back(m);
    orders.push_back(order_sets(memory));
    DimSet& moves = movable.emplace_back(0);
    for (int d = 0; d < problem.dims && !within; ++d) {
      // The loop may have to pass memories without loops on its way out, and their tiles shrink with it.
      bool slides = true;
      for (std::size_t outside = 0; outside <= m; ++outside) slides &= rules.memories[outside].allows_smaller(d);
      for (int x = 0; x < problem.tensors; ++x)
        if (problem.affine_dims[x] >> d & 1U) slides &= (problem.sliding[x] >> d & 1U) != 0;
      if (slides) moves |= DimSet{1} << d;
    }
  }
}

double TileLattice::nodes(const ChoiceTransfers& transfers) {
  double nodes = 1;
  for (int d = 0; d < transfers.problem().dims; ++d)
    nodes *= static_cast<double>(divisors_of(transfers.left(d)).size());
  return nodes;
}

TileLattice::TileLattice(const TileRules& rules, const ChoiceTransfers& transfers, const Kept& kept)
    : rules_(rules), transfers_(transfers), kept_(kept) {
  const Problem& problem = transfers.problem();
  for (int d = 0; d < problem.dims; ++d) {
    const std::vector<Count>& all = divisors_.emplace_back(divisors_of(transfers.left(d)));
    stride_.push_back(nodes_);
    nodes_ *= static_cast<std::uint32_t>(all.size());
    std::vector<Count> primes;
    Steps& steps = steps_.emplace_back();
    for (const Count n : all) {
      if (n == 1 || std::ranges::any_of(primes, [&](Count prime) { return n % prime == 0; })) continue;
      primes.push_back(n);
      auto& next = steps.emplace_back(all.size(), 0U);
      for (std::size_t i = 0; i < all.size(); ++i)
        if (const auto to = std::ranges::lower_bound(all, all[i] * n); to != all.end() && *to == all[i] * n)
          next[i] = static_cast<std::uint32_t>(to - all.begin());
    }
  }
  for (; split_ < problem.dims && static_cast<double>(low_) * low_ < nodes_; ++split_)
    low_ *= static_cast<std::uint32_t>(divisors(split_).size());
  std::vector<std::vector<std::uint32_t>> place(static_cast<std::size_t>(problem.tensors));  // by dim: of windows
  for (int x = 0; x < problem.tensors; ++x) {
    std::vector<Tile>& tiles = windows_.emplace_back();
    tiles.emplace_back().fill(1);
    for (int d = 0; d < problem.dims; ++d) {
      const bool affine = (problem.affine_dims[x] >> d & 1U) != 0;
      place[static_cast<std::size_t>(x)].push_back(affine ? static_cast<std::uint32_t>(tiles.size()) : 0);
      const std::vector<Tile> shorter = tiles;
      for (std::size_t i = 1; affine && i < divisors(d).size(); ++i)
        for (Tile longer : shorter) {
          longer[static_cast<std::size_t>(d)] = divisors(d)[i];
          tiles.push_back(longer);
        }
    }
  }
  for (const int upper : {0, 1}) {
    Half& half = halves_[static_cast<std::size_t>(upper)];
    const std::uint32_t count = upper == 0 ? low_ : nodes_ / low_;
    const auto tensors = static_cast<std::size_t>(problem.tensors);
    half.index.assign(std::size_t{count} * kMaxDims, 0);
    half.repeats.assign(tensors, std::vector<double>(count, 1.0));
    half.window.assign(tensors, std::vector<std::uint32_t>(count, 0));
    for (std::uint32_t n = 0; n < count; ++n) {
      std::uint32_t rest = n;
      for (int d = upper == 0 ? 0 : split_; d < (upper == 0 ? split_ : problem.dims); ++d) {
        const std::vector<Count>& all = divisors(d);
        const std::uint32_t i = rest % static_cast<std::uint32_t>(all.size());
        rest /= static_cast<std::uint32_t>(all.size());
        half.index[std::size_t{n} * kMaxDims + static_cast<std::size_t>(d)] = i;
        for (std::size_t x = 0; x < tensors; ++x) {
          if (!problem.is_coupled(static_cast<int>(x), d))
            half.repeats[x][n] *= static_cast<double>(all.back() / all[i]);
          half.window[x][n] += place[x][static_cast<std::size_t>(d)] * i;
        }
      }
    }
  }
  state_.resize(rules_.memories.size());
  smaller_fit_.resize(rules_.memories.size(), 1);
  for (std::size_t k = rules_.memories.size(); k-- > 0;) {
    const MemoryRules& memory = rules_.space.memories[rules_.memories[k]];
    for (int d = 0; d < problem.dims; ++d)
      if (!memory.allows_smaller(d)) smaller_fit_[k] = 0;
    state_[k].assign(nodes_, 0);
    if (smaller_fit_[k] == 0) find_all(k);
  }
}

bool TileLattice::fits(std::size_t k, std::uint32_t node) const {
  const MemoryRules& memory = rules_.space.memories[rules_.memories[k]];
  if (memory.holds_everything() && !memory.has_fixed_tile) return true;
  Tile tile{};
  for (std::size_t d = 0; d < divisors_.size(); ++d) {
    const auto dim = static_cast<int>(d);
    tile[d] = divisors_[d][index(node, dim)] * transfers_.inside(memory.level, dim);
    if (!memory.has_fixed_tile) continue;
    const Count fixed = rules_.space.fixed_tile(memory, dim, rules_.space.layer.dims[d].size);
    if (fixed != 0 && tile[d] != fixed) return false;
  }
  return memory.holds(kept_[rules_.memories[k]], rules_.space.elements, tile);
}

/// Where smaller tiles always fit, those of the memory may stand between its loops, and no others.
char TileLattice::find_state(std::size_t k, std::uint32_t node) {
  const bool ends_here = (k + 1 == state_.size() || passes(k + 1, node)) && fits(k, node);
  return state_[k][node] = static_cast<char>(kKnown | (ends_here ? kEnds | kPasses : 0));
}

/// Elsewhere those inside of them may.
void TileLattice::find_all(std::size_t k) {
  std::vector<char>& state = state_[k];
  for (std::uint32_t n = 0; n < nodes_; ++n) find_state(k, n);
  for (std::size_t d = 0; d < divisors_.size(); ++d)
    for (const std::vector<std::uint32_t>& next : steps_[d])
      for (std::uint32_t n = nodes_; n-- > 0;) {
        const std::uint32_t i = index(n, static_cast<int>(d));
        if (next[i] > 0 && (state[n + (next[i] - i) * stride_[d]] & kPasses) != 0)
          state[n] = static_cast<char>(state[n] | kPasses);
      }
}

}  // namespace pliant::audit
