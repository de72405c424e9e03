// SPDX-License-Identifier: Apache-2.0
#include "costmodel/imperfect.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/affine.h"
#include "costmodel/bits.h"

namespace pliant {

namespace {

struct Window {
  Count start = 0, length = 0;
  auto operator<=>(const Window&) const = default;
};

/// One child (or several whose windows are united): where it sits, as an offset per network, and the windows it
/// receives one after the other.
struct Child {
  std::vector<Count> offset;
  std::vector<Window> windows;
  auto operator<=>(const Child&) const = default;
};

/// All children served during one iteration of the loops outside.
using Group = std::vector<Child>;

/// What a level's loop over a dim means for the side that is counted: a transfer of its own for every iteration; a
/// neighbour that shares where windows are equal; part of the window.
enum class Part : std::uint8_t { kOutside, kNeighbour, kWindow };

using Terms = std::vector<std::pair<Count, const std::vector<Window>*>>;

/// All sums of one index out of every term's windows, as a bitmap: the obvious way, index values are few.
std::vector<bool> sums(const Terms& terms) {
  Count span = 0;
  for (const auto& [coefficient, windows] : terms)
    span += coefficient * (windows->back().start + windows->back().length - 1);
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
  return values;
}

Count distinct_sums(const Terms& terms) {
  const std::vector<bool> values = sums(terms);
  return std::count(values.begin(), values.end(), true);
}

/// Words along one rank for one child: its first window in full, then what each next window adds.
double rank_extent(const Problem::AffineRank& rank, const std::array<const Child*, kMaxDims>& child, bool box) {
  Terms terms;
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

Window bounding_window(const std::vector<Window>& windows) {
  Count start = windows.front().start, end = start;
  for (const Window& w : windows) {
    start = std::min(start, w.start);
    end = std::max(end, w.start + w.length);
  }
  return {start, end - start};
}

/// Adjoining windows are one interval of indices. Sorted before and after.
void join_adjoining(std::vector<Window>& windows) {
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

}  // namespace

double ImperfectTraffic::tuples(int d, std::uint32_t levels) const {
  std::array<double, kMaxLevels + 1> full{};
  full[problem_.levels] = 1;
  for (int l = problem_.levels - 1; l >= 0; --l) full[l] = full[l + 1] * (levels >> l & 1U ? nest_.bound(l, d) : 1.0);
  double extent = problem_.size[d], total = 0;
  for (int l = 0; l < problem_.levels && extent > 1; ++l) {
    if (nest_.bound(l, d) == 1) continue;  // what is left is within the tile already
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

double ImperfectTraffic::widest(int d, int level) const { return tuples(d, problem_.fanouts & below(level)); }

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
      Terms terms;
      std::array<Stride, kMaxDims> strides;
      bool intervals = true;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        const std::vector<Window>& windows = shares[i][pick[i]];
        intervals &= windows.size() == 1;
        terms.emplace_back(rank.coefficient[i], &windows);
        strides[i] = {rank.coefficient[i], windows.front().length};
      }
      const std::span<const Stride> all(strides.data(), shares.size());
      total += static_cast<double>(intervals ? distinct_values(all) : distinct_sums(terms));
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
          (nest_.moving_[x] >> inner & 1U) != 0;
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
  if (!p.affine[x].empty()) {
    double windows = std::numeric_limits<double>::infinity();
    for_each_subset(nest_.united_fanouts(x, p.fanouts & below(child) & ~below(parent)),
                    [&](std::uint32_t united) { windows = std::min(windows, affine_served(pair, kill, united)); });
    served *= windows;
    delivered *= affine_delivered(pair, kill);
  }
  pair.served = served * repeats_served;
  pair.delivered = delivered * repeats_delivered;
  if (x != p.output) return;
  const auto first_words = [&](int level) {
    if (p.conventions.footprint == Conventions::Footprint::kBoundingBox && !p.affine[x].empty())
      return nest_.boxed_share(level);
    double words = p.simple_words[x];
    for (int d = 0; d < p.dims; ++d)
      if (!p.is_coupled(x, d)) words *= tuples(d, p.fanouts & below(level));
    return p.affine[x].empty() ? words : words * distinct_output_extent(level);
  };
  const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep;
  pair.first_parent = per_sweep ? served * first_parent : first_words(parent);
  pair.first_child = per_sweep ? delivered * first_child : to_compute ? 0 : first_words(child);
  if (p.affine[x].empty()) return;
  pair.first_parent = std::min(pair.first_parent, pair.served);
  pair.first_child = std::min(pair.first_child, pair.delivered);
}

// Ranks that share no dim are independent and multiply. Ranks without short tiles have the closed form of
// Nest::window_words.

double ImperfectTraffic::affine_served(const Traffic& pair, const Nest::Kill& kill, std::uint32_t united) const {
  const Problem& p = problem_;
  const int x = pair.tensor, parent = pair.parent, child = pair.child;
  double served = 1;
  for (const Problem::AffineRank& joint : p.windows[x]) {
    if ((joint.dims & nest_.imperfect_dims_) != 0) {
      served *= rank_words(joint, pair, kill, true, united);
      continue;
    }
    served *= nest_.distinct_windows(joint, x, p.fanouts & below(child) & ~below(parent), united);
    for (const Problem::AffineRank& rank : child == p.levels ? p.windows[x] : p.affine[x])
      if ((rank.dims & joint.dims) != 0) served *= nest_.affine_extent(rank, child, kill, united);
    for_each_bit(joint.dims, [&](int d) {
      served *=
          nest_.temporal_outside(child, d) / (kill.dim == d ? kill.merged : 1.0) * nest_.spatial_outside(parent, d);
    });
  }
  return served;
}

double ImperfectTraffic::affine_delivered(const Traffic& pair, const Nest::Kill& kill) const {
  const Problem& p = problem_;
  const int x = pair.tensor, child = pair.child;
  double delivered = 1;
  for (const Problem::AffineRank& joint : p.windows[x]) {
    if ((joint.dims & nest_.imperfect_dims_) != 0) {
      delivered *= rank_words(joint, pair, kill, false, 0);
      continue;
    }
    for (const Problem::AffineRank& rank : child == p.levels ? p.windows[x] : p.affine[x])
      if ((rank.dims & joint.dims) != 0) delivered *= nest_.affine_extent(rank, child, kill, 0);
    for_each_bit(joint.dims, [&](int d) {
      delivered *=
          nest_.temporal_outside(child, d) / (kill.dim == d ? kill.merged : 1.0) * nest_.spatial_outside(child, d);
    });
  }
  return delivered;
}

double ImperfectTraffic::rank_words(const Problem::AffineRank& joint, const Traffic& pair, const Nest::Kill& kill,
                                    bool at_parent, std::uint32_t united) const {
  const Problem& p = problem_;
  const int x = pair.tensor, parent = pair.parent, child = pair.child;
  // Compute units take single words, which have no box.
  const bool box = p.conventions.footprint == Conventions::Footprint::kBoundingBox && child != p.levels;
  // Quickflow lays the windows of one loop side by side, whatever lies between them; but not those of neighbours.
  const bool beside = p.conventions.halo == Conventions::Halo::kOneLoop && united == 0;
  const bool equal_shared = p.conventions.equal_windows == Conventions::EqualWindows::kShared;

  // 1. What every level means, and the networks between parent and child.
  std::array<Part, kMaxLevels> spatial_part{};
  std::array<std::size_t, kMaxLevels> network{};
  std::size_t networks = 0;
  int last_gap = -1;
  for (int l = parent + 1; l < child && at_parent; ++l) {
    if (p.is_memory[l] || !(p.sharing[x] >> l & 1U)) continue;
    if (united >> l & 1U) {
      spatial_part[l] = Part::kWindow;
    } else if (equal_shared) {
      spatial_part[l] = Part::kNeighbour;
      if (p.gap[l] != last_gap) ++networks;
      last_gap = p.gap[l];
      network[l] = networks - 1;
    }
  }

  // 2. The kinds of groups of children every dim has, with how often each occurs.
  std::vector<int> order;
  for (DimSet rest = joint.dims; rest != 0; rest &= rest - 1) order.push_back(std::countr_zero(rest));
  std::array<std::map<Group, double>, kMaxDims> kinds;
  for (const int d : order) {
    const auto tile = static_cast<Count>(nest_.tile(child, d)), size = static_cast<Count>(p.size[d]);
    // By what is outside, by displacement, by how far the window has slid.
    std::map<Count, std::map<std::vector<Count>, std::map<Count, std::vector<Window>>>> found;
    for (Count start = 0; start < size; start += tile) {
      Count outside = 0, slid = 0, window = 0;
      std::vector<Count> offset(networks, 0);
      for (int l = 0; l < child; ++l) {
        const auto inner = static_cast<Count>(nest_.tile(l + 1, d)), bound = static_cast<Count>(nest_.bound(l, d));
        const Count at = start / inner % bound * inner;
        if (p.is_memory[l]) {
          const bool sliding = kill.dim == d && kill.merged > 1 && l <= kill.level && l >= kill.merged_to;
          if (sliding)
            slid += beside ? start / inner % bound * tile : at;
          else
            outside += at;
          continue;
        }
        switch (spatial_part[l]) {
          case Part::kOutside: outside += at; break;
          case Part::kWindow: window += at; break;
          case Part::kNeighbour: offset[network[l]] += at; break;
        }
      }
      found[outside][offset][slid].push_back({slid + window, std::min(tile, size - start)});
    }
    for (auto& [outside, children] : found) {
      Group group;
      for (auto& [offset, by_slide] : children) {
        Child child_here{offset, {}};
        for (auto& [slid, windows] : by_slide) {
          if (box) windows = {bounding_window(windows)};
          child_here.windows.insert(child_here.windows.end(), windows.begin(), windows.end());
        }
        std::sort(child_here.windows.begin(), child_here.windows.end());
        if (!box) join_adjoining(child_here.windows);
        group.push_back(std::move(child_here));
      }
      kinds[d][std::move(group)] += 1;
    }
  }

  // 3. Every combination of kinds: children displaced alike are served as one that needs all they need.
  std::vector<const Problem::AffineRank*> ranks;
  for (const Problem::AffineRank& rank : child == p.levels ? p.windows[x] : p.affine[x])
    if ((rank.dims & joint.dims) != 0) ranks.push_back(&rank);
  std::array<const Group*, kMaxDims> picked{};
  std::array<const Child*, kMaxDims> child_of{};
  double total = 0;
  const auto extent = [&](const std::array<const Child*, kMaxDims>& member) {
    double words = 1;
    for (const Problem::AffineRank* rank : ranks) words *= rank_extent(*rank, member, box);
    return words;
  };
  const auto words_of_group = [&]() {
    std::map<std::vector<Count>, std::vector<std::array<const Child*, kMaxDims>>> sharers;
    double words = 0;
    const auto visit = [&](auto&& self, std::size_t i) -> void {
      if (i < order.size()) {
        for (const Child& c : *picked[order[i]]) {
          child_of[order[i]] = &c;
          self(self, i + 1);
        }
        return;
      }
      if (networks == 0) {
        words += extent(child_of);
        return;
      }
      std::vector<Count> displacement(networks, 0);
      for (std::size_t n = 0; n < networks; ++n)
        for (int t = 0; t < joint.terms; ++t)
          displacement[n] += joint.coefficient[t] * child_of[joint.dim[t]]->offset[n];
      auto& members = sharers[displacement];
      const bool known = std::any_of(members.begin(), members.end(), [&](const auto& member) {
        return std::all_of(order.begin(), order.end(),
                           [&](int d) { return member[d]->windows == child_of[d]->windows; });
      });
      if (!known) members.push_back(child_of);
    };
    visit(visit, 0);
    for (const auto& [displacement, members] : sharers) {
      if (members.size() == 1) {
        words += extent(members.front());
        continue;
      }
      if (box) {
        double largest = 0;
        for (const auto& member : members) largest = std::max(largest, extent(member));
        words += largest;
        continue;
      }
      std::vector<bool> together;
      for (const auto& member : members) {
        Terms terms;
        for (int t = 0; t < joint.terms; ++t) terms.emplace_back(joint.coefficient[t], &member[joint.dim[t]]->windows);
        const std::vector<bool> values = sums(terms);
        together.resize(std::max(together.size(), values.size()));
        for (std::size_t v = 0; v < values.size(); ++v)
          if (values[v]) together[v] = true;
      }
      words += static_cast<double>(std::count(together.begin(), together.end(), true));
    }
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
}

}  // namespace pliant
