// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/residency_deadline.h"

#include <algorithm>
#include <optional>

#include "dse/mappers/frontier.h"
#include "dse/mappers/residency/residency.h"

namespace pliant::residency {

namespace {

constexpr std::size_t kMostLabels = 200'000;           ///< of one step
constexpr std::size_t kMostMade = 250 * kMostLabels;   ///< in one step, before the worse ones are left out
constexpr std::size_t kMostChosen = 50 * kMostLabels;  ///< in all steps
constexpr double kSlack = 1 + 1e-9;

/// With this energy the objective has this value.
double energy_of(Objective objective, double value, double cycles) {
  if (objective == Objective::kEdp) return value / cycles;
  if (objective == Objective::kEd2p) return value / (cycles * cycles);
  return value;
}

}  // namespace

DeadlineCombination::DeadlineCombination(const Mapper& mapper, ResidencyLines& lines, VariantLines& variants,
                                         const SearchOptions& options, const NetworkGoal& goal, double slope)
    : mapper_(mapper), lines_(lines), variants_(variants), options_(options), goal_(goal), slope_(slope) {}

double DeadlineCombination::least_of_one(int variant) {
  const VariantLines::Known known = variants_.bound(variant, slope_);
  return known.nothing_fits ? kInfinity : known.least;
}

double DeadlineCombination::weight(const Transition& transition, std::size_t step) {
  const auto count = static_cast<double>(lines_.live().steps[step].count);
  if (transition.variant < 0) return count * (transition.cost.energy_pj + slope_ * transition.cost.cycles);
  return count * least_of_one(transition.variant);
}

void DeadlineCombination::find_bounds() {
  const auto& transitions = lines_.transitions();
  const std::size_t steps = transitions.size();
  before_.resize(steps + 1);
  after_.resize(steps + 1);
  for (std::size_t s = 0; s <= steps; ++s) {
    before_[s].assign(lines_.states()[s], s == 0 ? 0 : kInfinity);
    after_[s].assign(lines_.states()[s], s == steps ? 0 : kInfinity);
  }
  const auto lower = [](double& least, double value) { least = std::min(least, value); };
  for (std::size_t s = 0; s < steps; ++s)
    for (const Transition& one : transitions[s])
      lower(before_[s + 1][static_cast<std::size_t>(one.to)],
            before_[s][static_cast<std::size_t>(one.from)] + weight(one, s));
  for (std::size_t s = steps; s-- > 0;)
    for (const Transition& one : transitions[s])
      lower(after_[s][static_cast<std::size_t>(one.from)],
            after_[s + 1][static_cast<std::size_t>(one.to)] + weight(one, s));
  least_ = after_[0][0];
}

/// Of labels that another beats in both energy and cycles none can be part of the only optimum.
void DeadlineCombination::keep_best(Labels& labels) {
  std::ranges::sort(labels, [](const Label& a, const Label& b) {
    return a.cycles != b.cycles ? a.cycles < b.cycles : a.energy_pj < b.energy_pj;
  });
  Labels kept;
  for (const Label& label : labels)
    if (kept.empty() || label.energy_pj < kept.back().energy_pj) kept.push_back(label);
  labels = std::move(kept);
}

void DeadlineCombination::note(const Transition& by, Labels& labels) {
  for (Label& label : labels) {
    chosen_.push_back({&by, label.before, label.point});
    label.before = static_cast<int>(chosen_.size()) - 1;
  }
}

/// nullptr: not proven.
const std::vector<SearchResult>* DeadlineCombination::frontier_of(int variant) {
  if (!frontiers_.contains(variant)) {
    Frontier frontier = search_frontier(mapper_, variants_.task(variant), options_);
    searches_ += frontier.points.size() + 2;
    frontiers_[variant] = frontier.certified ? std::move(frontier.points) : std::vector<SearchResult>{};
  }
  const std::vector<SearchResult>& points = frontiers_.at(variant);
  return points.empty() ? nullptr : &points;
}

/// So many layers with any mappings of the frontier each. `to_come`: what the steps after them have at least.
bool DeadlineCombination::repeat(const Transition& by, Count count, double to_come, Labels& labels) {
  const std::vector<SearchResult>* points = frontier_of(by.variant);
  if (points == nullptr) return false;
  const double one = least_of_one(by.variant);
  for (Count left = count; left-- > 0;) {
    const double rest = static_cast<double>(left) * one + to_come;
    Labels next;
    made_ += labels.size() * points->size();
    if (made_ > kMostMade || options_.stop.stop_requested()) return false;
    for (const Label& label : labels) {
      if (next.size() > 10 * kMostLabels) keep_best(next);
      for (std::size_t p = 0; p < points->size(); ++p) {
        const Totals& totals = (*points)[p].totals;
        const Label with{label.energy_pj + totals.energy_pj, label.cycles + totals.cycles, label.before,
                         static_cast<int>(p)};
        if (with.cycles <= goal_.most_cycles && above(with) + rest <= slack_) next.push_back(with);
      }
    }
    keep_best(next);
    if (next.size() > kMostLabels || chosen_.size() > kMostChosen) return false;
    note(by, next);
    labels = std::move(next);
  }
  return true;
}

bool DeadlineCombination::extend(std::size_t s, const std::vector<Labels>& before, std::vector<Labels>& after) {
  const Count count = lines_.live().steps[s].count;
  made_ = 0;
  for (const Transition& one : lines_.transitions()[s]) {
    const auto from = static_cast<std::size_t>(one.from), to = static_cast<std::size_t>(one.to);
    const double to_come = after_[s + 1][to];
    if (before[from].empty() || before_[s][from] + weight(one, s) + to_come - least_ > slack_) continue;
    if (one.variant >= 0 && variants_.exact(one.variant, slope_).nothing_fits) continue;
    Labels labels = before[from];
    if (one.variant >= 0) {
      if (!repeat(one, count, to_come, labels)) return false;
    } else {
      const auto times = static_cast<double>(count);
      for (Label& label : labels) {
        label.energy_pj += times * one.cost.energy_pj;
        label.cycles += times * one.cost.cycles;
        label.point = -1;
      }
      std::erase_if(labels, [&](const Label& label) {
        return label.cycles > goal_.most_cycles || above(label) + to_come > slack_;
      });
      note(one, labels);
    }
    after[to].insert(after[to].end(), labels.begin(), labels.end());
    if (after[to].size() > kMostLabels / 10) keep_best(after[to]);
  }
  std::size_t kept = 0;
  for (Labels& labels : after) {
    keep_best(labels);
    kept += labels.size();
  }
  return kept <= kMostLabels;
}

bool DeadlineCombination::improve(Optimum& best, double fastest) {
  find_bounds();
  // A choice of t cycles beats the best only with less energy than would give the best's value at t. So it is above the
  // line by less than that energy + slope * t is, which is convex in t: most at one of the ends that t can have.
  const auto best_above = [&](double cycles) {
    return energy_of(goal_.objective, best.value, cycles) + slope_ * cycles - least_;
  };
  slack_ = std::max(best_above(goal_.most_cycles), fastest > 0 ? best_above(fastest) : kInfinity) * kSlack;
  std::vector<Labels> labels{{Label{}}};
  for (std::size_t s = 0; s < lines_.transitions().size(); ++s) {
    std::vector<Labels> next(lines_.states()[s + 1]);
    if (!extend(s, labels, next)) return false;
    labels = std::move(next);
  }
  const Label* least = nullptr;
  const auto value = [&](const Label& label) { return network_value(goal_.objective, label.energy_pj, label.cycles); };
  for (const Label& label : labels.front())
    if (label.cycles <= goal_.most_cycles && (least == nullptr || value(label) < value(*least))) least = &label;
  if (least != nullptr && value(*least) < best.value) take(*least, best);
  return true;
}

void DeadlineCombination::take(const Label& last, Optimum& best) const {
  const LiveTensors& live = lines_.live();
  best.energy_pj = last.energy_pj;
  best.cycles = last.cycles;
  best.value = network_value(goal_.objective, best.energy_pj, best.cycles);
  best.homes.assign(live.tensors.size(), kOutside);
  best.steps.assign(live.steps.size(), StepChoice{});
  int at = last.before;
  for (std::size_t s = live.steps.size(); s-- > 0;) {
    const Transition& by = *chosen_[static_cast<std::size_t>(at)].by;
    const Step& step = live.steps[s];
    StepChoice& choice = best.steps[s];
    if (step.makes >= 0) best.homes[static_cast<std::size_t>(step.makes)] = by.made;
    choice.variant = by.variant;
    if (choice.variant < 0) {
      choice.energy_pj = static_cast<double>(step.count) * by.cost.energy_pj;
      choice.cycles = static_cast<double>(step.count) * by.cost.cycles;
      at = chosen_[static_cast<std::size_t>(at)].before;
      continue;
    }
    const std::vector<SearchResult>& points = frontiers_.at(choice.variant);
    std::vector<Count> times(points.size(), 0);
    for (Count k = 0; k < step.count; ++k) {
      ++times[static_cast<std::size_t>(chosen_[static_cast<std::size_t>(at)].point)];
      at = chosen_[static_cast<std::size_t>(at)].before;
    }
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (times[p] == 0) continue;
      choice.parts.push_back({times[p], *points[p].mapping, points[p].totals});
      choice.energy_pj += static_cast<double>(times[p]) * points[p].totals.energy_pj;
      choice.cycles += static_cast<double>(times[p]) * points[p].totals.cycles;
    }
  }
}

}  // namespace pliant::residency
