// SPDX-License-Identifier: Apache-2.0
#include "costmodel/short_windows.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "core/affine.h"

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

/// Counts the words of one rank between a parent and a child: what each level's loops mean, which kinds of groups of
/// children each dim has, and what every combination of kinds asks for.
class ShortWindows {
 public:
  ShortWindows(const LoopNest& loops, const Problem::AffineRank& joint, const Transfer& transfer,
               const MovingLoop& mover, bool at_parent, std::uint32_t united)
      : loops_(loops), problem_(loops.problem()), joint_(joint), mover_(mover), child_(transfer.child) {
    const Problem& p = problem_;
    const int x = transfer.tensor;
    // Compute units take single words, which have no box.
    box_ = p.conventions.footprint == Conventions::Footprint::kBoundingBox && child_ != p.levels;
    // Quickflow lays the windows of one loop side by side, whatever lies between them; but not those of neighbours.
    beside_ = p.conventions.halo == Conventions::Halo::kOneLoop && united == 0;
    if (at_parent) divide_networks(x, transfer.parent, united);
    for (const Problem::AffineRank& rank : child_ == p.levels ? p.windows[x] : p.affine[x])
      if ((rank.dims & joint.dims) != 0) ranks_.push_back(&rank);
    for_each_bit(joint.dims, [&](int d) { dims_.push_back(d); });
    for (const int d : dims_) find_kinds(d);
  }

  double words() {
    total_ = 0;
    choose_kinds(0, 1);
    return total_;
  }

 private:
  using Member = std::array<const Child*, kMaxDims>;  ///< one child, by dim

  void divide_networks(int tensor, int parent, std::uint32_t united) {
    const bool equal_shared = problem_.conventions.equal_windows == Conventions::EqualWindows::kShared;
    int last_gap = -1;
    for (int l = parent + 1; l < child_; ++l) {
      if (problem_.is_memory[l] || !(problem_.sharing[tensor] >> l & 1U)) continue;
      if (united >> l & 1U) {
        spatial_part_[l] = Part::kWindow;
      } else if (equal_shared) {
        spatial_part_[l] = Part::kNeighbour;
        if (problem_.gap[l] != last_gap) ++networks_;
        last_gap = problem_.gap[l];
        network_[l] = networks_ - 1;
      }
    }
  }

  /// Windows of children by what is outside, by displacement, by how far the window has slid.
  using Found = std::map<Count, std::map<std::vector<Count>, std::map<Count, std::vector<Window>>>>;

  /// Where the tile that starts at an index belongs.
  void place_tile(int d, Count start, Count tile, Found& found) const {
    Count outside = 0, slid = 0, window = 0;
    std::vector<Count> offset(networks_, 0);
    for (int l = 0; l < child_; ++l) {
      const auto inner = static_cast<Count>(loops_.tile(l + 1, d)), bound = static_cast<Count>(loops_.bound(l, d));
      const Count at = start / inner % bound * inner;
      if (problem_.is_memory[l]) {
        const bool sliding = mover_.dim == d && mover_.merged > 1 && l <= mover_.level && l >= mover_.merged_to;
        if (sliding)
          slid += beside_ ? start / inner % bound * tile : at;
        else
          outside += at;
        continue;
      }
      switch (spatial_part_[l]) {
        case Part::kOutside: outside += at; break;
        case Part::kWindow: window += at; break;
        case Part::kNeighbour: offset[network_[l]] += at; break;
      }
    }
    const Count length = std::min(tile, static_cast<Count>(problem_.size[d]) - start);
    found[outside][offset][slid].push_back({slid + window, length});
  }

  /// The kinds of groups of children a dim has, with how often each occurs.
  void find_kinds(int d) {
    const auto tile = static_cast<Count>(loops_.tile(child_, d)), size = static_cast<Count>(problem_.size[d]);
    Found found;
    for (Count start = 0; start < size; start += tile) place_tile(d, start, tile, found);
    for (auto& [outside, children] : found) {
      Group group;
      for (auto& [offset, by_slide] : children) {
        Child child{offset, {}};
        for (auto& [slid, windows] : by_slide) {
          if (box_) windows = {bounding_window(windows)};
          child.windows.insert(child.windows.end(), windows.begin(), windows.end());
        }
        std::sort(child.windows.begin(), child.windows.end());
        if (!box_) join_adjoining(child.windows);
        group.push_back(std::move(child));
      }
      kinds_[d][std::move(group)] += 1;
    }
  }

  void choose_kinds(std::size_t i, double times) {
    if (i == dims_.size()) {
      total_ += times * words_of_group();
      return;
    }
    for (const auto& [group, count] : kinds_[dims_[i]]) {
      picked_[dims_[i]] = &group;
      choose_kinds(i + 1, times * count);
    }
  }

  double extent(const Member& member) const {
    double words = 1;
    for (const Problem::AffineRank* rank : ranks_) words *= rank_extent(*rank, member, box_);
    return words;
  }

  /// Children displaced alike are served as one that needs all they need.
  double words_of_group() {
    sharers_.clear();
    unshared_words_ = 0;
    Member member{};
    visit_members(0, member);
    double words = unshared_words_;
    for (const auto& [displacement, members] : sharers_) words += shared_words(members);
    return words;
  }

  void visit_members(std::size_t i, Member& member) {
    if (i < dims_.size()) {
      for (const Child& child : *picked_[dims_[i]]) {
        member[dims_[i]] = &child;
        visit_members(i + 1, member);
      }
      return;
    }
    if (networks_ == 0) {
      unshared_words_ += extent(member);
      return;
    }
    std::vector<Count> displacement(networks_, 0);
    for (std::size_t n = 0; n < networks_; ++n)
      for (int t = 0; t < joint_.terms; ++t)
        displacement[n] += joint_.coefficient[t] * member[joint_.dim[t]]->offset[n];
    std::vector<Member>& members = sharers_[displacement];
    const bool known = std::any_of(members.begin(), members.end(), [&](const Member& other) {
      return std::all_of(dims_.begin(), dims_.end(), [&](int d) { return other[d]->windows == member[d]->windows; });
    });
    if (!known) members.push_back(member);
  }

  double shared_words(const std::vector<Member>& members) const {
    if (members.size() == 1) return extent(members.front());
    if (box_) {
      double largest = 0;
      for (const Member& member : members) largest = std::max(largest, extent(member));
      return largest;
    }
    std::vector<bool> together;
    for (const Member& member : members) {
      Terms terms;
      for (int t = 0; t < joint_.terms; ++t) terms.emplace_back(joint_.coefficient[t], &member[joint_.dim[t]]->windows);
      const std::vector<bool> values = sums(terms);
      together.resize(std::max(together.size(), values.size()));
      for (std::size_t v = 0; v < values.size(); ++v)
        if (values[v]) together[v] = true;
    }
    return static_cast<double>(std::count(together.begin(), together.end(), true));
  }

  const LoopNest& loops_;
  const Problem& problem_;
  const Problem::AffineRank& joint_;
  const MovingLoop& mover_;
  const int child_;
  bool box_ = false, beside_ = false;
  std::array<Part, kMaxLevels> spatial_part_{};
  std::array<std::size_t, kMaxLevels> network_{};
  std::size_t networks_ = 0;
  std::vector<const Problem::AffineRank*> ranks_;
  std::vector<int> dims_;
  std::array<std::map<Group, double>, kMaxDims> kinds_;
  std::array<const Group*, kMaxDims> picked_{};
  std::map<std::vector<Count>, std::vector<Member>> sharers_;  ///< by displacement
  double unshared_words_ = 0, total_ = 0;
};

/// Index values along a dim of every instance of a level that has any.
std::vector<std::vector<Window>> shares_of(const LoopNest& loops, int level, int d) {
  const Problem& p = loops.problem();
  const auto size = static_cast<Count>(p.size[d]);
  if (loops.spatial_outside(level, d) == 1) return {{{0, size}}};
  std::map<Count, std::vector<Window>> share;
  for (Count index = 0; index < size; ++index) {
    Count instance = 0;
    for (int l = 0; l < level; ++l) {
      if (p.is_memory[l]) continue;
      const auto tile = static_cast<Count>(loops.tile(l + 1, d)), bound = static_cast<Count>(loops.bound(l, d));
      instance = instance * bound + index / tile % bound;
    }
    share[instance].push_back({index, 1});
  }
  std::vector<std::vector<Window>> shares;
  for (auto& [instance, windows] : share) shares.push_back(std::move(windows));
  return shares;
}

/// Distinct values of a rank for one instance, given its index values along every term.
double distinct_of_instance(const Problem::AffineRank& rank, const std::vector<const std::vector<Window>*>& windows) {
  Terms terms;
  std::array<Stride, kMaxDims> strides;
  bool intervals = true;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    intervals &= windows[i]->size() == 1;
    terms.emplace_back(rank.coefficient[i], windows[i]);
    strides[i] = {rank.coefficient[i], windows[i]->front().length};
  }
  const std::span<const Stride> all(strides.data(), windows.size());
  return static_cast<double>(intervals ? distinct_values(all) : distinct_sums(terms));
}

}  // namespace

double short_window_words(const LoopNest& loops, const Problem::AffineRank& joint, const Transfer& transfer,
                          const MovingLoop& mover, bool at_parent, std::uint32_t united) {
  return ShortWindows(loops, joint, transfer, mover, at_parent, united).words();
}

std::size_t ShortWindowMemory::Hash::operator()(const Key& key) const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::int64_t part : key) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

double ShortWindowMemory::words(const LoopNest& loops, const Problem::AffineRank& joint, const Transfer& transfer,
                                const MovingLoop& mover, bool at_parent, std::uint32_t united) {
  // All that ShortWindows reads beside the problem: the mover where it slides along one of these dims, and their loops.
  key_.assign({static_cast<std::int64_t>(joint.dims), transfer.tensor, transfer.child, at_parent ? transfer.parent : -1,
               united});
  if (mover.merged > 1 && mover.dim >= 0 && (joint.dims >> mover.dim & 1U) != 0)
    key_.insert(key_.end(), {mover.dim, mover.level, mover.merged_to});
  for_each_bit(joint.dims, [&](int d) {
    key_.push_back(-1 - d);
    for (int l = 0; l < transfer.child; ++l) key_.push_back(static_cast<std::int64_t>(loops.bound(l, d)));
    for (int l = 0; l <= transfer.child; ++l) key_.push_back(static_cast<std::int64_t>(loops.tile(l, d)));
  });
  const auto known = known_.find(key_);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMostKnown) known_.clear();
  const double words = short_window_words(loops, joint, transfer, mover, at_parent, united);
  known_.emplace(key_, words);
  return words;
}

double distinct_output_extent(const LoopNest& loops, int level) {
  const Problem& p = loops.problem();
  double words = 1;
  for (const Problem::AffineRank& rank : p.affine[p.output]) {
    std::vector<std::vector<std::vector<Window>>> shares;  // by term and instance
    for (int i = 0; i < rank.terms; ++i) shares.push_back(shares_of(loops, level, rank.dim[i]));
    double total = 0;
    std::vector<std::size_t> pick(shares.size(), 0);
    for (std::size_t i = 0; i < pick.size();) {
      std::vector<const std::vector<Window>*> windows;
      for (std::size_t t = 0; t < shares.size(); ++t) windows.push_back(&shares[t][pick[t]]);
      total += distinct_of_instance(rank, windows);
      for (i = 0; i < pick.size() && ++pick[i] == shares[i].size(); ++i) pick[i] = 0;
    }
    words *= total;
  }
  return words;
}

}  // namespace pliant
