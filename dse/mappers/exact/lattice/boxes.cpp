// SPDX-License-Identifier: Apache-2.0
// The nodes of each memory as a box of tile vectors: how they are numbered, which of them may be held, and which node
// of the next memory out lies above each.
#include <algorithm>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/chain/groups.h"
#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/words/kernels.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// Values and charges of one memory that are alive at the same time, about.
constexpr double kArraysAtOnce = 24;

double bytes_of(double nodes) { return kArraysAtOnce * sizeof(double) * nodes; }

}  // namespace

bool Lattice::build() {
  work(effort::kLattice);
  const bool may_group = group_beyond_ > 0 && may_group_tiles(resolved_);
  double most = group_beyond_;
  while (may_group && limits_.too_large(bytes_of(most))) most /= 2;
  // Single tiles are at least as many as the narrowest groups.
  GroupedAxes groups;
  if (may_group) {
    groups = build_grouped_axes(resolved_, spatial_, keeps_, most);
    work(effort::kGroups);
  }
  const bool try_single = !may_group || (groups.axes && groups.ratio == 1);
  if (try_single) {
    std::optional<Axes> axes = build_axes(resolved_.rules, resolved_.problem, spatial_, keeps_, resolved_.axis_cache());
    too_large_ = !axes;
    if (axes && axes->empty()) return false;
    if (axes) axes_ = std::move(*axes);
    const double nodes = axes ? largest_box() : 0;
    too_large_ |= limits_.too_large(bytes_of(nodes));
    finer_ = !too_large_;
    grouped_ = may_group && (too_large_ || nodes > most);
  } else {
    grouped_ = finer_ = true;
  }
  if (grouped_) {
    finer_ &= most == group_beyond_;
    too_large_ = !groups.axes;
    if (too_large_ || groups.axes->empty()) return false;
    axes_ = std::move(*groups.axes);
  }
  if (too_large_) return false;
  build_boxes();
  return true;
}

double Lattice::largest_box() const {
  double largest = 0;
  for (int k = 0; k < stages(); ++k) {
    double nodes = 1;
    for (int d = 0; d < resolved_.problem.dims; ++d) nodes *= static_cast<double>(axis(k, d).states.size());
    largest = std::max(largest, nodes);
  }
  return largest;
}

int Lattice::index(int k, const std::array<int, kMaxDims>& at) const {
  int node = 0;
  for (int d = 0; d < resolved_.problem.dims; ++d) node += at[d] * boxes_[k].stride[d];
  return node;
}

void Lattice::unpack(int k, int node, std::array<int, kMaxDims>& at) const {
  for (int d = 0; d < resolved_.problem.dims; ++d) at[d] = node / boxes_[k].stride[d] % boxes_[k].extent[d];
}

void Lattice::build_boxes() {
  const Problem& p = resolved_.problem;
  boxes_.resize(static_cast<std::size_t>(stages()));
  // Long dims vary fastest: their loops are the ones that vectorise.
  fastest_first_.resize(p.dims);
  for (int d = 0; d < p.dims; ++d) fastest_first_[d] = d;
  std::stable_sort(fastest_first_.begin(), fastest_first_.end(), [&](int a, int b) {
    return axis(stages() - 1, a).states.size() > axis(stages() - 1, b).states.size();
  });
  for (int k = 0; k < stages(); ++k) {
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

void Lattice::complete_box(int k) const {
  Box& box = boxes_[k];
  if (!box.misfit.empty()) return;
  build_misfits(k);
  if (k + 1 < stages()) {
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

void Lattice::build_misfits(int k) const {
  Box& box = boxes_[k];
  const auto size = static_cast<std::size_t>(box.size);
  const MemoryRules& memory = resolved_.rules.memory(resolved_.memories[k]);
  // What ends at the outermost memory ends at the final nodes; nothing else is asked.
  if (k + 1 == stages() && memory.holds_everything()) return;
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
    add_product(fastest_first_, box.extent, 1, {&factor, 1}, box.misfit.data());
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

void Lattice::add_tile_words(int k, int tensor, double scale, Array& total) const {
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
  add_product(fastest_first_, box.extent, scale, factors, total.data());
}

}  // namespace pliant::exact
