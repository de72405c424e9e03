// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "core/affine.h"
#include "dse/mappers/exact/charges.h"
#include "dse/mappers/exact/kernels.h"

namespace pliant::exact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DimSet all_dims(const Problem& problem) { return (DimSet{1} << problem.dims) - 1; }

double extent(const Problem& problem, const Problem::AffineRank& rank, const std::array<Count, kMaxDims>& tile,
              bool distinct) {
  std::array<Stride, kMaxDims> strides;
  std::size_t n = 0;
  for (int i = 0; i < rank.terms; ++i)
    if (tile[rank.dim[i]] > 1) strides[n++] = {rank.coefficient[i], tile[rank.dim[i]]};
  const std::span<const Stride> all(strides.data(), n);
  if (!distinct && problem.conventions.footprint == Conventions::Footprint::kBoundingBox)
    return static_cast<double>(n == 0 ? 1 : bounding_extent(all));
  if (n == 0) return 1;
  if (n == 1) return static_cast<double>(strides[0].count);
  return static_cast<double>(distinct_values(all));
}

}  // namespace

Lattice::Lattice(const Setting& setting, const Spatial& spatial, const Keeps& keeps)
    : setting_(setting), spatial_(spatial), keeps_(keeps) {
  const Problem& p = setting_.problem;
  double copies = 1;
  for (int l = 0; l <= p.levels; ++l) {
    instances_[l] = copies;
    if (l < p.levels && !p.is_memory[l])
      for (int d = 0; d < p.dims; ++d) copies *= static_cast<double>(spatial_.factor[l][d]);
  }
  // The tensors' pairs, inside out.
  for (int x = 0; x < p.tensors; ++x) {
    int child = p.levels;
    for (const int l : setting_.memories) {
      if (!(keeps_[l] >> x & 1U)) continue;
      pairs_of_[x].push_back(static_cast<int>(pairs_.size()));
      pairs_.push_back({x, l, child});
      child = l;
    }
  }
  // Steps: iterations of every dim that are not spread over units.
  steps_ = p.cycles_per_mac;
  for (int d = 0; d < p.dims; ++d) {
    Count left = setting_.task.layer.dims[d].size;
    if (setting_.task.factorization == Factorization::kPerfect) {
      for (int l = 0; l < p.levels; ++l) left /= spatial_.factor[l][d];
    } else {
      double least = static_cast<double>(left);
      for (int l = 0; l < p.levels; ++l) least /= static_cast<double>(spatial_.factor[l][d]);
      left = static_cast<Count>(std::ceil(least - 1e-9));
    }
    steps_ *= static_cast<double>(left);
  }
  // Towards compute, operands stay put only in quickflow's model, and only outside an innermost memory that does not
  // keep the tensor.
  for (int x = 0; x < p.tensors && setting_.compute_runs; ++x) {
    const int keeper = pairs_[pairs_of_[x].front()].parent;
    DimSet growable = 0;
    for (int k = 1; k < stages() && setting_.memories[k] >= (setting_.within ? keeper : 0); ++k)
      growable |= setting_.may_loop[k];
    stays_[x] = growable & ~p.coupled[x];
    if (keeper != p.innermost_memory && stays_[x] != 0) initial_[x] = 1;
  }
}

bool Lattice::build() {
  axes_ = build_axes(setting_.task, setting_.problem, spatial_, keeps_, setting_.memories, setting_.may_loop,
                     setting_.axis_cache);
  if (axes_.empty()) return false;
  build_boxes();
  return true;
}

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
    total_nodes_ += static_cast<std::size_t>(box.size);
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
  box.misfit.assign(size, 0);
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
  std::vector<double> total(size, 0), part(size);
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
        std::array<Count, kMaxDims> tile{};
        for (int cell = 0; cell < cells; ++cell) {
          for (int i = 0; i < rank.terms; ++i) {
            const int d = rank.dim[i];
            tile[d] = static_cast<Count>(tiles[d][static_cast<std::size_t>(cell / factor.stride[d] % box.extent[d])]);
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

double Lattice::first_constant(int level) const {
  // Upper bound (exact without windows): the model subtracts first arrivals.
  const Problem& p = setting_.problem;
  const int x = p.output;
  double words = p.simple_words[x] * spatial_between(spatial_, all_dims(p) & ~p.coupled[x], -1, level);
  for (const Problem::AffineRank& rank : p.affine[x]) {
    std::array<Count, kMaxDims> whole{};
    double instances = 1, points = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      const double split = spatial_between(spatial_, DimSet{1} << d, -1, level);
      whole[d] = static_cast<Count>(p.size[d]);
      instances *= split;
      points *= std::ceil(p.size[d] / split);
    }
    words *= instances * std::min(points, extent(p, rank, whole, false));
  }
  return words;
}

std::pair<double, double> Lattice::copies_between(int x, int parent, int child) const {
  // With a remainder a dim's rounds keep more than half of the units busy on average: s <= left makes the first full.
  const Problem& p = setting_.problem;
  const DimSet uncoupled = all_dims(p) & ~p.coupled[x];
  double many = 1;  // where the fanout does not reduce, every copy's words arrive anyway
  for (int l = parent + 1; l < child; ++l)
    if (!p.is_memory[l] && p.reduction[l]) many *= spatial_between(spatial_, uncoupled, l - 1, l + 1);
  if (setting_.task.factorization == Factorization::kPerfect) return {many, many};
  double few = many;
  for (int l = parent + 1; l < child; ++l)
    for (DimSet rest = uncoupled; rest != 0; rest &= rest - 1)
      for (const Side side : {Side::kRows, Side::kCols})
        for (const SpatialLoop& loop :
             spatial_.unrolling[l] != nullptr ? spatial_.unrolling[l]->loops : std::vector<SpatialLoop>{})
          if (loop.dim == std::countr_zero(rest) && loop.side == side) few /= 2;
  return {std::max(1.0, few), many};
}

Functional Lattice::energy() const {
  const Problem& p = setting_.problem;
  Functional f;
  f.weights.resize(pairs_.size());
  f.constant = p.macs * p.mac_pj;
  for (int x = 0; x < p.tensors; ++x) {
    for (std::size_t j = 0; j < pairs_of_[x].size(); ++j) {
      const Pair& pair = pairs_[pairs_of_[x][j]];
      Functional::Weights& w = f.weights[pairs_of_[x][j]];
      const bool to_memory = pair.child < p.levels;
      w.served += p.read_pj[pair.parent];
      if (to_memory) w.delivered += p.write_pj[pair.child];
      if (x != p.output) continue;
      w.served += p.update_pj[pair.parent];
      w.first_parent -= p.read_pj[pair.parent];
      if (!to_memory) continue;
      w.first_child -= p.write_pj[pair.child];
      if (p.conventions.drain == Conventions::Drain::kCounted) w.delivered += p.read_pj[pair.child];
      if (p.conventions.drain == Conventions::Drain::kParentWrites) {
        const auto [few, many] = copies_between(x, pair.parent, pair.child);
        w.served += few * p.read_pj[pair.child];
        if (j + 1 < pairs_of_[x].size()) {  // the parent's own fills from further out
          f.weights[pairs_of_[x][j + 1]].delivered += few * p.read_pj[pair.child];
          f.weights[pairs_of_[x][j + 1]].first_child -= many * p.read_pj[pair.child];
        }
      }
    }
  }
  add_constants(f);
  return f;
}

void Lattice::add_constants(Functional& f) const {
  const Problem& p = setting_.problem;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const Functional::Weights& w = f.weights[i];
    const bool to_compute = pair.child == p.levels;
    double& own = f.constant_of[pair.tensor];
    if (to_compute && initial_[pair.tensor] == 0) own += w.served * compute_words(setting_, spatial_, pair);
    if (pair.tensor != p.output) continue;
    const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep;
    if (per_sweep && !to_compute) continue;  // depends on the node: part of the charge
    const double first = per_sweep ? first_per_sweep_at_compute(pair) : first_constant(pair.parent);
    own += w.first_parent * first;
    if (!to_compute) own += w.first_child * first_constant(pair.child);
  }
  for (const double own : f.constant_of) f.constant += own;
}

double Lattice::first_per_sweep_at_compute(const Pair& pair) const {
  const Problem& p = setting_.problem;
  double words =
      p.simple_words[pair.tensor] * spatial_between(spatial_, all_dims(p) & ~p.coupled[pair.tensor], -1, pair.parent);
  for (int d = 0; d < p.dims; ++d)
    if (p.affine_dims[pair.tensor] >> d & 1U) words *= p.size[d];
  for (int l = pair.parent + 1; l < p.levels; ++l)
    if (!p.is_memory[l] && !p.reduction[l])
      words *= spatial_between(spatial_, all_dims(p) & ~p.coupled[pair.tensor], l - 1, l + 1);
  return words;
}

Functional Lattice::port(int level, bool write) const {
  const Problem& p = setting_.problem;
  Functional f;
  f.weights.resize(pairs_.size());
  const double scale = 1 / ((write ? p.write_bandwidth[level] : p.read_bandwidth[level]) * instances_[level]);
  for (int x = 0; x < p.tensors; ++x) {
    for (std::size_t j = 0; j < pairs_of_[x].size(); ++j) {
      const Pair& pair = pairs_[pairs_of_[x][j]];
      Functional::Weights& w = f.weights[pairs_of_[x][j]];
      const bool output = x == p.output;
      if (pair.parent == level) {
        if (!write || output) w.served += scale;
        if (!write && output) w.first_parent -= scale;
      }
      if (pair.child != level) continue;
      if (write) {
        w.delivered += scale;
        if (output) w.first_child -= scale;
      } else if (output && p.conventions.drain == Conventions::Drain::kCounted) {
        w.delivered += scale;
      } else if (output && p.conventions.drain == Conventions::Drain::kParentWrites) {
        const auto [few, many] = copies_between(x, pair.parent, pair.child);
        w.served += few * scale;
        if (j + 1 < pairs_of_[x].size()) {
          f.weights[pairs_of_[x][j + 1]].delivered += few * scale;
          f.weights[pairs_of_[x][j + 1]].first_child -= many * scale;
        }
      }
    }
  }
  add_constants(f);
  return f;
}

std::vector<int> Lattice::pending_pairs(int k, int tensor, int pending) const {
  std::vector<int> found;
  for (auto j = static_cast<std::size_t>(first_pending(pending)); j < pairs_of_[tensor].size(); ++j)
    if (pairs_[pairs_of_[tensor][j]].child > setting_.memories[k]) found.push_back(pairs_of_[tensor][j]);
  return found;
}

TensorSet Lattice::alive(const Status& status) const {
  TensorSet set = 0;
  for (int x = 0; x < setting_.problem.tensors; ++x)
    if (status[x] != 0) set |= TensorSet{1} << x;
  return set;
}

double Lattice::repetitions(int tensor, int pending) const {
  return pending >= kStaying ? repeated_[tensor][static_cast<std::size_t>(pending - kStaying)] : 1;
}

Status Lattice::after_boundary(int k, Status status, int node) const {
  const int level = setting_.memories[k];
  if (k == 0 && setting_.compute_runs) {
    // Loops of the innermost memory give no reuse: remember how often they repeat an operand that stays.
    std::array<int, kMaxDims> at{};
    unpack(k, node, at);
    for (int x = 0; x < setting_.problem.tensors; ++x) {
      if (status[x] != 1 || initial_[x] != 1) continue;
      double product = 1;
      for (int d = 0; d < setting_.problem.dims; ++d)
        if (!setting_.problem.is_coupled(x, d))
          product *= static_cast<double>(axis(0, d).states[at[d]].tile / axis(0, d).states[axis(0, d).start].tile);
      auto& known = repeated_[x];
      const auto found = std::find(known.begin(), known.end(), product);
      status[x] = static_cast<std::int8_t>(kStaying + (found - known.begin()));
      if (found == known.end()) known.push_back(product);
    }
  }
  for (int x = 0; x < setting_.problem.tensors; ++x) {
    if (!(keeps_[level] >> x & 1U) || status[x] != 0) continue;
    for (std::size_t j = 0; j < pairs_of_[x].size(); ++j)
      if (pairs_[pairs_of_[x][j]].child == level) status[x] = static_cast<std::int8_t>(j + 1);
  }
  return status;
}

std::vector<double> Lattice::charge(int k, int tensor, int pending, int slide, const Functional& functional) const {
  const ChargeTables tables(setting_, spatial_, axes_, pairs_, pending_pairs(k, tensor, pending), k, tensor, slide,
                            functional, repetitions(tensor, pending));
  std::vector<double> values(static_cast<std::size_t>(boxes_[k].size));
  tables.fill(fastest_first_, boxes_[k].extent, values);
  return values;
}

void Lattice::grow(int k, DimSet dims, std::vector<double>& values) const {
  const Box& box = boxes_[k];
  for (DimSet rest = dims; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    if (box.extent[d] > 1) close_chains(values.data(), box.size, box.stride[d], box.extent[d], axis(k, d).edges);
  }
}

void Lattice::run_group(int k, DimSet group, const Functional& functional,
                        std::map<Status, std::vector<double>>& values,
                        std::map<std::array<int, 3>, std::vector<double>>& cache) const {
  const Problem& p = setting_.problem;
  const auto charged = [&](int x, int pending, int slide) -> const std::vector<double>& {
    auto [entry, fresh] = cache.try_emplace({x, pending, slide});
    if (fresh) entry->second = charge(k, x, pending, slide, functional);
    return entry->second;
  };
  std::vector<double> work;
  // Statuses with more tensors pending lead to those with fewer.
  for (int count = p.tensors; count >= 0; --count) {
    std::vector<Status> now;
    for (const auto& [status, array] : values)
      if (std::popcount(alive(status)) == count) now.push_back(status);
    for (const Status& status : now) {
      const TensorSet tensors = alive(status);
      DimSet still = group;
      for (int x = 0; x < p.tensors; ++x)
        if (tensors >> x & 1U) still &= ~p.coupled[x];
      std::vector<double>& array = values.at(status);
      grow(k, still, array);
      if (tensors == 0) continue;
      std::vector<TensorSet> plain_done;
      for (DimSet rest = group & ~still; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        TensorSet killed = 0, sliding = 0;
        for (int x = 0; x < p.tensors; ++x) {
          if (!(tensors >> x & 1U) || !p.is_coupled(x, d)) continue;
          killed |= TensorSet{1} << x;
          const bool to_compute = towards_compute(x, status[x]);
          if ((p.sliding[x] >> d & 1U) && !to_compute) sliding |= TensorSet{1} << x;
        }
        if (sliding == 0) {
          if (std::find(plain_done.begin(), plain_done.end(), killed) != plain_done.end()) continue;
          plain_done.push_back(killed);
        }
        Status after = status;
        for (int x = 0; x < p.tensors; ++x)
          if (killed >> x & 1U) after[x] = 0;
        auto [entry, fresh] = values.try_emplace(after);
        if (fresh) entry->second.assign(array.size(), kInfinity);
        std::vector<double>& target = entry->second;
        // The last charge is added while taking the minimum; the others, and a slide, need a copy.
        const double* source = array.data();
        TensorSet rest_killed = killed;
        if (sliding != 0 || std::popcount(killed) > 1) {
          work = array;
          if (sliding != 0) grow(k, DimSet{1} << d, work);
          while (std::popcount(rest_killed) > 1) {
            const int x = std::countr_zero(rest_killed);
            add_into(work.data(), charged(x, status[x], sliding >> x & 1U ? d : -1).data(), work.size());
            rest_killed &= rest_killed - 1;
          }
          source = work.data();
        }
        const int x = std::countr_zero(rest_killed);
        min_sum_into(target.data(), source, charged(x, status[x], sliding >> x & 1U ? d : -1).data(), target.size());
      }
    }
  }
}

int Lattice::initial_node() const {
  std::array<int, kMaxDims> at{};
  for (int d = 0; d < setting_.problem.dims; ++d) at[d] = axis(0, d).start;
  return index(0, at);
}

std::vector<int> Lattice::final_nodes() const {
  // With remainders a dim may be covered by tiles of several sizes.
  std::vector<int> found{0}, next;
  const int k = stages() - 1;
  for (int d = 0; d < setting_.problem.dims; ++d) {
    next.clear();
    for (std::size_t i = 0; i < axis(k, d).states.size(); ++i)
      if (axis(k, d).may_end[i])
        for (const int base : found) next.push_back(base + static_cast<int>(i) * boxes_[k].stride[d]);
    found.swap(next);
  }
  return found;
}

std::vector<double> Lattice::least_by_pair(const Functional& functional) const {
  const Problem& p = setting_.problem;
  std::vector<double> least;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const Functional::Weights& w = functional.weights[i];
    double cost = 0;
    if (pair.child != p.levels) {
      const DimSet uncoupled = all_dims(p) & ~p.coupled[pair.tensor];
      const double once = p.tensor_words[pair.tensor];
      // With remainders the outermost rounds may leave units idle; one copy is certain.
      const bool perfect = setting_.task.factorization == Factorization::kPerfect;
      const double parents = once * (perfect ? spatial_between(spatial_, uncoupled, -1, pair.parent) : 1);
      const double children = once * (perfect ? spatial_between(spatial_, uncoupled, -1, pair.child) : 1);
      cost = w.served * parents + w.delivered * children;
      if (p.conventions.first_time == Conventions::FirstTime::kPerSweep && pair.tensor == p.output)
        cost += w.first_parent * parents + w.first_child * children;
    } else if (initial_[pair.tensor] != 0) {
      // Operands that stay can stay through all loops that do not move them, no longer.
      cost = w.served * compute_words(setting_, spatial_, pair);
      for (DimSet rest = stays_[pair.tensor]; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        cost /= p.size[d] / spatial_between(spatial_, DimSet{1} << d, -1, p.levels);
      }
    }
    least.push_back(cost);
  }
  return least;
}

double Lattice::still_to_pay(int k, const Status& status, const std::vector<double>& least) const {
  double cost = 0;
  for (int x = 0; x < setting_.problem.tensors; ++x) {
    for (std::size_t j = 0; j < pairs_of_[x].size(); ++j) {
      const int pair = pairs_of_[x][j];
      const bool pending = status[x] != 0 && static_cast<int>(j) >= first_pending(status[x]);
      if (pending || pairs_[pair].child <= setting_.memories[k]) cost += least[pair];
    }
  }
  return cost;
}

Lattice::Tables Lattice::solve(const Functional& functional, double limit) const {
  const std::vector<double> least = least_by_pair(functional);
  Tables tables;
  tables.before.resize(static_cast<std::size_t>(stages()));
  tables.best = kInfinity;
  std::vector<double> start(static_cast<std::size_t>(boxes_[0].size), kInfinity);
  start[static_cast<std::size_t>(initial_node())] = 0;
  tables.before[0].emplace(initial_, std::move(start));
  for (int k = 0; k < stages(); ++k) {
    const int level = setting_.memories[k];
    complete_box(k);
    std::map<std::array<int, 3>, std::vector<double>> cache;
    std::map<Status, std::vector<double>> done;
    for (const std::vector<DimSet>& groups : setting_.orders[k]) {
      std::map<Status, std::vector<double>> values = tables.before[k];
      for (const DimSet group : groups) run_group(k, group, functional, values, cache);
      for (auto& [status, array] : values) {
        auto [entry, fresh] = done.try_emplace(status);
        if (fresh)
          entry->second = std::move(array);
        else
          min_into(entry->second.data(), array.data(), array.size());
      }
    }
    // The level's end: what does not fit goes; in quickflow's model runs end at the parent.
    std::map<Status, std::vector<double>> ended;
    const auto size = static_cast<std::size_t>(boxes_[k].size);
    for (auto& [status, array] : done) {
      Status after = status;
      for (int x = 0; x < setting_.problem.tensors && setting_.within; ++x) {
        if (!(keeps_[level] >> x & 1U) || status[x] == 0) continue;
        const auto known = cache.find({x, status[x], -1});
        if (known != cache.end())
          add_into(array.data(), known->second.data(), size);
        else
          add_into(array.data(), charge(k, x, status[x], -1, functional).data(), size);
        after[x] = 0;
      }
      add_into(array.data(), boxes_[k].misfit.data(), size);
      if (k == 0 && setting_.compute_runs) {  // the status depends on the node
        for (int node = 0; node < boxes_[k].size; ++node) {
          if (array[node] == kInfinity) continue;
          auto [entry, fresh] = ended.try_emplace(after_boundary(k, after, node));
          if (fresh) entry->second.assign(size, kInfinity);
          entry->second[node] = std::min(entry->second[node], array[node]);
        }
        continue;
      }
      auto [entry, fresh] = ended.try_emplace(after_boundary(k, after, 0));
      if (fresh)
        entry->second = std::move(array);
      else
        min_into(entry->second.data(), array.data(), size);
    }
    if (k + 1 == stages()) {
      for (const auto& [status, array] : ended) {
        const double pending = pending_at_end(status, functional) + functional.constant;
        for (const double value : array) tables.best = std::min(tables.best, value + pending);
      }
      break;
    }
    for (const auto& [status, array] : ended) {
      const double most = limit - functional.constant - still_to_pay(k, status, least);
      std::vector<double> outer;
      for (int node = 0; node < boxes_[k].size; ++node) {
        const int outside = boxes_[k].outside[node];
        if (outside < 0 || !(array[node] < most)) continue;
        if (outer.empty()) outer.assign(static_cast<std::size_t>(boxes_[k + 1].size), kInfinity);
        outer[outside] = std::min(outer[outside], array[node]);
      }
      if (!outer.empty()) tables.before[k + 1].emplace(status, std::move(outer));
    }
    if (tables.before[k + 1].empty()) return tables;
  }
  return tables;
}

double Lattice::pending_at_end(const Status& status, const Functional& functional) const {
  // Nothing outside is left to move the tile: one delivery.
  const int k = stages() - 1;
  std::array<int, kMaxDims> at{};
  unpack(k, final_nodes().front(), at);
  double cost = 0;
  for (int x = 0; x < setting_.problem.tensors; ++x) {
    if (status[x] == 0) continue;
    cost += ChargeTables(setting_, spatial_, axes_, pairs_, pending_pairs(k, x, status[x]), k, x, -1, functional,
                         repetitions(x, status[x]))
                .at(at);
  }
  return cost;
}

void Lattice::nodes_under(int k, int node, std::vector<int>& found) const {
  std::array<int, kMaxDims> at{};
  unpack(k, node, at);
  found.assign(1, 0);
  std::vector<int> next;
  for (int d = 0; d < setting_.problem.dims; ++d) {
    next.clear();
    const std::vector<int>& map = axis(k, d).from_inside;
    for (std::size_t i = 0; i < map.size(); ++i) {
      if (map[i] != at[d]) continue;
      for (const int base : found) next.push_back(base + static_cast<int>(i) * boxes_[k - 1].stride[d]);
    }
    found.swap(next);
  }
}

void Lattice::bounds(int k, int from, int to, std::array<Count, kMaxDims>& bound) const {
  std::array<int, kMaxDims> a{}, b{};
  unpack(k, from, a);
  unpack(k, to, b);
  for (int d = 0; d < setting_.problem.dims; ++d)
    bound[d] = axis(k, d).states[b[d]].tile / axis(k, d).states[a[d]].tile;
}

namespace {

/// Enumerates the starts and orders of one memory for steps_into.
class StepSearch {
 public:
  StepSearch(const Lattice& lattice, const Lattice::StepQuery& query, std::vector<Lattice::Step>& found)
      : lattice_(lattice), p_(lattice.setting().problem), query_(query), found_(found) {
    lattice_.unpack(query_.k, query_.end, last_);
  }

  void run() {
    const int k = query_.k;
    for (const auto& [status, array] : query_.tables[0]->before[static_cast<std::size_t>(k)]) {
      bool complete = true;
      for (std::size_t f = 0; f < query_.tables.size() && complete; ++f) {
        const auto& before = query_.tables[f]->before[static_cast<std::size_t>(k)];
        const auto entry = before.find(status);
        complete = entry != before.end();
        if (complete) arrays_[f] = entry->second.data();
      }
      if (!complete) continue;
      step_.before = status;
      visit(0, 0, 0);
    }
  }

 private:
  using At = std::array<int, kMaxDims>;

  double charge(const At& node, int x, int pending, int slide, int f) {
    const int slot = ((f * kMaxTensors + x) * 128 + pending) * (kMaxDims + 1) + slide + 1;
    auto& cache = *query_.cache;
    const auto at = static_cast<std::size_t>(slot);
    if (cache.size() <= at) cache.resize(at + 1);
    if (!cache[at])
      cache[at] = std::make_unique<ChargeTables>(
          lattice_.charge_tables(query_.k, x, pending, slide, *query_.functionals[static_cast<std::size_t>(f)]));
    return cache[at]->at(node);
  }

  bool slides(int x, int d, const Status& status) const {
    return (p_.sliding[x] >> d & 1U) != 0 && !lattice_.towards_compute(x, status[x]);
  }

  /// What the pending tensors must pay at least between this start and the end: each alone, at its best.
  double least_charge(DimSet active) {
    double total = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      const int pending = step_.before[x];
      if (pending == 0 || (active & p_.coupled[x]) == 0) continue;
      At best = at_;
      for (int d = 0; d < p_.dims; ++d)
        if (!p_.is_coupled(x, d)) best[d] = last_[d];
      double least = charge(best, x, pending, -1, 0);
      for (DimSet rest = active & p_.sliding[x]; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        if (!slides(x, d, step_.before)) continue;
        At slid = best;
        slid[d] = last_[d];
        least = std::min(least, charge(slid, x, pending, d, 0));
      }
      total += least;
    }
    return total;
  }

  void visit(int d, int node, DimSet active) {
    if (d == p_.dims) {
      const double value = arrays_[0][node];
      if (!(value < query_.limit)) return;
      if (query_.worth) {
        for (std::size_t f = 0; f < query_.tables.size(); ++f) values_[f] = arrays_[f][node];
        if (!query_.worth(values_.data())) return;
      }
      if (!(value + least_charge(active) < query_.limit)) return;
      step_.node = node;
      value_ = value;
      for (const std::vector<DimSet>& groups : lattice_.setting().orders[static_cast<std::size_t>(query_.k)]) {
        step_.loops = 0;
        step_.charges.fill(0);
        place(groups, 0, active, step_.before, at_);
      }
      return;
    }
    for (const int i : lattice_.axis(query_.k, d).below[static_cast<std::size_t>(last_[d])]) {
      at_[d] = i;
      visit(d + 1, node + i * lattice_.stride(query_.k, d), i == last_[d] ? active : active | DimSet{1} << d);
    }
  }

  void add_charges(const At& node, int x, int pending, int slide) {
    for (std::size_t f = 0; f < query_.functionals.size(); ++f)
      step_.charges[f] += charge(node, x, pending, slide, static_cast<int>(f));
  }

  void finish(const Status& status, const At& node) {
    const Setting& setting = lattice_.setting();
    const int level = setting.memories[static_cast<std::size_t>(query_.k)];
    const auto charges = step_.charges;
    Status final = status;
    for (int x = 0; x < p_.tensors && setting.within; ++x) {
      if (!(lattice_.keeps()[level] >> x & 1U) || final[x] == 0) continue;
      add_charges(node, x, final[x], -1);
      final[x] = 0;
    }
    step_.after = lattice_.after_boundary(query_.k, final, query_.end);
    // The tables may have charged a tensor that no loop moved here. Follow them: the mapping that comes out costs no
    // more.
    for (int x = 0; query_.follow && query_.after != nullptr && x < p_.tensors; ++x) {
      if (final[x] == 0 || step_.after[x] == (*query_.after)[x]) continue;
      Status charged = final;
      charged[x] = 0;
      const Status after = lattice_.after_boundary(query_.k, charged, query_.end);
      if (after[x] != (*query_.after)[x]) continue;
      add_charges(node, x, final[x], -1);
      final = charged;
      step_.after = after;
    }
    if ((query_.after == nullptr || step_.after == *query_.after) && value_ + step_.charges[0] < query_.limit)
      found_.push_back(step_);
    step_.charges = charges;
  }

  /// One reuse-distinct order after the other for a given start and end.
  void place(const std::vector<DimSet>& groups, std::size_t g, DimSet active, const Status& status, At node) {
    if (!(value_ + step_.charges[0] < query_.limit)) return;
    while (g < groups.size() && (groups[g] & active) == 0) ++g;
    if (active == 0 || g == groups.size()) return finish(status, node);
    const int placed = step_.loops;
    const TensorSet tensors = lattice_.alive(status);
    // Loops that move nothing pending come first: they can only help. (Where displacements are remembered, every order
    // is its own.)
    const bool walks = lattice_.setting().walks;
    for (DimSet rest = walks ? 0 : groups[g] & active; rest != 0; rest &= rest - 1) {
      const int d = std::countr_zero(rest);
      bool moves = false;
      for (int x = 0; x < p_.tensors; ++x) moves |= (tensors >> x & 1U) != 0 && p_.is_coupled(x, d);
      if (moves) continue;
      node[d] = last_[d];
      active &= ~(DimSet{1} << d);
      step_.order[static_cast<std::size_t>(step_.loops++)] = static_cast<std::int8_t>(d);
    }
    if ((groups[g] & active) == 0) {
      place(groups, g + 1, active, status, node);
      step_.loops = placed;
      return;
    }
    std::array<TensorSet, kMaxDims> tried{};
    int tries = 0;
    for (DimSet rest = groups[g] & active; rest != 0; rest &= rest - 1) {
      const int d = std::countr_zero(rest);
      TensorSet killed = 0;
      bool sliding = false;
      for (int x = 0; x < p_.tensors; ++x) {
        if (!(tensors >> x & 1U) || !p_.is_coupled(x, d)) continue;
        killed |= TensorSet{1} << x;
        sliding |= slides(x, d, status);
      }
      if (!sliding && !walks) {
        if (std::find(tried.begin(), tried.begin() + tries, killed) != tried.begin() + tries) continue;
        tried[static_cast<std::size_t>(tries++)] = killed;
      }
      At next = node;
      next[d] = last_[d];
      Status then = status;
      const auto charges = step_.charges;
      for (int x = 0; x < p_.tensors; ++x) {
        if (!(killed >> x & 1U)) continue;
        add_charges(next, x, status[x], slides(x, d, status) ? d : -1);
        then[x] = 0;
      }
      step_.order[static_cast<std::size_t>(step_.loops++)] = static_cast<std::int8_t>(d);
      place(groups, g, active & ~(DimSet{1} << d), then, next);
      --step_.loops;
      step_.charges = charges;
    }
    step_.loops = placed;
  }

  const Lattice& lattice_;
  const Problem& p_;
  const Lattice::StepQuery& query_;
  std::vector<Lattice::Step>& found_;
  std::array<const double*, kMaxFunctionals> arrays_{};
  std::array<double, kMaxFunctionals> values_{};
  Lattice::Step step_;
  double value_ = 0;
  At last_{}, at_{};
};

}  // namespace

ChargeTables Lattice::charge_tables(int k, int tensor, int pending, int slide, const Functional& functional) const {
  return {setting_, spatial_, axes_, pairs_,     pending_pairs(k, tensor, pending),
          k,        tensor,   slide, functional, repetitions(tensor, pending)};
}

bool Lattice::towards_compute(int tensor, int pending) const {
  return pairs_[pairs_of_[tensor][static_cast<std::size_t>(first_pending(pending))]].child == setting_.problem.levels;
}

void Lattice::steps_into(const StepQuery& query, std::vector<Step>& found) const {
  StepSearch(*this, query, found).run();
}

double Lattice::least_of(int tensor, const Functional& functional) const {
  double total = functional.constant_of[tensor];
  const std::vector<double> least = least_by_pair(functional);
  for (const int pair : pairs_of_[tensor]) total += least[pair];
  return total;
}

double Lattice::least(const Functional& functional) const {
  double total = functional.constant;
  for (const double cost : least_by_pair(functional)) total += cost;
  return total;
}

}  // namespace pliant::exact
