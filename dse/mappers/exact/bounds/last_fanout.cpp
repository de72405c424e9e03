// SPDX-License-Identifier: Apache-2.0
// The innermost fanouts, with no memory between them, are decided last and together: only the products of their factors
// count. What each combination of factors shares is known before anything else is decided. So there is a floor for it,
// and a frontier of those that share the most, of which one is as good as whatever the last fanouts will be.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "dse/mappers/exact/bounds/decided_factors.h"

namespace pliant::exact {

namespace {

/// Rounding must not make floors more than they are.
constexpr double kRoundingOfProducts = 1e-9;

/// What tables take, energy, and what a combination shares, in combinations looked at.
constexpr std::uint64_t kLooksOfTables = 256, kLooksOfEnergy = 4, kLooksOfSharing = 32;

/// Time is looked at every so many.
constexpr std::uint32_t kBetweenLooksAtTime = 4'096;

/// Combinations of fanouts that are looked at together.
constexpr std::size_t kMostTogether = 4'000'000;

/// A frontier of more than so many takes longer than it saves.
constexpr std::size_t kMostOfFrontier = 512;

std::array<Count, kMaxDims> ones() {
  std::array<Count, kMaxDims> all{};
  all.fill(1);
  return all;
}
double rounds(double size, double units) { return std::ceil(size / units); }
double apart(double size, double units) { return 1 / std::min(size, units); }

}  // namespace

bool DecidedFactors::last_is_open() const {
  for (std::uint32_t rest = last_.fanouts; rest != 0; rest &= rest - 1)
    if (const int l = std::countr_zero(rest); std::popcount(open_[l]) < p_.dims) return false;
  return true;
}

/// Units along a dim that are decided.
double DecidedFactors::units_along(int d) const {
  double units = 1;
  for (int l = 0; l < p_.levels; ++l) units *= static_cast<double>(factor_[l][d].rows * factor_[l][d].cols);
  return units;
}

/// Steps, where the last fanouts have no unit but one and others that are open keep all of theirs busy.
double DecidedFactors::iterations() const {
  double steps = p_.cycles_per_mac;
  for (int d = 0; d < p_.dims; ++d) steps *= rounds(p_.size[d], units_along(d));
  for (std::uint32_t rest = p_.fanouts & ~last_.fanouts; rest != 0; rest &= rest - 1)
    if (const int l = std::countr_zero(rest); open_[l] != 0) steps /= left(l);
  return steps;
}

DecidedFactors::Sharing DecidedFactors::sharing(const Factors& factors, const std::array<Keepers, kMaxTensors>& known,
                                                double steps) const {
  Sharing all{{}, {}, 1, 0};
  std::array<double, kMaxDims> units{}, served{};
  for (int d = 0; d < p_.dims; ++d) {
    all.units *= units[d] = static_cast<double>(factors[d]);
    served[d] = units[d] == 1 ? 1 : p_.size[d] / rounds(p_.size[d], units[d]);
    const double others = last_.others[d];
    steps /= others == 1 ? served[d] : rounds(p_.size[d], others) / rounds(p_.size[d], others * units[d]);
  }
  for (int x = 0; x < p_.tensors; ++x) {
    all.beside[x] = 1;
    all.alone[x] = sharing_windows(x, units);
    if ((p_.sharing[x] & last_.fanouts) == 0) continue;
    for (int d = 0; d < p_.dims; ++d) {
      if (p_.is_coupled(x, d)) continue;
      all.beside[x] *= units[d];
      all.alone[x] *= served[d];
    }
  }
  all.floor = least(known, steps * (1 - kRoundingOfProducts), &all);
  return all;
}

/// Combinations of the unrollings of the last fanouts, those with equal factors as one of a list.
class DecidedFactors::Combinations {
 public:
  Combinations(const Last& last, int dims) : dims_(dims) {
    for (const auto& list : last.lists) {
      std::map<Factors, std::vector<std::uint32_t>> by_factors;
      for (std::uint32_t i = 0; i < list->size(); ++i) {
        Factors factors = ones();
        for (int d = 0; d < dims; ++d) factors[d] = (*list)[i].factor(d);
        by_factors[factors].push_back(i);
      }
      lists_.emplace_back(by_factors.begin(), by_factors.end());
      count_ *= static_cast<std::uint32_t>(lists_.back().size());
    }
  }
  std::uint32_t count() const { return count_; }
  Factors factors(std::uint32_t number) const {
    Factors all = ones();
    for (const auto& list : lists_) {
      for (int d = 0; d < dims_; ++d) all[d] *= list[number % list.size()].first[d];
      number /= static_cast<std::uint32_t>(list.size());
    }
    return all;
  }
  /// Adds one unrolling of each list, and again.
  void unrollings(std::uint32_t number, std::vector<std::uint32_t>& all) const {
    std::vector<const std::vector<std::uint32_t>*> alike;
    std::size_t ways = 1;
    for (const auto& list : lists_) {
      alike.push_back(&list[number % list.size()].second);
      ways *= alike.back()->size();
      number /= static_cast<std::uint32_t>(list.size());
    }
    for (std::size_t i = 0; i < ways; ++i) {
      std::size_t rest = i;
      for (const auto* list : alike) {
        all.push_back((*list)[rest % list->size()]);
        rest /= list->size();
      }
    }
  }

 private:
  const int dims_;
  std::vector<std::vector<std::pair<Factors, std::vector<std::uint32_t>>>> lists_;
  std::uint32_t count_ = 1;
};

/// Of those that cost less than what is enough, the least first.
std::vector<std::pair<double, std::uint32_t>> DecidedFactors::floors_of(const Combinations& all, double enough) {
  const std::array<Keepers, kMaxTensors> known = keepers();
  const double energy = least_energy(), steps = iterations();
  std::vector<std::pair<double, std::uint32_t>> floors;
  for (std::uint32_t i = 0; i < all.count(); ++i, ++looked_) {
    if (i % kBetweenLooksAtTime == 0 && limits_.expired()) {
      last_.beyond = std::min(last_.beyond, bounds_.floor(energy, p_.busy_cycles));  // of those that follow
      break;
    }
    const Factors factors = all.factors(i);
    bool fits = true;
    double units = 1;
    for (int d = 0; d < p_.dims; ++d) {
      fits &= !resolved_.perfect || resolved_.task.layer.dims[d].size % factors[d] == 0;
      units *= static_cast<double>(factors[d]);
    }
    if (!fits) continue;
    double floor = bounds_.floor(energy, steps / units * (1 - kRoundingOfProducts));
    if (floor < enough) {
      floor = sharing(factors, known, steps).floor;
      looked_ += kLooksOfSharing;
    }
    if (floor < enough)
      floors.emplace_back(floor, i);
    else
      last_.beyond = std::min(last_.beyond, floor);
  }
  std::sort(floors.begin(), floors.end());
  return floors;
}

void DecidedFactors::list_last(double enough) {
  const Combinations all(last_, p_.dims);
  const std::array<Keepers, kMaxTensors> known = keepers();
  const double steps = iterations();
  const std::vector<std::pair<double, std::uint32_t>> floors = floors_of(all, enough);
  std::vector<Factors> listed;
  for (std::size_t i = 0, next = 0; i < floors.size(); i = next) {
    // Those with equal factors have equal floors.
    std::map<Factors, std::vector<std::uint32_t>> alike;
    for (; next < floors.size() && floors[next].first == floors[i].first; ++next)
      alike[all.factors(floors[next].second)].push_back(floors[next].second);
    for (const auto& [factors, numbers] : alike) {
      listed.push_back(factors);
      last_.sharing.push_back(sharing(factors, known, steps));
      last_.first.push_back(static_cast<std::uint32_t>(last_.unrollings.size()));
      for (const std::uint32_t number : numbers) all.unrollings(number, last_.unrollings);
    }
  }
  last_.first.push_back(static_cast<std::uint32_t>(last_.unrollings.size()));
  for (int d = 0; d < p_.dims; ++d) {
    std::vector<Count>& distinct = last_.factors[d];
    for (const Factors& factors : listed) distinct.push_back(factors[d]);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const Factors& factors : listed) {
      const auto place = std::lower_bound(distinct.begin(), distinct.end(), factors[d]);
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
    return all;
  };
  bool whole = true;
  for (std::size_t i = 0; i < below && whole; ++i) {
    whole = last_.frontier.size() < kMostOfFrontier && (i % kBetweenLooksAtTime != 0 || !limits_.expired());
    const Sharing& one = last_.sharing[i];
    if (std::ranges::none_of(last_.frontier, [&](const Sharing& other) { return no_more(one, other); }))
      last_.frontier.push_back(one);
  }
  last_.has_frontier = whole;
  looked_ += below;
}

PartialFloor::Last DecidedFactors::choose_last(const std::vector<ListedFanout>& fanouts, double limit, double enough) {
  // As many as act alike and have not too many combinations.
  std::size_t count = 1, combinations = fanouts[0].all->size();
  const auto alike = [&](int a, int b) {
    bool same = p_.gap[a] == p_.gap[b];
    for (int x = 0; x < p_.tensors; ++x) same &= ((p_.sharing[x] >> a ^ p_.sharing[x] >> b) & 1U) == 0;
    return same;
  };
  while (count < fanouts.size() && alike(fanouts[0].level, fanouts[count].level) &&
         combinations * fanouts[count].all->size() <= kMostTogether)
    combinations *= fanouts[count++].all->size();
  std::vector<std::shared_ptr<const std::vector<Unrolling>>> lists;
  for (std::size_t f = 0; f < count; ++f) lists.push_back(fanouts[f].all);
  if (lists != last_.lists) {
    last_ = {};
    last_.lists = std::move(lists);
    for (std::size_t f = 0; f < count; ++f) last_.fanouts |= std::uint32_t{1} << fanouts[f].level;
    for (int d = 0; d < p_.dims; ++d) last_.others[d] = units_along(d);
    list_last(enough);
  }
  const auto below = static_cast<std::size_t>(std::ranges::lower_bound(last_.sharing, limit, {}, &Sharing::floor) -
                                              last_.sharing.begin());
  find_frontier(below);
  bool exact = true;
  for (int x = 0; x < p_.tensors; ++x)
    for (const ChoiceBounds::Pattern& pattern : bounds_.patterns_[x])
      exact &= only_last_inside(pattern.pairs.front().parent);
  return {count, std::min(last_.beyond, below < last_.sharing.size() ? last_.sharing[below].floor : kInfinity), exact};
}

double DecidedFactors::least(double steps) const {
  const std::array<Keepers, kMaxTensors> known = keepers();
  if (!last_.has_frontier || !last_is_open()) return least(known, steps);
  const double all = iterations();
  double best = kInfinity;
  for (const Sharing& last : last_.frontier) {
    if (last.floor >= best) break;
    looked_ += kLooksOfEnergy;
    const double by_units = std::max(steps, all / last.units * (1 - kRoundingOfProducts));
    best = std::min(best, std::max(last.floor, least(known, by_units, &last)));
  }
  return best;
}

/// A product over dims of what each has by its factor.
struct DecidedFactors::Product {
  double of_decided;
  struct Table {
    const std::uint16_t* at;  // by combination
    std::vector<double> by_factor;
  };
  std::vector<Table> tables{};

  double of(std::size_t combination) const {
    double product = of_decided;
    for (const Table& table : tables) product *= table.by_factor[table.at[combination]];
    return product;
  }
};

DecidedFactors::Product DecidedFactors::product(double of_decided, DimSet dims, int outside, std::uint32_t fanouts,
                                                const std::array<double, kMaxDims>& sizes,
                                                double (*measure)(double size, double units)) const {
  Product all{of_decided};
  for (; dims != 0 && (fanouts & last_.fanouts) != 0; dims &= dims - 1) {
    const int d = std::countr_zero(dims);
    if (last_.factors[d].empty() || last_.factors[d].back() == 1) continue;
    double units = 1;
    for (int l = outside + 1; l < p_.levels; ++l)
      if (fanouts >> l & 1U) units *= static_cast<double>(factor_[l][d].rows * factor_[l][d].cols);
    Product::Table& table = all.tables.emplace_back(Product::Table{last_.at[d].data(), {}});
    for (const Count factor : last_.factors[d])
      table.by_factor.push_back(measure(sizes[d], units * static_cast<double>(factor)) / measure(sizes[d], units));
  }
  return all;
}

/// What moves of a tensor to the compute units, by its innermost keeper.
struct DecidedFactors::Moved {
  double fixed, unshared;  // where no other fanouts are inside the keeper
  Product words;           // otherwise
};

std::vector<DecidedFactors::Moved> DecidedFactors::moved(int x, const Keepers& keepers) const {
  std::vector<Moved> all;
  for (int i = 0; i < keepers.count; ++i) {
    const ByKeeper& one = keepers.by[i];
    if (last_.fanouts >> one.keeper == 0) {
      all.push_back({one.fixed, 0, {one.per_sharing}});
    } else if (only_last_inside(one.keeper)) {
      all.push_back({one.fixed, one.unshared, {0}});
    } else {
      const DimSet windows = serving_[x] & p_.affine_dims[x];
      Product words =
          product(one.per_serving, serving_[x] & ~windows, one.keeper, p_.fanouts & p_.sharing[x], p_.size, rounds);
      for (Product::Table& table : product(1, windows, one.keeper, p_.fanouts, using_word_[x], apart).tables)
        words.tables.push_back(std::move(table));
      all.push_back({one.fixed, 0, std::move(words)});
    }
  }
  return all;
}

PartialFloor::Others DecidedFactors::least_of_each(double limit, double most_steps, std::vector<Found>& found) {
  found.clear();
  const Product steps_of = product(iterations(), (DimSet{1} << p_.dims) - 1, -1, p_.fanouts, p_.size, rounds);
  const std::array<Keepers, kMaxTensors> known = keepers();
  std::array<std::vector<Moved>, kMaxTensors> words;
  for (int x = 0; x < p_.tensors; ++x) words[x] = moved(x, known[x]);
  looked_ += kLooksOfTables;
  // Ports, where every tensor has one keeper, just outside the last fanouts.
  Chosen chosen{};
  std::array<double, kMaxTensors> served{};
  bool only_keeper = !p_.ports.empty() && !resolved_.compute_runs;
  for (int x = 0; x < p_.tensors; ++x) {
    chosen[x] = known[x].by[0];
    only_keeper &= known[x].count == 1 && only_last_inside(chosen[x].keeper);
  }
  Others others;
  for (std::size_t u = 0; u < last_.sharing.size(); ++u, ++looked_) {
    const Sharing& last = last_.sharing[u];
    if (last.floor >= limit) {
      others.floor = std::min(others.floor, last.floor);  // and those that follow
      break;
    }
    const double steps = steps_of.of(u) * (1 - kRoundingOfProducts);
    if (steps > most_steps) {
      others.slow = std::min(others.slow, steps);
      continue;
    }
    double energy = p_.macs * p_.mac_pj;
    for (int x = 0; x < p_.tensors; ++x) {
      double least = kInfinity;
      for (const Moved& one : words[x])
        least = std::min(least, one.fixed + one.unshared / last.alone[x] + one.words.of(u));
      energy += std::max(bounds_.floor_of_[x], least);
      served[x] = only_keeper ? p_.macs / last.alone[x] : 0;
    }
    const double cycles = only_keeper ? port_cycles(chosen, served) * (1 - kRoundingOfProducts) : 0;
    const double floor =
        std::max(last.floor, bounds_.value(energy * (1 - kRoundingOfProducts), std::max(steps, cycles), steps));
    if (floor < limit)
      found.push_back({floor, {&last_.unrollings[last_.first[u]], last_.first[u + 1] - last_.first[u]}});
    else
      others.floor = std::min(others.floor, floor);
  }
  return others;
}

}  // namespace pliant::exact
