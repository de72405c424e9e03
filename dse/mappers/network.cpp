// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "dse/mappers/network_deadline.h"
#include "dse/mappers/network_hull.h"
#include "dse/mappers/network_lines.h"

namespace pliant {
namespace {

class NetworkSearch {
 public:
  NetworkSearch(const Mapper& mapper, const std::vector<NetworkLayer>& layers, const NetworkGoal& goal,
                const SearchOptions& options)
      : mapper_(mapper),
        layers_(layers),
        goal_(goal),
        options_(options),
        hull_(
            goal, options.stop, [this](double slope) { return find_line(slope); }, options.gap) {
    for (const NetworkLayer& layer : layers) lines_of_.emplace_back(mapper, layer, options);
  }

  NetworkOptimum run() {
    const bool closed = hull_.close();
    for (const LayerLines& lines : lines_of_) best_.searches += lines.searches();
    if (!closed) return std::move(best_);
    best_.fastest_cycles = hull_.fastest_cycles();
    best_.infeasible = hull_.too_slow();
    if (best_.infeasible) return std::move(best_);
    best_.value = hull_.value();
    if (hull_.best() != nullptr) take(*hull_.best());
    best_.lower_bound = hull_.lower_bound();
    best_.slopes = hull_.slopes();
    best_.line_bound = hull_.lower_bound();
    for (const LayerLines& lines : lines_of_) best_.proofs.push_back(lines.proofs());
    best_.certified = hull_.proven();
    // Between corners only the least energy is combined; of other objectives the gap to the lines is stated.
    if (goal_.objective == Objective::kEnergy && hull_.has_deadline() && !hull_.close_enough()) combine();
    if (best_.certified) best_.lower_bound = best_.value;
    return std::move(best_);
  }

 private:
  std::optional<NetworkLine> find_line(double slope) {
    NetworkLine line;
    line.slope = slope;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const LayerLines::Line* found = lines_of_[i].at(slope);
      if (found == nullptr) {
        best_.without_mapping = i;
        best_.infeasible = lines_of_[i].infeasible();
        return std::nullopt;
      }
      const auto count = static_cast<double>(layers_[i].count);
      line.least += count * found->least;
      line.energy_pj += count * found->point.totals.energy_pj;
      line.cycles += count * found->point.totals.cycles;
      line.points.push_back(found->point);
    }
    return line;
  }

  void take(const NetworkLine& line) {
    best_.energy_pj = line.energy_pj;
    best_.cycles = line.cycles;
    for (std::size_t i = 0; i < layers_.size(); ++i)
      best_.parts.push_back({i, layers_[i].count, line.points[i].mapping, line.points[i].totals});
  }

  /// A deadline between two corners of the hull: the layers' frontiers, combined.
  void combine() {
    DeadlineCombination combination(mapper_, layers_, options_, goal_.most_cycles, hull_.highest_at_deadline());
    best_.certified = combination.improve(best_);
    best_.searches += combination.searches();
  }

  const Mapper& mapper_;
  const std::vector<NetworkLayer>& layers_;
  const NetworkGoal goal_;
  const SearchOptions& options_;
  std::vector<LayerLines> lines_of_;  ///< by layer
  NetworkHull hull_;
  NetworkOptimum best_;
};

}  // namespace

double network_value(Objective objective, double energy_pj, double cycles) {
  Totals sums;
  sums.energy_pj = energy_pj;
  sums.cycles = cycles;
  return objective_value(objective, sums);
}

NetworkOptimum search_network(const Mapper& mapper, const std::vector<NetworkLayer>& layers, const NetworkGoal& goal,
                              const SearchOptions& options) {
  if (goal.objective == Objective::kEdpOverUtilization)
    throw std::invalid_argument("a network has no utilization of its own");
  return NetworkSearch(mapper, layers, goal, options).run();
}

}  // namespace pliant
