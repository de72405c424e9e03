// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network_deadline.h"

#include <algorithm>

#include "dse/mappers/frontier.h"

namespace pliant {

namespace {

constexpr std::size_t kMostPartials = 200'000;  ///< of one stage

}  // namespace

DeadlineCombination::DeadlineCombination(const Mapper& mapper, const std::vector<NetworkLayer>& layers,
                                         const SearchOptions& options, double most_cycles, const NetworkLine& line)
    : mapper_(mapper), layers_(layers), options_(options), most_cycles_(most_cycles), line_(line) {}

bool DeadlineCombination::find_choices(double slack) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Frontier frontier = search_frontier(mapper_, layers_[i].task, options_);
    searches_ += frontier.points.size() + 2;
    if (!frontier.certified) return false;
    const Totals& lowest = line_.points[i].totals;
    const double least = lowest.energy_pj + line_.slope * lowest.cycles;
    std::vector<Choice>& own = choices_.emplace_back();
    for (const SearchResult& point : frontier.points) {
      const double above = point.totals.energy_pj + line_.slope * point.totals.cycles - least;
      if (above <= slack) own.push_back({{*point.mapping, point.totals}, std::max(0.0, above)});
    }
    for (Count k = 0; k < layers_[i].count; ++k) layer_of_.push_back(i);
  }
  return true;
}

/// Of partial choices that another beats in both energy and cycles none can be part of the only optimum.
void DeadlineCombination::keep_best(Stage& stage) {
  std::ranges::sort(stage, [](const Partial& a, const Partial& b) {
    return a.cycles != b.cycles ? a.cycles < b.cycles : a.energy_pj < b.energy_pj;
  });
  Stage kept;
  for (const Partial& partial : stage)
    if (kept.empty() || partial.energy_pj < kept.back().energy_pj) kept.push_back(partial);
  stage = std::move(kept);
}

bool DeadlineCombination::improve(NetworkOptimum& best) {
  // Any choice has energy = line + what it is above the line - slope * cycles, and cycles within the deadline: it beats
  // the best only if it is above the line by less than the best is above the line at the deadline.
  const double slack = best.value - (line_.least - line_.slope * most_cycles_);
  if (!find_choices(slack * (1 + 1e-9))) return false;
  std::vector<Stage> stages{{Partial{}}};
  for (const std::size_t layer : layer_of_) {
    Stage next;
    for (std::size_t b = 0; b < stages.back().size(); ++b) {
      const Partial& before = stages.back()[b];
      for (std::size_t c = 0; c < choices_[layer].size(); ++c) {
        const Choice& choice = choices_[layer][c];
        const double above = before.above + choice.above;
        if (above > slack * (1 + 1e-9)) continue;
        next.push_back({before.energy_pj + choice.point.totals.energy_pj, before.cycles + choice.point.totals.cycles,
                        above, static_cast<int>(b), static_cast<int>(c)});
      }
      if (next.size() > kMostPartials) keep_best(next);
      if (next.size() > kMostPartials) return false;
    }
    keep_best(next);
    stages.push_back(std::move(next));
  }
  const Stage& all = stages.back();
  std::size_t least = all.size();
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].cycles <= most_cycles_ && (least == all.size() || all[k].energy_pj < all[least].energy_pj)) least = k;
  if (least < all.size() && all[least].energy_pj < best.value) take(stages, least, best);
  return true;
}

void DeadlineCombination::take(const std::vector<Stage>& stages, std::size_t last, NetworkOptimum& best) const {
  best.energy_pj = best.value = stages.back()[last].energy_pj;
  best.cycles = stages.back()[last].cycles;
  std::vector<std::vector<Count>> times;
  for (const auto& own : choices_) times.emplace_back(own.size(), 0);
  int at = static_cast<int>(last);
  for (std::size_t k = stages.size(); k-- > 1;) {
    const Partial& partial = stages[k][static_cast<std::size_t>(at)];
    ++times[layer_of_[k - 1]][static_cast<std::size_t>(partial.choice)];
    at = partial.before;
  }
  best.parts.clear();
  for (std::size_t i = 0; i < times.size(); ++i)
    for (std::size_t c = 0; c < times[i].size(); ++c)
      if (times[i][c] > 0)
        best.parts.push_back({i, times[i][c], choices_[i][c].point.mapping, choices_[i][c].point.totals});
}

}  // namespace pliant
