// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/decided_words.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// Calls visit(chosen) for every combination of keepers, until it says that this is enough.
template <class Visit>
bool for_each_combination(const DecidedWords::Known& keepers, int tensors, DecidedWords::Chosen& chosen,
                          const Visit& visit, int x = 0) {
  if (x == tensors) return visit(chosen);
  for (int i = 0; i < keepers[x].count; ++i) {
    chosen[x] = keepers[x].by[i];
    if (!for_each_combination(keepers, tensors, chosen, visit, x + 1)) return false;
  }
  return true;
}

}  // namespace

DecidedWords::DecidedWords(const ResolvedTask& resolved, const ChoiceBounds& bounds)
    : resolved_(resolved), p_(resolved.problem), bounds_(bounds) {
  used_.fill(1);
  // Otherwise any part of a sum may be its first.
  plain_ = p_.affine[p_.output].empty() && p_.conventions.first_time == Conventions::FirstTime::kDistinctElements;
  drains_ = p_.conventions.drain == Conventions::Drain::kCounted;
  outermost_ = bounds.patterns_of(p_.output).front().pairs.back().parent;  // of every pattern: what may keep them must
  for (int x = 0; x < p_.tensors; ++x)
    for (int d = 0; d < p_.dims; ++d)
      if (!p_.is_coupled(x, d)) served_by_[d] |= only(x);
  for (int x = 0; x < p_.tensors; ++x) {
    serving_[x] = ((only(p_.dims)) - 1) & ~p_.coupled[x];
    for (int d = 0; d < p_.dims; ++d) using_word_[x][d] = p_.size[d];
    DimSet met = 0;
    for (const Problem::AffineRank& rank : p_.windows[x]) {
      const DimSet dims = dims_of(rank);
      int largest = std::countr_zero(dims);
      for (const int d : members(dims))
        if (p_.size[d] > p_.size[largest]) largest = d;
      for (int i = 0; i < rank.terms; ++i)
        if (rank.terms == 2)
          using_word_[x][rank.dim[i]] =
              std::min(using_word_[x][rank.dim[i]], std::ceil(p_.size[rank.dim[i]] / rank.reduced[1 - i]));
      // Ranks that share dims are not told apart by them.
      serving_[x] |= (met & dims) == 0 ? dims & ~(only(largest)) : dims & ~met;
      met |= dims;
    }
  }
  for (int l = 0; l < p_.levels; ++l) {
    if (p_.is_memory[l]) continue;
    open_[l] = (only(p_.dims)) - 1;
    units_[l] = resolved_.rules.fanout(l).units();
  }
}

void DecidedWords::decide(int l, int d, Count rows, Count cols) {
  factor_[l][d] = {rows, cols, true};
  open_[l] &= ~(only(d));
  if (rows * cols == 1) return;
  split_[l] |= only(d);
  used_[l] *= rows * cols;
}

void DecidedWords::decide_factor(int l, int d, Count factor) {
  decide(l, d, factor, 1);
  factor_[l][d].split = resolved_.perfect;
}

void DecidedWords::reopen(int l, int d) {
  open_[l] |= only(d);
  if (!contains(split_[l], d)) return;
  split_[l] &= ~only(d);
  used_[l] /= factor_[l][d].rows * factor_[l][d].cols;
  factor_[l][d] = {};
}

double DecidedWords::left(int l) const { return static_cast<double>(std::max<Count>(1, units_[l] / used_[l])); }

double DecidedWords::units_along(int d, std::uint32_t fanouts) const {
  double units = 1;
  for (const int l : members(fanouts)) units *= static_cast<double>(factor_[l][d].rows * factor_[l][d].cols);
  return units;
}

/// Units that share a word because their windows are equal, at most. Where a_i units stand along each dim i of a rank,
/// their windows begin at no fewer than 1 + sum of (a_i - 1) different places.
double DecidedWords::sharing_windows(int x, const std::array<double, kMaxDims>& units) const {
  double sharing = 1;
  for (const Problem::AffineRank& rank : p_.windows[x]) {
    double all = 1, places = 1;
    for (const int d : members(dims_of(rank))) {
      const double here = std::min(units[d], p_.size[d]);
      all *= here;
      places += here - 1;
    }
    sharing *= at_most<"L16.3">(all / places, all);
  }
  return sharing;
}

DecidedWords::Copies DecidedWords::copies_of(int x) const {
  const DimSet all = (only(p_.dims)) - 1, uncoupled = all & ~p_.coupled[x];
  const bool output = x == p_.output;
  Copies copies;
  // From the outside in: copies, dim by dim.
  struct {
    double outermost = 1, rest = 1;  // as CertainCopies has them
  } certain[kMaxDims];
  std::array<double, kMaxDims> most{};
  most.fill(1);
  double working = 1, begun = 1, open = 1;
  DimSet split = 0;  // at any fanout so far
  for (int l = 0; l <= p_.levels; ++l) {
    copies.working[l] = at_least<"L16.1">(working, 1);
    copies.begun[l] = at_most<"L16.4">(begun * open, 2 * begun * open);
    if (l == p_.levels || p_.is_memory[l]) continue;
    for (const int d : members(uncoupled & split_[l])) {
      const Side& side = factor_[l][d];
      if (!side.split && certain[d].outermost == 1)
        certain[d].outermost = at_least<"L16.13">(static_cast<double>(side.rows / 2 + 1), 1);
      else
        for (const Count bound : {side.rows, side.cols})
          (certain[d].outermost == 1 ? certain[d].outermost : certain[d].rest) *= static_cast<double>(bound);
      most[d] *= static_cast<double>(side.rows * side.cols);
    }
    if ((uncoupled & open_[l]) != 0) open *= left(l);
    split |= uncoupled & split_[l];
    working = begun = 1;
    for (const int d : members(split)) {
      const auto& [outermost, inside] = certain[d];
      working *= resolved_.perfect ? outermost * inside : inside == 1 ? outermost : (outermost - 1) * inside + 1;
      begun *= std::min(most[d], p_.size[d]);
    }
  }
  // From the inside out: units that share a word. What they are changes at fanouts only.
  double sharing = 1, more = 1, equal = 1, served = 1, using_it = 1;
  std::array<double, kMaxDims> units{}, decided{};
  units.fill(1);
  decided.fill(1);
  split = 0;
  copies.sharing[p_.levels] = copies.served[p_.levels] = copies.serving[p_.levels] = copies.open[p_.levels] = 1;
  for (int l = p_.levels - 1; l >= 0; --l) {
    copies.sharing[l] = sharing * equal;
    copies.served[l] = at_most<"L16.2">(served, sharing) * equal;
    copies.serving[l] = served * using_it;
    copies.open[l] = more;
    if (p_.is_memory[l]) continue;
    const DimSet shares = (output ? p_.reduction[l] : p_.multicast[l]) ? uncoupled : 0;
    split |= (shares | p_.affine_dims[x]) & split_[l];
    for (const int d : members((shares | p_.affine_dims[x]) & split_[l])) {
      const auto here = static_cast<double>(factor_[l][d].rows * factor_[l][d].cols);
      units[d] *= here;
      decided[d] *= here;
      if (!contains(p_.affine_dims[x], d)) sharing *= here;
    }
    for (const int d : members(p_.affine_dims[x] & open_[l])) units[d] *= left(l);
    split |= p_.affine_dims[x] & open_[l];
    if ((shares & open_[l]) != 0) more *= left(l);
    equal = sharing_windows(x, units);
    served = using_it = 1;
    for (const int d : members(uncoupled & split))
      served *= units[d] == 1 ? 1 : p_.size[d] / std::ceil(p_.size[d] / units[d]);
    for (const int d : members(serving_[x] & p_.affine_dims[x] & split))
      using_it *= std::min(using_word_[x][d], decided[d]);
  }
  return copies;
}

/// Of a word on its way to the children of a pair, at least.
double DecidedWords::network_energy(const KeeperPair& pair, const Copies& copies) const {
  double pj = 0;
  const double below = copies.sharing[pair.child] * copies.open[pair.child];
  for (int l = pair.child - 1; l > pair.parent; --l)
    if (!p_.is_memory[l]) pj += p_.network_pj[l] * below / (copies.sharing[l] * copies.open[l]);
  return pj * p_.word_bits[pair.parent] * bounds_.least_words(pair.tensor, pair.parent);
}

DecidedWords::Parts DecidedWords::energy(const ChoiceBounds::Pattern& pattern, const Copies& copies) const {
  const int x = pattern.tensor;
  const bool output = x == p_.output;
  const double words = p_.tensor_words[x];
  Parts parts;
  parts.words.keeper = pattern.pairs.front().parent;
  double& fixed = parts.words.fixed;
  for (const KeeperPair& pair : pattern.pairs) {
    const int parent = pair.parent, child = pair.child;
    const double arrive = words * copies.working[child], asked = words * copies.working[parent];
    const double element = p_.element_words[parent][x], read = p_.read_pj[parent], update = p_.update_pj[parent];
    // What a word costs at the parent, and what is saved where a sum begins or ends. A sum that begins there also
    // leaves, and is read for it; only results are narrower, of each element one.
    const bool leaves = sure<"L16.8">(drains_ && parent != outermost_);
    const double word = element * (output ? update + read : read);
    const double begins = output && !leaves ? element * read : 0;
    const double narrower = output ? p_.finished_saves[parent] * (leaves ? update + read : update) : 0;
    const double sums = words * copies.begun[parent];
    const auto served_cost = [&](double served) {
      return plain_ ? word * served - begins * std::min(served, sums) - narrower * words
                    : (word - begins - narrower) * served;
    };
    if (child == p_.levels) {
      const bool stays = resolved_.compute_runs;
      const double macs = stays ? 0 : p_.macs;
      if (p_.networks != 0 && !stays) fixed += p_.macs * network_energy(pair, copies);
      const double once = plain_ && !stays ? begins * sums + narrower * words : 0;
      parts.all += served_cost(std::max(asked, macs / copies.served[parent] / copies.open[parent])) + once;
      parts.words.unshared = (plain_ ? word : word - begins - narrower) * macs;
      parts.words.per_sharing = parts.words.unshared / copies.served[parent];
      parts.words.per_serving = parts.words.unshared / copies.serving[parent];
      fixed -= once;
      continue;
    }
    if (p_.networks != 0) fixed += arrive * network_energy(pair, copies);
    if (!output) fixed += arrive * p_.element_words[child][x] * p_.write_pj[child];
    fixed += served_cost(asked);
  }
  parts.all += fixed;
  return parts;
}

DecidedWords::Combination DecidedWords::combination(const Chosen& chosen, std::uint32_t last) const {
  Combination all;
  all.chosen = chosen;
  int innermost = 0;
  for (int x = 0; x < p_.tensors; ++x) innermost = std::max(innermost, chosen[x].keeper);
  const std::uint32_t others = p_.fanouts & ~last;
  DimSet open = 0;
  for (int l = innermost; l < p_.levels; ++l) {
    if (!contains(others, l) || open_[l] == 0) continue;
    all.units *= left(l);
    open |= open_[l];
  }
  for (int x = 0; x < p_.tensors; ++x) {
    const int keeper = chosen[x].keeper;
    Combination::Words& words = all.words[x];
    all.fixed += chosen[x].fixed;
    words.cost = chosen[x].per_sharing;
    if (last >> keeper != 0) {
      const bool alone = only_inside(last, keeper);
      if (alone) words.cost = chosen[x].unshared;
      words.share = alone ? Combination::Words::Share::kAlone : Combination::Words::Share::kBeside;
    }
    for (int l = keeper; l < innermost; ++l)
      if (contains(others, l) && open_[l] != 0) words.cost /= left(l);
    if (chosen[x].unshared > 0) words.per_cost = p_.macs / (chosen[x].unshared * all.units);
  }
  if (all.units <= 1 || p_.tensors > 3) return all;
  for (TensorSet set = 3; set < only(p_.tensors); ++set) {
    const int size = std::popcount(set);
    if (size < 2) continue;
    int most = 0;
    for (const int d : members(open)) most = std::max(most, std::popcount(static_cast<TensorSet>(served_by_[d] & set)));
    // A factor for all of them serves none at the cost of another.
    if (most == size) continue;
    const double shared = size == 2 ? (most == 0 ? 1 : std::sqrt(all.units))
                                    : (most == 0   ? 1
                                       : most == 1 ? std::cbrt(all.units)
                                                   : std::cbrt(all.units * all.units));
    all.sets[static_cast<std::size_t>(all.competing++)] = {set, size, shared};
  }
  return all;
}

/// With s units for each word of tensor x and factors f along the open dims, s_x is the product of the factors that
/// serve x, and the product of all of them at most U. For any set T of tensors
///   sum over T of b_x / s_x >= |T| * (product of b_x)^(1 / |T|) / U^e
/// where a factor serves at most e |T| tensors of T; and the others cost at least b_x / U each.
/// What the last fanouts share is known where they are given.
DecidedWords::Least DecidedWords::together(const Combination& all, const Sharing* last) const {
  using Share = Combination::Words::Share;
  double alone = 0;
  std::array<double, kMaxTensors> cost{}, words{};
  for (int x = 0; x < p_.tensors; ++x) {
    const Combination::Words& of = all.words[x];
    cost[x] = of.share == Share::kNothing ? of.cost
              : of.share == Share::kAlone ? of.cost / last->alone[x]
                                          : of.cost / last->beside[x];
    alone += cost[x] / all.units;
    words[x] = of.per_cost * cost[x];
  }
  double best = alone;
  for (int i = 0; i < all.competing; ++i) {
    const Combination::Competing& set = all.sets[static_cast<std::size_t>(i)];
    double product = 1, rest = alone;
    for (const int x : members(set.tensors)) {
      product *= cost[x];
      rest -= cost[x] / all.units;
    }
    const double mean = set.size == 2 ? std::sqrt(product) : std::cbrt(product);
    best = std::max(best, std::max(0.0, rest) + set.size * mean / set.shared);
  }
  return {all.fixed + at_least<"L16.5">(best, alone), port_cycles(all.chosen, words)};
}

/// Of the words that leave the innermost keepers for the MACs. Instances are no more than units outside.
double DecidedWords::port_cycles(const Chosen& chosen, const std::array<double, kMaxTensors>& words) const {
  double cycles = 0;
  for (const Port& port : p_.ports) {
    if (port.stationary >= 0) continue;
    const int level = port.level;
    double load = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      if (chosen[x].keeper != level || words[x] == 0) continue;
      const bool reads = contains(port.reads, x), writes = contains(port.writes, x);
      const double all = p_.element_words[level][x] * words[x];
      if (x != p_.output) {
        load += reads ? all : 0;
        continue;
      }
      // As with energy: what is read back, and once more where the sum leaves.
      const double narrower = p_.finished_saves[level] * (plain_ ? p_.tensor_words[x] : words[x]);
      if (writes) load += std::max(0.0, all - narrower);
      if (reads && plain_ && drains_ && level != outermost_) load += std::max(0.0, all - narrower);
    }
    if (load == 0) continue;
    double instances = 1;
    for (int l = 0; l < level; ++l)
      if (!p_.is_memory[l]) instances *= static_cast<double>(used_[l]) * (open_[l] != 0 ? left(l) : 1);
    cycles = std::max(cycles, load / (port.bandwidth * instances));
  }
  return at_least<"L16.6">(cycles, 0);
}

DecidedWords::Known DecidedWords::keepers() const {
  Known all;
  for (int x = 0; x < p_.tensors; ++x) {
    const Copies copies = copies_of(x);
    auto& [by, count, least] = all[x];
    least = kInfinity;
    for (const ChoiceBounds::Pattern& pattern : bounds_.patterns_of(x)) {
      const Parts parts = energy(pattern, copies);
      least = std::min(least, parts.all);
      int i = 0;
      while (i < count && by[i].keeper != parts.words.keeper) ++i;
      if (i == count) by[count++] = parts.words;
      by[i].fixed = std::min(by[i].fixed, parts.words.fixed);
    }
  }
  return all;
}

/// Each tensor by itself.
double DecidedWords::apart(const Known& keepers) const {
  double energy = 0;
  for (int x = 0; x < p_.tensors; ++x) energy += std::max(bounds_.floor_of(x), keepers[x].least);
  return energy;
}

/// The objective, of energy besides that of the MACs.
double DecidedWords::value_of(double energy, double cycles, double steps) const {
  return bounds_.value((p_.macs * p_.mac_pj + energy) * (1 - kRoundingOfFloors),
                       std::max(steps, cycles * (1 - kRoundingOfFloors)), steps);
}

void DecidedWords::combine(const Known& keepers, std::uint32_t last, Combinations& combinations) const {
  combinations.last = last;
  combinations.apart = apart(keepers);
  combinations.all.clear();
  Chosen all{};
  for_each_combination(keepers, p_.tensors, all, [&](const Chosen& chosen) {
    combinations.all.push_back(combination(chosen, last));
    return true;
  });
}

double DecidedWords::least_energy(const Combinations& combinations) const {
  double least = kInfinity;
  for (const Combination& one : combinations.all) least = std::min(least, together(one, nullptr).energy);
  return p_.macs * p_.mac_pj + std::max(combinations.apart, least);
}

double DecidedWords::least(const Combinations& combinations, double steps, const Sharing* last, double enough) const {
  double least = kInfinity;
  for (const Combination& one : combinations.all) {
    const auto [energy, cycles] = together(one, last);
    least = std::min(least, value_of(std::max(combinations.apart, energy), cycles, steps));
    if (least < enough) return 0;
  }
  return least;
}

double DecidedWords::least(const Known& keepers, double steps, double enough) const {
  const double each = apart(keepers), known = value_of(each, 0, steps);
  if (known >= enough) return known;
  double least = kInfinity;
  Chosen all{};
  for_each_combination(keepers, p_.tensors, all, [&](const Chosen& chosen) {
    const auto [energy, cycles] = together(combination(chosen, 0), nullptr);
    least = std::min(least, value_of(std::max(each, energy), cycles, steps));
    return least >= enough;
  });
  return least >= enough ? least : known;
}

}  // namespace pliant::exact
