// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/fusion.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "dse/mappers/network_hull.h"
#include "dse/mappers/residency/residency_deadline.h"

namespace pliant::fusion {

Search::Search(const Mapper& mapper, const Workload& workload, const std::vector<Task>& rows,
               const SearchOptions& options)
    : mapper_(mapper),
      options_(options),
      variants_(mapper, rows, options),
      whole_(workload, rows, true, variants_),
      tiles_(mapper, options),
      lines_(workload, rows, variants_, whole_, tiles_, options.stop) {}

Optimum Search::taken(const FusedPath& path, double slope) {
  Optimum best;
  best.energy_pj = path.energy_pj;
  best.cycles = path.cycles;
  best.homes.assign(live().tensors.size(), kOutside);
  best.tiles.assign(live().tensors.size(), false);
  best.steps.resize(live().steps.size());
  const auto settle = [&](int step, Home made) {
    const int makes = live().steps[static_cast<std::size_t>(step)].makes;
    if (makes >= 0) best.homes[static_cast<std::size_t>(makes)] = made;
  };
  for (const PathPart& part : path.parts) {
    if (part.group == nullptr) {
      settle(part.step, part.alone.made);
      residency::StepChoice& choice = best.steps[static_cast<std::size_t>(part.step)];
      choice.variant = part.alone.variant;
      choice.energy_pj = part.alone.energy_pj;
      choice.cycles = part.alone.cycles;
      const auto count = live().steps[static_cast<std::size_t>(part.step)].count;
      if (part.alone.line != nullptr)
        choice.parts.push_back({count, part.alone.line->point.mapping, part.alone.line->point.totals});
      continue;
    }
    GroupChoice& group = best.groups.emplace_back();
    group.steps = part.steps->layers;
    group.operators = part.operators;
    for (int s = part.steps->first(); s < part.steps->last(); ++s)
      if (const int makes = live().steps[static_cast<std::size_t>(s)].makes; makes >= 0) {
        best.homes[static_cast<std::size_t>(makes)] = part.group->setting().home;
        best.tiles[static_cast<std::size_t>(makes)] = true;
      }
    settle(part.steps->last(), part.made);
    for (const OperatorStep& one : part.operators) {
      best.steps[static_cast<std::size_t>(one.step)].energy_pj = one.cost.energy_pj;
      best.steps[static_cast<std::size_t>(one.step)].cycles = one.cost.cycles;
    }
    group.setting = part.group->setting();
    group.plan = *part.plan;
    const auto of = [&](int layer) -> residency::StepChoice& {
      return best.steps[static_cast<std::size_t>(group.steps[static_cast<std::size_t>(layer)])];
    };
    for (std::size_t l = 0; l < group.steps.size(); ++l) {
      of(static_cast<int>(l)).energy_pj += group.plan.layers[l]->moving.energy_pj;
      of(static_cast<int>(l)).cycles += group.plan.layers[l]->moving.cycles;
    }
    for (const Plan::Runs& runs : group.plan.runs) {
      const LayerPoint& point = lines_.point(runs.piece, slope);
      group.runs.push_back({runs.layer, runs.times, tiles_.task(runs.piece), point.mapping, point.totals});
      of(runs.layer).energy_pj += runs.times * point.totals.energy_pj;
      of(runs.layer).cycles += runs.times * point.totals.cycles;
    }
  }
  return best;
}

/// Words that tensors take while each step runs, tiles included.
void Search::note_rooms(Optimum& best) const {
  std::vector<const GroupChoice*> group_of(best.steps.size(), nullptr);
  for (const GroupChoice& group : best.groups)
    for (int s = group.steps.front(); s <= group.steps.back(); ++s) group_of[static_cast<std::size_t>(s)] = &group;
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    std::vector<Count>& taken = best.steps[s].taken;
    if (const GroupChoice* group = group_of[s]) {
      for (const auto& words : group->setting.taken) taken.push_back(words[0] + words[1] + words[2]);
      // What comes after a layer happens in the room of its tiles.
      std::size_t layer = 0;
      while (layer + 1 < group->steps.size() && group->steps[layer + 1] <= static_cast<int>(s)) ++layer;
      taken[static_cast<std::size_t>(group->setting.home)] += group->plan.tile_words[layer];
      continue;
    }
    const auto rooms = whole_.rooms(
        static_cast<int>(s), [&](int tensor) { return best.homes[static_cast<std::size_t>(tensor)]; }, kOutside);
    for (const auto& words : rooms.all) taken.push_back(words[0] + words[1] + words[2]);
  }
}

/// Between two corners of the hull groups are not combined with each other; mappings with whole tensors are. True when
/// all of those were tried.
bool Search::combine_whole(Optimum& best, const NetworkGoal& goal, const NetworkHull& hull) {
  residency::Optimum whole;
  whole.value = best.value;
  residency::DeadlineCombination combination(mapper_, whole_, variants_, options_, goal,
                                             hull.highest_at_deadline().slope);
  const bool all = combination.improve(whole, hull.fastest_better());
  more_searches_ += combination.searches();
  if (!whole.found()) return all;
  best.homes = std::move(whole.homes);
  best.steps = std::move(whole.steps);
  best.tiles.assign(best.homes.size(), false);
  best.groups.clear();
  best.energy_pj = whole.energy_pj;
  best.cycles = whole.cycles;
  best.value = whole.value;
  note_rooms(best);
  return all;
}

const FusedPath* Search::path_at(double slope) {
  if (!std::exchange(begun_, true)) whole_.search_outside(slope);  // an answer, whatever time is left
  return lines_.at(slope);
}

std::optional<residency::Search::Line> Search::line(double slope) {
  const FusedPath* path = path_at(slope);
  if (path == nullptr) return std::nullopt;
  return residency::Search::Line{live().limited ? 0 : path->least, path->energy_pj, path->cycles};
}

Optimum Search::run(const NetworkGoal& asked) {
  if (asked.objective == Objective::kEdpOverUtilization)
    throw std::invalid_argument("a network has no utilization of its own");
  NetworkGoal goal = asked;
  goal.most_cycles *= 1 + kNetworkRounding;  // sums in another order must not miss a deadline by rounding
  NetworkHull hull(
      goal, options_.stop, [&](double slope) { return line_of(path_at(slope), slope); }, options_.gap);
  Optimum best;
  if (!hull.close()) {
    whole_.at(0);  // says which row fits nowhere
    best.without_mapping = whole_.stuck_row();
    best.infeasible = complete();
    return best;
  }
  best.fastest_cycles = hull.fastest_cycles();
  if (hull.too_slow()) {
    best.infeasible = complete();
    return best;
  }
  if (hull.best() != nullptr) {
    const double fastest = best.fastest_cycles;
    best = taken(*lines_.at(hull.best()->slope), hull.best()->slope);
    best.fastest_cycles = fastest;
    note_rooms(best);
  }
  best.value = hull.value();
  best.slopes = hull.slopes();
  best.between_corners = hull.has_deadline() && !hull.close_enough() && !options_.stop.stop_requested();
  bool proven = hull.proven();
  if (best.between_corners && combine_whole(best, goal, hull)) proven |= !any_groups();
  proven |= hull.lower_bound() >= best.value * (1 - kNetworkRounding);
  const bool all_places = !live().limited;
  best.line_bound = all_places ? hull.lower_bound() : 0;
  best.certified = proven && all_places && complete();
  best.lower_bound = best.certified ? best.value : all_places ? hull.lower_bound() : 0;
  return best;
}

}  // namespace pliant::fusion
