// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/charges.h"

#include <algorithm>
#include <bit>

#include "core/affine.h"
#include "dse/mappers/exact/lattice/iterations.h"
#include "dse/mappers/exact/lattice/windows.h"

namespace pliant::exact {

namespace {

constexpr double kNoLimit = 1e300;

std::array<double, kMaxDims> whole_sizes(const Problem& problem) {
  std::array<double, kMaxDims> sizes{};
  for (int d = 0; d < problem.dims; ++d) sizes[static_cast<std::size_t>(d)] = problem.size[d];
  return sizes;
}

/// A loop outside units that split its dim moves their windows further than to the next one. Where what is added to the
/// dim's term is an interval of values, windows further apart have no fewer values together; where it has holes (a
/// dilation, a stride) they may fall into each other's.
bool slides_over_holes(const Spatial& spatial, const Problem::AffineRank& rank, int slide, int level, int child_level,
                       std::array<double, kMaxDims> tile) {
  if (spatial_between(spatial, DimSet{1} << slide, level, child_level) == 1) return false;
  const auto has_holes = [&] {
    std::array<Stride, kMaxDims> strides;
    std::size_t n = 0;
    for (int i = 0; i < rank.terms; ++i)
      if (rank.dim[i] != slide && tile[rank.dim[i]] > 1)
        strides[n++] = {rank.coefficient[i], static_cast<Count>(tile[rank.dim[i]])};
    const std::span<const Stride> others(strides.data(), n);
    return n > 0 && distinct_values(others) < bounding_extent(others);
  };
  if (has_holes()) return true;
  for (int i = 0; i < rank.terms; ++i)
    tile[rank.dim[i]] *= spatial_between(spatial, DimSet{1} << rank.dim[i], level, child_level);
  return has_holes();
}

/// Under bounding boxes ranks that share a dim have extents of their own, but their neighbours are the same.
struct RanksTogether {
  DimSet dims = 0;    // of all of them
  int ranks = 0;      // how many
  bool first = true;  // is the rank asked about the first of them? It counts the neighbours for all.
};
RanksTogether ranks_together(const Problem& problem, int tensor, const Problem::AffineRank& rank) {
  RanksTogether found{rank.dims};
  for (const Problem::AffineRank& joint : problem.windows[tensor])
    if ((joint.dims & rank.dims) != 0) found.dims |= joint.dims;
  for (const Problem::AffineRank& other : problem.affine[tensor])
    if ((other.dims & found.dims) != 0 && found.ranks++ == 0) found.first = &other == &rank;
  return found;
}

/// Windows that differ among the children of a network; of ranks that share a dim at least as many as differ whatever
/// the tiles.
double windows_counted_once(const Spatial& spatial, const Problem::AffineRank& rank, const RanksTogether& together,
                            std::pair<int, int> network, const std::array<double, kMaxDims>& below, bool shared) {
  if (together.ranks == 1) return windows(spatial, rank, network, below, shared);
  if (!together.first) return 1;
  if (!shared) return spatial_between(spatial, together.dims, network.first - 1, network.second + 1);
  double fewest = 1;
  for (DimSet rest = together.dims; rest != 0; rest &= rest - 1)
    fewest += spatial_between(spatial, rest & ~(rest - 1), network.first - 1, network.second + 1) - 1;
  return fewest;
}

}  // namespace

ChargeTables::ChargeTables(const Setting& setting, const Spatial& spatial, const Axes& axes,
                           const std::vector<Pair>& pairs, const std::vector<int>& pending, int k, int tensor,
                           int slide, const Functional& functional, double repetitions) {
  const Problem& p = setting.problem;
  const int level = setting.memories[k], x = tensor;
  const bool divided = slide >= 0 && setting.slide_may_be_divided(k, slide);
  dims_ = p.dims;
  uncoupled_ = ((DimSet{1} << p.dims) - 1) & ~p.coupled[x];
  affine_ = p.affine_dims[x];
  for (int d = 0; d < p.dims; ++d)
    for (const Axis::State& state : (*axes[d])[k].states) left_[d].push_back(static_cast<double>(state.left));
  // Fanouts outside the node are served as one or each for itself, fanouts inside it count or do not.
  const auto fewest_repeats = [&](std::uint32_t shared_outside, std::uint32_t counted_inside) {
    Repeats fewest = left_;
    for (DimSet rest = uncoupled_; rest != 0; rest &= rest - 1) {
      const int d = std::countr_zero(rest);
      bool spread = false;
      for (int l = 0; l < p.levels; ++l)
        spread |= ((shared_outside | counted_inside) >> l & 1U) != 0 && spatial.factor[l][d] > 1;
      if (spread) fewest[d] = fewest_iterations(setting, spatial, *axes[d], d, k, shared_outside, counted_inside);
    }
    return add_repeats(std::move(fewest));
  };
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
    double parents = p.simple_words[x] * spatial_between(spatial, uncoupled_, -1, pair.parent);
    const double children = p.simple_words[x] * spatial_between(spatial, uncoupled_, -1, pair.child);
    std::uint32_t shared_outside = 0, counted_inside = 0, inside = 0;  // fanouts
    for (int l = std::min(pair.parent, level) + 1; l < pair.child; ++l) {
      if (p.is_memory[l]) continue;
      const std::uint32_t bit = std::uint32_t{1} << l;
      const bool shares = l > pair.parent && (x == p.output ? p.reduction[l] : p.multicast[l]);
      if (l > level) inside |= bit;
      if (l > level && !shares) counted_inside |= bit;
      if (l < level && shares) shared_outside |= bit;
      if (l > pair.parent && !shares) parents *= spatial_between(spatial, uncoupled_, l - 1, l + 1);
    }
    std::size_t served_repeats = 0, delivered_repeats = 0;
    if (setting.perfect) {
      for (int l = 0; l < pair.child; ++l) {
        if (counted_inside >> l & 1U) served *= spatial_between(spatial, uncoupled_, l - 1, l + 1);
        if (shared_outside >> l & 1U) served /= spatial_between(spatial, uncoupled_, l - 1, l + 1);
        if (inside >> l & 1U) delivered *= spatial_between(spatial, uncoupled_, l - 1, l + 1);
      }
    } else {
      if (w.served != 0) served_repeats = fewest_repeats(shared_outside, counted_inside);
      if (w.delivered != 0) delivered_repeats = fewest_repeats(0, inside);
    }
    const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep && x == p.output;
    if (to_compute) {
      for (int d = 0; d < p.dims; ++d)
        if (affine_ >> d & 1U) served *= p.size[d];
      // Where the last repetitions may be missing: what is counted covers the dim, and each covers at most so much.
      if (repetitions > 1 && setting.task.factorization != Factorization::kRubyS && !setting.perfect) {
        Repeats covered = left_;
        for (DimSet rest = uncoupled_; rest != 0; rest &= rest - 1) {
          const int d = std::countr_zero(rest);
          double units = 1;
          for (int l = 0; l < pair.child; ++l) {
            if (counted_inside >> l & 1U) units *= static_cast<double>(spatial.factor[l][d]);
            if (shared_outside >> l & 1U) units /= static_cast<double>(spatial.factor[l][d]);
          }
          for (std::size_t s = 0; s < covered[d].size(); ++s)
            covered[d][s] = units * p.size[d] / static_cast<double>((*axes[d])[k].states[s].tile);
        }
        served_repeats = add_repeats(std::move(covered));
      }
      add_plain(w.served * served * repetitions * window_sharing(setting, spatial, pair), served_repeats);
      continue;
    }
    Part part;
    part.served = w.served * served;
    part.delivered = w.delivered * delivered;
    part.served_repeats = served_repeats;
    part.delivered_repeats = delivered_repeats;
    if (per_sweep) {
      part.first_parent = w.first_parent * parents;
      part.first_child = w.first_child * children;
    }
    if (p.affine[x].empty()) {
      add_plain(part.served, served_repeats);
      add_plain(part.delivered, delivered_repeats);
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
      const RanksTogether together = ranks_together(p, x, rank);
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
        // A short last window has at least its share of the distinct values of a full one (a box may lose more).
        double covered = 1;
        for (const int d : dims) {
          const int at = cell / table.stride[d] % static_cast<int>((*axes[d])[k].states.size());
          const Axis::State& state = (*axes[d])[k].states[static_cast<std::size_t>(at)];
          covered *= std::min(1.0, p.size[d] / (static_cast<double>(state.tile) * static_cast<double>(state.left)));
        }
        // A window that slides past neighbours, or over holes, can only be bounded: by its distinct values.
        const bool slides = slide >= 0 && table.stride[slide] != 0;
        double words = extent(p, rank, child, slides || covered < 1);
        double shared_words = words;
        std::array<double, kMaxDims> below = child;
        for (const auto& network : networks_between(p, std::max(pair.parent, level), pair.child)) {
          const Sharing s = sharing(p, network, x);
          if (s.partial && network.second == pair.child - 1) {
            std::array<double, kMaxDims> united = child;
            for (const int d : dims)
              united[d] *= spatial_between(spatial, DimSet{1} << d, network.first - 1, network.second + 1);
            if (together.first) shared_words = extent(p, rank, united, true);
          } else if (!s.partial) {  // else the windows of this network may lie in those already counted
            shared_words *= windows_counted_once(spatial, rank, together, network, below, s.shared);
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
        if (slides && slides_over_holes(spatial, rank, slide, level, pair.child, child)) {
          // Windows further apart may overlap more than neighbours: only that the units together get every word is
          // certain.
          std::array<double, kMaxDims> united = child;
          for (const int d : dims) united[d] *= spatial_between(spatial, DimSet{1} << d, level, pair.child);
          const double all = extent(p, rank, united, true);
          const double parents_inside = spatial_between(spatial, dims_of(rank), level, std::max(pair.parent, level));
          words = std::min(words, all / spatial_between(spatial, dims_of(rank), level, pair.child));
          shared_words = std::min(shared_words, all / parents_inside);
        }
        if (slides && divided) {  // a slide over everything brings each word once
          const int at = cell / table.stride[slide] % static_cast<int>((*axes[slide])[k].states.size());
          std::array<double, kMaxDims> whole = child;
          whole[slide] = p.size[slide];
          const double share = extent(p, rank, whole, true) /
                               static_cast<double>((*axes[slide])[k].states[static_cast<std::size_t>(at)].left);
          words = std::min(words, share);
          shared_words = std::min(shared_words, share);
        }
        if (pair.parent < level) {
          for (const auto& network : networks_between(p, pair.parent, level)) {
            const Sharing s = sharing(p, network, x);
            double different = s.partial ? 1.0 : fewest_windows(spatial, rank, network, s.shared);
            if (!s.partial && s.shared && setting.perfect) {
              std::array<double, kMaxDims> tile{}, left{};
              for (const int d : dims) {
                const int at = cell / table.stride[d] % static_cast<int>((*axes[d])[k].states.size());
                tile[d] = static_cast<double>((*axes[d])[k].states[static_cast<std::size_t>(at)].tile);
                left[d] = static_cast<double>((*axes[d])[k].states[static_cast<std::size_t>(at)].left);
              }
              different = fewest_windows_beyond(spatial, rank, network, level, tile, left);
            }
            shared_words *= different / spatial_between(spatial, dims_of(rank), network.first - 1, network.second + 1);
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
        table.served[static_cast<std::size_t>(cell)] = covered * std::min(shared_words, once / inner);
        table.delivered[static_cast<std::size_t>(cell)] = covered * std::min(words, once / inner);
      }
      part.ranks.push_back(std::move(table));
    }
    parts_.push_back(std::move(part));
  }
}

std::size_t ChargeTables::add_repeats(Repeats repeats) {
  if (repeats == left_) return 0;
  const auto known = std::find(fewer_.begin(), fewer_.end(), repeats);
  const auto number = static_cast<std::size_t>(known - fewer_.begin()) + 1;
  if (known == fewer_.end()) fewer_.push_back(std::move(repeats));
  return number;
}

void ChargeTables::add_plain(double weight, std::size_t repeats) {
  if (repeats == 0)
    plain_ += weight;
  else if (weight != 0)
    other_plain_.push_back({weight, repeats});
}

double ChargeTables::repeated(std::size_t number, const std::array<int, kMaxDims>& node) const {
  const Repeats& all = repeats(number);
  double product = 1;
  for (DimSet rest = uncoupled_; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    product *= all[d][static_cast<std::size_t>(node[d])];
  }
  return product;
}

double ChargeTables::at(const std::array<int, kMaxDims>& node) const {
  const double left = repeated(0, node);
  double total = constant_ + plain_ * left;
  for (const Plain& plain : other_plain_) total += plain.weight * repeated(plain.repeats, node);
  if (parts_.empty()) return total;
  double affine = 1;
  for (DimSet rest = affine_; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    affine *= left_[d][static_cast<std::size_t>(node[d])];
  }
  for (const Part& part : parts_) {
    double served = affine, delivered = affine;
    for (const RankTable& rank : part.ranks) {
      int cell = 0;
      for (int d = 0; d < dims_; ++d) cell += node[d] * rank.stride[d];
      served *= rank.served[static_cast<std::size_t>(cell)];
      delivered *= rank.delivered[static_cast<std::size_t>(cell)];
    }
    total +=
        part.served * served * (part.served_repeats == 0 ? left : repeated(part.served_repeats, node)) +
        part.delivered * delivered * (part.delivered_repeats == 0 ? left : repeated(part.delivered_repeats, node)) +
        part.first_parent * served + part.first_child * delivered;
  }
  return total;
}

double ChargeTables::least(const std::array<std::vector<int>, kMaxDims>& states) const {
  // States of a dim that no table tells apart count once.
  std::array<std::vector<int>, kMaxDims> different;
  for (int d = 0; d < dims_; ++d) {
    for (const int state : states[d]) {
      bool fresh = true;
      for (const int other : different[d]) {
        bool alike = !(affine_ >> d & 1U);
        for (std::size_t number = 0; number <= fewer_.size() && (uncoupled_ >> d & 1U); ++number)
          alike &= repeats(number)[d][static_cast<std::size_t>(state)] ==
                   repeats(number)[d][static_cast<std::size_t>(other)];
        fresh &= !alike;
      }
      if (fresh) different[d].push_back(state);
    }
  }
  double best = kNoLimit;
  std::array<int, kMaxDims> node{};
  const auto choose = [&](auto&& self, int d) -> void {
    if (d == dims_) {
      best = std::min(best, at(node));
      return;
    }
    for (const int state : different[d]) {
      node[d] = state;
      self(self, d + 1);
    }
  };
  choose(choose, 0);
  return best;
}

std::vector<Factor> ChargeTables::factors(std::size_t number) const {
  const Repeats& all = repeats(number);
  std::vector<Factor> found;
  for (DimSet rest = uncoupled_; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    const std::vector<double>& values = all[d];
    if (values.size() == 1 && values[0] == 1) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = values.data();
    found.push_back(factor);
  }
  return found;
}

void ChargeTables::fill(std::span<const int> dims, std::span<const int> extent_by_dim, std::span<double> values) const {
  std::fill(values.begin(), values.end(), constant_);
  if (plain_ != 0) add_product(dims, extent_by_dim, plain_, factors(0), values.data());
  for (const Plain& plain : other_plain_)
    add_product(dims, extent_by_dim, plain.weight, factors(plain.repeats), values.data());
  for (const Part& part : parts_) {
    // Iterations left along an affine dim always come with its rank's table: fold them in.
    std::vector<std::vector<double>> tables;
    const auto add = [&](double scale, bool served, std::vector<Factor> all) {
      if (scale == 0) return;
      tables.clear();
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
        all.push_back(factor);
      }
      for (std::size_t i = 0; i < tables.size(); ++i) all[all.size() - tables.size() + i].values = tables[i].data();
      add_product(dims, extent_by_dim, scale, all, values.data());
    };
    bool same = part.served_repeats == part.delivered_repeats;
    for (const RankTable& rank : part.ranks) same &= rank.served == rank.delivered;
    if (same) {
      add(part.served + part.delivered, true, factors(part.served_repeats));
      add(part.first_parent + part.first_child, true, {});
    } else {
      add(part.served, true, factors(part.served_repeats));
      add(part.delivered, false, factors(part.delivered_repeats));
      add(part.first_parent, true, {});
      add(part.first_child, false, {});
    }
  }
}

}  // namespace pliant::exact
