// SPDX-License-Identifier: Apache-2.0
// How long a priced mapping takes: its steps, the instances that work, and what the ports of memories need.
#include <algorithm>
#include <cmath>

#include "costmodel/bits.h"
#include "costmodel/imperfect.h"
#include "costmodel/nest.h"
#include "costmodel/whole_cycles.h"

namespace pliant {

namespace {

/// Cycles of a port as Timeloop rounds them: the steps over the part of the demand that the port can meet. Where the
/// steps are no whole number, a port that keeps up may still need the whole cycle that they end in.
double demand_time(double demand, double bandwidth, double steps) {
  if (demand == 0) return 0;
  if (demand > bandwidth) return std::ceil(steps / (bandwidth / demand));
  return demand * steps > std::floor(steps) * bandwidth ? std::ceil(steps) : 0;
}

}  // namespace

double Nest::steps() const {
  if (loops_.imperfect_dims() == 0) return problem_.cycles_per_mac * loops_.steps();
  double steps = problem_.cycles_per_mac;
  for (int d = 0; d < problem_.dims; ++d)
    steps *= loops_.imperfect_dims() >> d & 1U ? ImperfectTransfers(loops_).steps(d)
                                               : loops_.temporal_outside(problem_.levels, d);
  return steps;
}

double Nest::instances_peak(int level) const {
  if (loops_.imperfect_dims() == 0) return loops_.instances(level);
  double copies = 1;
  for (int d = 0; d < problem_.dims; ++d)
    copies *= loops_.imperfect_dims() >> d & 1U ? ImperfectTransfers(loops_).widest(d, level)
                                                : loops_.spatial_outside(level, d);
  return copies;
}

double Nest::instances_average(int level) const {
  double copies = 1;
  for (int d = 0; d < problem_.dims; ++d)
    copies *= loops_.imperfect_dims() >> d & 1U ? ImperfectTransfers(loops_).average_width(d, level)
                                                : loops_.spatial_outside(level, d);
  return copies;
}

/// Ports of the instances that work at the peak.
void Nest::refresh_rates() {
  if (loops_.imperfect_dims() != 0) [[unlikely]] {
    for (LoadedPort& port : ports_) port.rate = port.bandwidth * instances_peak(port.level);
  } else {
    for (LoadedPort& port : ports_) port.rate = port.bandwidth * loops_.instances_of_ring(port.ring);
  }
}

/// Cycles of a systolic array. A tensor that comes from inside never fills it.
double Nest::array_cycles(const Port& array, double steps) const {
  const double fill = fill_cycles(array);
  return fill > 0 ? steps + fill : 0;
}

/// Raises cycles to the longest time of a port as Timeloop rounds it.
void Nest::wait_for_demands(Totals& totals) const {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const LoadedPort& port = ports_[i];
    double time = 0;
    if (problem_.ports[i].stationary >= 0) {
      time = whole_cycles(array_cycles(problem_.ports[i], totals.steps));
    } else {
      const double instances = instances_peak(port.level);
      double demand = 0;
      for (unsigned k = 0; k < port.count; ++k) demand += passing_[port.words[k]] / instances / totals.steps;
      time = demand_time(demand, port.bandwidth, totals.steps);
    }
    if (time <= totals.cycles) continue;
    totals.cycles = time;
    totals.bound = {static_cast<int>(i)};
  }
}

void Nest::run_arrays(double steps) {
  for (const std::size_t i : arrays_) passing_[kOfPorts + i] = array_cycles(problem_.ports[i], steps);
}

void Nest::sum_crowded() {
  for (const std::size_t i : crowded_) {
    const LoadedPort& port = ports_[i];
    double words = 0;
    for (unsigned k = 0; k < port.count; ++k) words += passing_[port.words[k]];
    passing_[kOfPorts + i] = words;
  }
}

/// Raises cycles to the longest time of a port, words / (bandwidth * instances) rounded up. Ports take whole cycles, so
/// only those count that move more than they can in the whole cycles of the steps.
void Nest::wait_for_ports(Totals& totals) {
  if (!arrays_.empty()) run_arrays(totals.steps);
  sum_crowded();
  double longest = 0, enough = whole_part(totals.steps);
  for (const LoadedPort& port : ports_) {
    const double words = passing_[port.first] + passing_[port.second];  // of all instances
    if (words <= enough * port.rate) continue;
    longest = words / port.rate;
    enough = std::max(enough, longest);
    totals.bound = {static_cast<int>(&port - ports_.data())};
  }
  // Rounded first: steps that are no whole number may end within the last cycle of a port.
  if (const double cycles = whole_cycles(longest); cycles > totals.cycles) {
    totals.cycles = cycles;
  } else {
    totals.bound = {};
  }
}

}  // namespace pliant
