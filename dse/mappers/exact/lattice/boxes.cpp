// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/boxes.h"

#include <algorithm>
#include <optional>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/chain/groups.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// Values and charges of one memory that are alive at the same time, about.
constexpr double kArraysAtOnce = 12;

/// Tiles of one group that are looked at one by one.
constexpr Count kMostTilesOfAGroup = 4096;

/// A dim at one memory: units of it inside and outside.
struct UnitsBeside {
  Count inside, outside;
};

/// Steps of a dim in tiles of `time` iterations of all units inside. All tiles but the last are full and take that
/// long, and at most as many as there are units outside are worked on at a time. The last one may be alone at its time.
Count steps_of(Count size, const UnitsBeside& units, Count time) {
  const Count tile = units.inside * time, tiles = ceil_div(size, tile), times = ceil_div(tiles, units.outside);
  const bool last_alone = tiles == (times - 1) * units.outside + 1;
  return (times - 1) * time + (last_alone ? ceil_div(size - (tiles - 1) * tile, units.inside) : time);
}

/// The fewest over some tiles; beyond those that complete the dim in one round larger ones take no fewer.
Count fewest_steps(Count size, const UnitsBeside& units, Count first, Count last) {
  const Count fewest = ceil_div(size, units.inside * units.outside);
  last = std::min(last, std::max(first, fewest));
  if (last - first >= kMostTilesOfAGroup) return fewest;
  Count least = steps_of(size, units, first);
  for (Count time = first + 1; time <= last && least > fewest; ++time)
    least = std::min(least, steps_of(size, units, time));
  return static_cast<Count>(at_least<"L13.1">(static_cast<double>(least), static_cast<double>(fewest)));
}

double bytes_of(double nodes) { return kArraysAtOnce * sizeof(double) * nodes; }

}  // namespace

bool Boxes::build(double group_beyond) {
  work_.work(effort::kLattice);
  const bool may_group = group_beyond > 0 && may_group_tiles(resolved_);
  double most = group_beyond;
  while (may_group && work_.too_large(bytes_of(most))) most /= 2;
  // Single tiles are at least as many as the narrowest groups.
  GroupedAxes groups;
  if (may_group) {
    groups = build_grouped_axes(resolved_, spatial_, keeps_, most);
    work_.work(effort::kGroups);
  }
  const bool try_single = !may_group || (groups.axes && groups.ratio == 1);
  if (try_single) {
    std::optional<Axes> axes =
        build_axes(resolved_.rules, resolved_.problem, spatial_, keeps_, resolved_.axis_cache.get());
    too_large_ = !axes;
    if (axes && axes->empty()) return false;
    if (axes) axes_ = std::move(*axes);
    const double nodes = axes ? largest() : 0;
    too_large_ |= work_.too_large(bytes_of(nodes));
    finer_ = !too_large_;
    grouped_ = may_group && (too_large_ || nodes > most);
  } else {
    grouped_ = finer_ = true;
  }
  if (grouped_) {
    finer_ &= most == group_beyond;
    too_large_ = !groups.axes;
    if (too_large_ || groups.axes->empty()) return false;
    axes_ = std::move(*groups.axes);
  }
  if (too_large_) return false;
  number_nodes();
  return true;
}

double Boxes::largest() const {
  double largest = 0;
  for (int k = 0; k < memories(); ++k) {
    double nodes = 1;
    for (int d = 0; d < resolved_.problem.dims; ++d) nodes *= static_cast<double>(axis(k, d).states.size());
    largest = std::max(largest, nodes);
  }
  return largest;
}

int Boxes::node(int k, const std::array<int, kMaxDims>& at) const {
  int node = 0;
  for (int d = 0; d < resolved_.problem.dims; ++d) node += at[d] * boxes_[k].stride[d];
  return node;
}

void Boxes::unpack(int k, int node, std::array<int, kMaxDims>& at) const {
  for (int d = 0; d < resolved_.problem.dims; ++d) at[d] = node / boxes_[k].stride[d] % boxes_[k].extent[d];
}

void Boxes::number_nodes() {
  const Problem& p = resolved_.problem;
  boxes_.resize(resolved_.memories.size());
  // Long dims vary fastest: their loops are the ones that vectorise.
  fastest_first_.resize(p.dims);
  for (int d = 0; d < p.dims; ++d) fastest_first_[d] = d;
  std::stable_sort(fastest_first_.begin(), fastest_first_.end(),
                   [&](int a, int b) { return axes_[a]->back().states.size() > axes_[b]->back().states.size(); });
  for (int k = 0; k < memories(); ++k) {
    Box& box = boxes_[k];
    box.extent.resize(p.dims);
    box.stride.resize(p.dims);
    for (const int d : fastest_first_) {
      box.extent[d] = static_cast<int>(axis(k, d).states.size());
      box.stride[d] = box.size;
      box.size *= box.extent[d];
    }
  }
}

void Boxes::complete(int k) {
  Box& box = boxes_[k];
  if (!box.misfit.empty()) return;
  find_misfits(k);
  if (k + 1 < memories()) {
    // Offsets add up over the dims; one dim that leads nowhere spoils the node.
    box.outside.assign(1, 0);
    std::vector<int> next;
    for (const int d : fastest_first_) {
      const std::vector<int>& map = axis(k + 1, d).from_inside;
      next.resize(box.outside.size() * map.size());
      int* to = next.data();
      for (const int up : map) {
        const int offset = up * boxes_[k + 1].stride[d];
        for (const int base : box.outside) *to++ = (up | base) < 0 ? -1 : base + offset;
      }
      box.outside.swap(next);
    }
  }
}

void Boxes::find_misfits(int k) {
  Box& box = boxes_[k];
  const auto size = static_cast<std::size_t>(box.size);
  const MemoryRules& memory = resolved_.rules.memory(resolved_.memories[k]);
  // What ends at the outermost memory ends at the final nodes; nothing else is asked.
  if (k + 1 == memories() && memory.holds_everything()) return;
  box.misfit = Array(store_, size, 0);
  // 1. What one dim decides: fixed tiles, and that the dim is complete at the outermost memory.
  for (int d = 0; d < resolved_.problem.dims; ++d) {
    const std::vector<bool>& may_end = axis(k, d).may_end;
    if (std::find(may_end.begin(), may_end.end(), false) == may_end.end()) continue;
    std::vector<double> ends;
    for (const bool allowed : may_end) ends.push_back(allowed ? 0 : kInfinity);
    Factor factor;
    factor.stride[d] = 1;
    factor.values = ends.data();
    add_product_of(k, 1, {&factor, 1}, box.misfit);
  }
  // 2. What the kept tensors' tiles decide together.
  if (memory.holds_everything()) return;
  const TensorSet kept = keeps_[memory.level];
  if (!memory.shares && memory.burst == 1) {  // only the sum counts
    Array total(store_, size, 0);
    for (int x = 0; x < resolved_.problem.tensors; ++x)
      if (contains(kept & ~memory.resident, x))
        add_tile_words(k, x, memory.element[static_cast<std::size_t>(x)], total);
    infinite_above(box.misfit.data(), total.data(), memory.capacity, size);
    return;
  }
  std::array<Array, kMaxTensors> words;
  for (int x = 0; x < resolved_.problem.tensors; ++x) {
    if (!contains(kept, x)) continue;
    words[x] = Array(store_, size, 0);
    add_tile_words(k, x, 1, words[x]);
  }
  // The smallest tiles of groups: larger ones may meet what is asked, unless something overflows.
  const auto fits = [&](const auto& of) { return grouped_ ? !memory.overflows(kept, of) : memory.holds(kept, of); };
  for (std::size_t node = 0; node < size; ++node)
    if (!fits([&](int x) { return words[x][node]; })) box.misfit[node] = kInfinity;
}

void Boxes::add_tile_words(int k, int tensor, double scale, Array& total) const {
  const Problem& p = resolved_.problem;
  const Box& box = boxes_[k];
  std::array<std::vector<double>, kMaxDims> tiles;
  for (int d = 0; d < p.dims; ++d)
    for (const Axis::State& state : axis(k, d).states)
      tiles[d].push_back(std::min(static_cast<double>(state.tile), p.size[d]));
  std::vector<Factor> factors;
  for (int d = 0; d < p.dims; ++d) {
    if (!contains(p.simple[tensor], d)) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = tiles[d].data();
    factors.push_back(factor);
  }
  std::vector<std::vector<double>> tables;
  tables.reserve(p.affine[tensor].size());
  for (const Problem::AffineRank& rank : p.affine[tensor]) {
    Factor factor;
    int cells = 1;
    for (int i = 0; i < rank.terms; ++i) {
      factor.stride[rank.dim[i]] = cells;
      cells *= box.extent[rank.dim[i]];
    }
    std::vector<double>& table = tables.emplace_back(static_cast<std::size_t>(cells));
    std::array<double, kMaxDims> tile{};
    for (int cell = 0; cell < cells; ++cell) {
      for (int i = 0; i < rank.terms; ++i) {
        const int d = rank.dim[i];
        tile[d] = tiles[d][static_cast<std::size_t>(cell / factor.stride[d] % box.extent[d])];
      }
      table[static_cast<std::size_t>(cell)] = extent(p, rank, tile, false);
    }
    factor.values = table.data();
    factors.push_back(factor);
  }
  add_product_of(k, scale, factors, total);
}

int Boxes::initial_node() const {
  std::array<int, kMaxDims> at{};
  for (int d = 0; d < resolved_.problem.dims; ++d) at[d] = axis(0, d).start;
  return node(0, at);
}

std::vector<int> Boxes::final_nodes() const {
  // With remainders a dim may be covered by tiles of several sizes.
  std::vector<int> found{0}, next;
  const int k = memories() - 1;
  for (int d = 0; d < resolved_.problem.dims; ++d) {
    next.clear();
    for (std::size_t i = 0; i < axis(k, d).states.size(); ++i)
      if (axis(k, d).may_end[i])
        for (const int base : found) next.push_back(base + static_cast<int>(i) * boxes_[k].stride[d]);
    found.swap(next);
  }
  return found;
}

void Boxes::nodes_under(int k, int node, std::vector<int>& found) const {
  std::array<int, kMaxDims> at{};
  unpack(k, node, at);
  found.assign(1, 0);
  std::vector<int> next;
  for (int d = 0; d < resolved_.problem.dims; ++d) {
    next.clear();
    const std::vector<int>& map = axis(k, d).from_inside;
    for (std::size_t i = 0; i < map.size(); ++i) {
      if (map[i] != at[d]) continue;
      for (const int base : found) next.push_back(base + static_cast<int>(i) * boxes_[k - 1].stride[d]);
    }
    found.swap(next);
  }
}

void Boxes::bounds(int k, int from, int to, std::array<Count, kMaxDims>& bound) const {
  std::array<int, kMaxDims> a{}, b{};
  unpack(k, from, a);
  unpack(k, to, b);
  for (int d = 0; d < resolved_.problem.dims; ++d)
    bound[d] = axis(k, d).states[b[d]].tile / axis(k, d).states[a[d]].tile;
}

/// Where loops and units both leave remainders, the tile inside a fanout decides how many of its rounds are short.
void Boxes::count_steps(int k, double least) {
  const Problem& p = resolved_.problem;
  Box& box = boxes_[k];
  std::vector<Factor> factors;
  for (int d = 0; d < p.dims; ++d) {
    const int level = resolved_.memories[k];
    const UnitsBeside units{static_cast<Count>(spatial_between(spatial_, only(d), level, p.levels)),
                            static_cast<Count>(spatial_between(spatial_, only(d), -1, level))};
    if (units.inside * units.outside == 1) continue;
    const auto size = static_cast<Count>(p.size[d]);
    const double fewest = static_cast<double>(ceil_div(size, units.inside * units.outside));
    const Axis& axis = this->axis(k, d);
    std::vector<double>& slower = box.slower[d];
    for (std::size_t s = 0; s < axis.states.size(); ++s) {
      const Count first = axis.states[s].tile / units.inside;
      const Count last = axis.grouped() ? axis.largest[s] / units.inside : first;
      slower.push_back(static_cast<double>(fewest_steps(size, units, first, last)) / fewest);
    }
    if (std::ranges::all_of(slower, [](double share) { return share == 1; })) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = slower.data();
    factors.push_back(factor);
  }
  if (factors.empty()) return;
  work_.work(static_cast<std::uint64_t>(box.size));
  box.steps = Array(store_, static_cast<std::size_t>(box.size), 0);
  add_product_of(k, least, factors, box.steps);
}

double Boxes::slow_down(int k, int node, std::array<double, kMaxDims>& slower) const {
  std::array<int, kMaxDims> at{};
  unpack(k, node, at);
  double product = 1;
  for (int d = 0; d < resolved_.problem.dims; ++d) {
    const std::vector<double>& here = boxes_[k].slower[d];
    if (!here.empty()) slower[d] = std::max(slower[d], here[static_cast<std::size_t>(at[d])]);
    product *= slower[d];
  }
  return at_least<"L13.2">(product, 1);
}

bool Boxes::leave_out_from(double steps, double least) {
  const Factorization rule = resolved_.task.factorization;
  if (!may_be_imperfect(rule, true) || !may_be_imperfect(rule, false)) return false;
  bool any = false;
  for (std::size_t k = 0; k + 1 < boxes_.size(); ++k) {
    if (most_steps_ == kInfinity) count_steps(static_cast<int>(k), least);
    for (const double at_least : boxes_[k].steps) any |= at_least >= steps && at_least < most_steps_;
  }
  most_steps_ = std::min(most_steps_, steps);
  return any;
}

}  // namespace pliant::exact
