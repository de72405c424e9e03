// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/residency_deadline.h"

#include <algorithm>
#include <optional>

#include "dse/mappers/frontier.h"
#include "dse/mappers/residency/residency.h"

namespace pliant::residency {

namespace {

constexpr std::size_t kMostLabels = 200'000;  ///< of one step
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

double DeadlineCombination::weight(const Transition& transition, std::size_t step) {
  const auto count = static_cast<double>(lines_.live().steps[step].count);
  if (transition.variant < 0) return count * (transition.cost.energy_pj + slope_ * transition.cost.cycles);
  const VariantLines::Known known = variants_.bound(transition.variant, slope_);
  return known.nothing_fits ? kInfinity : count * known.least;
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

const std::vector<DeadlineCombination::Sum>* DeadlineCombination::sums_of(int variant, Count count) {
  const auto known = sums_.find({variant, count});
  if (known != sums_.end()) return known->second.empty() ? nullptr : &known->second;
  std::vector<Sum>& sums = sums_[{variant, count}];
  if (!frontiers_.contains(variant)) {
    Frontier frontier = search_frontier(mapper_, variants_.task(variant), options_);
    searches_ += frontier.points.size() + 2;
    frontiers_[variant] = frontier.certified ? std::move(frontier.points) : std::vector<SearchResult>{};
  }
  const std::vector<SearchResult>& points = frontiers_.at(variant);
  if (points.empty()) return nullptr;
  sums.push_back({0, 0, std::vector<Count>(points.size(), 0)});
  for (Count k = 0; k < count; ++k) {
    std::vector<Sum> next;
    for (const Sum& sum : sums)
      for (std::size_t p = 0; p < points.size(); ++p) {
        next.push_back({sum.energy_pj + points[p].totals.energy_pj, sum.cycles + points[p].totals.cycles, sum.times});
        ++next.back().times[p];
      }
    std::ranges::sort(next, [](const Sum& a, const Sum& b) {
      return a.cycles != b.cycles ? a.cycles < b.cycles : a.energy_pj < b.energy_pj;
    });
    sums.clear();
    for (Sum& sum : next)
      if (sums.empty() || sum.energy_pj < sums.back().energy_pj) sums.push_back(std::move(sum));
    if (sums.size() > kMostLabels / 100) return sums.clear(), nullptr;
  }
  return &sums;
}

bool DeadlineCombination::extend(std::size_t s, const std::vector<Labels>& before, std::vector<Labels>& after) {
  const Count count = lines_.live().steps[s].count;
  std::size_t made = 0;
  for (const Transition& one : lines_.transitions()[s]) {
    const auto from = static_cast<std::size_t>(one.from), to = static_cast<std::size_t>(one.to);
    if (before[from].empty() || before_[s][from] + weight(one, s) + after_[s + 1][to] - least_ > slack_) continue;
    if (one.variant >= 0 && variants_.exact(one.variant, slope_).nothing_fits) continue;
    const auto times = static_cast<double>(count);
    const std::vector<Sum> fixed{{times * one.cost.energy_pj, times * one.cost.cycles, {}}};
    const std::vector<Sum>* sums = one.variant < 0 ? &fixed : sums_of(one.variant, count);
    if (sums == nullptr) return false;
    for (std::size_t b = 0; b < before[from].size(); ++b)
      for (std::size_t k = 0; k < sums->size(); ++k) {
        const Label label{before[from][b].energy_pj + (*sums)[k].energy_pj, before[from][b].cycles + (*sums)[k].cycles,
                          static_cast<int>(b), &one, static_cast<int>(k)};
        if (label.cycles > goal_.most_cycles ||
            label.energy_pj + slope_ * label.cycles + after_[s + 1][to] - least_ > slack_)
          continue;
        after[to].push_back(label);
        ++made;
      }
    if (after[to].size() > kMostLabels / 10) keep_best(after[to]);
    if (made > 50 * kMostLabels) return false;
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
  const auto above = [&](double cycles) {
    return energy_of(goal_.objective, best.value, cycles) + slope_ * cycles - least_;
  };
  slack_ = std::max(above(goal_.most_cycles), fastest > 0 ? above(fastest) : kInfinity) * kSlack;
  labels_.assign(1, {Labels{Label{}}});
  for (std::size_t s = 0; s < lines_.transitions().size(); ++s) {
    std::vector<Labels> next(lines_.states()[s + 1]);
    if (!extend(s, labels_.back(), next)) return false;
    labels_.push_back(std::move(next));
  }
  const Labels& all = labels_.back().front();
  std::optional<std::size_t> least;
  const auto value = [&](std::size_t k) { return network_value(goal_.objective, all[k].energy_pj, all[k].cycles); };
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].cycles <= goal_.most_cycles && (!least || value(k) < value(*least))) least = k;
  if (least && value(*least) < best.value) take(*least, best);
  return true;
}

void DeadlineCombination::take(std::size_t label, Optimum& best) const {
  const LiveTensors& live = lines_.live();
  best.energy_pj = labels_.back().front()[label].energy_pj;
  best.cycles = labels_.back().front()[label].cycles;
  best.value = network_value(goal_.objective, best.energy_pj, best.cycles);
  best.homes.assign(live.tensors.size(), kOutside);
  best.steps.assign(live.steps.size(), StepChoice{});
  std::size_t state = 0;
  for (std::size_t s = live.steps.size(); s-- > 0;) {
    const Label& at = labels_[s + 1][state][label];
    const Step& step = live.steps[s];
    StepChoice& choice = best.steps[s];
    if (step.makes >= 0) best.homes[static_cast<std::size_t>(step.makes)] = at.by->made;
    choice.variant = at.by->variant;
    const auto times = static_cast<double>(step.count);
    choice.energy_pj = times * at.by->cost.energy_pj;
    choice.cycles = times * at.by->cost.cycles;
    if (choice.variant >= 0) {
      const Sum& sum = sums_.at({choice.variant, step.count})[static_cast<std::size_t>(at.sum)];
      choice.energy_pj = sum.energy_pj;
      choice.cycles = sum.cycles;
      const std::vector<SearchResult>& points = frontiers_.at(choice.variant);
      for (std::size_t p = 0; p < points.size(); ++p)
        if (sum.times[p] > 0) choice.parts.push_back({sum.times[p], *points[p].mapping, points[p].totals});
    }
    label = static_cast<std::size_t>(at.before);
    state = static_cast<std::size_t>(at.by->from);
  }
}

}  // namespace pliant::residency
