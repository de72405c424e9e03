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

int ChainStacks::number(int layer, const Stack& nest) {
  auto& known = numbers_[static_cast<std::size_t>(layer)];
  const auto [at, is_new] = known.try_emplace(nest, static_cast<int>(known.size()));
  if (is_new) nests_[static_cast<std::size_t>(layer)].push_back(&at->first);
  return at->second;
}

const std::vector<ChainStacks::Combination>& ChainStacks::combinations(const Setting& setting) {
  if (std::exchange(listed_, true)) return combinations_;
  const std::size_t links = setting.chain->links.size();
  numbers_.resize(links + 1);
  nests_.resize(links + 1);
  std::vector<std::map<TileLoop, std::vector<Stack>>> stacks(links);  // by the first loop, which all of a group share
  for (int i = 0; i < static_cast<int>(links); ++i)
    for (Stack& stack : all_stacks(*setting.chain, i))
      if (allows(setting.rule(), *setting.chain, i, stack))
        stacks[static_cast<std::size_t>(i)][stack.front()].push_back(std::move(stack));
  const std::optional<Count>& capacity = setting.memory().capacity_words;
  std::vector<Stack> chosen;
  const auto take = [&] {
    const std::vector<Stack> nests = nests_of(chosen);
    Combination one{chosen, {}, std::ranges::max(tile_words(setting, chosen, nests, {}))};
    if (capacity && one.most_words > *capacity) return;
    for (int l = 0; l <= static_cast<int>(links); ++l)
      one.nests.push_back(number(l, nests[static_cast<std::size_t>(l)]));
    combinations_.push_back(std::move(one));
  };
  const auto choose = [&](auto&& self, const std::vector<Stack>& next) -> void {
    for (const Stack& stack : next) {
      if (!chosen.empty() && !nest_together(chosen.back(), stack)) continue;
      chosen.push_back(stack);
      if (chosen.size() == links)
        take();
      else if (const auto same = stacks[chosen.size()].find(stack.front()); same != stacks[chosen.size()].end())
        self(self, same->second);
      chosen.pop_back();
    }
  };
  // As they are listed: of equals the first is taken.
  for (const Stack& stack : all_stacks(*setting.chain, 0))
    if (allows(setting.rule(), *setting.chain, 0, stack)) choose(choose, {stack});
  return combinations_;
}

ChainStacks::Choices& ChainStacks::choices(const Setting& setting, int layer, int nest, TileLines& tiles) {
  auto& all = choices_[{layer, setting.places[static_cast<std::size_t>(layer)]}];
  if (static_cast<std::size_t>(nest) >= all.size()) all.resize(static_cast<std::size_t>(nest) + 1);
  std::unique_ptr<Choices>& one = all[static_cast<std::size_t>(nest)];
  if (!one) {
    one = std::make_unique<Choices>();
    const Stack& loops = *nests_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(nest)];
    one->all = layer_choices(setting, layer, loops, tiles);
  }
  return *one;
}

GroupLines::GroupLines(Setting setting, TileLines& tiles, std::shared_ptr<ChainStacks> stacks)
    : setting_(std::move(setting)),
      tiles_(tiles),
      stacks_(stacks ? std::move(stacks) : std::make_shared<ChainStacks>()) {}

void GroupLines::list_candidates() {
  if (std::exchange(listed_, true)) return;
  const auto& here = setting_.taken[static_cast<std::size_t>(setting_.home)];
  const std::optional<Count>& capacity = setting_.memory().capacity_words;
  for (const ChainStacks::Combination& one : stacks_->combinations(setting_)) {
    if (capacity && here[0] + here[1] + here[2] + one.most_words > *capacity) continue;
    Candidate candidate;
    candidate.of = &one;
    for (int l = 0; l < setting_.layers(); ++l) {
      candidate.layers.push_back(&stacks_->choices(setting_, l, one.nests[static_cast<std::size_t>(l)], tiles_));
      if (candidate.layers.back()->all.empty()) break;
    }
    if (!candidate.layers.back()->all.empty()) candidates_.push_back(std::move(candidate));
  }
}

double GroupLines::least_of(Choices& choices, double slope) {
  auto& [searches, least] = choices.least.try_emplace(slope, -1, kInfinity).first->second;
  if (searches == tiles_.searches_of_uncut()) return least;
  searches = tiles_.searches_of_uncut();
  least = kInfinity;
  for (const LayerChoice& choice : choices.all) {
    double sum = at_slope(choice.moving, slope);
    for (const LayerChoice::Runs& runs : choice.runs) sum += runs.times * tiles_.floor(runs.shape, slope);
    least = std::min(least, sum);
  }
  return least;
}

double GroupLines::candidate_bound(const Candidate& candidate, double slope) {
  double sum = 0;
  for (Choices* layer : candidate.layers) sum += least_of(*layer, slope);
  return sum;
}

GroupLines::Queue& GroupLines::queue(double slope) {
  list_candidates();
  const auto [at, is_new] = queues_.try_emplace(slope);
  if (!is_new) return at->second;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    at->second.push({candidate_bound(candidates_[c], slope), static_cast<int>(c), -1});
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
  const std::vector<Stack> nests = nests_of(candidate.of->stacks);
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
    plan.tile_words = tile_words(setting_, candidate.of->stacks, nests, plan.held);
    const auto rooms = rooms_of(setting_, plan.tile_words);
    if (!rooms) return;
    plan.stacks = candidate.of->stacks;
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
      if (const double now = candidate_bound(candidate, slope); now > item.bound) {
        items.push({now, item.candidate, -1});
        continue;
      }
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
