// SPDX-License-Identifier: Apache-2.0
// Where only the innermost fanouts are left, with no memory between them, the floors of all that they can be are
// products of what each dim has by its factor.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "dse/mappers/exact/bounds/decided_factors.h"

namespace pliant::exact {

namespace {

/// Rounding must not make floors more than they are.
constexpr double kRoundingOfProducts = 1e-9;

/// Energy by units is found again where they are so many times fewer.
constexpr double kFewerUnits = 0.95;

/// What that takes, and what the tables take, in combinations looked at.
constexpr std::size_t kLooksOfEnergy = 64, kLooksOfTables = 1024;

/// Combinations of fanouts that are looked at together.
constexpr std::size_t kMostTogether = 400'000;

}  // namespace

std::size_t DecidedFactors::choose_last(const std::vector<ListedFanout>& fanouts) {
  // Together they have the products of their factors; as many as act alike and have not too many combinations.
  std::size_t count = 1, combinations = fanouts[0].all->size();
  const auto alike = [&](int a, int b) {
    bool same = p_.gap[a] == p_.gap[b];
    for (int x = 0; x < p_.tensors; ++x) same &= ((p_.sharing[x] >> a ^ p_.sharing[x] >> b) & 1U) == 0;
    return same;
  };
  while (count < fanouts.size() && alike(fanouts[0].level, fanouts[count].level) &&
         combinations * fanouts[count].all->size() <= kMostTogether)
    combinations *= fanouts[count++].all->size();
  std::vector<std::pair<int, std::vector<Unrolling>>> lists;
  for (std::size_t f = 0; f < count; ++f) lists.emplace_back(fanouts[f].level, *fanouts[f].all);
  if (lists == last_.lists) return count;
  last_ = Last{};
  last_.lists = std::move(lists);
  for (std::size_t f = 0; f < count; ++f) last_.fanouts |= std::uint32_t{1} << fanouts[f].level;
  // The most units first.
  struct Combination {
    Count units = 1;
    std::array<Count, kMaxDims> factors{};
    std::uint32_t number = 0;
    auto key() const { return std::tuple(-units, factors); }
  };
  std::vector<Combination> all;
  for (std::size_t i = 0; i < combinations; ++i) {
    Combination one;
    one.number = static_cast<std::uint32_t>(i);
    std::size_t rest = i;
    bool fits = true;
    for (int d = 0; d < p_.dims; ++d) one.factors[d] = 1;
    for (const auto& [level, unrollings] : last_.lists) {
      for (int d = 0; d < p_.dims; ++d) one.factors[d] *= unrollings[rest % unrollings.size()].factor(d);
      rest /= unrollings.size();
    }
    for (int d = 0; d < p_.dims; ++d) {
      one.units *= one.factors[d];
      fits &= !resolved_.perfect || resolved_.task.layer.dims[d].size % one.factors[d] == 0;
    }
    if (fits) all.push_back(one);
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return std::tuple(a.key(), a.number) < std::tuple(b.key(), b.number); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i].key() != all[i - 1].key()) {
      last_.first.push_back(static_cast<std::uint32_t>(last_.unrollings.size()));
      last_.units.push_back(static_cast<double>(all[i].units));
    }
    std::size_t rest = all[i].number;
    for (const auto& [level, unrollings] : last_.lists) {
      last_.unrollings.push_back(static_cast<std::uint32_t>(rest % unrollings.size()));
      rest /= unrollings.size();
    }
  }
  for (int d = 0; d < p_.dims; ++d) {
    std::vector<Count>& distinct = last_.factors[d];
    for (const Combination& one : all) distinct.push_back(one.factors[d]);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const std::uint32_t first : last_.first) {
      const auto place = std::lower_bound(distinct.begin(), distinct.end(), all[first / count].factors[d]);
      last_.at[d].push_back(static_cast<std::uint16_t>(place - distinct.begin()));
    }
  }
  last_.first.push_back(static_cast<std::uint32_t>(last_.unrollings.size()));
  return count;
}

/// A product over dims of what each has by its factor.
struct DecidedFactors::Product {
  double of_decided;
  struct Table {
    const std::uint16_t* at;  // by unrolling
    std::vector<double> by_factor;
  };
  std::vector<Table> tables{};

  double of(std::uint32_t unrolling) const {
    double product = of_decided;
    for (const Table& table : tables) product *= table.by_factor[table.at[unrolling]];
    return product;
  }
};

struct DecidedFactors::Moved {
  double fixed;
  Product words;
};

DecidedFactors::Product DecidedFactors::product(double of_decided, DimSet dims, int outside, std::uint32_t fanouts,
                                                const std::array<double, kMaxDims>& sizes,
                                                double (*measure)(double size, double units)) const {
  Product all{of_decided};
  for (; dims != 0 && (fanouts & last_.fanouts) != 0; dims &= dims - 1) {
    const int d = std::countr_zero(dims);
    if (last_.factors[d].back() == 1) continue;
    double units = 1;
    for (int l = outside + 1; l < p_.levels; ++l)
      if (fanouts >> l & 1U) units *= static_cast<double>(factor_[l][d].rows * factor_[l][d].cols);
    Product::Table& table = all.tables.emplace_back(Product::Table{last_.at[d].data(), {}});
    for (const Count factor : last_.factors[d])
      table.by_factor.push_back(measure(sizes[d], units * static_cast<double>(factor)) / measure(sizes[d], units));
  }
  return all;
}

namespace {

double rounds(double size, double units) { return std::ceil(size / units); }
double apart(double size, double units) { return 1 / std::min(size, units); }

}  // namespace

/// Those that steps do not close, whatever else. The least of their steps.
double DecidedFactors::find_left(const std::array<Keepers, kMaxTensors>& known, double limit, double most_steps,
                                 Others& others) {
  double iterations = p_.cycles_per_mac, fewest = kInfinity;
  for (int d = 0; d < p_.dims; ++d) {
    double units = 1;
    for (int l = 0; l < p_.levels; ++l) units *= static_cast<double>(factor_[l][d].rows * factor_[l][d].cols);
    iterations *= rounds(p_.size[d], units);
  }
  const Product steps_of = product(iterations, (DimSet{1} << p_.dims) - 1, -1, p_.fanouts, p_.size, rounds);
  last_.left.clear();
  others.looked = kLooksOfTables;
  double energy = 0, units = kInfinity, too_many = kInfinity, few = 0;
  for (std::uint32_t u = 0; u < last_.units.size(); ++u) {
    ++others.looked;
    // Those that follow have no more units.
    if (last_.units[u] < kFewerUnits * units) {
      units = last_.units[u];
      others.looked += kLooksOfEnergy;
      energy = std::max(energy, least_energy(known, units));
      const double floor = bounds_.floor(energy, iterations / units * (1 - kRoundingOfProducts));
      if (floor >= limit) {
        others.floor = std::min(others.floor, floor);
        break;
      }
    }
    const double steps = steps_of.of(u) * (1 - kRoundingOfProducts);
    if (steps > most_steps) {
      others.slow = std::min(others.slow, steps);
      continue;
    }
    if (steps >= too_many) continue;
    if (steps > few) {
      const double floor = bounds_.floor(energy, steps);
      if (floor >= limit) {
        others.floor = std::min(others.floor, floor);
        too_many = steps;
        continue;
      }
      few = steps;
    }
    last_.left.push_back({steps, energy, u});
    fewest = std::min(fewest, steps);
  }
  return fewest;
}

/// What moves of a tensor to the compute units, by its innermost keeper.
std::vector<DecidedFactors::Moved> DecidedFactors::moved(int x, const Keepers& keepers) const {
  std::vector<Moved> all;
  for (int i = 0; i < keepers.count; ++i) {
    const auto& [keeper, fixed, per_sharing, per_serving] = keepers.by[i];
    Moved& one = all.emplace_back(Moved{fixed, {per_serving}});
    if ((last_.fanouts >> keeper) == 0) continue;
    const DimSet windows = serving_[x] & p_.affine_dims[x];
    one.words = product(per_serving, serving_[x] & ~windows, keeper, p_.fanouts & p_.sharing[x], p_.size, rounds);
    for (Product::Table& table : product(1, windows, keeper, p_.fanouts, using_word_[x], apart).tables)
      one.words.tables.push_back(std::move(table));
  }
  return all;
}

PartialFloor::Others DecidedFactors::least_of_each(double limit, double most_steps, std::vector<Found>& found) {
  found.clear();
  const std::array<Keepers, kMaxTensors> known = keepers();
  Others others;
  const double fewest = find_left(known, limit, most_steps, others);
  if (last_.left.empty()) return others;
  std::array<std::vector<Moved>, kMaxTensors> words;
  for (int x = 0; x < p_.tensors; ++x) words[x] = moved(x, known[x]);
  double too_much = kInfinity;
  for (const auto& [steps, by_units, u] : last_.left) {
    double energy = p_.macs * p_.mac_pj;
    for (int x = 0; x < p_.tensors; ++x) {
      double least = kInfinity;
      for (const Moved& one : words[x]) least = std::min(least, one.fixed + one.words.of(u));
      energy += std::max(bounds_.floor_of_[x], least);
    }
    energy = std::max(by_units, energy * (1 - kRoundingOfProducts));
    if (energy >= too_much) continue;
    const double floor = bounds_.floor(energy, steps);
    if (floor < limit) {
      found.push_back({floor, {&last_.unrollings[last_.first[u]], last_.first[u + 1] - last_.first[u]}});
      continue;
    }
    others.floor = std::min(others.floor, floor);
    if (const double fastest = bounds_.floor(energy, fewest); fastest >= limit) {
      others.floor = std::min(others.floor, fastest);
      too_much = energy;
    }
  }
  return others;
}

}  // namespace pliant::exact
