// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network_hull.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

/// A hull has as many corners as its layers have; this many lines are never needed unless searches end without a proof.
constexpr std::size_t kMostLines = 400;

}  // namespace

NetworkHull::NetworkHull(const NetworkGoal& goal, std::stop_token stop, FindLine find)
    : goal_(goal), stop_(std::move(stop)), find_(std::move(find)) {}

bool NetworkHull::close() {
  const bool runtime_only = goal_.objective == Objective::kRuntime;
  if (!add_line(kFastest) || (!runtime_only && !add_line(0))) return false;
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

double NetworkHull::fastest_cycles() const { return lines_.empty() ? 0 : lines_.back().least; }
bool NetworkHull::too_slow() const { return fastest_cycles() > goal_.most_cycles * (1 + kNetworkRounding); }
bool NetworkHull::proven() const { return best_ && reaches(lower_bound()); }

/// Every objective is quasi-concave in energy and cycles: over what the lines leave it is least at a corner. A deadline
/// cuts the region; its least energy is then where the highest of the lines meets the deadline.
double NetworkHull::corner_value(std::size_t k) const {
  const Crossing corner = meet(lines_[k], lines_[k + 1]);
  return network_value(goal_.objective, corner.energy_pj, corner.cycles);
}

double NetworkHull::energy_at_deadline() const {
  double least = 0;
  for (const NetworkLine& line : lines_)
    if (!std::isinf(line.slope)) least = std::max(least, line.least - line.slope * goal_.most_cycles);
  return least;
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
  if (has_deadline()) return std::max(energy_at_deadline(), lines_.front().least);
  double least = kInfinity;
  for (std::size_t k = 0; k + 1 < lines_.size(); ++k) least = std::min(least, corner_value(k));
  return least;
}

void NetworkHull::add_lines_between() {
  while (lines_.size() < kMostLines && !stop_.stop_requested()) {
    std::optional<double> next;
    double least = kInfinity;
    for (std::size_t k = 0; k + 1 < lines_.size(); ++k) {
      const bool open = has_deadline()
                            ? lines_[k].cycles > goal_.most_cycles && lines_[k + 1].cycles <= goal_.most_cycles
                            : !reaches(corner_value(k));
      const auto slope = open ? chord(lines_[k], lines_[k + 1]) : std::nullopt;
      if (!slope || is_edge(k, *slope)) continue;
      if (const double corner = has_deadline() ? 0 : corner_value(k); !next || corner < least) {
        next = slope;
        least = corner;
      }
    }
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
