// SPDX-License-Identifier: Apache-2.0
// Lower bounds on an objective from several linear bounds on energy and cycles.
#pragma once

#include <array>

#include "costmodel/problem.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {

/// Value of an objective from its two ingredients, with leakage.
double objective_bound(const Problem& problem, Objective objective, double dynamic_energy, double cycles);

/// The region of (energy, cycles) that linear bounds leave: energy >= a, cycles >= b, energy + slope * cycles >= c.
/// Every objective is quasi-concave along such lines, so its least value over the region is at a corner.
class Region {
 public:
  Region(double energy, double cycles) : energy_(energy), cycles_(cycles) {}
  void cycles_at_least(double cycles) { cycles_ = cycles > cycles_ ? cycles : cycles_; }
  void cut(double slope, double sum);
  double least(const Problem& problem, Objective objective) const;

 private:
  struct Cut {
    double slope, sum;
  };
  double energy_, cycles_;
  std::array<Cut, 8> cuts_{};
  int count_ = 0;
};

}  // namespace pliant::exact
