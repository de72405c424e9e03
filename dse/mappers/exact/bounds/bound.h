// SPDX-License-Identifier: Apache-2.0
// Lower bounds on an objective from several linear bounds on energy and cycles.
#pragma once

#include <array>

#include "costmodel/problem.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {

/// The fewest cycles of a mapping whose steps or longest port take at least so long. Ports take whole cycles, steps a
/// multiple of cycles_per_mac, which need not be whole.
double whole_cycles(const Problem& problem, double cycles);

/// The least value of a mapping from its ingredients, with leakage; `steps` are its cycles if bandwidth were unlimited.
double objective_bound(const Problem& problem, const Task& task, double dynamic_energy, double cycles, double steps);

/// The region of (energy, cycles) that linear bounds leave: energy >= a, cycles >= b, energy + slope * cycles >= c.
/// Every objective is quasi-concave along such lines, so its least value over the region is at a corner, or where
/// cycles are whole beside one; the task's most_cycles is one more side of it. A port's load is at most the cycles, so
/// what bounds energy + slope * load bounds energy + slope * cycles.
class Region {
 public:
  Region(double energy, double cycles) : energy_(energy), cycles_(cycles) {}
  void cycles_at_least(double cycles) { cycles_ = cycles > cycles_ ? cycles : cycles_; }
  void cut(double slope, double sum);
  double least(const Problem& problem, const Task& task, double steps) const;

 private:
  struct Cut {
    double slope, sum;
  };
  double energy_, cycles_;
  std::array<Cut, 8> cuts_{};
  int count_ = 0;
};

}  // namespace pliant::exact
