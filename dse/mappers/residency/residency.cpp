// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/residency.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "dse/mappers/network_hull.h"
#include "dse/mappers/residency/residency_deadline.h"

namespace pliant::residency {

Search::Search(const Mapper& mapper, const Workload& workload, const std::vector<Task>& rows,
               const SearchOptions& options, Count inferences)
    : mapper_(mapper),
      rows_(rows),
      options_(options),
      inferences_(inferences),
      variants_(mapper, rows, options),
      staying_(workload, rows, true, variants_),
      outside_(workload, rows, false, variants_) {
  if (inferences > 1) standing_.emplace(workload, rows, variants_, inferences, options.stop);
}

const Path* Search::path_at(double slope, bool stay) {
  if (!std::exchange(begun_, true)) outside_.search_outside(slope);  // a mapping of every layer, whatever time is left
  if (!stay) return outside_.at(slope);
  return standing_ ? standing_->at(slope) : staying_.at(slope);
}

Optimum Search::taken(const Path& path) {
  const ResidencyLines& lines = *path.of;
  Optimum best;
  for (const StandingWeights& weights : lines.live().weights)
    best.weights.push_back(path.steps[static_cast<std::size_t>(weights.step)].weights);
  best.energy_pj = path.energy_pj;
  best.cycles = path.cycles;
  best.homes.assign(lines.live().tensors.size(), kOutside);
  for (std::size_t s = 0; s < path.steps.size(); ++s) {
    const PathStep& step = path.steps[s];
    const Step& of = lines.live().steps[s];
    if (of.makes >= 0) best.homes[static_cast<std::size_t>(of.makes)] = step.made;
    StepChoice& choice = best.steps.emplace_back();
    choice.variant = step.variant;
    choice.energy_pj = step.energy_pj;
    choice.cycles = step.cycles;
    if (step.line != nullptr) choice.parts.push_back({of.count, step.line->point.mapping, step.line->point.totals});
  }
  return best;
}

void Search::note_rooms(const ResidencyLines& lines, Optimum& best) {
  std::vector<Home> weights(best.steps.size(), kOutside);
  for (std::size_t w = 0; w < best.weights.size(); ++w)
    weights[static_cast<std::size_t>(lines.live().weights[w].step)] = best.weights[w];
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    const ResidencyLines::Rooms rooms = lines.rooms(
        static_cast<int>(s), [&](int tensor) { return best.homes[static_cast<std::size_t>(tensor)]; }, weights[s]);
    best.steps[s].taken.clear();
    for (const auto& words : rooms.all) best.steps[s].taken.push_back(words[0] + words[1] + words[2]);
  }
}

void Search::note_parts(const ResidencyLines& lines, Optimum& best) const {
  const LiveTensors& live = lines.live();
  NetworkParts& parts = best.parts;
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    const Step& step = live.steps[s];
    NetworkParts::Part& part = step.row >= 0 ? parts.layers : parts.operators;
    if (step.costs()) part.count += step.count;
    part.energy_pj += best.steps[s].energy_pj;
    part.cycles += best.steps[s].cycles;
  }
  for (std::size_t w = 0; w < best.weights.size(); ++w) {
    if (best.weights[w] == kOutside) continue;
    const OperatorCost once = loading_cost(rows_, live, live.weights[w], best.weights[w]);
    const double energy = once.energy_pj / static_cast<double>(inferences_);
    const double cycles = once.cycles / static_cast<double>(inferences_);
    ++parts.loads.count;
    parts.loads.energy_pj += energy;
    parts.loads.cycles += cycles;
    parts.layers.energy_pj -= energy;
    parts.layers.cycles -= cycles;
  }
}

std::optional<Search::Line> Search::line(double slope) {
  const Path* path = path_at(slope, true);
  if (path == nullptr) return std::nullopt;
  return Line{staying_.live().limited ? 0 : path->least, path->energy_pj, path->cycles};
}

/// What the layers compute, wherever their tensors live.
double Search::floor(Objective objective) const {
  double energy = 0, cycles = 0;
  for (const Step& step : live().steps) {
    if (step.row < 0) continue;
    const Task& task = rows_[static_cast<std::size_t>(step.row)];
    if (!Conventions::preset(task.accelerator.conventions.name())) return 0;  // nothing is claimed of a mix
    const Compute& unit = task.accelerator.levels.back().compute();
    const double macs = static_cast<double>(task.layer.macs()) * static_cast<double>(step.count);
    energy += macs * unit.mac_pj;
    cycles += macs * unit.cycles_per_mac / static_cast<double>(task.accelerator.macs_units());
  }
  return network_value(objective, energy, cycles);
}

Optimum Search::run(const NetworkGoal& asked, bool stay) {
  if (asked.objective == Objective::kEdpOverUtilization)
    throw std::invalid_argument("a network has no utilization of its own");
  // Cycles of operators are fractions: sums in another order must not miss a deadline by rounding.
  NetworkGoal goal = asked;
  goal.most_cycles *= 1 + kNetworkRounding;
  ResidencyLines& lines = stay ? staying_ : outside_;
  NetworkHull hull(
      goal, options_.stop, [&](double slope) { return line_of(path_at(slope, stay), slope); }, options_.gap);
  Optimum best;
  if (!hull.close()) {
    best.without_mapping = stay && standing_ ? standing_->stuck_row() : lines.stuck_row();
    best.infeasible = variants_.complete();
    return best;
  }
  if (hull.too_slow()) {
    best.infeasible = variants_.complete();
    best.fastest_cycles = hull.fastest_cycles();
    return best;
  }
  bool proven = hull.proven();
  const ResidencyLines* of = &lines;
  if (hull.best() != nullptr) {
    const Path& path = *path_at(hull.best()->slope, stay);
    best = taken(path);
    of = path.of;
  }
  best.value = hull.value();
  // Between corners weights that stay are not combined, for they take room from every step: the gap to the line is
  // stated.
  const bool between = hull.has_deadline() && !hull.close_enough() && !options_.stop.stop_requested();
  best.standing_within_deadline = between && stay && standing_;
  if (between && !best.standing_within_deadline) {
    DeadlineCombination combination(mapper_, lines, variants_, options_, goal, hull.highest_at_deadline().slope);
    proven = combination.improve(best, hull.fastest_better());
    more_searches_ += combination.searches();
  }
  // Where searches found nothing lines have floors instead; where not all places were tried they bound nothing.
  const bool all_places = !(stay && lines.live().limited);
  best.certified = proven && all_places && variants_.complete();
  best.lower_bound = best.certified ? best.value : std::max(floor(goal.objective), all_places ? hull.lower_bound() : 0);
  best.fastest_cycles = hull.fastest_cycles();
  best.slopes = hull.slopes();
  best.line_bound = all_places ? hull.lower_bound() : 0;
  note_rooms(*of, best);
  note_parts(*of, best);
  return best;
}

}  // namespace pliant::residency
