// SPDX-License-Identifier: Apache-2.0
// How long a priced mapping takes: its steps, the instances that work, and what the ports of memories need.
#include <cmath>

#include "costmodel/bits.h"
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
  int level = -1;
  double copies = 1;
  for (std::size_t i = 0; i < rate_.size(); ++i) {
    const Port& port = problem_.ports[i];
    if (port.stationary >= 0) {
      rate_[i] = 1;
      continue;
    }
    if (port.level != level) copies = instances_peak(level = port.level);
    rate_[i] = port.bandwidth * copies;
  }
}

/// Words that pass a port, of all instances; of a systolic array, its cycles.
inline double Nest::load(const Port& port, double steps) const {
  if (port.stationary >= 0) [[unlikely]] {
    const double fill = fill_cycles(port);
    return fill > 0 ? steps + fill : 0;  // a tensor that comes from inside never fills the array
  }
  double words = 0;
  for_each_bit(port.reads, [&](int x) { words += tensor_cost_[x].reads[port.level]; });
  for_each_bit(port.writes, [&](int x) { words += tensor_cost_[x].writes[port.level]; });
  return words;
}

/// Raises cycles to the longest time of a port as Timeloop rounds it.
void Nest::wait_for_demands(Totals& totals) const {
  for (std::size_t i = 0; i < rate_.size(); ++i) {
    const Port& port = problem_.ports[i];
    const double instances = instances_peak(port.level);
    double demand = 0;
    for_each_bit(port.reads, [&](int x) { demand += tensor_cost_[x].reads[port.level] / instances / totals.steps; });
    for_each_bit(port.writes, [&](int x) { demand += tensor_cost_[x].writes[port.level] / instances / totals.steps; });
    const double time =
        port.stationary >= 0 ? round_up(load(port, totals.steps)) : demand_time(demand, port.bandwidth, totals.steps);
    if (time <= totals.cycles) continue;
    totals.cycles = time;
    totals.bound = {static_cast<int>(i)};
  }
}

/// Raises cycles to the longest time of a port, words / (bandwidth * instances) rounded up. Ports take whole cycles, so
/// only those count that move more than they can in the whole cycles of the steps.
void Nest::wait_for_ports(Totals& totals) const {
  const double whole = round_down(totals.steps);
  double longest = 0;
  for (std::size_t i = 0; i < rate_.size(); ++i) {
    const double words = load(problem_.ports[i], totals.steps), rate = rate_[i];
    if (words <= whole * rate || words <= longest * rate) continue;
    longest = words / rate;
    totals.bound = {static_cast<int>(i)};
  }
  // Rounded first: steps that are no whole number may end within the last cycle of a port.
  if (const double cycles = round_up(longest); cycles > totals.cycles) {
    totals.cycles = cycles;
  } else {
    totals.bound = {};
  }
}

}  // namespace pliant
