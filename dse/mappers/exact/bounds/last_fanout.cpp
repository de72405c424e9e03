// SPDX-License-Identifier: Apache-2.0
// Where one fanout is left, the floors of all its unrollings are products of what each dim has by its factor.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dse/mappers/exact/bounds/decided_factors.h"

namespace pliant::exact {

namespace {

/// Rounding must not make floors more than they are.
constexpr double kRoundingOfProducts = 1e-9;

}  // namespace

void DecidedFactors::choose_from(int level, const std::vector<Unrolling>& all) {
  last_.level = level;
  last_.count = all.size();
  for (int d = 0; d < p_.dims; ++d) {
    std::vector<Count>& factors = last_.factors[d];
    factors.clear();
    for (const Unrolling& one : all) factors.push_back(one.factor(d));
    std::sort(factors.begin(), factors.end());
    factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
    last_.at[d].clear();
    for (const Unrolling& one : all) {
      const auto place = std::lower_bound(factors.begin(), factors.end(), one.factor(d));
      last_.at[d].push_back(static_cast<std::uint16_t>(place - factors.begin()));
    }
  }
}

void DecidedFactors::least_of_each(double limit, std::vector<Found>& found, Others& others) const {
  found.clear();
  const std::array<Keepers, kMaxTensors> known = keepers();
  const double prefix = least_energy(known);
  // By dim and factor.
  using Table = std::vector<double>;
  std::array<Table, kMaxDims> steps;
  std::array<std::array<std::array<Table, kMaxDims>, kMaxLevels>, kMaxTensors> words;
  const auto decided = [&](int d, int outside, std::uint32_t fanouts) {
    double units = 1;
    for (int l = outside + 1; l < p_.levels; ++l)
      if (fanouts >> l & 1U) units *= static_cast<double>(factor_[l][d].rows * factor_[l][d].cols);
    return units;
  };
  for (int d = 0; d < p_.dims; ++d) {
    const double units = decided(d, -1, p_.fanouts);
    for (const Count factor : last_.factors[d])
      steps[d].push_back(std::ceil(p_.size[d] / (units * static_cast<double>(factor))));
  }
  for (int x = 0; x < p_.tensors; ++x)
    for (int i = 0; i < known[x].count; ++i) {
      const int keeper = known[x].by[i].keeper;
      if (keeper > last_.level) continue;
      for (DimSet rest = serving_[x]; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        const bool window = p_.affine_dims[x] >> d & 1U;
        const std::uint32_t fanouts = window ? p_.fanouts : p_.fanouts & p_.sharing[x];
        if ((fanouts >> last_.level & 1U) == 0) continue;
        const double units = decided(d, keeper, fanouts);
        for (const Count factor : last_.factors[d]) {
          const double all = units * static_cast<double>(factor);
          words[x][i][d].push_back(window ? std::min(p_.size[d], units) / std::min(p_.size[d], all)
                                          : std::ceil(p_.size[d] / all) / std::ceil(p_.size[d] / units));
        }
      }
    }
  for (std::uint32_t u = 0; u < last_.count; ++u) {
    double time = p_.cycles_per_mac;
    for (int d = 0; d < p_.dims; ++d) time *= steps[d][last_.at[d][u]];
    if (time > others.most_steps) {
      others.slow = std::min(others.slow, time);
      continue;
    }
    double floor = bounds_.floor(prefix, time * (1 - kRoundingOfProducts));
    if (floor < limit) {
      double energy = 0;
      for (int x = 0; x < p_.tensors; ++x) {
        double least = kInfinity;
        for (int i = 0; i < known[x].count; ++i) {
          double moved = known[x].by[i].per_serving;
          for (int d = 0; d < p_.dims; ++d)
            if (const Table& table = words[x][i][d]; !table.empty()) moved *= table[last_.at[d][u]];
          least = std::min(least, known[x].by[i].fixed + moved);
        }
        energy += std::max(bounds_.floor_of_[x], least);
      }
      energy = (energy + p_.macs * p_.mac_pj) * (1 - kRoundingOfProducts);
      floor = std::max(floor, bounds_.floor(energy, time * (1 - kRoundingOfProducts)));
    }
    if (floor < limit)
      found.push_back({floor, u});
    else
      (floor < others.enough ? others.unlisted : others.dear) =
          std::min(floor < others.enough ? others.unlisted : others.dear, floor);
  }
}

}  // namespace pliant::exact
