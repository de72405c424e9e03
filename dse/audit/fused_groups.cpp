// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/fused_groups.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "core/arithmetic.h"

namespace pliant::audit {

namespace {

/// More layers are never one group.
constexpr std::size_t kMostLayers = 4;

using Operator = WorkloadGraph::Operator;

}  // namespace

const StackSpace::LayerList& StackSpace::options(const GroupPlace& place, std::size_t layer, const GroupLoops& nest) {
  const auto [at, is_new] = options_.try_emplace(Key{layer, place.places[layer], nest});
  auto& [all, list] = at->second;
  if (!is_new) return list;
  all = layer_options(place, layer, nest);
  for (const LayerOption& option : all) {
    list.push_back({&option, option.moving.energy_pj, option.moving.cycles});
    OptionFloor& one = list.back();
    for (const LayerOption::Runs& runs : option.runs) {
      const RunFloor::Least least = proven_.floor(runs.shape);
      one.energy_pj += runs.times * least.energy_pj;
      one.cycles += runs.times * least.cycles;
    }
  }
  return list;
}

/// Every combination of stacks that nest and are allowed.
const std::vector<StackSpace::Combination>& StackSpace::combinations(const GroupPlace& place) {
  if (std::exchange(listed_, true)) return combinations_;
  const FusedChain& chain = *place.chain;
  const FusionRule rule = place.accelerator().fusion.empty()
                              ? FusionRule{}
                              : place.accelerator().fusion[static_cast<std::size_t>(place.home)];
  std::vector<std::map<GroupLoop, std::vector<GroupLoops>>> stacks(chain.links.size());  // by their first loop
  for (std::size_t i = 0; i < chain.links.size(); ++i)
    for (GroupLoops& loops : chain.stacks(i))
      if (rule_allows(rule, chain, i, loops)) stacks[i][loops.front()].push_back(std::move(loops));
  std::vector<GroupLoops> chosen;
  const auto choose = [&](auto&& self, const std::vector<GroupLoops>& next) -> void {
    for (const GroupLoops& loops : next) {
      if (!chosen.empty() && !nest_in_each_other(chosen.back(), loops)) continue;
      chosen.push_back(loops);
      if (chosen.size() < stacks.size()) {
        const auto same = stacks[chosen.size()].find(loops.front());
        if (same != stacks[chosen.size()].end()) self(self, same->second);
      } else {
        std::vector<GroupLoops> around = nests(chosen);
        const Count words = std::ranges::max(words_of_tiles(place, chosen, around, {}));
        if (!place.memory().capacity_words || words <= *place.memory().capacity_words)
          combinations_.push_back({chosen, std::move(around), words});
      }
      chosen.pop_back();
    }
  };
  for (const auto& [loop, first] : stacks.front()) choose(choose, first);
  return combinations_;
}

FusedGroup::FusedGroup(GroupPlace place, Taken taken, const ProvenLines& proven, StackSpace& space)
    : place_(std::move(place)), taken_(std::move(taken)), proven_(proven), space_(space) {}

bool FusedGroup::fits(Count words) const {
  const auto& here = taken_[static_cast<std::size_t>(place_.home)];
  const auto& capacity = place_.memory().capacity_words;
  return !capacity || words + here[0] + here[1] + here[2] <= *capacity;
}

Taken FusedGroup::room(Count words) const {
  Taken all = taken_;
  all[static_cast<std::size_t>(place_.home)][0] += words;
  return all;
}

/// The combinations whose tiles fit beside what lives around them.
void FusedGroup::list() {
  listed_ = true;
  for (const StackSpace::Combination& one : space_.combinations(place_)) {
    if (!fits(one.most_words)) continue;
    Candidate candidate;
    candidate.of = &one;
    for (std::size_t l = 0; l < one.nests.size(); ++l)
      candidate.layers.push_back(&space_.options(place_, l, one.nests[l]));
    if (std::ranges::none_of(candidate.layers, [](const LayerList* list) { return list->empty(); }))
      candidates_.push_back(std::move(candidate));
  }
}

int FusedGroup::lines_of(const LayerVariant& shape, Count words) {
  const auto [at, is_new] = line_numbers_.try_emplace({shape, words}, static_cast<int>(lines_.size()));
  if (is_new) {
    LayerVariant variant = shape;
    variant.taken = room(words);
    lines_.push_back(proven_.of(variant));
    variants_.push_back(std::move(variant));
  }
  return at->second;
}

/// All held tiles of stacks that fit beside each other.
void FusedGroup::open(Candidate& candidate) {
  candidate.opened = true;
  std::vector<const LayerOption*> chosen;
  std::vector<HeldTile> held;
  const auto choose = [&](auto&& self) -> void {
    if (chosen.size() < candidate.layers.size()) {
      for (const OptionFloor& one : *candidate.layers[chosen.size()]) {
        const std::size_t before = held.size();
        held.insert(held.end(), one.option->held.begin(), one.option->held.end());
        chosen.push_back(one.option);
        self(self);
        chosen.pop_back();
        held.resize(before);
      }
      return;
    }
    const std::vector<Count> words = words_of_tiles(place_, candidate.of->stacks, candidate.of->nests, held);
    if (!fits(std::ranges::max(words))) return;
    Plan& plan = candidate.plans.emplace_back();
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      plan.moving.energy_pj += chosen[l]->moving.energy_pj;
      plan.moving.cycles += chosen[l]->moving.cycles;
      for (const LayerOption::Runs& runs : chosen[l]->runs)
        plan.runs.push_back({lines_of(runs.shape, words[l]), runs.times});
    }
  };
  choose(choose);
}

/// Stacks in the order of what they cost whatever is held; those that could be the least are opened.
double FusedGroup::least(double slope) {
  if (!listed_) list();
  const auto [known, is_new] = known_.try_emplace(slope, kInfinity);
  if (!is_new) return known->second;
  const auto at = [&](double energy, double cycles) { return std::isinf(slope) ? cycles : energy + slope * cycles; };
  std::map<const LayerList*, double> of_list;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    double sum = 0;
    for (const LayerList* list : candidates_[c].layers) {
      const auto [least, is_unknown] = of_list.try_emplace(list, kInfinity);
      if (is_unknown)
        for (const OptionFloor& one : *list) least->second = std::min(least->second, at(one.energy_pj, one.cycles));
      sum += least->second;
    }
    order.emplace_back(sum, c);
  }
  std::priority_queue queue(std::greater<>{}, std::move(order));
  std::vector<double> of_lines(lines_.size(), -1);
  for (; !queue.empty() && queue.top().first < known->second; queue.pop()) {
    Candidate& candidate = candidates_[queue.top().second];
    if (!candidate.opened) open(candidate);
    of_lines.resize(lines_.size(), -1);
    for (const Plan& plan : candidate.plans) {
      double sum = at(plan.moving.energy_pj, plan.moving.cycles);
      for (const Run& run : plan.runs) {
        double& least = of_lines[static_cast<std::size_t>(run.lines)];
        if (least < 0) least = lines_[static_cast<std::size_t>(run.lines)].at(slope);
        sum += run.times * least;
      }
      known->second = std::min(known->second, std::max(sum, queue.top().first));
    }
  }
  return known->second;
}

MovingCost FusedGroup::attained(double slope) const {
  MovingCost best{kInfinity, kInfinity};
  std::vector<MovingCost> of_lines;
  for (const LayerVariant& variant : variants_) of_lines.push_back(proven_.attained(variant, slope));
  for (const Candidate& candidate : candidates_)
    for (const Plan& plan : candidate.plans) {
      MovingCost all = plan.moving;
      for (const Run& run : plan.runs) {
        all.energy_pj += run.times * of_lines[static_cast<std::size_t>(run.lines)].energy_pj;
        all.cycles += run.times * of_lines[static_cast<std::size_t>(run.lines)].cycles;
      }
      if (sum_at(slope, all) < sum_at(slope, best)) best = all;
    }
  return best;
}

std::optional<GroupWork> FusedGroup::work(const std::vector<GroupLoops>& stacks, const std::vector<HeldTile>& held) {
  if (!listed_) list();
  const auto found = std::ranges::find_if(candidates_, [&](const Candidate& one) { return one.of->stacks == stacks; });
  if (found == candidates_.end()) return std::nullopt;
  GroupWork work;
  std::size_t used = 0;
  for (std::size_t l = 0; l < found->layers.size(); ++l) {
    std::vector<HeldTile> own;
    std::ranges::copy_if(held, std::back_inserter(own), [&](const HeldTile& one) { return one.layer == l; });
    std::ranges::sort(own);
    used += own.size();
    const auto option =
        std::ranges::find_if(*found->layers[l], [&](const OptionFloor& one) { return one.option->held == own; });
    if (option == found->layers[l]->end()) return std::nullopt;
    work.moving.energy_pj += option->option->moving.energy_pj;
    work.moving.cycles += option->option->moving.cycles;
    for (const LayerOption::Runs& runs : option->option->runs) work.runs.push_back({l, runs.shape, runs.times});
  }
  if (used != held.size()) return std::nullopt;  // the others are of no layer
  const std::vector<Count> words = words_of_tiles(place_, stacks, found->of->nests, held);
  if (!fits(std::ranges::max(words))) return std::nullopt;
  for (GroupWork::Runs& runs : work.runs) runs.variant.taken = room(words[runs.layer]);
  return work;
}

FusedGroups::FusedGroups(const NetworkPlaces& places, const NetworkTask& task, const std::vector<Task>& rows,
                         const ProvenLines& proven)
    : places_(places), accelerator_(task.accelerator), rows_(rows), proven_(proven), by_first_(places.steps()) {
  if (!task.tiles || !task.stay || !(accelerator_.conventions == Conventions::physical())) return;
  for (std::size_t s = 0; s < places.steps(); ++s) {
    Steps steps;
    steps.layers.push_back(s);
    while (steps.layers.size() < kMostLayers && grow(steps)) add(steps);
  }
}

/// Adds the layer that alone reads what the last one makes, right after it but for what is done to the tensor in place.
bool FusedGroups::grow(Steps& steps) const {
  const NetworkPlaces::Step& last = places_.step(steps.layers.back());
  int made = last.makes;
  if (last.row < 0 || made < 0) return false;
  BetweenLayers between;
  for (std::size_t n = steps.layers.back() + 1; n < places_.steps(); ++n) {
    const NetworkPlaces::Step& next = places_.step(n);
    const NetworkPlaces::Lived& tensor = places_.tensor(made);
    if (std::ranges::count(next.reads, made, &std::pair<int, int>::first) != 1) return false;
    const int operand = std::ranges::find(next.reads, made, &std::pair<int, int>::first)->second;
    if (next.row >= 0) {
      const Layer& layer = rows_[static_cast<std::size_t>(next.row)].layer;
      if (next.count != last.count || tensor.last != n ||
          layer.tensors[static_cast<std::size_t>(operand)].role != Role::kInput)
        return false;
      between.read = operand;
      steps.layers.push_back(n);
      steps.between.push_back(between);
      return true;
    }
    if (next.makes < 0) {  // where its operand is; it must touch all of it
      if (next.words != tensor.elements) return false;
      if (accelerator_.vector) steps.operators.push_back(n);
      continue;
    }
    const bool same_place = next.work == Operator::kAdd || next.work == Operator::kActivation ||
                            next.work == Operator::kSoftmax || next.work == Operator::kNorm;
    if (!same_place || next.count != 1 || tensor.last != n || places_.tensor(next.makes).elements != tensor.elements)
      return false;
    if (next.work == Operator::kSoftmax || next.work == Operator::kNorm) {
      between.whole_rows = between.whole_rows || !next.online || between.online;
      between.online = between.online || next.online;
    }
    steps.operators.push_back(n);
    made = next.makes;
  }
  return false;
}

/// Of the operands that come from elsewhere, those that several layers of a node read the same words of.
CountedLayers FusedGroups::counted(const Steps& steps) const {
  CountedLayers all;
  all.count = places_.step(steps.layers.front()).count;
  all.same.assign(steps.layers.size(), 0);
  if (all.count == 1) return all;
  for (std::size_t i = 0; i < steps.layers.size(); ++i) {
    const NetworkPlaces::Step& step = places_.step(steps.layers[i]);
    const Layer& layer = rows_[static_cast<std::size_t>(step.row)].layer;
    for (const auto& [tensor, operand] : step.reads) {
      const bool tile = i > 0 && operand == steps.between[i - 1].read;
      if (tile || layer.operation != Operation::kGemm) continue;
      const Count seen = all.count * layer.tensor_words(operand), there = places_.tensor(tensor).elements;
      if (seen == there || seen % there != 0) continue;
      const Count readers = seen / there;
      const bool weights = layer.tensors[static_cast<std::size_t>(operand)].role == Role::kWeight;
      if (all.count % readers != 0 || (!weights && readers != all.count)) continue;
      if (all.sharing == 1) all.sharing = readers;
      if (all.sharing == readers) all.same[i] |= TensorSet{1} << operand;
    }
  }
  return all;
}

/// Memories outside all fanouts that may hold what passes.
std::vector<Place> FusedGroups::homes_of(const Steps& steps) const {
  std::vector<Place> homes;
  const FusedChain& chain = *steps.chain;
  const bool writes = std::ranges::any_of(steps.operators, [&](std::size_t s) { return places_.step(s).makes >= 0; });
  for (int l = 1; l + 1 < static_cast<int>(accelerator_.levels.size()); ++l) {
    const Level& level = accelerator_.levels[static_cast<std::size_t>(l)];
    if (level.is_fanout()) break;
    if (!level.is_memory() || level.memory().off_chip) continue;
    const auto& keeps = level.memory().may_keep;
    bool good = keeps[static_cast<std::size_t>(Role::kInput)] && keeps[static_cast<std::size_t>(Role::kOutput)];
    for (std::size_t i = 0; i < chain.links.size(); ++i)
      good = good && may_stand_in(chain.layer(i), chain.links[i].made, accelerator_, l) &&
             may_stand_in(chain.layer(i + 1), chain.links[i].read, accelerator_, l);
    // An operator leaves its result where its operand was: it must not be wider.
    for (std::size_t i = 0; i < chain.layers.size() && writes; ++i)
      good = good && accelerator_.element_bits(l, Role::kOutput) <=
                         accelerator_.element_bits(l, chain.layer(i), chain.layer(i).output());
    if (good) homes.push_back(l);
  }
  return homes;
}

void FusedGroups::add(Steps steps) {
  std::vector<const Task*> layers;
  for (const std::size_t s : steps.layers) {
    const int row = places_.shape_of(places_.step(s).row);
    const Task& task = rows_[static_cast<std::size_t>(row)];
    for (const LevelFlexibility& rules : task.flexibility.levels)
      if (rules.tile.partition) return;
    steps.rows.push_back(row);
    layers.push_back(&task);
  }
  const CountedLayers count = counted(steps);
  const auto [at, is_new] = chains_.try_emplace({steps.rows, steps.between, count});
  if (is_new) at->second = fused_chain(std::move(layers), steps.between, count);
  steps.chain = &at->second;
  const bool nothing_to_cut =
      std::ranges::any_of(steps.chain->links, [](const FusedChain::Link& link) { return link.axes.empty(); });
  if (nothing_to_cut && count.count == 1) return;
  steps.homes = homes_of(steps);
  by_first_[steps.layers.front()].push_back(std::move(steps));
}

FusedGroups::Choice FusedGroups::choice(const Steps& steps, Place home, Place made,
                                        const NetworkPlaces::PlaceOf& place_of) {
  const std::size_t first = steps.layers.front(), last = steps.layers.back();
  Choice one;
  one.layers = &steps.layers;
  one.home = home;
  one.made = made;
  // What lives on chip does so through the whole group, as wide as it ever is.
  Taken taken(accelerator_.levels.size());
  for (std::size_t l = 0; l < taken.size(); ++l)
    if (accelerator_.levels[l].is_memory())
      for (const Count words : accelerator_.levels[l].memory().reserved_words) taken[l][0] += words;
  std::vector<int> around = places_.step(first).alive;
  if (places_.step(last).makes >= 0) around.push_back(places_.step(last).makes);
  for (const int tensor : around) {
    const Place place = place_of(tensor);
    if (place == kElsewhere) continue;
    Count most = 0;
    for (std::size_t s = first; s <= last; ++s) most = std::max(most, places_.words(tensor, s, place));
    taken[static_cast<std::size_t>(place)][0] += most;
  }
  GroupPlace place{steps.chain, steps.rows, home, {}};
  for (std::size_t i = 0; i < steps.layers.size(); ++i) {
    auto& own = place.places.emplace_back();
    own.fill(kElsewhere);
    const Layer& layer = steps.chain->layer(i);
    for (const auto& [tensor, operand] : places_.step(steps.layers[i]).reads)
      if (i == 0 || operand != steps.between[i - 1].read)
        own[static_cast<std::size_t>(layer.tensors[static_cast<std::size_t>(operand)].role)] = place_of(tensor);
  }
  place.places.back()[static_cast<std::size_t>(Role::kOutput)] = made;
  for (const std::size_t s : steps.operators) {
    const Move move = places_.operator_move(
        places_.step(s), [&](int tensor) { return places_.tensor(tensor).made >= first ? home : place_of(tensor); });
    one.operators.energy_pj += move.energy_pj;
    one.operators.cycles += move.cycles;
  }
  if (last + 1 < places_.steps())
    for (const int tensor : places_.step(last + 1).alive) one.after.push_back(place_of(tensor));
  auto& group = groups_[{steps.chain, home, place.places, taken}];
  if (!group) {
    StackSpace& space = spaces_.try_emplace({steps.chain, home}, proven_).first->second;
    group = std::make_unique<FusedGroup>(std::move(place), std::move(taken), proven_, space);
  }
  one.group = group.get();
  return one;
}

std::vector<FusedGroups::Choice> FusedGroups::from(std::size_t step, const NetworkPlaces::State& before) {
  std::vector<Choice> all;
  const std::vector<Place> nowhere{kElsewhere};
  for (const Steps& steps : by_first_[step]) {
    const int makes = places_.step(steps.layers.back()).makes;
    for (const Place made : makes >= 0 ? places_.tensor(makes).places : nowhere) {
      const auto place_of = [&](int tensor) {
        if (tensor == makes) return made;
        const std::vector<int>& alive = places_.step(step).alive;
        return before[static_cast<std::size_t>(std::ranges::find(alive, tensor) - alive.begin())];
      };
      for (const Place home : steps.homes) all.push_back(choice(steps, home, made, place_of));
    }
  }
  return all;
}

std::uint64_t FusedGroups::candidates() const {
  std::uint64_t sum = 0;
  for (const auto& [key, group] : groups_) sum += group->candidates();
  return sum;
}

}  // namespace pliant::audit
