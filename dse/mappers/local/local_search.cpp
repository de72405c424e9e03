// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/local/local_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/arithmetic.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/random_draws.h"

namespace pliant {

namespace {

constexpr int kStartDraws = 200'000;  ///< random draws, when the plain start is not legal
constexpr int kStartLegal = 8;        ///< ... of which so many legal ones are compared

std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

Allocation::Allocation(const Space& space) : space_(space), nest_(space.problem), classes_(space) {
  for (int l = 0; l < space.levels; ++l) {
    if (space.problem.is_memory[l]) {
      places_.push_back({l, false, Side::kRows, 0});
      continue;
    }
    places_.push_back({l, true, Side::kRows, 0});
    places_.push_back({l, true, Side::kCols, 0});
  }
  for (int d = 0; d < space.dims; ++d) {
    for (const auto& [prime, exponent] : prime_factors(space.task.layer.dims[static_cast<std::size_t>(d)].size))
      primes_[d].push_back(prime);
    outermost_[d] = -1;
    for (const Slot& slot : space.slots(d)) {
      for (std::size_t p = 0; p < places_.size(); ++p) {
        LoopPlace& place = places_[p];
        if (place.level != slot.level || (place.spatial && place.side != slot.side)) continue;
        place.allowed |= DimSet{1} << d;
        if (outermost_[d] < 0) outermost_[d] = static_cast<int>(p);
      }
    }
    chain_[d].size = space.task.layer.dims[static_cast<std::size_t>(d)].size;
    candidate_.chain[d] = &chain_[d];
  }
}

void Allocation::load() {
  hash_ = 0;
  for (int d = 0; d < space_.dims; ++d) {
    refresh(d);
    for (std::size_t p = 0; p < places_.size(); ++p) hash_ += stamp(d, static_cast<int>(p), bound_[d][p]);
  }
  for (const int l : space_.memories) hash_ += stamp_of_keeps(l, candidate_.keeps[l]);
  keeps_changed_ = true;
}

void Allocation::restore(const Saved& saved) {
  bound_ = saved.bound;
  candidate_.keeps = saved.keeps;
  load();
}

bool Allocation::take_parallelism(const Saved& other) {
  const auto before = bound_;
  for (const bool keep_tiles : {true, false}) {
    for (int d = 0; d < space_.dims; ++d) {
      Count left = chain_[d].size;
      bool same = true;
      for (std::size_t p = 0; p < places_.size(); ++p) {
        if (!places_[p].spatial) continue;
        same &= before[d][p] == other.bound[d][p];
        bound_[d][p] = other.bound[d][p];
        left /= other.bound[d][p];
      }
      for (std::size_t p = places_.size(); p-- > 0;) {
        if (places_[p].spatial) continue;
        bound_[d][p] = keep_tiles || same ? std::gcd(before[d][p], left) : 1;
        left /= bound_[d][p];
      }
      if (left > 1) bound_[d][static_cast<std::size_t>(outermost_[d])] *= left;
    }
    load();
    if (legal()) return true;
  }
  return false;
}

bool Allocation::start(std::uint64_t seed) {
  for (int d = 0; d < space_.dims; ++d)
    if (outermost_[d] < 0 && chain_[d].size > 1) return false;
  // Orders must be known to the nest before bounds are.
  for (const int l : space_.memories) {
    candidate_.keeps[l] = space_.keep_sets(l).back();
    OrderClasses::Order plain{};
    for (int d = 0; d < space_.dims; ++d) plain[static_cast<std::size_t>(d)] = static_cast<std::uint8_t>(d);
    nest_.set_order(l, plain.data());
  }
  for (int d = 0; d < space_.dims; ++d) {
    bound_[d].fill(1);
    if (outermost_[d] >= 0) bound_[d][static_cast<std::size_t>(outermost_[d])] = chain_[d].size;
  }
  load();
  return legal() || start_at_random(seed);
}

bool Allocation::start_at_random(std::uint64_t seed) {
  Sampler sampler(space_);
  if (sampler.empty()) return false;
  std::mt19937_64 random = random_stream(seed, 0);
  double best = kInfinity;
  Saved best_start = save();
  for (int draws = 0, legal_ones = 0; draws < kStartDraws && legal_ones < kStartLegal; ++draws) {
    if (!sampler.draw(random)) continue;
    const Candidate& drawn = sampler.candidate();
    bool perfect = true;
    for (int d = 0; d < space_.dims; ++d) {
      Count product = 1;
      for (int l = 0; l < space_.levels; ++l) product *= drawn.chain[d]->bound[l];
      perfect &= product == chain_[d].size;
    }
    if (!perfect) continue;
    ++legal_ones;
    for (int d = 0; d < space_.dims; ++d)
      for (std::size_t p = 0; p < places_.size(); ++p) {
        const LoopPlace& place = places_[p];
        const Chain& chain = *drawn.chain[d];
        bound_[d][p] = !place.spatial ? chain.bound[place.level]
                                      : (place.side == Side::kRows ? chain.rows : chain.cols)[place.level];
      }
    candidate_.keeps = drawn.keeps;
    load();
    const double here = price(kInfinity, 0, 1);
    if (here < best) {
      best = here;
      best_start = save();
    }
  }
  restore(best_start);
  return legal();
}

std::uint64_t Allocation::stamp(int dim, int place, Count bound) {
  return scramble(static_cast<std::uint64_t>(bound) * 0x9E3779B97F4A7C15ULL +
                  static_cast<std::uint64_t>(dim * kMaxPlaces + place + 1));
}

std::uint64_t Allocation::stamp_of_keeps(int level, TensorSet keeps) {
  return scramble(0xFEED0000ULL + static_cast<std::uint64_t>(level) * 64 + keeps);
}

void Allocation::refresh(int dim) {
  Chain& chain = chain_[dim];
  chain.bound.fill(1);
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const LoopPlace& place = places_[p];
    chain.bound[place.level] *= bound_[dim][p];
    if (place.spatial) (place.side == Side::kRows ? chain.rows : chain.cols)[place.level] = bound_[dim][p];
  }
  Count tile = 1;
  for (int l = space_.levels - 1; l >= 0; --l) chain.tile[l] = tile *= chain.bound[l];
  stale_ |= DimSet{1} << dim;
}

std::uint64_t Allocation::hash_after(const Move& move) const {
  if (move.dim < 0) {
    const TensorSet keeps = space_.keep_sets(move.from)[static_cast<std::size_t>(move.to)];
    return hash_ - stamp_of_keeps(move.from, candidate_.keeps[move.from]) + stamp_of_keeps(move.from, keeps);
  }
  const int d = move.dim;
  const Count from = bound_[d][static_cast<std::size_t>(move.from)], to = bound_[d][static_cast<std::size_t>(move.to)];
  return hash_ - stamp(d, move.from, from) - stamp(d, move.to, to) + stamp(d, move.from, from / move.factor) +
         stamp(d, move.to, to * move.factor);
}

void Allocation::apply(const Move& move) {
  hash_ = hash_after(move);
  if (move.dim < 0) {
    candidate_.keeps[move.from] = space_.keep_sets(move.from)[static_cast<std::size_t>(move.to)];
    keeps_changed_ = true;
    return;
  }
  const int d = move.dim;
  bound_[d][static_cast<std::size_t>(move.from)] /= move.factor;
  bound_[d][static_cast<std::size_t>(move.to)] *= move.factor;
  refresh(d);
}

Move Allocation::inverse(const Move& move) const {
  if (move.dim >= 0) return {move.dim, move.to, move.from, move.factor};
  const std::vector<TensorSet>& sets = space_.keep_sets(move.from);
  const auto now = std::find(sets.begin(), sets.end(), candidate_.keeps[move.from]) - sets.begin();
  return {-1, move.from, static_cast<std::int8_t>(now), 1};
}

bool Allocation::legal() const {
  if (!space_.fanouts_allowed(candidate_, space_.dims)) return false;
  for (const int l : space_.memories)
    if (!space_.memory_allowed(l, candidate_, candidate_.keeps[l])) return false;
  for (int d = 0; d < space_.dims; ++d)
    if (!space_.tiles_allowed(d, chain_[d])) return false;
  return true;
}

double Allocation::value(const Totals& totals, double exponent) {
  ++evaluations_;
  const double objective = task_value(space_.task, totals);
  if (!found_ || better(objective, totals, best_value_, best_totals_)) {
    found_ = true;
    best_value_ = objective;
    best_totals_ = totals;
    for (const int l : space_.memories) candidate_.order[l] = *set_order_[l];
    best_ = space_.mapping(candidate_);
  }
  // Share of the units at work while none waits for data.
  const double share = totals.utilization * (totals.cycles / totals.steps);
  return exponent == 1 ? objective / share : objective * std::pow(share, -exponent);
}

double Allocation::price(double worth, double worth_steps, double exponent) {
  for (; stale_ != 0; stale_ &= stale_ - 1) {
    const int d = std::countr_zero(stale_);
    nest_.set_bounds(d, chain_[d].bound.data());
  }
  if (keeps_changed_) {
    for (const int l : space_.memories) nest_.set_keeps(l, candidate_.keeps[l]);
    keeps_changed_ = false;
  }
  bool choice = false;
  for (const int l : space_.memories) {
    OrderClasses::Choices& choices = classes_.of(l, space_.loops_at(l, candidate_));
    if (choices.orders.empty()) return kInfinity;
    choices_[l] = &choices;
    choice |= choices.orders.size() > 1;
    const OrderClasses::Order* order = &choices.orders[choices.best];
    if (set_order_[l] == order) continue;
    set_order_[l] = order;
    nest_.set_order(l, order->data());
  }
  ++counts_.allocations;
  counts_.memories += space_.memories.size();
  for (const int l : space_.memories) counts_.orders += choices_[l]->orders.size();
  const Totals totals = nest_.price();
  steps_ = totals.steps;
  const double as_before = value(totals, exponent);
  return !choice || (as_before > worth && steps_ > worth_steps) ? as_before : try_orders(as_before, exponent);
}

double Allocation::try_orders(double as_before, double exponent) {
  double best = as_before;
  // Level by level from the inside: a run of loops that leave a tile in place starts there. What one level chose may
  // open a better choice to another, so the pass is repeated while it brings something.
  int open = 0;
  for (const int l : space_.memories) open += choices_[l]->orders.size() > 1;
  int settled = 0;  // levels in a row whose choice stood
  while (settled < open) {
    for (auto at = space_.memories.rbegin(); at != space_.memories.rend(); ++at) {
      const int l = *at;
      OrderClasses::Choices& choices = *choices_[l];
      if (choices.orders.size() == 1 || settled == open) continue;
      const std::size_t before = choices.best;
      for (std::size_t i = 0; i < choices.orders.size(); ++i) {
        if (i == before) continue;  // priced already
        set_order_[l] = &choices.orders[i];
        nest_.set_order(l, set_order_[l]->data());
        if (const double here = value(nest_.price(), exponent); here < best) {
          best = here;
          choices.best = i;
        }
      }
      // Its own choice needs no second look until another level's has changed.
      settled = choices.best == before ? settled + 1 : 1;
      set_order_[l] = &choices.orders[choices.best];
      nest_.set_order(l, set_order_[l]->data());
    }
  }
  return best;
}

}  // namespace pliant
