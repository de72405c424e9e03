// SPDX-License-Identifier: Apache-2.0
// The nodes of each memory as a box of tile vectors: how they are numbered, which of them may be held, and which node
// of the next memory out lies above each.
#include <algorithm>

#include "core/arithmetic.h"
#include "dse/mappers/exact/lattice/kernels.h"
#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/lattice/windows.h"

namespace pliant::exact {

namespace {}  // namespace

int Lattice::index(int k, const std::array<int, kMaxDims>& at) const {
  int node = 0;
  for (int d = 0; d < setting_.problem.dims; ++d) node += at[d] * boxes_[k].stride[d];
  return node;
}

void Lattice::unpack(int k, int node, std::array<int, kMaxDims>& at) const {
  for (int d = 0; d < setting_.problem.dims; ++d) at[d] = node / boxes_[k].stride[d] % boxes_[k].extent[d];
}

void Lattice::build_boxes() {
  const Problem& p = setting_.problem;
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
      next.clear();
      next.reserve(box.outside.size() * static_cast<std::size_t>(box.extent[d]));
      for (const int up : axis(k + 1, d).from_inside)
        for (const int base : box.outside)
          next.push_back(up < 0 || base < 0 ? -1 : base + up * boxes_[k + 1].stride[d]);
      box.outside.swap(next);
    }
  }
}

void Lattice::build_misfits(int k) const {
  // Which nodes may be held: capacity, hard partitions, fixed tiles.
  const Problem& p = setting_.problem;
  Box& box = boxes_[k];
  const int level = setting_.memories[k];
  const auto size = static_cast<std::size_t>(box.size);
  box.misfit = Array(store_, size, 0);
  std::array<std::vector<double>, kMaxDims> tiles, ends;
  for (int d = 0; d < p.dims; ++d) {
    bool all = true;
    for (std::size_t i = 0; i < axis(k, d).states.size(); ++i) {
      tiles[d].push_back(std::min(static_cast<double>(axis(k, d).states[i].tile), p.size[d]));
      ends[d].push_back(axis(k, d).may_end[i] ? 0 : kInfinity);
      all &= axis(k, d).may_end[i];
    }
    if (all) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = ends[d].data();
    add_product(fastest_first_, box.extent, 1, {&factor, 1}, box.misfit.data());
  }
  if (p.capacity[level] == kInfinity) return;
  const TileRule& rule = setting_.task.flexibility.levels[level].tile;
  Array total(store_, size, 0), part(store_, size);
  for (int role = 0; role < kRoles; ++role) {
    double share = kInfinity, shares = 0;
    if (rule.partition) {
      for (const double s : *rule.partition) shares += s;
      share = (*rule.partition)[role] / shares * p.capacity[level] * (1 + 1e-12);
    }
    std::fill(part.begin(), part.end(), 0.0);
    bool any = false;
    for (int x = 0; x < p.tensors; ++x) {
      if (!(keeps_[level] >> x & 1U) || static_cast<int>(p.layer.tensors[x].role) != role) continue;
      any = true;
      std::vector<Factor> factors;
      std::vector<std::vector<double>> tables;
      for (int d = 0; d < p.dims; ++d) {
        if (!(p.simple[x] >> d & 1U)) continue;
        Factor factor;
        factor.stride[d] = 1;
        factor.values = tiles[d].data();
        factors.push_back(factor);
      }
      for (const Problem::AffineRank& rank : p.affine[x]) {
        Factor factor;
        int cells = 1;
        for (int i = 0; i < rank.terms; ++i) {
          factor.stride[rank.dim[i]] = cells;
          cells *= box.extent[rank.dim[i]];
        }
        std::vector<double> table(static_cast<std::size_t>(cells));
        std::array<double, kMaxDims> tile{};
        for (int cell = 0; cell < cells; ++cell) {
          for (int i = 0; i < rank.terms; ++i) {
            const int d = rank.dim[i];
            tile[d] = tiles[d][static_cast<std::size_t>(cell / factor.stride[d] % box.extent[d])];
          }
          table[static_cast<std::size_t>(cell)] = extent(p, rank, tile, false);
        }
        tables.push_back(std::move(table));
        factors.push_back(factor);
      }
      for (std::size_t i = 0; i < tables.size(); ++i)
        factors[factors.size() - tables.size() + i].values = tables[i].data();
      add_product(fastest_first_, box.extent, 1, factors, part.data());
    }
    if (!any) continue;
    for (std::size_t i = 0; i < size; ++i) {
      total[i] += part[i];
      if (part[i] > share) box.misfit[i] = kInfinity;
    }
  }
  for (std::size_t i = 0; i < size; ++i)
    if (total[i] > p.capacity[level]) box.misfit[i] = kInfinity;
}

}  // namespace pliant::exact
