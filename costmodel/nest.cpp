// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nest.h"

#include <bit>
#include <cmath>
#include <tuple>

#include "core/affine.h"
#include "costmodel/displacement.h"
#include "costmodel/imperfect.h"

namespace pliant {

namespace {

/// Calls f(dim) for every dim of a set.
template <typename F>
inline void for_each_dim(DimSet set, F f) {
  while (set != 0) {
    f(std::countr_zero(set));
    set &= set - 1;
  }
}

}  // namespace

Nest::Nest(const Problem& problem) : problem_(problem) {
  for (int l = 0; l < problem_.levels; ++l) {
    memory_at_[l] = memories_;
    if (problem_.is_memory[l]) memory_[memories_++] = l;
  }
  memory_at_[problem_.levels] = memories_;
  for (int d = 0; d < problem_.dims; ++d) b_[d].fill(1);
}

void Nest::load(const FlatMapping& mapping) {
  for (int l = 0; l < problem_.levels; ++l)
    for (int d = 0; d < problem_.dims; ++d) b_[d][l] = static_cast<double>(mapping.bound[l][d]);
  for (int d = 0; d < problem_.dims; ++d) refresh_dim(d);
  for (int l = 0; l < problem_.levels; ++l) {
    keeps_[l] = mapping.keeps[l];
    if (problem_.is_memory[l]) set_order(l, mapping.order[l].data());
  }
  pairs_stale_ = true;
}

void Nest::set_bounds(int dim, const Count* bound_by_level) {
  for (int l = 0; l < problem_.levels; ++l) b_[dim][l] = static_cast<double>(bound_by_level[l]);
  refresh_dim(dim);
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    const std::uint32_t bit = std::uint32_t{1} << position_[l][dim];
    active_[l] = b_[dim][l] > 1 ? active_[l] | bit : active_[l] & ~bit;
  }
}

void Nest::set_order(int level, const std::uint8_t* dims_outermost_first) {
  for (int i = 0; i < problem_.dims; ++i) {
    const int position = problem_.dims - 1 - i;
    dim_at_[level][position] = dims_outermost_first[i];
    position_[level][dims_outermost_first[i]] = static_cast<std::uint8_t>(position);
  }
  for (int x = 0; x < problem_.tensors; ++x) {
    std::uint32_t mask = 0;
    for_each_dim(problem_.coupled[x], [&](int d) { mask |= std::uint32_t{1} << position_[level][d]; });
    coupled_at_[level][x] = mask;
  }
  refresh_active(level);
}

void Nest::set_keeps(int level, TensorSet keeps) {
  keeps_[level] = keeps;
  pairs_stale_ = true;
}

void Nest::refresh_dim(int d) {
  double temporal = 1, spatial = 1;
  for (int l = 0; l < problem_.levels; ++l) {
    temporal_[d][l] = temporal;
    spatial_[d][l] = spatial;
    (problem_.is_memory[l] ? temporal : spatial) *= b_[d][l];
  }
  temporal_[d][problem_.levels] = temporal;
  spatial_[d][problem_.levels] = spatial;
  tile_[d][problem_.levels] = 1;
  for (int l = problem_.levels - 1; l >= 0; --l) tile_[d][l] = tile_[d][l + 1] * b_[d][l];
  const DimSet bit = DimSet{1} << d;
  imperfect_dims_ = tile_[d][0] == problem_.size[d] ? imperfect_dims_ & ~bit : imperfect_dims_ | bit;
}

void Nest::refresh_active(int level) {
  std::uint32_t mask = 0;
  for (int i = 0; i < problem_.dims; ++i)
    if (b_[dim_at_[level][i]][level] > 1) mask |= std::uint32_t{1} << i;
  active_[level] = mask;
}

void Nest::rebuild_pairs() {
  pairs_ = 0;
  for (int x = 0; x < problem_.tensors; ++x) {
    int parent = -1;
    for (int i = 0; i <= memories_; ++i) {
      const int child = i == memories_ ? problem_.levels : memory_[i];
      if (i < memories_ && !keeps(child, x)) continue;
      if (parent >= 0) {
        Traffic& pair = traffic_[pairs_++];
        pair = Traffic{};
        pair.tensor = static_cast<std::int8_t>(x);
        pair.parent = static_cast<std::int8_t>(parent);
        pair.child = static_cast<std::int8_t>(child);
      }
      parent = child;
    }
  }
  pairs_stale_ = false;
}

Nest::Kill Nest::find_kill(int tensor, int parent, int child) const {
  Kill kill;
  const bool within = problem_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  const int outermost = within ? memory_at_[parent] : 0;
  for (int i = memory_at_[child] - 1; i >= outermost; --i) {
    const int l = memory_[i];
    const std::uint32_t moving = active_[l] & coupled_at_[l][tensor];
    if (moving == 0) continue;
    kill.level = kill.merged_to = l;
    kill.position = std::countr_zero(moving);
    kill.dim = dim_at_[l][kill.position];
    break;
  }
  if (kill.level < 0 || child == problem_.levels || !(problem_.sliding[tensor] >> kill.dim & 1U)) return kill;
  // Sliding window: this loop, and consecutive ones over the same dim, fetch only what is new.
  kill.merged = b_[kill.dim][kill.level];
  if (problem_.conventions.halo == Conventions::Halo::kOneLoop) return kill;
  if ((active_[kill.level] >> kill.position >> 1) != 0) return kill;  // another loop stands outside it in this level
  for (int l = kill.level - 1; l >= 0; --l) {
    if (!problem_.is_memory[l]) {
      if (b_[kill.dim][l] > 1) break;  // the next window is a neighbour's: the step changes
      continue;
    }
    if (active_[l] == 0) continue;
    const int position = std::countr_zero(active_[l]);
    if (dim_at_[l][position] != kill.dim) break;
    kill.merged *= b_[kill.dim][l];
    kill.merged_to = l;
    if ((active_[l] >> position >> 1) != 0) break;
  }
  return kill;
}

double Nest::affine_extent(const Problem::AffineRank& rank, int child, const Kill& kill, DimSet partial) const {
  const bool box = problem_.conventions.footprint == Conventions::Footprint::kBoundingBox;
  if (child == problem_.levels && partial == 0) return 1;
  // Spatial neighbours that share overlapping words are part of the window (partial multicast).
  double extent = 1;
  std::array<Stride, 3 * kMaxDims> strides;
  int n = 0;
  double slide_step = 0, slide_count = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    const Count coefficient = rank.coefficient[i];
    double count = std::min(tile_[d][child], problem_.size[d]);
    if (partial >> d & 1U) {
      for (int l = child - 1; l >= 0 && !problem_.is_memory[l]; --l)
        if (problem_.partial_multicast[l]) count *= b_[d][l];
    }
    if (kill.dim == d && kill.merged > 1) {
      const double step = tile_[d][kill.level + 1];
      if (!box && (step == count || problem_.conventions.halo == Conventions::Halo::kOneLoop)) {
        count *= kill.merged;
      } else if (box) {
        slide_step = step * static_cast<double>(coefficient);
        slide_count = kill.merged;
      } else {
        strides[n++] = {coefficient * static_cast<Count>(step), static_cast<Count>(kill.merged)};
      }
    }
    if (count > 1) {
      extent += static_cast<double>(coefficient) * (count - 1);
      strides[n++] = {coefficient, static_cast<Count>(count)};
    }
  }
  if (box) return extent + (slide_count - 1) * std::min(slide_step, extent);
  if (n == 0) return 1;
  if (n == 1) return static_cast<double>(strides[0].count);
  if (n == 2)
    return static_cast<double>(
        distinct_values(strides[0].stride, strides[0].count, strides[1].stride, strides[1].count));
  return static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), static_cast<std::size_t>(n))));
}

double Nest::equal_windows(const Problem::AffineRank& rank, int parent, int child) const {
  // Children of one network whose windows coincide share a read; networks divided by a memory are counted apart.
  double windows = 1;
  std::array<Stride, kMaxDims> strides;
  int l = child - 1;
  while (l > parent) {
    if (problem_.is_memory[l]) {
      --l;
      continue;
    }
    const int inside = l + 1;
    int outside = l;
    bool partial = false, multicast = true;
    while (outside > parent && !problem_.is_memory[outside]) {
      partial |= problem_.partial_multicast[outside];
      multicast &= problem_.multicast[outside];
      --outside;
    }
    int n = 0;
    double product = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      const double count = tile_[d][outside + 1] / tile_[d][inside];
      if (count == 1) continue;
      product *= count;
      strides[n++] = {rank.coefficient[i] * static_cast<Count>(tile_[d][inside]), static_cast<Count>(count)};
    }
    const bool shared = multicast && problem_.conventions.equal_windows == Conventions::EqualWindows::kShared;
    if (partial && l == child - 1) {
      product = 1;  // already inside the window
    } else if (n == 2 && shared) {
      product = static_cast<double>(
          distinct_values(strides[0].stride, strides[0].count, strides[1].stride, strides[1].count));
    } else if (n > 2 && shared) {
      product =
          static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), static_cast<std::size_t>(n))));
    }
    windows *= product;
    l = outside;
  }
  return windows;
}

double Nest::footprint(int level, int tensor) const {
  double words = 1;
  for_each_dim(problem_.simple[tensor], [&](int d) { words *= std::min(tile_[d][level], problem_.size[d]); });
  for (const Problem::AffineRank& rank : problem_.affine[tensor]) words *= affine_extent(rank, level, Kill{}, 0);
  return words;
}

double Nest::first_words(int level) const {
  const int x = problem_.output;
  double words = problem_.simple_words[x];
  for (int d = 0; d < problem_.dims; ++d)
    if (!problem_.is_coupled(x, d)) words *= spatial_[d][level];
  if (problem_.affine[x].empty()) return words;
  return words * ImperfectTraffic(*this).distinct_output_extent(level);
}

void Nest::price_pair(Traffic& pair) const {
  const int x = pair.tensor, parent = pair.parent, child = pair.child;
  const Problem& p = problem_;
  if (imperfect_dims_ != 0) {
    ImperfectTraffic(*this).price(pair);
    return;
  }
  // 1. Which loop ends the run of loops that leave the child's tile in place.
  Kill kill;
  int base = 0;             // temporal loops outside this level count
  std::uint32_t above = 0;  // ... and at this level those at these positions
  DimSet full = 0;          // quickflow, towards compute: loops of the innermost memory count besides
  const bool to_compute = child == p.levels;
  if (!to_compute) {
    kill = find_kill(x, parent, child);
  } else if (p.conventions.compute_reuse == Conventions::ComputeReuse::kNone) {
    base = p.levels;
  } else {
    const int inner = p.innermost_memory;
    if (parent == inner || (active_[inner] & coupled_at_[inner][x]) != 0) {
      base = p.levels;
    } else {
      kill = find_kill(x, parent, inner);
      kill.merged = 1;
      full = ~DimSet{0};
    }
  }
  const bool within = p.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  if (base != p.levels) {
    base = kill.level >= 0 ? kill.level : within ? parent : 0;
    if (kill.level >= 0) above = ~std::uint32_t{0} << kill.position << 1;
  }
  // 2. Uncoupled dims: iterations outside the run; copies under fanouts share one word of the parent.
  double repeats = 1, parents = 1, children = 1, unshared = 1;
  for_each_dim(p.coupled[x] ^ ((DimSet{1} << p.dims) - 1), [&](int d) {
    const bool counted_here = base < p.levels && (above >> position_[base][d] & 1U) != 0;
    repeats *= temporal_[d][counted_here ? base + 1 : base];
    if (full != 0) repeats *= b_[d][p.innermost_memory];
    parents *= spatial_[d][parent];
    children *= spatial_[d][child];
  });
  for (int l = parent + 1; l < child; ++l) {
    if (p.is_memory[l] || (x == p.output ? p.reduction[l] : p.multicast[l])) continue;
    for_each_dim(p.coupled[x] ^ ((DimSet{1} << p.dims) - 1), [&](int d) { unshared *= b_[d][l]; });
  }
  // 3. Coupled dims: plain ones are covered exactly once; windows overlap.
  double served = p.simple_words[x], delivered = p.simple_words[x];
  if (!p.affine[x].empty()) {
    DimSet partial = 0;
    for (int l = child - 1; l > parent && !p.is_memory[l]; --l)
      if (p.partial_multicast[l]) partial = p.affine_dims[x];
    for (const Problem::AffineRank& rank : p.affine[x]) {
      const double extent = affine_extent(rank, child, kill, 0);
      delivered *= extent;
      served *=
          (partial != 0 ? affine_extent(rank, child, kill, partial) : extent) * equal_windows(rank, parent, child);
    }
    for_each_dim(p.affine_dims[x], [&](int d) {
      const double outer = temporal_[d][kill.dim == d && kill.merged > 1 ? kill.merged_to : child];
      served *= outer * spatial_[d][parent];
      delivered *= outer * spatial_[d][child];
    });
  }
  pair.served = served * repeats * parents * unshared;
  pair.delivered = delivered * repeats * children;
  if (!to_compute && (p.conventions.halo == Conventions::Halo::kDisplacement ||
                      p.conventions.halo == Conventions::Halo::kTwoIterations)) {
    const DisplacementWalk walk(*this);
    if (walk.needed(x, child)) {
      const double words = walk.words(x, child);
      pair.served = words * unshared;
      pair.delivered = words;
      for (int d = 0; d < p.dims; ++d) {
        pair.served *= spatial_[d][p.simple[x] >> d & 1U ? child : parent];
        pair.delivered *= spatial_[d][child];
      }
      for (const Problem::AffineRank& rank : p.affine[x]) pair.served *= equal_windows(rank, parent, child);
    }
  }
  // 4. Outputs: the first arrival of a word is a plain write.
  if (x == p.output) {
    if (p.conventions.first_time == Conventions::FirstTime::kPerSweep) {
      pair.first_parent = served * parents * unshared;
      pair.first_child = delivered * children;
    } else {
      pair.first_parent = first_words(parent);
      pair.first_child = to_compute ? 0 : first_words(child);
    }
  }
}

double Nest::steps() const {
  double steps = problem_.cycles_per_mac;
  for (int d = 0; d < problem_.dims; ++d) {
    steps *= imperfect_dims_ >> d & 1U ? ImperfectTraffic(*this).steps(d) : temporal_[d][problem_.levels];
  }
  return steps;
}

double Nest::instances_peak(int level) const {
  double copies = 1;
  for (int d = 0; d < problem_.dims; ++d) copies *= spatial_[d][level];
  return copies;
}

double Nest::instances_average(int level) const {
  double copies = 1;
  for (int d = 0; d < problem_.dims; ++d)
    copies *= imperfect_dims_ >> d & 1U ? ImperfectTraffic(*this).average_width(d, level) : spatial_[d][level];
  return copies;
}

std::pair<double, double> Nest::demand_cycles(int level, double instances, double steps) const {
  double read_demand = 0, write_demand = 0;
  for (int x = 0; x < problem_.tensors; ++x) {
    double reads = 0, writes = 0;
    for (const Traffic& pair : traffic()) {
      if (pair.tensor != x) continue;
      const bool output = x == problem_.output;
      if (pair.parent == level) {
        reads += output ? pair.served - pair.first_parent : pair.served;
        writes += output ? pair.served : 0;
      }
      if (pair.child == level) writes += output ? pair.delivered - pair.first_child : pair.delivered;
    }
    read_demand += reads / instances / steps;
    write_demand += writes / instances / steps;
  }
  const auto cycles = [steps](double demand, double bandwidth) {
    return demand == 0 ? 0 : std::ceil(steps / std::min(1.0, bandwidth / demand));
  };
  return {cycles(read_demand, problem_.read_bandwidth[level]), cycles(write_demand, problem_.write_bandwidth[level])};
}

Totals Nest::price() {
  if (pairs_stale_) rebuild_pairs();
  const Problem& p = problem_;
  std::array<double, kMaxLevels> reads{}, writes{};
  double energy = p.macs * p.mac_pj;
  double output_fills = 0;
  for (int i = 0; i < pairs_; ++i) {
    Traffic& pair = traffic_[i];
    price_pair(pair);
    const int parent = pair.parent, child = pair.child;
    const bool to_memory = child < p.levels;
    if (pair.tensor != p.output) {
      reads[parent] += pair.served;
      energy += pair.served * p.read_pj[parent];
      if (to_memory) {
        writes[child] += pair.delivered;
        energy += pair.delivered * p.write_pj[child];
      }
      continue;
    }
    const double read_back = pair.served - pair.first_parent;
    reads[parent] += read_back;
    writes[parent] += pair.served;
    energy += read_back * p.read_pj[parent] + pair.served * p.update_pj[parent];
    if (!to_memory) continue;
    const double fills = pair.delivered - pair.first_child;
    double drains = 0;
    switch (p.conventions.drain) {
      case Conventions::Drain::kCounted: drains = pair.delivered; break;
      case Conventions::Drain::kFree: break;
      case Conventions::Drain::kParentWrites:
        drains = (pair.served + output_fills) * (pair.delivered / pair.served);
        break;
    }
    output_fills = fills;
    writes[child] += fills;
    reads[child] += drains;
    energy += fills * p.write_pj[child] + drains * p.read_pj[child];
  }
  Totals totals;
  totals.steps = totals.cycles = steps();
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    const double instances = instances_peak(l);
    double read_time = std::ceil(reads[l] / (p.read_bandwidth[l] * instances));
    double write_time = std::ceil(writes[l] / (p.write_bandwidth[l] * instances));
    if (p.conventions.stall_rounding == Conventions::StallRounding::kDemandRatio)
      std::tie(read_time, write_time) = demand_cycles(l, instances, totals.steps);
    if (read_time > totals.cycles) {
      totals.cycles = read_time;
      totals.bound = {l, false};
    }
    if (write_time > totals.cycles) {
      totals.cycles = write_time;
      totals.bound = {l, true};
    }
  }
  totals.energy_pj = energy + p.leak_pj_per_cycle_total * totals.cycles;
  totals.utilization = p.macs * p.cycles_per_mac / (p.built[p.levels] * totals.cycles);
  return totals;
}

}  // namespace pliant
