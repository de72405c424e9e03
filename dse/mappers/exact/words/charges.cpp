// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/charges.h"

#include <algorithm>
#include <bit>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

constexpr double kAboveAll = 1e300;

}  // namespace

ChargeTables::ChargeTables(const ChargePlace& place, const std::vector<KeeperPair>& pairs,
                           const std::vector<int>& pending, const Functional& functional, double repetitions) {
  const Problem& p = place.resolved.problem;
  dims_ = p.dims;
  uncoupled_ = ((only(p.dims)) - 1) & ~p.coupled[place.tensor];
  affine_ = p.affine_dims[place.tensor];
  for (int d = 0; d < p.dims; ++d) left_[d] = {std::shared_ptr<void>(), &place.axis(d).left};  // the task has it
  for (const int index : pending) {
    const KeeperPair& pair = pairs[index];
    const Weights& weights = functional.weights[index];
    if (place.tensor == p.output && contains(p.finished_only, pair.parent)) forbid_unfinished(place, pair);
    if (weights.served == 0 && weights.delivered == 0 && weights.first_parent == 0 && weights.first_child == 0)
      continue;
    if (pair.child == p.levels)
      add_towards_compute(place, pair, weights, repetitions);
    else
      add_between_memories(place, pair, weights);
  }
}

std::shared_ptr<const RankTable> ChargeTables::windows(const ChargePlace& place, const KeeperPair& pair,
                                                       const Problem::AffineRank& rank) {
  std::array<std::int8_t, 6> key{};
  std::ranges::transform(std::array{place.memory, place.tensor, place.slide, pair.parent, pair.child,
                                    static_cast<int>(&rank - place.resolved.problem.affine[place.tensor].data())},
                         key.begin(), [](int number) { return static_cast<std::int8_t>(number); });
  for (const auto& [asked, table] : place.known)
    if (asked == key) return table;
  place.known.emplace_back(key, place.resolved.known_charges.get().windows(place, pair, rank));
  counted_ += place.known.back().second->counted;
  return place.known.back().second;
}

ChargeTables::Fanouts ChargeTables::fanouts_of(const ChargePlace& place, const KeeperPair& pair) {
  const Problem& p = place.resolved.problem;
  const int level = place.level();
  Fanouts found;
  for (int l = std::min(pair.parent, level) + 1; l < pair.child; ++l) {
    if (p.is_memory[l]) continue;
    const std::uint32_t bit = std::uint32_t{1} << l;
    const bool shares = l > pair.parent && (place.tensor == p.output ? p.reduction[l] : p.multicast[l]);
    if (l > level) found.inside |= bit;
    if (l > level && !shares) found.counted_inside |= bit;
    if (l < level && shares) found.shared_outside |= bit;
    if (l > pair.parent && !shares) found.unshared |= bit;
  }
  return found;
}

// ---- Memories that take no partial sums ----

/// Loops and units that are left over dims that sum bring outputs before they are finished, unless the units send
/// theirs through a network that adds them up. What is left beyond the units outside the node is left for loops.
void ChargeTables::forbid_unfinished(const ChargePlace& place, const KeeperPair& pair) {
  const Problem& p = place.resolved.problem;
  for (const int d : members(p.summing)) {
    const DimSet dim = only(d);
    const bool windows = p.is_coupled(p.output, d);
    bool added_up = spatial_between(place.spatial, dim, -1, pair.parent) == 1;
    for (int l = pair.parent + 1; l < pair.child; ++l)
      added_up &= (!windows && p.reduction[l]) || spatial_between(place.spatial, dim, l - 1, l + 1) == 1;
    if (pair.child == p.levels) added_up &= spatial_between(place.spatial, dim, -1, p.levels) >= p.size[d];
    const double units = windows ? 1 : spatial_between(place.spatial, dim, -1, place.level());
    std::vector<double>& forbidden = forbidden_[d];
    forbidden.resize(left_[d]->size());
    for (std::size_t s = 0; s < forbidden.size(); ++s)
      if (sure<"L5.19">(!added_up || (*left_[d])[s] > units)) forbidden[s] = kInfinity;
  }
}

// ---- Perfect factors ----

/// served = elements * iterations left * copies inside the node that no fanout serves together / copies outside it that
/// one does; delivered = elements * iterations left * copies inside the node. Equal: with perfect factors every loop
/// has all its rounds, so the iterations of a dim outside a node are the product of its loops and of its units there.
ChargeTables::Words ChargeTables::perfect_words(const ChargePlace& place, const Fanouts& fanouts) const {
  const double elements = place.resolved.problem.simple_words[place.tensor];
  Words words{elements, elements};
  for (int l = 0; l < place.resolved.problem.levels; ++l) {
    const double units = spatial_between(place.spatial, uncoupled_, l - 1, l + 1);
    if (contains(fanouts.counted_inside, l)) words.served *= units;
    if (contains(fanouts.shared_outside, l)) words.served /= units;
    if (contains(fanouts.inside, l)) words.delivered *= units;
  }
  return {at_least<"L5.1">(words.served, 0), at_least<"L5.1">(words.delivered, 0)};
}

// ---- Remainders ----

/// repeats >= the fewest iterations that any chain of loops to the node leaves for the loops and fanouts that count,
/// because the chain of the mapping is one of them (chain/iterations.h). Fanouts outside the node are served as one
/// or each for itself, fanouts inside it count or do not.
std::size_t ChargeTables::fewest_repeats(const ChargePlace& place, std::uint32_t shared_outside,
                                         std::uint32_t counted_inside) {
  Repeats fewest = left_;
  for (const int d : members(uncoupled_)) {
    bool spread = false;
    for (int l = 0; l < place.resolved.problem.levels; ++l)
      spread |= contains(shared_outside | counted_inside, l) && place.spatial.factor[l][d] > 1;
    if (spread) fewest[d] = place.resolved.known_charges.get().iterations(place, d, shared_outside, counted_inside);
  }
  return add_repeats(std::move(fewest));
}

/// repeats >= size of the dim * units that count / tile: what is counted covers the dim, and each iteration covers at
/// most a tile of every unit that shares it. For operands that stay at the compute units, whose last repetitions may be
/// missing.
std::size_t ChargeTables::covering_repeats(const ChargePlace& place, const Fanouts& fanouts) {
  Repeats covered = left_;
  for (const int d : members(uncoupled_)) {
    double units = 1;
    for (int l = 0; l < place.resolved.problem.levels; ++l) {
      if (contains(fanouts.counted_inside, l)) units *= static_cast<double>(place.spatial.factor[l][d]);
      if (contains(fanouts.shared_outside, l)) units /= static_cast<double>(place.spatial.factor[l][d]);
    }
    auto enough = std::make_shared<std::vector<double>>();
    for (const Axis::State& state : place.states(d))
      enough->push_back(at_least<"L5.4">(units * place.resolved.problem.size[d] / static_cast<double>(state.tile), 0));
    covered[d] = std::move(enough);
  }
  return add_repeats(std::move(covered));
}

// ---- Transfers ----

/// Every step asks the innermost keeper anew, unless operands may stay (quickflow): then as often as the loops outside
/// the innermost memory and its own repetitions say. No tile of a child, so no windows but those that units share.
void ChargeTables::add_towards_compute(const ChargePlace& place, const KeeperPair& pair, const Weights& weights,
                                       double repetitions) {
  const ResolvedTask& resolved = place.resolved;
  const Problem& p = resolved.problem;
  if (place.memory == 0) {  // loops of the innermost memory count in full
    constant_ += weights.served * compute_words(resolved, place.spatial, pair);
    return;
  }
  const Fanouts fanouts = fanouts_of(place, pair);
  double served = p.simple_words[place.tensor];
  std::size_t repeats = 0;
  if (resolved.perfect)
    served = perfect_words(place, fanouts).served;
  else if (repetitions > 1)
    repeats = covering_repeats(place, fanouts);
  else if (weights.served != 0)
    repeats = fewest_repeats(place, fanouts.shared_outside, fanouts.counted_inside);
  for (const int d : members(affine_)) served *= p.size[d];
  add({weights.served * served * repetitions * window_sharing(resolved, place.spatial, pair), repeats});
}

void ChargeTables::add_between_memories(const ChargePlace& place, const KeeperPair& pair, const Weights& weights) {
  const Problem& p = place.resolved.problem;
  const int level = place.level();
  const double elements = p.simple_words[place.tensor];
  const Fanouts fanouts = fanouts_of(place, pair);
  const Words words = place.resolved.perfect ? perfect_words(place, fanouts) : Words{elements, elements};
  Product served{words.served}, delivered{words.delivered, 0, false};
  if (!place.resolved.perfect) {
    if (weights.served != 0) served.repeats = fewest_repeats(place, fanouts.shared_outside, fanouts.counted_inside);
    if (weights.delivered != 0) delivered.repeats = fewest_repeats(place, 0, fanouts.inside);
  }
  Product first_served{0, kOnce}, first_delivered{0, kOnce, false};
  if (p.conventions.first_time == Conventions::FirstTime::kPerSweep && place.tensor == p.output) {
    // One first arrival for every copy in every sweep. These are subtracted, and idle copies make them fewer.
    double parents = spatial_between(place.spatial, uncoupled_, -1, pair.parent);
    for (int l = 0; l < p.levels; ++l)
      if (contains(fanouts.unshared, l)) parents *= spatial_between(place.spatial, uncoupled_, l - 1, l + 1);
    first_served.weight = weights.first_parent * (elements * parents);
    first_delivered.weight =
        weights.first_child * (elements * spatial_between(place.spatial, uncoupled_, -1, pair.child));
  }
  // Copies along the dims of windows: those of the parent serve, those of the child get.
  Ranks ranks;
  for (const Problem::AffineRank& rank : p.affine[place.tensor]) ranks.push_back(windows(place, pair, rank));
  const double parents = pair.parent > level ? spatial_between(place.spatial, affine_, level, pair.parent) : 1;
  const double children = spatial_between(place.spatial, affine_, level, pair.child);
  for (Product* product : {&served, &delivered, &first_served, &first_delivered}) {
    product->weight *= product->served ? parents : children;
    product->served |= std::ranges::all_of(ranks, [](const auto& rank) { return rank->alike; });
    product->ranks = ranks;
  }
  if (place.costs.bounds_begun(pair)) {
    add_begun(weights.served, weights.first_parent, place.costs.first_arrivals(pair.parent), served);
    add_begun(weights.delivered, weights.first_child, place.costs.first_arrivals(pair.child), delivered);
  }
  served.weight *= weights.served;
  delivered.weight *= weights.delivered;
  for (Product* product : {&served, &delivered, &first_served, &first_delivered}) add(std::move(*product));
}

std::size_t ChargeTables::add_repeats(Repeats repeats) {
  const auto same = [&](const Repeats& other) {
    for (int d = 0; d < dims_; ++d)
      if (repeats[d] != other[d] && *repeats[d] != *other[d]) return false;
    return true;
  };
  if (same(left_)) return 0;
  const auto known = std::find_if(fewer_.begin(), fewer_.end(), same);
  const auto number = static_cast<std::size_t>(known - fewer_.begin()) + 1;
  if (known == fewer_.end()) fewer_.push_back(std::move(repeats));
  return number;
}

/// words served >= sums that begin at the parent, words delivered >= sums that begin at the child, because each of
/// these sums is one of the words. The constant of a functional saves as many as can ever begin. Where fewer words are
/// certain, either fewer begin or there are more words: what costs less is added.
void ChargeTables::add_begun(double weight, double first, double most, const Product& words) {
  if (weight > 0 && first < 0) begun_.push_back({weight, first, most, words});
}

void ChargeTables::add(Product product) {
  if (product.weight == 0) return;
  if (product.ranks.empty() && product.repeats == kOnce) {
    constant_ += product.weight;
    return;
  }
  for (Product& other : products_)
    if (other.repeats == product.repeats && other.served == product.served && other.ranks == product.ranks) {
      other.weight += product.weight;
      return;
    }
  products_.push_back(std::move(product));
}

double ChargeTables::repeated(std::size_t number, const std::array<int, kMaxDims>& node) const {
  const Repeats& all = repeats(number);
  double product = 1;
  for (const int d : members(uncoupled_)) {
    product *= (*all[d])[static_cast<std::size_t>(node[d])];
  }
  return product;
}

double ChargeTables::at(const Product& product, double left, const std::array<int, kMaxDims>& node) const {
  double words = product.weight;
  if (product.repeats != kOnce) words *= product.repeats == 0 ? left : repeated(product.repeats, node);
  for (const auto& rank : product.ranks) {
    int cell = 0;
    for (int d = 0; d < dims_; ++d) cell += node[d] * rank->stride[d];
    words *= product.words(*rank)[static_cast<std::size_t>(cell)];
  }
  return words;
}

double ChargeTables::at(const std::array<int, kMaxDims>& node) const {
  for (int d = 0; d < dims_; ++d)
    if (!forbidden_[d].empty() && forbidden_[d][static_cast<std::size_t>(node[d])] > 0) return kInfinity;
  const double left = repeated(0, node);
  double total = constant_;
  for (const Product& product : products_) total += at(product, left, node);
  for (const Begun& sums : begun_)
    total += cost_of_begun(sums.weight, sums.first, sums.most, at(sums.words, left, node));
  return total;
}

double ChargeTables::least(const std::array<std::vector<int>, kMaxDims>& states) const {
  // States of a dim that no table tells apart count once.
  std::array<std::vector<int>, kMaxDims> different;
  for (int d = 0; d < dims_; ++d) {
    for (const int state : states[d]) {
      bool fresh = true;
      for (const int other : different[d]) {
        bool alike = !contains(affine_, d) &&
                     (forbidden_[d].empty() ||
                      forbidden_[d][static_cast<std::size_t>(state)] == forbidden_[d][static_cast<std::size_t>(other)]);
        for (std::size_t number = 0; number <= fewer_.size() && contains(uncoupled_, d); ++number)
          alike &= (*repeats(number)[d])[static_cast<std::size_t>(state)] ==
                   (*repeats(number)[d])[static_cast<std::size_t>(other)];
        fresh &= !alike;
      }
      if (fresh) different[d].push_back(state);
    }
  }
  double best = kAboveAll;
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

std::vector<Factor> ChargeTables::factors(const Product& product) const {
  std::vector<Factor> found;
  for (const int d : members(product.repeats == kOnce ? 0 : uncoupled_)) {
    const std::vector<double>& values = *repeats(product.repeats)[d];
    if (values.size() == 1 && values[0] == 1) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = values.data();
    found.push_back(factor);
  }
  for (const auto& rank : product.ranks) found.push_back({rank->stride, product.words(*rank).data()});
  return found;
}

void ChargeTables::fill(std::span<const int> dims, std::span<const int> extent_by_dim, std::span<double> values) const {
  const auto add = [&](const Product& product, std::span<double> sums) {
    add_product(dims, extent_by_dim, product.weight, factors(product), sums.data());
  };
  std::fill(values.begin(), values.end(), constant_);
  for (const Product& product : products_) add(product, values);
  std::vector<double> words(begun_.empty() ? 0 : values.size());
  for (const Begun& sums : begun_) {
    std::fill(words.begin(), words.end(), 0);
    add(sums.words, words);
    for (std::size_t node = 0; node < values.size(); ++node)
      values[node] += cost_of_begun(sums.weight, sums.first, sums.most, words[node]);
  }
  for (int d = 0; d < dims_; ++d) {
    if (forbidden_[d].empty()) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = forbidden_[d].data();
    add_product(dims, extent_by_dim, 1, {&factor, 1}, values.data());
  }
}

}  // namespace pliant::exact
