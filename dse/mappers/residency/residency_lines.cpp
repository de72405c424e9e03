// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/residency_lines.h"

#include <algorithm>
#include <cmath>

#include "flex/mapspace/rules.h"

namespace pliant::residency {

namespace {

bool fits(const Accelerator& accelerator, const Reserved& reserved) {
  for (std::size_t l = 0; l < reserved.size(); ++l) {
    const Level& level = accelerator.levels[l];
    if (!level.is_memory() || !level.memory().capacity_words) continue;
    Count sum = 0;
    for (const Count words : reserved[l]) sum += words;
    if (sum > *level.memory().capacity_words) return false;
  }
  return true;
}

/// By level: do the row's rules divide the memory among the roles?
std::vector<bool> divided_memories(const Task& task) {
  std::vector<bool> divided(task.accelerator.levels.size(), false);
  for (std::size_t l = 0; l < divided.size(); ++l)
    if (task.accelerator.levels[l].is_memory())
      divided[l] = memory_rules(task.layer, task.accelerator, level_rules(task.flexibility, l), static_cast<int>(l))
                       .shares.has_value();
  return divided;
}

/// Without a hard partition only the sum matters; one bucket for all makes equal variants equal.
void merge_roles(const std::vector<bool>& divided, Reserved& reserved) {
  for (std::size_t l = 0; l < reserved.size(); ++l)
    if (!divided[l]) reserved[l] = {reserved[l][0] + reserved[l][1] + reserved[l][2], 0, 0};
}

}  // namespace

ResidencyLines::ResidencyLines(const Workload& workload, const std::vector<Task>& rows, bool stay,
                               VariantLines& variants, WeightPlaces places)
    : workload_(workload),
      rows_(rows),
      variants_(variants),
      live_(live_tensors(workload, rows)),
      places_(std::move(places)),
      weights_of_(live_.steps.size(), -1) {
  if (!places_.allowed.empty())
    for (std::size_t w = 0; w < live_.weights.size(); ++w)
      weights_of_[static_cast<std::size_t>(live_.weights[w].step)] = static_cast<int>(w);
  if (!stay)
    for (LiveTensor& tensor : live_.tensors) tensor.homes = {kOutside};
  for (const Task& row : rows) divided_.push_back(divided_memories(row));
  build();
}

const std::vector<Home>& ResidencyLines::weight_homes(int step) const {
  static const std::vector<Home> outside{kOutside};
  const int w = weights_of_[static_cast<std::size_t>(step)];
  return w < 0 ? outside : places_.allowed[static_cast<std::size_t>(w)];
}

ResidencyLines::Rooms ResidencyLines::rooms(int s, const std::function<Home(int)>& home_of, Home weights) const {
  const Step& step = live_.steps[static_cast<std::size_t>(s)];
  const Accelerator& accelerator = machine_of(step);
  const Layer* layer = step.row >= 0 ? &rows_[static_cast<std::size_t>(step.row)].layer : nullptr;
  Rooms rooms;
  rooms.own.assign(accelerator.levels.size(), {});
  for (std::size_t l = 0; l < rooms.own.size(); ++l)
    if (accelerator.levels[l].is_memory()) rooms.own[l] = accelerator.levels[l].memory().reserved_words;
  const auto reserve = [&](Reserved& reserved, int tensor, Role role) {
    const Home home = home_of(tensor);
    if (home == kOutside) return;
    reserved[static_cast<std::size_t>(home)][static_cast<std::size_t>(role)] += words_at(live_, rows_, tensor, s, home);
  };
  std::vector<int> counted;
  for (const Read& read : step.reads) {
    rooms.reads.push_back(home_of(read.tensor));
    const Role role = layer ? layer->tensors[static_cast<std::size_t>(read.operand)].role : Role::kInput;
    if (std::ranges::find(counted, read.tensor) == counted.end()) reserve(rooms.own, read.tensor, role);
    counted.push_back(read.tensor);
  }
  if (step.makes >= 0) {
    const Home made = home_of(step.makes);
    const bool replaces =
        !layer && works_in_place(workload_.graph->nodes[static_cast<std::size_t>(step.node)].work) &&
        std::ranges::any_of(step.reads, [&](const Read& read) {
          const LiveTensor& tensor = live_.tensors[static_cast<std::size_t>(read.tensor)];
          return made != kOutside && tensor.last_read == s && home_of(read.tensor) == made &&
                 words_at(live_, rows_, read.tensor, s, made) >= words_at(live_, rows_, step.makes, s, made);
        });
    if (!replaces) reserve(rooms.own, step.makes, Role::kOutput);
  }
  const auto reserve_weights = [&](Reserved& reserved, int w, Home home, Role role) {
    reserved[static_cast<std::size_t>(home)][static_cast<std::size_t>(role)] +=
        weights_words(live_, rows_, live_.weights[static_cast<std::size_t>(w)], home);
  };
  if (weights != kOutside) reserve_weights(rooms.own, weights_of_[static_cast<std::size_t>(s)], weights, Role::kWeight);
  rooms.all = rooms.own;
  for (const int tensor : step.through) reserve(rooms.all, tensor, Role::kInput);
  for (std::size_t w = 0; w < places_.allowed.size(); ++w)
    if (const auto& homes = places_.allowed[w];
        homes.size() == 1 && homes.front() != kOutside && live_.weights[w].step != s)
      reserve_weights(rooms.all, static_cast<int>(w), homes.front(), Role::kInput);
  return rooms;
}

std::optional<Transition> ResidencyLines::transition(int s, const std::vector<int>& alive, const State& state,
                                                     Home made, Home weights) {
  const Step& step = live_.steps[static_cast<std::size_t>(s)];
  const auto home_of = [&](int tensor) {
    if (tensor == step.makes) return made;
    return state[static_cast<std::size_t>(std::ranges::find(alive, tensor) - alive.begin())];
  };
  Rooms taken = rooms(s, home_of, weights);
  if (!fits(machine_of(step), taken.all)) return std::nullopt;
  Transition found;
  found.made = made;
  found.weights = weights;
  if (step.row < 0) {
    found.cost = operator_cost(rows_, step, live_, taken.reads, made);
    return found;
  }
  const Layer& layer = rows_[static_cast<std::size_t>(step.row)].layer;
  Variant variant;
  variant.row = step.row;
  for (std::size_t i = 0; i < step.reads.size(); ++i)
    variant.homes[static_cast<std::size_t>(layer.tensors[static_cast<std::size_t>(step.reads[i].operand)].role)] =
        taken.reads[i];
  variant.homes[static_cast<std::size_t>(Role::kOutput)] = made;
  if (weights != kOutside) {
    variant.homes[static_cast<std::size_t>(Role::kWeight)] = weights;
    const StandingWeights& standing = live_.weights[static_cast<std::size_t>(weights_of_[static_cast<std::size_t>(s)])];
    found.cost = loading_cost(rows_, live_, standing, weights);
    found.cost.energy_pj /= static_cast<double>(places_.inferences);
    found.cost.cycles /= static_cast<double>(places_.inferences);
  }
  variant.reserved = std::move(taken.all);
  Variant alone{variant.row, variant.homes, std::move(taken.own)};
  merge_roles(divided_[static_cast<std::size_t>(step.row)], variant.reserved);
  merge_roles(divided_[static_cast<std::size_t>(step.row)], alone.reserved);
  found.variant = variants_.intern(std::move(variant), std::move(alone));
  return found;
}

void ResidencyLines::build() {
  std::vector<int> alive;
  std::vector<State> states{State{}};
  for (int s = 0; s < static_cast<int>(live_.steps.size()); ++s) {
    const Step& step = live_.steps[static_cast<std::size_t>(s)];
    std::vector<int> next_alive = alive;
    if (step.makes >= 0) next_alive.push_back(step.makes);
    const auto dies = [&](int t) { return live_.tensors[static_cast<std::size_t>(t)].last_read <= s; };
    std::map<State, int> next;
    std::vector<Transition>& found = transitions_.emplace_back();
    const std::vector<Home> nowhere{kOutside};
    const std::vector<Home>& homes =
        step.makes >= 0 ? live_.tensors[static_cast<std::size_t>(step.makes)].homes : nowhere;
    for (std::size_t from = 0; from < states.size(); ++from) {
      for (const Home made : homes)
        for (const Home weights : weight_homes(s)) {
          auto one = transition(s, alive, states[from], made, weights);
          if (!one) continue;
          State after;
          for (std::size_t i = 0; i < next_alive.size(); ++i)
            if (!dies(next_alive[i])) after.push_back(i < states[from].size() ? states[from][i] : made);
          one->from = static_cast<int>(from);
          one->to = next.emplace(std::move(after), static_cast<int>(next.size())).first->second;
          found.push_back(*one);
        }
    }
    note_states(alive, states);
    std::erase_if(next_alive, dies);
    alive = std::move(next_alive);
    states.assign(next.size(), State{});
    for (const auto& [state, index] : next) states[static_cast<std::size_t>(index)] = state;
  }
  note_states(alive, states);
}

void ResidencyLines::note_states(const std::vector<int>& alive, const std::vector<State>& states) {
  states_.push_back(states.size());
  alive_.push_back(alive);
  all_states_.push_back(states);
}

double ResidencyLines::weight(const Transition& transition, int step, double slope) {
  const auto count = static_cast<double>(live_.steps[static_cast<std::size_t>(step)].count);
  const double own =
      std::isinf(slope) ? transition.cost.cycles : transition.cost.energy_pj + slope * transition.cost.cycles;
  if (transition.variant < 0) return count * own;
  const VariantLines::Known known = variants_.bound(transition.variant, slope);
  return known.nothing_fits ? kInfinity : count * known.least + own;
}

std::vector<double> ResidencyLines::priced_words(int step, int variant, Home weights) const {
  const Reserved& reserved = variants_.variant(variant).reserved;
  std::vector<double> words;
  for (const auto& of_role : reserved) words.push_back(static_cast<double>(of_role[0] + of_role[1] + of_role[2]));
  if (weights != kOutside && weight_homes(step).size() > 1)  // undecided: it pays for every step by itself
    words[static_cast<std::size_t>(weights)] -= static_cast<double>(weights_words(
        live_, rows_, live_.weights[static_cast<std::size_t>(weights_of_[static_cast<std::size_t>(step)])], weights));
  return words;
}

double ResidencyLines::price_of(const Transition& transition, int step, const WordPrices& prices,
                                const std::vector<double>& sums) const {
  if (prices.empty() || transition.variant < 0) return 0;
  const std::vector<double>& here = prices[static_cast<std::size_t>(step)];
  double price = 0;
  if (std::ranges::any_of(here, [](double one) { return one > 0; })) {
    const std::vector<double> words = priced_words(step, transition.variant, transition.weights);
    for (std::size_t l = 0; l < words.size(); ++l) price += here[l] * words[l];
  }
  if (transition.weights != kOutside && weight_homes(step).size() > 1)
    price += sums[static_cast<std::size_t>(transition.weights)] *
             static_cast<double>(weights_words(
                 live_, rows_, live_.weights[static_cast<std::size_t>(weights_of_[static_cast<std::size_t>(step)])],
                 transition.weights));
  return price;
}

template <class Weight>
std::optional<Path> ResidencyLines::shortest(const Weight& weight) {
  const std::size_t count = live_.steps.size();
  std::vector<std::vector<const Transition*>> by(count);  // by step: into each state
  std::vector<std::vector<double>> least(count + 1);
  least[0] = {0};
  for (std::size_t s = 0; s < count; ++s) {
    least[s + 1].assign(states_[s + 1], kInfinity);
    by[s].assign(states_[s + 1], nullptr);
    for (const Transition& one : transitions_[s]) {
      const double total = least[s][static_cast<std::size_t>(one.from)] + weight(one, static_cast<int>(s));
      if (total >= least[s + 1][static_cast<std::size_t>(one.to)]) continue;
      least[s + 1][static_cast<std::size_t>(one.to)] = total;
      by[s][static_cast<std::size_t>(one.to)] = &one;
    }
    if (std::ranges::all_of(least[s + 1], [](double x) { return std::isinf(x); })) {
      if (live_.steps[s].row >= 0) stuck_row_ = live_.steps[s].row;
      return std::nullopt;
    }
  }
  Path path;
  path.of = this;
  path.least = least[count][0];
  path.steps.resize(count);
  int state = 0;
  for (std::size_t s = count; s-- > 0;) {
    const Transition& one = *by[s][static_cast<std::size_t>(state)];
    path.steps[s] = {one.made, one.weights, one.variant, nullptr, one.cost.energy_pj, one.cost.cycles};
    state = one.from;
  }
  return path;
}

/// Lower bounds for what is not searched yet; the best path is searched, until all of it is or the time is up.
std::optional<Path> ResidencyLines::priced(double slope, const WordPrices& prices) {
  std::vector<double> sums(rows_.front().accelerator.levels.size(), 0);
  for (const auto& of_step : prices)
    for (std::size_t l = 0; l < of_step.size(); ++l) sums[l] += of_step[l];
  while (true) {
    std::optional<Path> path =
        shortest([&](const Transition& one, int s) { return weight(one, s, slope) + price_of(one, s, prices, sums); });
    if (!path) return std::nullopt;
    bool searched = false, found = true;
    for (auto at = path->steps.rbegin(); at != path->steps.rend(); ++at) {
      PathStep& step = *at;
      if (step.variant < 0) continue;
      step.line = variants_.bound(step.variant, slope).line;
      if (step.line == nullptr && variants_.may_search(step.variant, slope)) {
        step.line = variants_.exact(step.variant, slope).line;
        searched = true;
      }
      found = found && step.line != nullptr;
    }
    if (searched) continue;
    if (!found) path = of_found(slope, path->least);
    if (path) add_up(*path);
    return path;
  }
}

/// What is proven stays; what is told are the best of the mappings that were found.
std::optional<Path> ResidencyLines::of_found(double slope, double least) {
  const auto cost = [&](const Transition& one, int s) {
    const LayerLines::Line* line = one.variant < 0 ? nullptr : variants_.best_found(one.variant, slope);
    if (one.variant >= 0 && line == nullptr) return kInfinity;
    const auto of = [&](double energy, double cycles) { return std::isinf(slope) ? cycles : energy + slope * cycles; };
    const auto times = static_cast<double>(live_.steps[static_cast<std::size_t>(s)].count);
    const double own = of(one.cost.energy_pj, one.cost.cycles);
    return line == nullptr ? times * own : times * of(line->point.totals.energy_pj, line->point.totals.cycles) + own;
  };
  std::optional<Path> path = shortest(cost);
  if (!path) {
    search_outside(slope);
    path = shortest(cost);
  }
  if (!path) return std::nullopt;
  path->least = least;
  for (PathStep& step : path->steps)
    if (step.variant >= 0) step.line = variants_.best_found(step.variant, slope);
  return path;
}

void ResidencyLines::search_outside(double slope) {
  int state = 0;
  for (const std::vector<Transition>& from_step : transitions_) {
    const Transition* next = nullptr;
    for (const Transition& one : from_step)
      if (one.from == state && (next == nullptr || (one.made == kOutside && one.weights == kOutside))) next = &one;
    if (next == nullptr) return;
    if (next->variant >= 0 && variants_.best_found(next->variant, slope) == nullptr)
      variants_.exact(next->variant, slope);
    state = next->to;
  }
}

void ResidencyLines::add_up(Path& path) const {
  for (std::size_t s = 0; s < path.steps.size(); ++s) {
    PathStep& step = path.steps[s];
    const auto times = static_cast<double>(live_.steps[s].count);
    if (step.line != nullptr) {
      step.energy_pj += times * step.line->point.totals.energy_pj;
      step.cycles += times * step.line->point.totals.cycles;
    }
    path.energy_pj += step.energy_pj;
    path.cycles += step.cycles;
  }
}

const Path* ResidencyLines::at(double slope) {
  auto known = known_.find(slope);
  if (known == known_.end()) known = known_.emplace(slope, priced(slope, {})).first;
  return known->second ? &*known->second : nullptr;
}

}  // namespace pliant::residency
