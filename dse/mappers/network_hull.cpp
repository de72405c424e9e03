// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network_hull.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

/// A hull has as many corners as its layers have; this many lines are never needed unless searches end without a proof.
constexpr std::size_t kMostLines = 400;

}  // namespace

NetworkHull::NetworkHull(const NetworkGoal& goal, std::stop_token stop, FindLine find, double gap)
    : goal_(goal), stop_(std::move(stop)), find_(std::move(find)), gap_(gap) {}

bool NetworkHull::asks_energy() const {
  return goal_.objective == Objective::kEnergy || goal_.objective == Objective::kPerfPerWatt;
}

bool NetworkHull::close() {
  const bool runtime_only = goal_.objective == Objective::kRuntime;
  const bool one_line = asks_energy() && !has_deadline();
  if (!one_line && !add_line(kFastest)) return false;
  if (!runtime_only && !add_line(0)) return false;
  if (too_slow()) return true;
  for (const NetworkLine& line : lines_) consider(line);
  if (!runtime_only) add_lines_between();
  return true;
}

bool NetworkHull::add_line(double slope) {
  auto line = find_(slope);
  if (!line) return false;
  lines_.insert(std::ranges::upper_bound(lines_, slope, {}, &NetworkLine::slope), std::move(*line));
  return true;
}

void NetworkHull::consider(const NetworkLine& line) {
  if (line.cycles > goal_.most_cycles) return;
  if (network_value(goal_.objective, line.energy_pj, line.cycles) < value()) best_ = line;
}

double NetworkHull::value() const {
  return best_ ? network_value(goal_.objective, best_->energy_pj, best_->cycles) : kInfinity;
}

double NetworkHull::fastest_cycles() const {
  return lines_.empty() || !std::isinf(lines_.back().slope) ? 0 : lines_.back().least;
}
std::vector<double> NetworkHull::slopes() const {
  std::vector<double> all;
  for (const NetworkLine& line : lines_) all.push_back(line.slope);
  return all;
}

bool NetworkHull::too_slow() const { return fastest_cycles() > goal_.most_cycles * (1 + kNetworkRounding); }
bool NetworkHull::proven() const { return best_ && reaches(lower_bound()); }
bool NetworkHull::close_enough() const {
  return best_ && lower_bound() >= value() * (1 - std::max(gap_, kNetworkRounding));
}

/// Every objective is quasi-concave in energy and cycles: over what the lines leave it is least at a corner. A deadline
/// cuts the region; where the highest of the lines meets it is one more corner.
double NetworkHull::corner_value(std::size_t k) const {
  const Crossing corner = meet(lines_[k], lines_[k + 1]);
  if (corner.cycles > goal_.most_cycles) return kInfinity;
  return network_value(goal_.objective, corner.energy_pj, corner.cycles);
}

double NetworkHull::energy_at(double cycles) const {
  double least = 0;
  for (const NetworkLine& line : lines_)
    if (!std::isinf(line.slope))
      least = std::max(least, line.slope > 0 ? line.least - line.slope * cycles : line.least);
  return least;
}

double NetworkHull::value_at_deadline() const {
  return has_deadline() ? network_value(goal_.objective, energy_at(goal_.most_cycles), goal_.most_cycles) : kInfinity;
}

const NetworkLine& NetworkHull::highest_at_deadline() const {
  const NetworkLine* highest = &lines_.front();
  for (const NetworkLine& line : lines_)
    if (!std::isinf(line.slope) &&
        line.least - line.slope * goal_.most_cycles >= highest->least - highest->slope * goal_.most_cycles)
      highest = &line;
  return *highest;
}

double NetworkHull::lower_bound() const {
  if (goal_.objective == Objective::kRuntime) return fastest_cycles();
  if (asks_energy()) return has_deadline() ? energy_at(goal_.most_cycles) : lines_.front().least;
  double least = value_at_deadline();
  for (std::size_t k = 0; k + 1 < lines_.size(); ++k) least = std::min(least, corner_value(k));
  // Lines of searches without a proof may meet far below what the first and the last of them say by themselves.
  return std::max(least, network_value(goal_.objective, lines_.front().least, fastest_cycles()));
}

/// Along each line a product rises and then falls with the cycles. So where the best reaches every corner before the
/// deadline, only what lies between the last of them and the deadline can be better, from some point on.
double NetworkHull::fastest_better() const {
  double low = fastest_cycles(), high = goal_.most_cycles;
  if (!best_ || asks_energy()) return low;
  for (std::size_t k = 0; k + 1 < lines_.size(); ++k) {
    const Crossing corner = meet(lines_[k], lines_[k + 1]);
    if (corner.cycles > high) continue;
    if (!reaches(network_value(goal_.objective, corner.energy_pj, corner.cycles))) return fastest_cycles();
    low = std::max(low, corner.cycles);
  }
  while (high > low * (1 + 1e-9)) {
    const double middle = (low + high) / 2;
    (reaches(network_value(goal_.objective, energy_at(middle), middle)) ? low : high) = middle;
  }
  return low;
}

/// Where a line can still raise the lowest corner that is not reached.
std::optional<double> NetworkHull::next_slope() const {
  std::optional<double> next;
  double least = kInfinity;
  for (std::size_t k = 0; k + 1 < lines_.size(); ++k) {
    double corner = asks_energy() ? kInfinity : corner_value(k);
    if (lines_[k].cycles > goal_.most_cycles && lines_[k + 1].cycles <= goal_.most_cycles)
      corner = std::min(corner, value_at_deadline());
    const auto slope = reaches(corner) ? std::nullopt : chord(lines_[k], lines_[k + 1]);
    if (!slope || is_edge(k, *slope) || (next && corner >= least)) continue;
    next = slope;
    least = corner;
  }
  return next;
}

void NetworkHull::add_lines_between() {
  while (lines_.size() < kMostLines && !stop_.stop_requested() && !close_enough()) {
    const std::optional<double> next = next_slope();
    if (!next || !add_line(*next)) return;
    for (const NetworkLine& line : lines_) consider(line);
  }
}

/// The chord is proven to have nothing below it: one of its ends lies on a line of (nearly) its slope.
bool NetworkHull::is_edge(std::size_t k, double slope) const {
  const auto near = [&](const NetworkLine& line) { return std::abs(line.slope - slope) <= 1e-9 * slope; };
  return near(lines_[k]) || near(lines_[k + 1]);
}

}  // namespace pliant
