// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/charges.h"

#include <algorithm>
#include <bit>

#include "dse/mappers/exact/kernels.h"
#include "dse/mappers/exact/windows.h"

namespace pliant::exact {

namespace {

constexpr double kNoLimit = 1e300;

std::array<double, kMaxDims> whole_sizes(const Problem& problem) {
  std::array<double, kMaxDims> sizes{};
  for (int d = 0; d < problem.dims; ++d) sizes[static_cast<std::size_t>(d)] = problem.size[d];
  return sizes;
}

}  // namespace

double Filling::between(DimSet dims, int outside, int inside) const {
  double product = 1;
  if (axes == nullptr) return product;
  for (DimSet rest = dims; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    int level = levels;
    for (std::size_t k = 0; k < memories->size(); ++k) {
      // The fanouts just inside memory k, if any of them lies in the range.
      const int memory = (*memories)[k];
      if (level - 1 > memory && level - 1 > outside && memory + 1 < inside) product *= (*(*axes)[d])[k].filled;
      level = memory;
    }
  }
  return product;
}

ChargeTables::ChargeTables(const Setting& setting, const Spatial& spatial, const Axes& axes,
                           const std::vector<Pair>& pairs, const std::vector<int>& pending, int k, int tensor,
                           int slide, const Functional& functional, double repetitions) {
  const Problem& p = setting.problem;
  const int level = setting.memories[k], x = tensor;
  dims_ = p.dims;
  uncoupled_ = ((DimSet{1} << p.dims) - 1) & ~p.coupled[x];
  affine_ = p.affine_dims[x];
  const bool imperfect = setting.task.factorization != Factorization::kPerfect;
  const Filling filling{imperfect ? &axes : nullptr, &setting.memories, p.levels};
  for (int d = 0; d < p.dims; ++d)
    for (const Axis::State& state : (*axes[d])[k].states) left_[d].push_back(static_cast<double>(state.left));
  for (const int index : pending) {
    const Pair& pair = pairs[index];
    const Weights& w = functional.weights[index];
    if (w.served == 0 && w.delivered == 0 && w.first_parent == 0 && w.first_child == 0) continue;
    const bool to_compute = pair.child == p.levels;
    if (to_compute && k == 0) {  // loops of the innermost memory count in full
      constant_ += w.served * compute_words(setting, spatial, pair);
      continue;
    }
    double served = p.simple_words[x], delivered = served;
    served *= pair.parent < level ? 1 / spatial_between(spatial, uncoupled_, pair.parent, level)
                                  : spatial_between(spatial, uncoupled_, level, pair.parent) *
                                        filling.between(uncoupled_, level, pair.parent);
    double parents = p.simple_words[x] * spatial_between(spatial, uncoupled_, -1, pair.parent);
    double children = p.simple_words[x] * spatial_between(spatial, uncoupled_, -1, pair.child);
    for (int l = pair.parent + 1; l < pair.child; ++l)
      if (!p.is_memory[l] && !(x == p.output ? p.reduction[l] : p.multicast[l])) {
        const double copies = spatial_between(spatial, uncoupled_, l - 1, l + 1);
        served *= copies * filling.between(uncoupled_, l - 1, l + 1);
        parents *= copies;
      }
    delivered *=
        spatial_between(spatial, uncoupled_, level, pair.child) * filling.between(uncoupled_, level, pair.child);
    const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep && x == p.output;
    if (to_compute) {
      for (int d = 0; d < p.dims; ++d)
        if (affine_ >> d & 1U) served *= p.size[d];
      plain_ += w.served * served * repetitions * window_sharing(setting, spatial, pair);
      continue;
    }
    Part part;
    part.served = w.served * served;
    part.delivered = w.delivered * delivered;
    if (per_sweep) {
      part.first_parent = w.first_parent * parents;
      part.first_child = w.first_child * children;
    }
    if (p.affine[x].empty()) {
      plain_ += part.served + part.delivered;
      constant_ += part.first_parent + part.first_child;
      continue;
    }
    // Affine ranks: windows of the child, per combination of tiles.
    const double inside_parent = pair.parent > level ? spatial_between(spatial, affine_, level, pair.parent) : 1;
    part.served *= inside_parent;
    if (per_sweep) part.first_parent *= inside_parent;
    const double copies = spatial_between(spatial, affine_, level, pair.child);
    part.delivered *= copies;
    part.first_child *= copies;
    for (const Problem::AffineRank& rank : p.affine[x]) {
      const bool walks = displacement_walks(p, rank);
      RankTable table;
      int size = 1;
      std::vector<int> dims;
      for (DimSet rest = dims_of(rank); rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        dims.push_back(d);
        table.stride[d] = size;
        size *= static_cast<int>((*axes[d])[k].states.size());
      }
      table.served.resize(static_cast<std::size_t>(size));
      table.delivered.resize(static_cast<std::size_t>(size));
      for (int cell = 0; cell < size; ++cell) {
        std::array<double, kMaxDims> child{};
        child.fill(1);
        for (const int d : dims) {
          const int at = cell / table.stride[d] % static_cast<int>((*axes[d])[k].states.size());
          const double inner = spatial_between(spatial, DimSet{1} << d, level, pair.child);
          child[d] = std::max(1.0, static_cast<double>((*axes[d])[k].states[at].tile) / inner);
          child[d] = std::min(child[d], p.size[d]);
        }
        // A window that slides past neighbours, or over holes, can only be bounded: by its distinct values.
        const bool slides = slide >= 0 && table.stride[slide] != 0;
        const double words = extent(p, rank, child, slides && !setting.one_loop);
        double shared_words = words;
        std::array<double, kMaxDims> below = child;
        for (const auto& network : networks_between(p, std::max(pair.parent, level), pair.child)) {
          const Sharing s = sharing(p, network, x);
          if (s.partial && network.second == pair.child - 1) {
            std::array<double, kMaxDims> united = child;
            for (const int d : dims)
              united[d] *= spatial_between(spatial, DimSet{1} << d, network.first - 1, network.second + 1);
            shared_words = extent(p, rank, united, true);
          } else if (!s.partial) {  // else the windows of this network may lie in those already counted
            shared_words *= windows(spatial, rank, network, below, s.shared);
          }
          for (const int d : dims)
            below[d] *= spatial_between(spatial, DimSet{1} << d, network.first - 1, network.second + 1);
        }
        if (slides && spatial_between(spatial, DimSet{1} << slide, std::max(pair.parent, level), pair.child) > 1) {
          // The loop is outside the units, not inside their windows: only that each word comes once is certain.
          std::array<double, kMaxDims> united = child;
          for (const int d : dims)
            united[d] *= spatial_between(spatial, DimSet{1} << d, std::max(pair.parent, level), pair.child);
          shared_words = std::min(shared_words, extent(p, rank, united, true));
        }
        if (pair.parent < level) {
          for (const auto& network : networks_between(p, pair.parent, level)) {
            const Sharing s = sharing(p, network, x);
            shared_words *= (s.partial ? 1.0 : fewest_windows(spatial, rank, network, s.shared)) /
                            spatial_between(spatial, dims_of(rank), network.first - 1, network.second + 1);
          }
        }
        // Timeloop's memory of displacements can find reuse anywhere along a rank of two moving dims: only that every
        // element comes once is certain.
        double once = kNoLimit;
        if (walks) {
          once = extent(p, rank, whole_sizes(p), true);
          for (const int d : dims) {
            const int at = cell / table.stride[d] % static_cast<int>((*axes[d])[k].states.size());
            once /= static_cast<double>((*axes[d])[k].states[at].left);
          }
        }
        const double inner = spatial_between(spatial, dims_of(rank), level, pair.child);
        // A short last window has at least its share of the words of a full one.
        double covered = 1;
        for (const int d : dims) {
          const int at = cell / table.stride[d] % static_cast<int>((*axes[d])[k].states.size());
          const Axis::State& state = (*axes[d])[k].states[static_cast<std::size_t>(at)];
          covered *= std::min(1.0, p.size[d] / (static_cast<double>(state.tile) * static_cast<double>(state.left)));
        }
        table.served[static_cast<std::size_t>(cell)] = covered * std::min(shared_words, once / inner);
        table.delivered[static_cast<std::size_t>(cell)] = covered * std::min(words, once / inner);
      }
      part.ranks.push_back(std::move(table));
    }
    parts_.push_back(std::move(part));
  }
}

double ChargeTables::combine(double uncoupled, double affine, const std::array<int, kMaxDims>& node) const {
  double total = constant_ + plain_ * uncoupled;
  for (const Part& part : parts_) {
    double served = affine, delivered = affine;
    for (const RankTable& rank : part.ranks) {
      int cell = 0;
      for (int d = 0; d < dims_; ++d) cell += node[d] * rank.stride[d];
      served *= rank.served[static_cast<std::size_t>(cell)];
      delivered *= rank.delivered[static_cast<std::size_t>(cell)];
    }
    total += uncoupled * (part.served * served + part.delivered * delivered) + part.first_parent * served +
             part.first_child * delivered;
  }
  return total;
}

double ChargeTables::at(const std::array<int, kMaxDims>& node) const {
  double uncoupled = 1, affine = 1;
  for (int d = 0; d < dims_; ++d) {
    const auto at = static_cast<std::size_t>(node[d]);
    if (uncoupled_ >> d & 1U) uncoupled *= left_[d][at];
    if (affine_ >> d & 1U) affine *= left_[d][at];
  }
  return combine(uncoupled, affine, node);
}

void ChargeTables::fill(std::span<const int> dims, std::span<const int> extent_by_dim, std::span<double> values) const {
  std::fill(values.begin(), values.end(), constant_);
  std::vector<Factor> uncoupled, affine;
  for (int d = 0; d < dims_; ++d) {
    if (left_[d].size() == 1 && left_[d][0] == 1) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = left_[d].data();
    if (uncoupled_ >> d & 1U) uncoupled.push_back(factor);
    if (affine_ >> d & 1U) affine.push_back(factor);
  }
  if (plain_ != 0) add_product(dims, extent_by_dim, plain_, uncoupled, values.data());
  for (const Part& part : parts_) {
    // Iterations left along an affine dim always come with its rank's table: fold them in.
    std::vector<std::vector<double>> tables;
    const auto add = [&](double scale, bool served, bool repeated) {
      if (scale == 0) return;
      tables.clear();
      std::vector<Factor> factors = repeated ? uncoupled : std::vector<Factor>{};
      DimSet folded = 0;
      for (const RankTable& rank : part.ranks) {
        tables.push_back(served ? rank.served : rank.delivered);
        Factor factor;
        factor.stride = rank.stride;
        for (int d = 0; d < dims_; ++d) {
          if (rank.stride[d] == 0 || folded >> d & 1U) continue;
          folded |= DimSet{1} << d;
          for (std::size_t cell = 0; cell < tables.back().size(); ++cell)
            tables.back()[cell] *= left_[d][cell / static_cast<std::size_t>(rank.stride[d]) % left_[d].size()];
        }
        factors.push_back(factor);
      }
      for (std::size_t i = 0; i < tables.size(); ++i)
        factors[factors.size() - tables.size() + i].values = tables[i].data();
      add_product(dims, extent_by_dim, scale, factors, values.data());
    };
    bool same = true;
    for (const RankTable& rank : part.ranks) same &= rank.served == rank.delivered;
    if (same) {
      add(part.served + part.delivered, true, true);
      add(part.first_parent + part.first_child, true, false);
    } else {
      add(part.served, true, true);
      add(part.delivered, false, true);
      add(part.first_parent, true, false);
      add(part.first_child, false, false);
    }
  }
}

}  // namespace pliant::exact
