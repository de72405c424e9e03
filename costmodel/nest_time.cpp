// SPDX-License-Identifier: Apache-2.0
// How long a priced mapping takes: its steps, the instances that work, and what the ports of memories need.
#include <array>
#include <cmath>

#include "costmodel/imperfect.h"
#include "costmodel/nest.h"

namespace pliant {

namespace {

/// std::floor and std::ceil of what is not negative, without a call; a double from 2^52 on is whole.
inline double round_down(double value) {
  return value < 0x1p52 ? static_cast<double>(static_cast<std::int64_t>(value)) : value;
}

inline double round_up(double value) {
  const double whole = round_down(value);
  return whole + (whole < value ? 1 : 0);
}

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
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    const double copies = instances_peak(l);
    read_rate_[l] = problem_.read_bandwidth[l] * copies;
    write_rate_[l] = problem_.write_bandwidth[l] * copies;
    bus_rate_[l] = problem_.bus_bandwidth[l] * copies;
  }
}

/// Raises cycles to the longest time of a port as Timeloop rounds it.
void Nest::wait_for_demands(Totals& totals) const {
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    const double instances = instances_peak(l);
    double read_demand = 0, write_demand = 0;
    for (int x = 0; x < problem_.tensors; ++x) {
      read_demand += charge_[x].reads[l] / instances / totals.steps;
      write_demand += charge_[x].writes[l] / instances / totals.steps;
    }
    const std::array demand{read_demand, write_demand, read_demand + write_demand};  // as in kPortKinds
    for (std::size_t k = 0; k < kPortKinds.size(); ++k) {
      const double time = demand_time(demand[k], problem_.bandwidth(kPortKinds[k], l), totals.steps);
      if (time <= totals.cycles) continue;
      totals.cycles = time;
      totals.bound = {l, kPortKinds[k]};
    }
  }
}

/// Raises cycles to the longest time of a port, words / (bandwidth * instances) rounded up. Ports take whole cycles, so
/// only those count that move more than they can in the whole cycles of the steps.
void Nest::wait_for_ports(Totals& totals) const {
  const double whole = round_down(totals.steps);
  double longest = 0;
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    double reads = charge_[0].reads[l], writes = charge_[0].writes[l];
    for (int x = 1; x < problem_.tensors; ++x) {
      reads += charge_[x].reads[l];
      writes += charge_[x].writes[l];
    }
    if (reads > whole * read_rate_[l] && reads > longest * read_rate_[l]) {
      longest = reads / read_rate_[l];
      totals.bound = {l, PortKind::kRead};
    }
    if (writes > whole * write_rate_[l] && writes > longest * write_rate_[l]) {
      longest = writes / write_rate_[l];
      totals.bound = {l, PortKind::kWrite};
    }
    if (const double both = reads + writes; both > whole * bus_rate_[l] && both > longest * bus_rate_[l]) {
      longest = both / bus_rate_[l];
      totals.bound = {l, PortKind::kBus};
    }
  }
  // Rounded first: steps that are no whole number may end within the last cycle of a port.
  if (const double cycles = round_up(longest); cycles > totals.cycles) {
    totals.cycles = cycles;
  } else {
    totals.bound = {};
  }
}

}  // namespace pliant
