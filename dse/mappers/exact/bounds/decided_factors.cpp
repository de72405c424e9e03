// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/decided_factors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

namespace {

/// What tables take, energy, and what a combination shares, in combinations looked at.
constexpr std::uint64_t kLooksOfTables = 256, kLooksOfEnergy = 4, kLooksOfSharing = 32;

/// Time is looked at every so many.
constexpr std::uint32_t kBetweenLooksAtTime = 4'096;

/// A frontier of more than so many takes longer than it saves.
constexpr std::size_t kMostOfFrontier = 512;

double rounds(double size, double units) { return std::ceil(size / units); }
double apart(double size, double units) { return 1 / std::min(size, units); }

}  // namespace

DecidedFactors::DecidedFactors(const ResolvedTask& resolved, const ChoiceBounds& bounds, SearchLimits& limits)
    : resolved_(resolved), p_(resolved.problem), bounds_(bounds), limits_(limits), words_(resolved, bounds) {}

bool DecidedFactors::last_is_open() const {
  for (const int l : members(last_.fanouts))
    if (std::popcount(words_.open(l)) < p_.dims) return false;
  return true;
}

/// Steps, where the last fanouts have no unit but one and others that are open keep all of theirs busy.
double DecidedFactors::iterations() const {
  double steps = p_.cycles_per_mac;
  for (int d = 0; d < p_.dims; ++d) steps *= rounds(p_.size[d], words_.units_along(d, p_.fanouts));
  for (const int l : members(p_.fanouts & ~last_.fanouts))
    if (words_.open(l) != 0) steps /= words_.left(l);
  return at_least<"L16.7">(steps, p_.busy_cycles);
}

const DecidedWords::Combinations& DecidedFactors::combine(std::uint32_t last) const {
  words_.combine(words_.keepers(), last, combinations_);
  return combinations_;
}

/// combine(last_.fanouts) was called.
DecidedFactors::Sharing DecidedFactors::sharing(const Factors& factors, double steps) const {
  Sharing all{{}, {}, 1, 0};
  std::array<double, kMaxDims> units{}, served{};
  for (int d = 0; d < p_.dims; ++d) {
    all.units *= units[d] = factors[d];
    served[d] = units[d] == 1 ? 1 : p_.size[d] / rounds(p_.size[d], units[d]);
    const double others = last_.others[d];
    steps /= others == 1 ? served[d] : rounds(p_.size[d], others) / rounds(p_.size[d], others * units[d]);
  }
  for (int x = 0; x < p_.tensors; ++x) {
    all.beside[x] = 1;
    all.alone[x] = words_.sharing_windows(x, units);
    if ((p_.sharing[x] & last_.fanouts) == 0) continue;
    for (int d = 0; d < p_.dims; ++d) {
      if (p_.is_coupled(x, d)) continue;
      all.beside[x] *= units[d];
      all.alone[x] *= served[d];
    }
  }
  all.floor = at_least<"L16.10">(words_.least(combinations_, steps * (1 - kRoundingOfFloors), &all), 0);
  return all;
}

/// Those that cost less than what is enough, the least first.
void DecidedFactors::list_last(double enough) {
  const NetworkUnrollings& all = *last_.network;
  const double energy = words_.least_energy(combine(0)), steps = iterations();
  combine(last_.fanouts);
  std::vector<std::pair<Sharing, std::uint32_t>> listed;
  for (std::uint32_t i = 0; i < all.size(); ++i, ++looked_) {
    if (i % kBetweenLooksAtTime == 0 && limits_.expired()) break;
    double units = 1;
    for (int d = 0; d < p_.dims; ++d) units *= all.factors(i)[d];
    double floor = bounds_.floor(energy, steps / units * (1 - kRoundingOfFloors));
    if (floor < enough) {
      const Sharing here = sharing(all.factors(i), steps);
      floor = here.floor;
      looked_ += kLooksOfSharing;
      if (floor < enough) listed.emplace_back(here, i);
    }
    if (floor >= enough) last_.beyond = std::min(last_.beyond, floor);
  }
  // Those that are missing, or follow.
  if (limits_.expired() || !all.complete())
    last_.beyond = std::min(last_.beyond, bounds_.floor(energy, p_.busy_cycles));
  std::ranges::sort(listed, {}, [](const auto& one) { return std::pair(one.first.floor, one.second); });
  for (const auto& [sharing, i] : listed) {
    last_.sharing.push_back(sharing);
    last_.number.push_back(i);
  }
  for (int d = 0; d < p_.dims; ++d) {
    std::vector<Count>& distinct = last_.factors[d];
    for (const std::uint32_t i : last_.number) distinct.push_back(all.factors(i)[d]);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const std::uint32_t i : last_.number) {
      const auto place = std::lower_bound(distinct.begin(), distinct.end(), Count{all.factors(i)[d]});
      last_.at[d].push_back(static_cast<std::uint16_t>(place - distinct.begin()));
    }
  }
}

/// Of these, the least floors first. What shares no more than another one of them, by no more units, costs no less.
void DecidedFactors::find_frontier(std::size_t below) {
  last_.frontier.clear();
  const auto no_more = [&](const Sharing& a, const Sharing& b) {
    bool all = a.units <= b.units;
    for (int x = 0; all && x < p_.tensors; ++x) all = a.alone[x] <= b.alone[x] && a.beside[x] <= b.beside[x];
    return sure<"L16.9">(all);
  };
  bool whole = true;
  for (std::size_t i = 0; i < below && whole; ++i) {
    whole = last_.frontier.size() < length(kMostOfFrontier, 2) && (i % kBetweenLooksAtTime != 0 || !limits_.expired());
    const Sharing& one = last_.sharing[i];
    if (std::ranges::none_of(last_.frontier, [&](const Sharing& other) { return no_more(one, other); }))
      last_.frontier.push_back(one);
  }
  last_.has_frontier = whole;
  looked_ += below;
}

PartialFloor::Last DecidedFactors::decide_last(std::shared_ptr<const NetworkUnrollings> network, double enough) {
  if (network != last_.network) {
    last_ = {};
    last_.network = std::move(network);
    for (const int l : last_.network->levels()) last_.fanouts |= only(l);
    for (int d = 0; d < p_.dims; ++d) last_.others[d] = words_.units_along(d, p_.fanouts);
    list_last(enough);
  }
  const auto below = static_cast<std::size_t>(std::ranges::lower_bound(last_.sharing, enough, {}, &Sharing::floor) -
                                              last_.sharing.begin());
  find_frontier(below);
  bool exact = true;
  for (int x = 0; x < p_.tensors; ++x)
    for (const ChoiceBounds::Pattern& pattern : bounds_.patterns_of(x))
      exact &= words_.only_inside(last_.fanouts, pattern.pairs.front().parent);
  return {std::min(last_.beyond, below < last_.sharing.size() ? last_.sharing[below].floor : kInfinity), exact};
}

double DecidedFactors::least(double steps, double enough) const {
  if (!last_.has_frontier || !last_is_open()) return words_.least(combine(0), steps, nullptr, enough);
  combine(last_.fanouts);
  const double all = iterations();
  const auto least_with = [&](const Sharing& last) {
    looked_ += kLooksOfEnergy * combinations_.all.size();
    const double by_units = std::max(steps, all / last.units * (1 - kRoundingOfFloors));
    return std::max(last.floor, words_.least(combinations_, by_units, &last, enough));
  };
  // What was good enough before is likely to be so again.
  if (below_before_ < last_.frontier.size() && least_with(last_.frontier[below_before_]) < enough) return 0;
  double best = kInfinity;
  for (std::size_t i = 0; i < last_.frontier.size(); ++i) {
    const Sharing& last = last_.frontier[i];
    if (last.floor >= best) break;
    best = std::min(best, least_with(last));
    if (best >= enough) continue;
    below_before_ = i;
    return 0;
  }
  return best;
}

void DecidedFactors::multiply(Product& product, DimSet dims, int outside, std::uint32_t fanouts,
                              const std::array<double, kMaxDims>& sizes, double (*measure)(double size, double units)) {
  if ((fanouts & last_.fanouts) == 0) return;
  for (const int d : members(dims)) {
    if (last_.factors[d].empty() || last_.factors[d].back() == 1) continue;
    const double units = words_.units_along(d, fanouts >> (outside + 1) << (outside + 1));
    const double alone = measure(sizes[d], units);
    product.tables[product.dims++] = {last_.at[d].data(), values_.data() + values_.size()};
    for (const Count factor : last_.factors[d])
      values_.push_back(measure(sizes[d], units * static_cast<double>(factor)) / alone);
  }
}

void DecidedFactors::find_moved(int x, const DecidedWords::Keepers& keepers) {
  moved_[x].clear();
  for (int i = 0; i < keepers.count; ++i) {
    const DecidedWords::ByKeeper& one = keepers.by[i];
    Moved& moved = moved_[x].emplace_back();
    moved.fixed = one.fixed;
    moved.unshared = 0;
    if (last_.fanouts >> one.keeper == 0) {
      moved.words.of_decided = one.per_sharing;
    } else if (words_.only_inside(last_.fanouts, one.keeper)) {
      moved.unshared = one.unshared;
      moved.words.of_decided = 0;
    } else {
      const DimSet windows = words_.serving(x) & p_.affine_dims[x];
      moved.words.of_decided = one.per_serving;
      multiply(moved.words, words_.serving(x) & ~windows, one.keeper, p_.fanouts & p_.sharing[x], p_.size, rounds);
      multiply(moved.words, windows, one.keeper, p_.fanouts, words_.using_word(x), apart);
    }
  }
}

PartialFloor::Others DecidedFactors::least_of_each(double limit, double most_steps, std::vector<Found>& found) {
  found.clear();
  // No table may move while others are made.
  std::size_t values = 0;
  for (const std::vector<Count>& factors : last_.factors) values += factors.size();
  values_.clear();
  values_.reserve((1 + static_cast<std::size_t>(p_.tensors * p_.levels)) * values);
  Product steps_of;
  steps_of.of_decided = iterations();
  multiply(steps_of, (only(p_.dims)) - 1, -1, p_.fanouts, p_.size, rounds);
  const Known known = words_.keepers();
  for (int x = 0; x < p_.tensors; ++x) find_moved(x, known[x]);
  looked_ += kLooksOfTables;
  // Ports, where every tensor has one keeper, just outside the last fanouts.
  DecidedWords::Chosen chosen{};
  std::array<double, kMaxTensors> served{};
  bool only_keeper = !p_.ports.empty() && !resolved_.compute_runs;
  for (int x = 0; x < p_.tensors; ++x) {
    chosen[x] = known[x].by[0];
    only_keeper &= known[x].count == 1 && words_.only_inside(last_.fanouts, chosen[x].keeper);
  }
  Others others;
  for (std::size_t u = 0; u < last_.sharing.size(); ++u, ++looked_) {
    const Sharing& last = last_.sharing[u];
    if (last.floor >= limit) {
      others.floor = std::min(others.floor, last.floor);  // and those that follow
      break;
    }
    const double steps = steps_of.of(u) * (1 - kRoundingOfFloors);
    if (steps > most_steps) {
      others.slow = std::min(others.slow, steps);
      continue;
    }
    double energy = p_.macs * p_.mac_pj;
    for (int x = 0; x < p_.tensors; ++x) {
      double least = kInfinity;
      for (const Moved& one : moved_[x])
        least = std::min(least, one.fixed + one.unshared / last.alone[x] + one.words.of(u));
      energy += std::max(bounds_.floor_of(x), least);
      served[x] = only_keeper ? p_.macs / last.alone[x] : 0;
    }
    const double cycles = only_keeper ? words_.port_cycles(chosen, served) * (1 - kRoundingOfFloors) : 0;
    const double here = bounds_.value(energy * (1 - kRoundingOfFloors), std::max(steps, cycles), steps);
    const double floor = std::max(last.floor, at_least<"L16.11">(here, 0));
    if (floor < limit)
      found.push_back({floor, last_.network->unrollings(last_.number[u])});
    else
      others.floor = std::min(others.floor, floor);
  }
  others.floor = at_least<"L16.12">(others.floor, 0);
  return others;
}

}  // namespace pliant::exact
