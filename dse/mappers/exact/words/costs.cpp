// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/costs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/chain/certain_copies.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

DimSet all_dims(const Problem& problem) { return (only(problem.dims)) - 1; }

}  // namespace

Costs::Costs(const ResolvedTask& resolved, const Spatial& spatial)
    : resolved_(resolved), spatial_(spatial), needed_(resolved, spatial) {
  const Problem& p = resolved_.problem;
  double instances = 1;
  std::array<double, kMaxTensors> copies;
  copies.fill(1);
  for (int l = 0; l <= p.levels; ++l) {
    instances_[l] = instances;
    for (int x = 0; x < p.tensors; ++x) copies_[x][l] = copies[x];
    if (l == p.levels || p.is_memory[l]) continue;
    instances *= open_units(resolved, spatial, only(l));
    for (int d = 0; d < p.dims; ++d) {
      const auto factor = static_cast<double>(spatial_.factor[l][d]);
      if (factor == 1) continue;
      instances *= factor;
      for (int x = 0; x < p.tensors; ++x)
        if (!p.is_coupled(x, d)) copies[x] *= factor;
    }
  }
  count_sums();
  steps_ = least_steps(resolved_.task, p, spatial_);
  if (!resolved_.perfect) count_certain_copies();
}

/// With remainders the units of a dim may be more than its iterations: 24 on 23 columns and 2 rows. No more of them
/// than iterations ever work on a sum, so no more partial sums of it arrive for the first time. (Unless shares of a box
/// are dealt to idle units as well.)
void Costs::count_sums() {
  const Problem& p = resolved_.problem;
  const int x = p.output;
  for (int l = 0; l <= p.levels; ++l) sums_at_most_[l] = copies_[x][l];
  if (resolved_.perfect) return;
  if (deals_boxes(p)) return;
  for (int l = 0; l <= p.levels; ++l) {
    double sums = 1;
    for (const int d : members(all_dims(p) & ~p.coupled[x]))
      sums *= std::min(spatial_between(spatial_, only(d), -1, l), p.size[d]);
    sums_at_most_[l] = at_most<"L3.3">(sums, copies_[x][l]) * open_units(resolved_, spatial_, below(l));
  }
}

void Costs::count_certain_copies() {
  const Problem& p = resolved_.problem;
  std::array<CertainCopies, kMaxDims> certain;
  for (int l = 0; l <= p.levels; ++l) {
    for (int x = 0; x < p.tensors; ++x) {
      certain_copies_[x][l] = 1;
      for (const int d : members(all_dims(p) & ~p.coupled[x])) certain_copies_[x][l] *= certain[d].count();
    }
    if (l == p.levels || p.is_memory[l]) continue;
    for (int d = 0; d < p.dims; ++d)
      if (spatial_.factor[l][d] > 1) certain[d].add(spatial_, l, d);
  }
}

std::pair<double, double> Costs::reduced_between(int parent, int child) const {
  // With a remainder a dim's rounds keep more than half of the units busy on average: s <= left makes the first full.
  const Problem& p = resolved_.problem;
  const DimSet uncoupled = all_dims(p) & ~p.coupled[p.output];
  double many = 1;  // where the fanout does not reduce, every copy's words arrive anyway
  for (int l = parent + 1; l < child; ++l)
    if (!p.is_memory[l] && p.reduction[l]) many *= spatial_between(spatial_, uncoupled, l - 1, l + 1);
  if (resolved_.perfect) return {many, many};
  double few = many;
  for (int l = parent + 1; l < child; ++l) {
    if (p.is_memory[l]) continue;
    for (const int d : members(uncoupled)) {
      if (spatial_.unrolling[l]->rows[d] > 1) few /= 2;
      if (spatial_.unrolling[l]->cols[d] > 1) few /= 2;
    }
  }
  return {at_least<"L3.13">(std::max(1.0, few), 1), many};
}

double Costs::finished_saves(int level) const {
  const Problem& p = resolved_.problem;
  const double most = p.finished_saves[level];
  return at_most<"L3.12">(most > 0 && sums_whole(level) ? most : 0, most);
}

bool Costs::sums_whole(int level) const { return spatial_between(spatial_, resolved_.problem.summing, -1, level) == 1; }

double Costs::network_pj(const KeeperPair& pair) const {
  const Problem& p = resolved_.problem;
  const DimSet uncoupled = all_dims(p) & ~p.coupled[pair.tensor];
  double pj = 0, merged = 1;  // children that share what passes a fanout outside them, at most
  for (int l = pair.child - 1; l > pair.parent; --l) {
    if (p.is_memory[l]) continue;
    pj += p.network_pj[l] / merged;
    if (contains(p.sharing[pair.tensor], l))
      merged *= spatial_between(spatial_, uncoupled, l - 1, l + 1) * open_units(resolved_, spatial_, only(l));
  }
  return at_least<"L3.11">(pj, 0);
}

/// Returns what does not depend on tiles. Towards the compute units every MAC takes its words by itself; operands that
/// stay there arrive at least as often as they are served.
double Costs::charge_networks(const KeeperPair& pair, Weights& w) const {
  const Problem& p = resolved_.problem;
  const double word = network_pj(pair) * p.word_bits[pair.parent];
  const double pj = word * p.element_words[pair.parent][pair.tensor];
  if (pair.child == p.levels) {
    if (resolved_.staying(pair.tensor, pair.parent) == 0) return pj * p.macs;
    w.served += pj;
    return 0;
  }
  w.delivered += pj;
  if (pair.tensor != p.output) return 0;
  w.delivered += pj;  // the way back
  w.first_child -= pj;
  if (sums_whole(pair.child)) w.first_child -= word * p.finished_saves[pair.parent];
  return 0;
}

/// A tile of w words takes shift * w + skew cycles, and there are at least as many tiles as words delivered to a copy
/// over w. Windows that slide deliver fewer words than tiles have; boxes may deliver more, so there nothing is certain
/// but the steps. Where tiles come in behind steps all take their shift, and the steps of the last one come after that.
double Costs::charge_array(const Port& array, const KeeperPair& pair, Weights& w) const {
  const Problem& p = resolved_.problem;
  if (pair.tensor != array.stationary || pair.parent > array.level || pair.child < array.level) return 0;
  if (array.once) return steps_ + array.shift + array.skew;
  if (pair.child == p.levels) {
    double tiles = 1;  // of one word; every iteration in time of a dim that the tensor uses moves it
    for (const int d : members(p.coupled[pair.tensor]))
      tiles *= std::ceil(p.size[d] / spatial_between(spatial_, only(d), -1, p.levels));
    return steps_ + tiles * (array.shift + array.skew);
  }
  const bool boxes = p.conventions.footprint == Conventions::Footprint::kBoundingBox && !p.affine[pair.tensor].empty();
  if (boxes) return steps_ + array.shift + array.skew;
  if (p.prefetches[pair.child]) {
    w.delivered += array.shift / instances_[pair.child];
    return array.skew + p.cycles_per_mac;
  }
  const bool lives = contains(resolved_.rules.memory(pair.child).resident, pair.tensor);  // room beside the tiles
  const double room = lives ? kInfinity : p.capacity[pair.child] / p.element_words[pair.child][pair.tensor];
  const double words = std::max(1.0, std::min(room, p.tensor_words[pair.tensor]));
  w.delivered += at_least<"L11.2">((array.shift + array.skew / words) / instances_[pair.child], 0);
  return steps_;
}

double Costs::first_arrivals(int level) const {
  // Upper bound (exact without windows): the model subtracts first arrivals.
  const Problem& p = resolved_.problem;
  const int x = p.output;
  const bool box = p.conventions.footprint == Conventions::Footprint::kBoundingBox;
  double words = p.simple_words[x] * sums_at_most_[level];
  // Shares of a box go to idle units as well, but more than half of a dim's units work (see CertainCopies).
  for (const int d : members(deals_boxes(p) && !resolved_.perfect ? p.simple[x] : 0))
    if (spatial_between(spatial_, only(d), -1, level) > 1) words *= 2;
  for (const Problem::AffineRank& rank : p.affine[x]) {
    std::array<double, kMaxDims> whole{};
    double instances = 1, points = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      const double split = spatial_between(spatial_, only(d), -1, level);
      whole[d] = p.size[d];
      instances *= split;
      points *= std::ceil(p.size[d] / split);
    }
    // A share of a bounding box may be more than the points in it.
    const double most = extent(p, rank, whole, false);
    words *= instances * (box ? most : std::min(points, most));
  }
  return at_most<"L3.4">(words, 2 * words);
}

double Costs::first_per_sweep_at_compute(const KeeperPair& pair) const {
  const Problem& p = resolved_.problem;
  const int x = pair.tensor;
  double words = p.simple_words[x] * copies_[x][pair.parent];
  for (int d = 0; d < p.dims; ++d)
    if (contains(p.affine_dims[x], d)) words *= p.size[d];
  for (int l = pair.parent + 1; l < p.levels; ++l)
    if (!p.is_memory[l] && !p.reduction[l]) words *= copies_[x][l + 1] / copies_[x][l];
  return words;
}

double Costs::constant(std::span<const KeeperPair> pairs, const Weights* weights) const {
  const Problem& p = resolved_.problem;
  double total = 0;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    const KeeperPair& pair = pairs[j];
    const Weights& w = weights[j];
    const bool to_compute = pair.child == p.levels;
    const bool counted = to_compute && w.served != 0 && resolved_.staying(pair.tensor, pair.parent) == 0;
    const double served = counted ? compute_words(resolved_, spatial_, pair) : 0;
    if (counted) total += w.served * served;
    if (pair.tensor != p.output || (w.first_parent == 0 && w.first_child == 0)) continue;
    const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep;
    if (per_sweep && !to_compute) continue;  // depends on the node: part of the charge
    const double first = per_sweep ? first_per_sweep_at_compute(pair) : first_arrivals(pair.parent);
    // No more than are served, and where more are served than the least these cost no less.
    total += w.first_parent * (counted && w.served + w.first_parent >= 0 ? std::min(first, served) : first);
    if (!to_compute) total += w.first_child * first_arrivals(pair.child);
  }
  return total;
}

/// A sum that begins at the innermost keeper saves its first read there, and what fetching it from the next keeper
/// would cost: one number of sums. All of the saving is written beside the words between the two, for a sum leaves this
/// way.
void Costs::save_where_sums_leave(std::span<const KeeperPair> pairs, Weights* weights) const {
  if (pairs.size() < 2 || !bounds_begun(pairs[1]) || !resolved_.problem.affine[resolved_.problem.output].empty())
    return;
  weights[1].first_child += weights[0].first_parent;
  weights[0].first_parent = 0;
}

/// First arrivals once a sweep are as many as a sweep serves words where windows do not slide. Where displacements are
/// remembered they may slide, and there are more first arrivals than words of a sweep: then any word may be a first
/// one.
void Costs::count_every_word_as_first(std::span<const KeeperPair> pairs, Weights* weights) const {
  const Problem& p = resolved_.problem;
  if (p.conventions.first_time != Conventions::FirstTime::kPerSweep || !contains(resolved_.remembered, p.output))
    return;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    if (pairs[j].tensor != p.output || pairs[j].child == p.levels) continue;
    Weights& w = weights[j];
    w.served = std::max(0.0, w.served + w.first_parent);
    w.delivered = std::max(0.0, w.delivered + w.first_child);
    w.first_parent = w.first_child = 0;
  }
}

/// How many arrivals of outputs with windows are first ones is bounded from above by some F, which may be far more than
/// arrive at all. Never more than the words w that arrive are first ones, so a * w - b * min(F, w), a >= b, is what is
/// charged at least: convex in w, and no less than any line through its kink with a slope between a - b and a. Where
/// the steepest leaves less than nothing for the least words, the one that leaves nothing for them is charged.
double Costs::no_more_firsts_than_words(const KeeperPair& pair, Weights& w) const {
  const Problem& p = resolved_.problem;
  if (!bounds_begun(pair) || p.affine[p.output].empty()) return 0;
  const auto less = [&](double& weight, double& first, double least_words, int level) {
    const double most = first_arrivals(level), flattest = weight + first;
    if (first >= 0 || flattest < 0 || weight * least_words + first * most >= 0) return 0.0;
    const double slope = flattest * most / (most - least_words), before = std::exchange(first, flattest - slope);
    weight = at_least<"L3.6">(slope, 0);
    return (first - before) * most;
  };
  return less(w.served, w.first_parent, needed_.asked_for(pair) * asking_copies(pair, true), pair.parent) +
         less(w.delivered, w.first_child, needed_.of(pair) * busy_copies(pair.tensor, pair.child), pair.child);
}

double Costs::energy(std::span<const KeeperPair> pairs, Weights* weights) const {
  const Problem& p = resolved_.problem;
  std::fill_n(weights, pairs.size(), Weights{});
  double certain = 0;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    const KeeperPair& pair = pairs[j];
    Weights& w = weights[j];
    if (p.networks != 0) certain += charge_networks(pair, w);
    const bool to_memory = pair.child < p.levels;
    const double at_parent = p.element_words[pair.parent][pair.tensor];
    const double at_child = to_memory ? p.element_words[pair.child][pair.tensor] : 0;
    w.served += at_parent * p.read_pj[pair.parent];
    if (to_memory) w.delivered += at_child * p.write_pj[pair.child];
    if (pair.tensor != p.output) continue;
    w.served += at_parent * p.update_pj[pair.parent];
    w.first_parent -= at_parent * p.read_pj[pair.parent] + finished_saves(pair.parent) * p.update_pj[pair.parent];
    if (!to_memory) continue;
    w.first_child -= at_child * p.write_pj[pair.child];
    const double drained = at_child * p.read_pj[pair.child];
    if (p.conventions.drain == Conventions::Drain::kCounted) {
      w.delivered += drained;
      w.first_child -= finished_saves(pair.child) * p.read_pj[pair.child];
    }
    if (p.conventions.drain == Conventions::Drain::kParentWrites) {
      const auto [few, many] = reduced_between(pair.parent, pair.child);
      w.served += few * drained;
      if (j + 1 < pairs.size()) {  // the parent's own fills from further out
        weights[j + 1].delivered += few * drained;
        weights[j + 1].first_child -= many * drained;
      }
    }
  }
  save_where_sums_leave(pairs, weights);
  count_every_word_as_first(pairs, weights);
  return certain + constant(pairs, weights);
}

double Costs::port(const Port& port, std::span<const KeeperPair> pairs, Weights* weights) const {
  const Problem& p = resolved_.problem;
  std::fill_n(weights, pairs.size(), Weights{});
  if (port.stationary >= 0) {
    double certain = 0;
    for (std::size_t j = 0; j < pairs.size(); ++j)
      certain += at_least<"L11.1">(charge_array(port, pairs[j], weights[j]), 0);
    return certain;
  }
  const double rate = 1 / (port.bandwidth * instances_[port.level]);
  const double narrow = finished_saves(port.level) * rate;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    const KeeperPair& pair = pairs[j];
    Weights& w = weights[j];
    const bool output = pair.tensor == p.output;
    const bool reads = contains(port.reads, pair.tensor), writes = contains(port.writes, pair.tensor);
    const double scale = rate * p.element_words[port.level][pair.tensor];
    if (pair.parent == port.level) {
      if (reads) w.served += scale;
      if (reads && output) w.first_parent -= scale;
      if (writes && output) w.served += scale;
      if (writes && output) w.first_parent -= narrow;
    }
    if (pair.child != port.level) continue;
    if (writes) w.delivered += scale;
    if (writes && output) w.first_child -= scale;
    if (!reads || !output) continue;
    if (p.conventions.drain == Conventions::Drain::kCounted) {
      w.delivered += scale;
      w.first_child -= narrow;
    }
    if (p.conventions.drain == Conventions::Drain::kParentWrites) {
      const auto [few, many] = reduced_between(pair.parent, pair.child);
      w.served += few * scale;
      if (j + 1 < pairs.size()) {
        weights[j + 1].delivered += few * scale;
        weights[j + 1].first_child -= many * scale;
      }
    }
  }
  save_where_sums_leave(pairs, weights);
  count_every_word_as_first(pairs, weights);
  return constant(pairs, weights);
}

Costs::Delivery Costs::delivery(const KeeperPair& pair, const Weights& w) const {
  // With remainders not every round keeps all copies busy.
  const int x = pair.tensor;
  if (pair.child == resolved_.problem.levels) return {staying(pair, w, resolved_.perfect), 0, 0};
  const Problem& p = resolved_.problem;
  const double served = needed_.asked_for(pair) * w.served, delivered = needed_.of(pair) * w.delivered;
  // Where first arrivals are those of one sweep, every unit more brings some of its own: one more is certain.
  const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep && x == p.output;
  if (!resolved_.perfect && per_sweep) return {served + delivered, 0, 0};
  if (!resolved_.perfect) return {0, served, delivered};
  return {served * asking_copies(pair, false) + delivered * copies_[x][pair.child], 0, 0};
}

double Costs::least(const KeeperPair& pair, const Weights& w) const {
  const Problem& p = resolved_.problem;
  const int x = pair.tensor;
  if (pair.child == p.levels) return staying(pair, w, true);
  const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep && x == p.output;
  const double served = w.served + (per_sweep ? w.first_parent : 0);
  const double delivered = w.delivered + (per_sweep ? w.first_child : 0);
  const double cost =
      needed_.asked_for(pair) * served * asking_copies(pair, served >= 0) +
      needed_.of(pair) * delivered * (delivered < 0 ? copies_[x][pair.child] : busy_copies(x, pair.child));
  return at_least<"L3.1">(cost, std::min(0.0, cost));
}

double Costs::asking_copies(const KeeperPair& pair, bool certain) const {
  const Problem& p = resolved_.problem;
  const int x = pair.tensor;
  const bool fewest = certain;
  certain &= !resolved_.perfect;
  const double parents = (certain ? certain_copies_ : copies_)[x][pair.parent];
  const std::uint32_t unshared = p.fanouts & below(pair.child) & ~below(pair.parent) & ~p.sharing[x];
  if (unshared == 0) return parents;
  double copies = 1;
  for (const int d : members(all_dims(p) & ~p.coupled[x])) {
    CertainCopies asking;
    double all = 1;
    for (const int l : members((p.fanouts & below(pair.parent)) | unshared)) {
      asking.add(spatial_, l, d);
      all *= static_cast<double>(spatial_.factor[l][d]);
    }
    copies *= certain ? asking.count() : all;
  }
  return fewest ? at_least<"L3.10">(copies, parents) : copies;
}

double cost_of_begun(double weight, double first, double most, double words) {
  return at_least<"L3.5">(std::min(weight, -first) * std::max(0.0, most - words), 0);
}

bool Costs::bounds_begun(const KeeperPair& pair) const {
  const Problem& p = resolved_.problem;
  return pair.tensor == p.output && pair.child < p.levels && (!resolved_.perfect || !p.affine[p.output].empty()) &&
         p.conventions.first_time != Conventions::FirstTime::kPerSweep;
}

double Costs::begun(const KeeperPair& pair, const Weights& w) const {
  if (!bounds_begun(pair)) return 0;
  return cost_of_begun(w.served, w.first_parent, first_arrivals(pair.parent),
                       needed_.asked_for(pair) * asking_copies(pair, true)) +
         cost_of_begun(w.delivered, w.first_child, first_arrivals(pair.child),
                       needed_.of(pair) * busy_copies(pair.tensor, pair.child));
}

double Costs::staying(const KeeperPair& pair, const Weights& w, bool all_copies) const {
  // Operands that stay can stay through all loops that do not move them, no longer.
  const Problem& p = resolved_.problem;
  const int x = pair.tensor;
  const DimSet stays = resolved_.staying(x, pair.parent);
  if (stays == 0) return 0;
  double cost = w.served * compute_words(resolved_, spatial_, pair, stays);
  for (const int d : members(all_copies ? stays : 0)) {
    CertainCopies served;
    double all = 1;
    for (int l = 0; l < p.levels; ++l) {
      const bool shared = l > pair.parent && (x == p.output ? p.reduction[l] : p.multicast[l]);
      if (p.is_memory[l] || spatial_.factor[l][d] == 1 || shared) continue;
      served.add(spatial_, l, d);
      all *= static_cast<double>(spatial_.factor[l][d]);
    }
    cost *= resolved_.perfect ? all : served.count();
  }
  return at_least<"L3.14">(cost, 0);
}

}  // namespace pliant::exact
