// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/group_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pliant::fusion {

namespace {

double at_slope(const OperatorCost& cost, double slope) {
  return std::isinf(slope) ? cost.cycles : cost.energy_pj + slope * cost.cycles;
}

}  // namespace

GroupLines::GroupLines(Setting setting, TileLines& tiles)
    : setting_(std::move(setting)), tiles_(tiles), choices_(setting_.chain->layers.size()) {}

GroupLines::Choices& GroupLines::choices(int layer, const Stack& nest) {
  const auto [at, is_new] = choices_[static_cast<std::size_t>(layer)].try_emplace(nest);
  if (is_new) at->second.all = layer_choices(setting_, layer, nest, tiles_);
  return at->second;
}

void GroupLines::list_candidates() {
  if (std::exchange(listed_, true)) return;
  const std::size_t links = setting_.chain->links.size();
  std::vector<std::vector<Stack>> stacks;
  for (int i = 0; i < static_cast<int>(links); ++i) {
    stacks.push_back(all_stacks(*setting_.chain, i));
    std::erase_if(stacks.back(),
                  [&](const Stack& stack) { return !allows(setting_.rule(), *setting_.chain, i, stack); });
  }
  std::vector<Stack> chosen;
  const auto choose = [&](auto&& self) -> void {
    if (chosen.size() < links) {
      for (const Stack& next : stacks[chosen.size()]) {
        if (!chosen.empty() && !nest_together(chosen.back(), next)) continue;
        chosen.push_back(next);
        self(self);
        chosen.pop_back();
      }
      return;
    }
    const std::vector<Stack> nests = nests_of(chosen);
    if (!rooms_of(setting_, tile_words(setting_, chosen, nests, {}))) return;
    Candidate candidate;
    for (int l = 0; l < setting_.layers(); ++l) {
      candidate.layers.push_back(&choices(l, nests[static_cast<std::size_t>(l)]));
      if (candidate.layers.back()->all.empty()) return;
    }
    candidate.stacks = chosen;
    candidates_.push_back(std::move(candidate));
  };
  choose(choose);
}

double GroupLines::least_of(Choices& choices, double slope) {
  const auto [at, is_new] = choices.least.try_emplace(slope, kInfinity);
  if (!is_new) return at->second;
  for (const LayerChoice& choice : choices.all) {
    double sum = at_slope(choice.moving, slope);
    for (const LayerChoice::Runs& runs : choice.runs) sum += runs.times * tiles_.floor(runs.shape, slope);
    at->second = std::min(at->second, sum);
  }
  return at->second;
}

GroupLines::Queue& GroupLines::queue(double slope) {
  list_candidates();
  const auto [at, is_new] = queues_.try_emplace(slope);
  if (!is_new) return at->second;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    Item item{0, static_cast<int>(c), -1};
    for (Choices* layer : candidates_[c].layers) item.bound += least_of(*layer, slope);
    at->second.push(item);
  }
  return at->second;
}

double GroupLines::bound(double slope) {
  const Queue& items = queue(slope);
  return items.empty() ? kInfinity : items.top().bound;
}

const Plan* GroupLines::solved(double slope) {
  const auto known = solved_.find(slope);
  return known == solved_.end() ? nullptr : &plans_[static_cast<std::size_t>(known->second)];
}

/// All held sets that leave room.
void GroupLines::open(Candidate& candidate) {
  if (std::exchange(candidate.opened, true)) return;
  const std::vector<Stack> nests = nests_of(candidate.stacks);
  std::vector<const LayerChoice*> chosen;
  const auto choose = [&](auto&& self) -> void {
    if (chosen.size() < candidate.layers.size()) {
      for (const LayerChoice& choice : candidate.layers[chosen.size()]->all) {
        chosen.push_back(&choice);
        self(self);
        chosen.pop_back();
      }
      return;
    }
    Plan plan;
    for (const LayerChoice* choice : chosen)
      plan.held.insert(plan.held.end(), choice->held.begin(), choice->held.end());
    plan.tile_words = tile_words(setting_, candidate.stacks, nests, plan.held);
    const auto rooms = rooms_of(setting_, plan.tile_words);
    if (!rooms) return;
    plan.stacks = candidate.stacks;
    plan.layers = chosen;
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      for (const LayerChoice::Runs& runs : chosen[l]->runs)
        plan.runs.push_back({static_cast<int>(l), tiles_.piece(runs.shape, (*rooms)[l]), runs.times});
    }
    candidate.plans.push_back(static_cast<int>(plans_.size()));
    plans_.push_back(std::move(plan));
  };
  choose(choose);
}

double GroupLines::plan_bound(const Plan& plan, double slope) {
  double sum = 0;
  for (const LayerChoice* layer : plan.layers) sum += at_slope(layer->moving, slope);
  for (const Plan::Runs& runs : plan.runs) sum += runs.times * tiles_.bound(runs.piece, slope).least;
  return sum;
}

bool GroupLines::refine(double slope) {
  Queue& items = queue(slope);
  if (items.empty() || solved_.contains(slope)) return true;
  const double before = items.top().bound;
  while (!items.empty() && items.top().bound <= before) {
    Item item = items.top();
    if (std::isinf(item.bound)) {
      items = {};
      return true;
    }
    Candidate& candidate = candidates_[static_cast<std::size_t>(item.candidate)];
    if (item.plan < 0) {
      items.pop();
      open(candidate);
      for (const int plan : candidate.plans)
        items.push(
            {std::max(item.bound, plan_bound(plans_[static_cast<std::size_t>(plan)], slope)), item.candidate, plan});
      continue;
    }
    const Plan& plan = plans_[static_cast<std::size_t>(item.plan)];
    const double now = plan_bound(plan, slope);
    if (now > item.bound) {
      items.pop();
      items.push({now, item.candidate, item.plan});
      continue;
    }
    const auto open_run = std::ranges::find_if(
        plan.runs, [&](const Plan::Runs& runs) { return tiles_.bound(runs.piece, slope).point == nullptr; });
    if (open_run == plan.runs.end()) {
      solved_[slope] = item.plan;
      return true;
    }
    if (!tiles_.search(open_run->piece, slope)) return false;
    if (tiles_.gave_up(open_run->piece, slope)) return false;
  }
  return true;
}

}  // namespace pliant::fusion
