// SPDX-License-Identifier: Apache-2.0
#include "costmodel/imperfect.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "core/affine.h"

namespace pliant {

namespace {

struct Window {
  Count start = 0, length = 0;
  auto operator<=>(const Window&) const = default;
};

/// One child under the fanouts between parent and child: where it sits (offset per network) and the windows it
/// receives one after the other.
struct Child {
  std::vector<Count> offset;
  std::vector<Window> windows;
  auto operator<=>(const Child&) const = default;
};

/// All children served during one iteration of the loops outside.
using Group = std::vector<Child>;

/// What a level's loop over a dim means for the pair that is priced.
enum class Part : std::uint8_t { kOutside, kNeighbour, kSliding, kUnion };

Count distinct_sums(const std::vector<std::pair<Count, const std::vector<Window>*>>& terms) {
  // Index values are few; a bitmap over the span is the obvious way.
  Count span = 0;
  for (const auto& [coefficient, windows] : terms) {
    const Window& last = windows->back();
    span += coefficient * (last.start + last.length - 1);
  }
  std::vector<bool> values{true};
  values.resize(static_cast<std::size_t>(span) + 1);
  Count reach = 0;
  for (const auto& [coefficient, windows] : terms) {
    std::vector<bool> next(values.size());
    Count furthest = 0;
    for (const Window& window : *windows) {
      for (Count i = window.start; i < window.start + window.length; ++i) {
        for (Count v = 0; v <= reach; ++v)
          if (values[static_cast<std::size_t>(v)]) next[static_cast<std::size_t>(v + coefficient * i)] = true;
        furthest = std::max(furthest, coefficient * i);
      }
    }
    values.swap(next);
    reach += furthest;
  }
  return std::count(values.begin(), values.end(), true);
}

/// Words along one rank for one child: its first window in full, then what each next window adds.
double rank_extent(const Problem::AffineRank& rank, const std::array<const Child*, kMaxDims>& child, bool box) {
  std::vector<std::pair<Count, const std::vector<Window>*>> terms;
  std::array<Stride, kMaxDims> strides;
  int n = 0;
  bool intervals = true;
  for (int i = 0; i < rank.terms; ++i) {
    const std::vector<Window>& windows = child[rank.dim[i]]->windows;
    intervals &= windows.size() == 1;
    terms.emplace_back(rank.coefficient[i], &windows);
    strides[n++] = {rank.coefficient[i], windows.front().length};
  }
  if (intervals) {
    const std::span<const Stride> all(strides.data(), static_cast<std::size_t>(n));
    return static_cast<double>(box ? bounding_extent(all) : distinct_values(all));
  }
  if (!box) return static_cast<double>(distinct_sums(terms));
  Count rest = 1;
  for (const auto& [coefficient, windows] : terms)
    if (windows->size() == 1) rest += coefficient * (windows->front().length - 1);
  double words = 0;
  for (const auto& [coefficient, windows] : terms) {
    if (windows->size() == 1) continue;
    Count end = 0;
    for (std::size_t w = 0; w < windows->size(); ++w) {
      const Count start = coefficient * (*windows)[w].start;
      const Count stop = start + coefficient * ((*windows)[w].length - 1) + rest;
      words += static_cast<double>(stop - (w == 0 ? start : std::clamp(end, start, stop)));
      end = stop;
    }
  }
  return words;
}

}  // namespace

double ImperfectTraffic::tuples(int d, std::uint32_t levels) const {
  std::array<double, kMaxLevels + 1> full{};
  full[problem_.levels] = 1;
  for (int l = problem_.levels - 1; l >= 0; --l) full[l] = full[l + 1] * (levels >> l & 1U ? nest_.bound(l, d) : 1.0);
  double extent = problem_.size[d], total = 0;
  for (int l = 0; l < problem_.levels; ++l) {
    const double tile = nest_.tile(l + 1, d);
    const double n = std::ceil(extent / tile);
    if (levels >> l & 1U) {
      total += (n - 1) * full[l + 1];
      extent -= (n - 1) * tile;
    } else if (n > 1) {
      return total + full[l + 1];
    }
  }
  return total + 1;
}

double ImperfectTraffic::steps(int d) const {
  std::uint32_t temporal = 0;
  for (int l = 0; l < problem_.levels; ++l)
    if (problem_.is_memory[l]) temporal |= std::uint32_t{1} << l;
  return tuples(d, temporal);
}

double ImperfectTraffic::average_width(int d, int level) const {
  double width = 1;
  for (int l = 0; l < level; ++l)
    if (!problem_.is_memory[l])
      width *= std::ceil(problem_.size[d] / nest_.tile(l + 1, d)) / std::ceil(problem_.size[d] / nest_.tile(l, d));
  return width;
}

double ImperfectTraffic::distinct_output_extent(int level) const {
  double words = 1;
  for (const Problem::AffineRank& rank : problem_.affine[problem_.output]) {
    // Index values of every instance along every dim of the rank.
    std::vector<std::vector<std::vector<Window>>> shares;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      std::map<Count, std::vector<Window>> share;
      if (nest_.spatial_outside(level, d) == 1) {
        share[0].push_back({0, static_cast<Count>(problem_.size[d])});
      } else {
        for (Count index = 0; index < static_cast<Count>(problem_.size[d]); ++index) {
          Count instance = 0;
          for (int l = 0; l < level; ++l) {
            if (problem_.is_memory[l]) continue;
            const auto tile = static_cast<Count>(nest_.tile(l + 1, d)), bound = static_cast<Count>(nest_.bound(l, d));
            instance = instance * bound + index / tile % bound;
          }
          share[instance].push_back({index, 1});
        }
      }
      shares.emplace_back();
      for (auto& [instance, windows] : share) shares.back().push_back(std::move(windows));
    }
    double total = 0;
    std::vector<std::size_t> pick(shares.size(), 0);
    while (true) {
      std::vector<std::pair<Count, const std::vector<Window>*>> terms;
      std::array<Stride, kMaxDims> strides;
      bool intervals = true;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        const std::vector<Window>& windows = shares[i][pick[i]];
        intervals &= windows.size() == 1;
        terms.emplace_back(rank.coefficient[i], &windows);
        strides[i] = {rank.coefficient[i], windows.front().length};
      }
      const std::span<const Stride> all(strides.data(), shares.size());
      const bool box = problem_.conventions.footprint == Conventions::Footprint::kBoundingBox;
      total += static_cast<double>(!intervals ? distinct_sums(terms)
                                   : box      ? bounding_extent(all)
                                              : distinct_values(all));
      std::size_t i = 0;
      while (i < pick.size() && ++pick[i] == shares[i].size()) pick[i++] = 0;
      if (i == pick.size()) break;
    }
    words *= total;
  }
  return words;
}

void ImperfectTraffic::price(Traffic& pair) const {
  const Problem& p = problem_;
  const int x = pair.tensor, parent = pair.parent, child = pair.child;
  const bool to_compute = child == p.levels;
  const bool within = p.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  // 1. The loops outside the run, as a set of levels per dim.
  Nest::Kill kill;
  bool all = false, innermost = false;
  if (!to_compute) {
    kill = nest_.find_kill(x, parent, child);
  } else {
    const int inner = p.innermost_memory;
    all = p.conventions.compute_reuse == Conventions::ComputeReuse::kNone || parent == inner ||
          (nest_.active_[inner] & nest_.coupled_at_[inner][x]) != 0;
    if (!all) {
      kill = nest_.find_kill(x, parent, inner);
      kill.merged = 1;
      innermost = true;
    }
  }
  double repeats_served = 1, repeats_delivered = 1, first_parent = 1, first_child = 1;
  for (int d = 0; d < p.dims; ++d) {
    if (p.is_coupled(x, d)) continue;
    std::uint32_t temporal = 0, outside_parent = 0, outside_child = 0, unshared = 0;
    for (int l = 0; l < child; ++l) {
      const std::uint32_t bit = std::uint32_t{1} << l;
      if (!p.is_memory[l]) {
        outside_child |= bit;
        if (l < parent) outside_parent |= bit;
        if (l > parent && !(x == p.output ? p.reduction[l] : p.multicast[l])) unshared |= bit;
        continue;
      }
      bool counted = all || (kill.level >= 0 ? l < kill.level : within && l < parent);
      counted |= kill.level == l && nest_.position_[l][d] > kill.position;
      counted |= innermost && l == p.innermost_memory;
      if (counted) temporal |= bit;
    }
    repeats_served *= tuples(d, temporal | outside_parent | unshared);
    repeats_delivered *= tuples(d, temporal | outside_child);
    first_parent *= tuples(d, outside_parent | unshared);
    first_child *= tuples(d, outside_child);
  }
  double served = p.simple_words[x], delivered = served;
  if (!p.affine[x].empty()) affine(pair, kill, served, delivered);
  pair.served = served * repeats_served;
  pair.delivered = delivered * repeats_delivered;
  if (x != p.output) return;
  if (p.conventions.first_time == Conventions::FirstTime::kPerSweep) {
    pair.first_parent = served * first_parent;
    pair.first_child = delivered * first_child;
    return;
  }
  double first = p.simple_words[x];
  for (int level : {parent, child}) {
    double words = first;
    for (int d = 0; d < p.dims; ++d) {
      if (p.is_coupled(x, d)) continue;
      std::uint32_t outside = 0;
      for (int l = 0; l < level; ++l)
        if (!p.is_memory[l]) outside |= std::uint32_t{1} << l;
      words *= tuples(d, outside);
    }
    if (!p.affine[x].empty()) words *= distinct_output_extent(level);
    (level == parent ? pair.first_parent : pair.first_child) = words;
  }
  if (to_compute) pair.first_child = 0;
}

void ImperfectTraffic::affine(const Traffic& pair, const Nest::Kill& kill, double& served, double& delivered) const {
  const Problem& p = problem_;
  const int x = pair.tensor, parent = pair.parent, child = pair.child;
  const bool box = p.conventions.footprint == Conventions::Footprint::kBoundingBox;
  const bool one_loop = p.conventions.halo == Conventions::Halo::kOneLoop;
  bool shared = p.conventions.equal_windows == Conventions::EqualWindows::kShared;
  int networks = 0;
  std::array<int, kMaxLevels> network{};
  for (int l = child - 1; l > parent; --l) {
    if (p.is_memory[l]) continue;
    if (l == child - 1 || p.is_memory[l + 1]) ++networks;
    network[l] = networks - 1;
    shared &= p.multicast[l];
  }

  // 1. The kinds of groups every affine dim has, with how often each occurs.
  std::array<std::map<Group, double>, kMaxDims> groups, merged_groups;
  DimSet dims = p.affine_dims[x];
  bool any_partial = false;
  for (DimSet rest = dims; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    std::array<Part, kMaxLevels> part{};
    for (int l = 0; l < child; ++l) {
      const bool sliding = kill.dim == d && kill.merged > 1 && l <= kill.level && l >= kill.merged_to;
      if (p.is_memory[l]) {
        part[l] = sliding ? Part::kSliding : Part::kOutside;
      } else {
        const bool partial = p.partial_multicast[l] && p.gap[l] == child && l > parent;
        any_partial |= partial;
        part[l] = l < parent ? Part::kOutside : partial ? Part::kUnion : Part::kNeighbour;
      }
    }
    for (const bool united : {false, true}) {
      std::map<Count, std::map<std::vector<Count>, std::vector<Window>>> found;
      const auto tile = static_cast<Count>(nest_.tile(child, d)), size = static_cast<Count>(p.size[d]);
      // Quickflow's one loop slides over adjoining windows, those of united neighbours included.
      Count beside = 1;
      for (int l = 0; l < child && united; ++l)
        if (part[l] == Part::kUnion) beside *= static_cast<Count>(nest_.bound(l, d));
      for (Count start = 0; start < size; start += tile) {
        Count outside = 0, window = 0;
        std::vector<Count> offset(static_cast<std::size_t>(networks), 0);
        for (int l = 0; l < child; ++l) {
          const auto inner = static_cast<Count>(nest_.tile(l + 1, d)), bound = static_cast<Count>(nest_.bound(l, d));
          const Count at = start / inner % bound * inner;
          switch (part[l]) {
            case Part::kOutside: outside += at; break;
            case Part::kSliding: window += one_loop ? start / inner % bound * tile * beside : at; break;
            case Part::kNeighbour: offset[static_cast<std::size_t>(network[l])] += at; break;
            case Part::kUnion:
              if (united)
                window += at;
              else
                offset[static_cast<std::size_t>(network[l])] += at;
              break;
          }
        }
        found[outside][offset].push_back({window, std::min(tile, size - start)});
      }
      for (auto& [outside, children] : found) {
        Group group;
        for (auto& [offset, windows] : children) {
          std::sort(windows.begin(), windows.end());
          // Adjoining windows are one interval of indices.
          if (!box) {
            std::vector<Window> joined;
            for (const Window& w : windows) {
              if (!joined.empty() && joined.back().start + joined.back().length >= w.start) {
                joined.back().length = std::max(joined.back().length, w.start + w.length - joined.back().start);
              } else {
                joined.push_back(w);
              }
            }
            windows.swap(joined);
          }
          group.push_back({offset, std::move(windows)});
        }
        (united ? merged_groups : groups)[d][std::move(group)] += 1;
      }
    }
  }

  // 2. Ranks that share no dim are independent and multiply; within one, every combination of kinds.
  const auto sum = [&](const std::array<std::map<Group, double>, kMaxDims>& kinds, bool at_parent,
                       const std::vector<const Problem::AffineRank*>& ranks, DimSet together) {
    std::vector<int> order;
    for (DimSet rest = together; rest != 0; rest &= rest - 1) order.push_back(std::countr_zero(rest));
    double total = 0;
    std::array<const Group*, kMaxDims> picked{};
    std::array<const Child*, kMaxDims> child_of{};
    const auto words_of_group = [&]() {
      std::map<std::vector<Count>, double> largest;
      double words = 0;
      const auto visit = [&](auto&& self, std::size_t i) -> void {
        if (i < order.size()) {
          for (const Child& c : *picked[order[i]]) {
            child_of[order[i]] = &c;
            self(self, i + 1);
          }
          return;
        }
        double extent = 1;
        for (const Problem::AffineRank* rank : ranks) extent *= rank_extent(*rank, child_of, box);
        if (!at_parent || !shared) {
          words += extent;
          return;
        }
        std::vector<Count> key;
        for (const Problem::AffineRank* rank : ranks) {
          for (int n = 0; n < networks; ++n) {
            Count displacement = 0;
            for (int t = 0; t < rank->terms; ++t)
              displacement += rank->coefficient[t] * child_of[rank->dim[t]]->offset[static_cast<std::size_t>(n)];
            key.push_back(displacement);
          }
        }
        double& kept = largest[key];
        kept = std::max(kept, extent);
      };
      visit(visit, 0);
      for (const auto& [key, extent] : largest) words += extent;
      return words;
    };
    const auto choose = [&](auto&& self, std::size_t i, double times) -> void {
      if (i == order.size()) {
        total += times * words_of_group();
        return;
      }
      for (const auto& [group, count] : kinds[order[i]]) {
        picked[order[i]] = &group;
        self(self, i + 1, times * count);
      }
    };
    choose(choose, 0, 1);
    return total;
  };
  DimSet done = 0;
  for (const Problem::AffineRank& seed : p.affine[x]) {
    if (done >> seed.dim[0] & 1U) continue;
    DimSet together = 0;
    std::vector<const Problem::AffineRank*> ranks;
    for (int i = 0; i < seed.terms; ++i) together |= DimSet{1} << seed.dim[i];
    for (bool grown = true; grown;) {
      grown = false;
      ranks.clear();
      for (const Problem::AffineRank& rank : p.affine[x]) {
        DimSet own = 0;
        for (int i = 0; i < rank.terms; ++i) own |= DimSet{1} << rank.dim[i];
        if ((own & together) == 0) continue;
        ranks.push_back(&rank);
        grown |= (own & ~together) != 0;
        together |= own;
      }
    }
    done |= together;
    served *= sum(any_partial ? merged_groups : groups, true, ranks, together);
    delivered *= sum(groups, false, ranks, together);
  }
}

}  // namespace pliant
