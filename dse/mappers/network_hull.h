// SPDX-License-Identifier: Apache-2.0
// Lines below everything that a network can reach, added where one can still matter until the best point found on them
// is proven. Whoever searches the network says what a line of a given slope has. docs/networks.md has the proof.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dse/mappers/network_lines.h"

namespace pliant {

/// What the best path at a slope tells; nothing without a path.
template <class Path>
std::optional<NetworkLine> line_of(const Path* path, double slope) {
  if (path == nullptr) return std::nullopt;
  return NetworkLine{slope, path->least, path->energy_pj, path->cycles};
}

class NetworkHull {
 public:
  /// The line of a slope; nothing when some layer fits nowhere.
  using FindLine = std::function<std::optional<NetworkLine>(double slope)>;

  /// `gap`: a best point that is proven to be within this share of the optimum is good enough.
  NetworkHull(const NetworkGoal& goal, std::stop_token stop, FindLine find, double gap = 0);

  /// False when a line was not found.
  bool close();

  const NetworkLine* best() const { return best_ ? &*best_ : nullptr; }
  double value() const;           ///< of the best; infinity without one
  double lower_bound() const;     ///< of the goal's objective
  bool proven() const;            ///< the two meet
  bool close_enough() const;      ///< the two meet but for the gap
  double fastest_cycles() const;  ///< no choice is faster
  bool too_slow() const;          ///< proven: the deadline is too short
  /// No choice that keeps the deadline and is better than the best is faster.
  double fastest_better() const;
  std::vector<double> slopes() const;  ///< of all lines
  /// The line that bounds the energy at the deadline best.
  const NetworkLine& highest_at_deadline() const;

  bool has_deadline() const { return goal_.most_cycles < kInfinity; }

 private:
  static constexpr double kFastest = kInfinity;  ///< a slope

  bool add_line(double slope);
  void consider(const NetworkLine& line);
  bool reaches(double bound) const { return bound >= value() * (1 - kNetworkRounding); }
  double corner_value(std::size_t k) const;
  double energy_at(double cycles) const;
  double value_at_deadline() const;
  bool asks_energy() const;
  std::optional<double> next_slope() const;
  void add_lines_between();
  bool is_edge(std::size_t k, double slope) const;

  const NetworkGoal goal_;
  std::stop_token stop_;
  FindLine find_;
  double gap_;
  std::vector<NetworkLine> lines_;  ///< by slope
  std::optional<NetworkLine> best_;
};

}  // namespace pliant
