// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network.h"

namespace pliant {

double network_value(Objective objective, double energy_pj, double cycles) {
  Totals sums;
  sums.energy_pj = energy_pj;
  sums.cycles = cycles;
  return objective_value(objective, sums);
}

}  // namespace pliant
