// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/fusion_lines.h"

#include <algorithm>
#include <cmath>

#include "core/flexibility_class.h"

namespace pliant::fusion {

using residency::LiveTensors;
using residency::Step;
using residency::Transition;

FusionLines::FusionLines(const Workload& workload, const std::vector<Task>& rows, residency::VariantLines& variants,
                         residency::ResidencyLines& whole, TileLines& tiles, std::stop_token stop)
    : workload_(workload), rows_(rows), variants_(variants), whole_(whole), tiles_(tiles), stop_(std::move(stop)) {
  edges_.resize(whole.live().steps.size());
  for (int s = 0; s < static_cast<int>(edges_.size()); ++s) find_groups(s);
}

/// An operator whose result takes the place of the tile, and that nobody else waits for.
bool FusionLines::stays_in_place(int s, int tensor) const {
  const LiveTensors& live = whole_.live();
  const WorkloadGraph::Node& node = workload_.graph->nodes[static_cast<std::size_t>(step(s).node)];
  return step(s).row < 0 && step(s).makes >= 0 && step(s).count == 1 && residency::works_in_place(node.work) &&
         live.tensors[static_cast<std::size_t>(tensor)].last_read == s &&
         live.tensors[static_cast<std::size_t>(step(s).makes)].elements ==
             live.tensors[static_cast<std::size_t>(tensor)].elements;
}

/// The layer that reads what the last one makes, with what is done to it in between.
bool FusionLines::adds_layer(ChainSteps& steps) const {
  const LiveTensors& live = whole_.live();
  int made = step(steps.last()).makes;
  if (step(steps.last()).row < 0 || made < 0) return false;
  Between between;
  for (int n = steps.last() + 1; n < static_cast<int>(live.steps.size()); ++n) {
    const Step& next = step(n);
    if (std::ranges::count(next.reads, made, &residency::Read::tensor) != 1) return false;
    if (next.row < 0 && next.makes < 0) {  // an activation, done where the tile is, if it leaves nothing out
      if (workload_.graph->nodes[static_cast<std::size_t>(next.node)].words !=
          live.tensors[static_cast<std::size_t>(made)].elements)
        return false;
      if (next.vector_ops > 0) steps.operators.push_back(n);
      continue;
    }
    if (stays_in_place(n, made)) {
      const WorkloadGraph::Node& node = workload_.graph->nodes[static_cast<std::size_t>(next.node)];
      const bool on_rows =
          node.work == WorkloadGraph::Operator::kSoftmax || node.work == WorkloadGraph::Operator::kNorm;
      // What a second one makes of a part depends on the whole first.
      between.whole_rows |= on_rows && (!node.online || between.online);
      between.online |= on_rows && node.online;
      steps.operators.push_back(n);
      made = next.makes;
      continue;
    }
    if (next.row < 0 || next.count != step(steps.last()).count ||
        live.tensors[static_cast<std::size_t>(made)].last_read != n)
      return false;
    between.read = std::ranges::find(next.reads, made, &residency::Read::tensor)->operand;
    const Layer& layer = rows_[static_cast<std::size_t>(next.row)].layer;
    if (layer.tensors[static_cast<std::size_t>(between.read)].role != Role::kInput) return false;
    steps.layers.push_back(n);
    steps.between.push_back(between);
    return true;
  }
  return false;
}

void FusionLines::find_groups(int first) {
  ChainSteps steps;
  steps.layers.push_back(first);
  while (steps.layers.size() < kMostGroupLayers && adds_layer(steps)) add_group(steps);
}

/// Who reads the same words: all layers that a node counts, or so many one after the other (grouped queries).
Heads FusionLines::heads_of(const ChainSteps& steps) const {
  Heads heads;
  heads.count = step(steps.first()).count;
  heads.same.assign(steps.layers.size(), 0);
  for (std::size_t i = 0; heads.count > 1 && i < steps.layers.size(); ++i) {
    const Step& of = step(steps.layers[i]);
    const Layer& layer = rows_[static_cast<std::size_t>(of.row)].layer;
    for (const residency::Read& read : of.reads) {
      if (i > 0 && read.operand == steps.between[i - 1].read) continue;
      const Count words = heads.count * layer.tensor_words(read.operand),
                  made = whole_.live().tensors[static_cast<std::size_t>(read.tensor)].elements;
      if (layer.operation != Operation::kGemm || words == made || words % made != 0) continue;
      const Count readers = words / made;
      const bool weights = layer.tensors[static_cast<std::size_t>(read.operand)].role == Role::kWeight;
      if (heads.count % readers != 0 || (!weights && readers != heads.count)) continue;
      if (heads.shared == 1) heads.shared = readers;
      if (heads.shared == readers) heads.same[i] |= TensorSet{1} << read.operand;
    }
  }
  return heads;
}

void FusionLines::add_group(const ChainSteps& steps) {
  const Accelerator& accelerator = rows_.front().accelerator;
  if (!(accelerator.conventions == Conventions::physical())) return;
  std::vector<int> key;
  for (std::size_t i = 0; i < steps.layers.size(); ++i) {
    const int row = variants_.shape_of(step(steps.layers[i]).row);
    if (whole_.divides(row)) return;
    key.push_back(row);
    if (i == 0) continue;
    key.push_back(steps.between[i - 1].read);
    key.push_back(steps.between[i - 1].whole_rows ? 2 : steps.between[i - 1].online ? 1 : 0);
  }
  const Heads heads = heads_of(steps);
  key.push_back(static_cast<int>(heads.count));
  key.push_back(static_cast<int>(heads.shared));
  for (const TensorSet same : heads.same) key.push_back(static_cast<int>(same));
  const auto [known, is_new] = chains_.try_emplace(key);
  if (is_new) {
    std::vector<const Task*> layers;
    for (const int s : steps.layers)
      layers.push_back(&rows_[static_cast<std::size_t>(variants_.shape_of(step(s).row))]);
    known->second = make_chain(std::move(layers), steps.between, heads);
  }
  const Chain& chain = known->second;
  for (const Link& link : chain.links)
    if (link.axes.empty() && chain.count() == 1) return;
  step_lists_.push_back(steps);
  step_lists_.back().chain = &chain;
  const bool in_place = std::ranges::all_of(steps.operators, [&](int s) { return step(s).makes < 0; });
  for (const int l : tile_homes(accelerator)) {
    bool good = rule_at(accelerator, l).tiles;
    for (std::size_t i = 0; i < chain.links.size(); ++i)
      good &= residency::may_live(*chain.layers[i], chain.links[i].made, l) &&
              residency::may_live(*chain.layers[i + 1], chain.links[i].read, l);
    // The result of an operator must not be wider than what it takes the place of.
    for (const Task* task : chain.layers)
      good &= in_place || accelerator.element_bits(l, Role::kOutput) <=
                              accelerator.element_bits(l, task->layer, task->layer.output());
    if (good) add_edges(step_lists_.back(), key, l);
  }
}

/// What they move, tile by tile or at once.
std::vector<OperatorStep> FusionLines::operators_of(const ChainSteps& steps, Home home,
                                                    const std::function<Home(int)>& home_of) const {
  const LiveTensors& live = whole_.live();
  std::vector<OperatorStep> all;
  for (const int s : steps.operators) {
    std::vector<Home> homes;
    for (const residency::Read& read : step(s).reads) {
      const bool tile = live.tensors[static_cast<std::size_t>(read.tensor)].made_by >= steps.first();
      homes.push_back(tile ? home : home_of(read.tensor));
    }
    all.push_back({s, residency::operator_cost(rows_, step(s), live, homes, home)});
  }
  return all;
}

/// One for each state before and each place of the result.
void FusionLines::add_edges(const ChainSteps& steps, const std::vector<int>& key, Home home) {
  const LiveTensors& live = whole_.live();
  const Chain& chain = chains_.at(key);
  const int first = steps.first(), last = steps.last(), makes = step(last).makes;
  const std::vector<int>& alive = whole_.alive(first);
  const std::vector<int>& alive_after = whole_.alive(last + 1);
  const auto& after = whole_.states_before(last + 1);
  const std::vector<Home> nowhere{kOutside};
  const std::vector<Home>& results = makes >= 0 ? live.tensors[static_cast<std::size_t>(makes)].homes : nowhere;
  for (std::size_t from = 0; from < whole_.states_before(first).size(); ++from)
    for (const Home made : results) {
      const auto& state = whole_.states_before(first)[from];
      const auto home_of = [&](int tensor) {
        if (tensor == makes) return made;
        return state[static_cast<std::size_t>(std::ranges::find(alive, tensor) - alive.begin())];
      };
      Setting setting;
      setting.chain = &chain;
      setting.home = home;
      setting.taken.assign(rows_.front().accelerator.levels.size(), {});
      for (std::size_t l = 0; l < setting.taken.size(); ++l)
        if (rows_.front().accelerator.levels[l].is_memory())
          for (const Count words : rows_.front().accelerator.levels[l].memory().reserved_words)
            setting.taken[l][0] += words;
      std::vector<int> around = alive;
      if (makes >= 0) around.push_back(makes);
      for (const int tensor : around) {
        const Home at = home_of(tensor);
        if (at == kOutside) continue;
        Count most = 0;
        for (int s = first; s <= last; ++s) most = std::max(most, words_at(live, rows_, tensor, s, at));
        setting.taken[static_cast<std::size_t>(at)][0] += most;
      }
      for (std::size_t i = 0; i < steps.layers.size(); ++i) {
        std::array<Home, kRoles>& places = setting.places.emplace_back();
        places.fill(kOutside);
        for (const residency::Read& read : step(steps.layers[i]).reads) {
          if (i > 0 && read.operand == chain.links[i - 1].read) continue;
          const Role role = chain.layer(static_cast<int>(i)).tensors[static_cast<std::size_t>(read.operand)].role;
          places[static_cast<std::size_t>(role)] = home_of(read.tensor);
        }
        if (i + 1 == steps.layers.size()) places[static_cast<std::size_t>(Role::kOutput)] = made;
      }
      residency::ResidencyLines::State then;
      for (const int tensor : alive_after) then.push_back(home_of(tensor));
      const auto to = std::ranges::find(after, then);
      if (to == after.end()) continue;
      const auto [group, is_new] = groups_.try_emplace(Key{key, home, setting.places, setting.taken});
      if (is_new) {
        std::shared_ptr<ChainStacks>& stacks = stacks_[{&chain, home}];
        if (!stacks) stacks = std::make_shared<ChainStacks>();
        group->second = std::make_unique<GroupLines>(std::move(setting), tiles_, stacks);
      }
      edges_[static_cast<std::size_t>(first)].push_back(
          {static_cast<int>(from), last + 1, static_cast<int>(to - after.begin()), made, group->second.get(), &steps,
           operators_of(steps, home, home_of)});
    }
}

namespace {

double operators_at(const std::vector<OperatorStep>& operators, double slope) {
  double sum = 0;
  for (const OperatorStep& one : operators)
    sum += std::isinf(slope) ? one.cost.cycles : one.cost.energy_pj + slope * one.cost.cycles;
  return sum;
}

}  // namespace

std::optional<FusedPath> FusionLines::shortest(double slope) {
  struct By {
    int step = -1, state = 0;
    const Transition* alone = nullptr;
    const Edge* group = nullptr;
  };
  const std::size_t count = edges_.size();
  std::vector<std::vector<double>> least(count + 1);
  std::vector<std::vector<By>> by(count + 1);
  for (std::size_t s = 0; s <= count; ++s) {
    least[s].assign(whole_.states()[s], kInfinity);
    by[s].resize(whole_.states()[s]);
  }
  least[0][0] = 0;
  for (std::size_t s = 0; s < count; ++s) {
    const auto offer = [&](std::size_t to_step, int to, double total, By how) {
      // Of equal paths the one without a group: it is simpler, and nothing has to be solved for it.
      const double known = least[to_step][static_cast<std::size_t>(to)];
      if (std::isinf(total) || total > known || (total == known && how.group != nullptr)) return;
      least[to_step][static_cast<std::size_t>(to)] = total;
      by[to_step][static_cast<std::size_t>(to)] = how;
    };
    const int at = static_cast<int>(s);
    for (const Transition& one : whole_.transitions()[s]) {
      const double before = least[s][static_cast<std::size_t>(one.from)];
      if (!std::isinf(before))
        offer(s + 1, one.to, before + whole_.weight(one, at, slope), {at, one.from, &one, nullptr});
    }
    for (const Edge& edge : edges_[s]) {
      const double before = least[s][static_cast<std::size_t>(edge.from)];
      if (!std::isinf(before))
        offer(static_cast<std::size_t>(edge.to_step), edge.to,
              before + edge.group->bound(slope) + operators_at(edge.operators, slope), {at, edge.from, nullptr, &edge});
    }
  }
  if (std::isinf(least[count][0])) return std::nullopt;
  FusedPath path;
  path.least = least[count][0];
  int s = static_cast<int>(count), state = 0;
  while (s > 0) {
    const By& how = by[static_cast<std::size_t>(s)][static_cast<std::size_t>(state)];
    PathPart part;
    part.step = how.step;
    if (how.alone != nullptr) {
      const Transition& one = *how.alone;
      part.alone = {one.made, one.weights, one.variant, nullptr, one.cost.energy_pj, one.cost.cycles};
    } else {
      part.steps = how.group->steps;
      part.group = how.group->group;
      part.operators = how.group->operators;
      part.made = how.group->made;
    }
    path.parts.push_back(part);
    s = how.step;
    state = how.state;
  }
  std::ranges::reverse(path.parts);
  return path;
}

/// Searches what the path needs. False when something was not found.
bool FusionLines::solve(FusedPath& path, double slope, bool& changed) {
  for (PathPart& part : path.parts) {
    if (part.group == nullptr) {
      residency::PathStep& alone = part.alone;
      if (alone.variant < 0) continue;
      alone.line = variants_.bound(alone.variant, slope).line;
      if (alone.line == nullptr && variants_.may_search(alone.variant, slope)) {
        alone.line = variants_.exact(alone.variant, slope).line;
        changed = true;
      }
      if (alone.line == nullptr && !changed) return false;
      continue;
    }
    part.plan = part.group->solved(slope);
    if (part.plan != nullptr) continue;
    if (stop_.stop_requested() || !part.group->refine(slope)) return false;
    changed = true;
  }
  return true;
}

std::optional<FusedPath> FusionLines::find(double slope) {
  while (true) {
    std::optional<FusedPath> path = shortest(slope);
    if (!path) return std::nullopt;
    bool changed = false;
    if (!solve(*path, slope, changed)) return of_whole(slope, path->least);
    if (changed) continue;
    add_up(*path, slope);
    return path;
  }
}

/// What is proven stays; what is told is the best without groups.
std::optional<FusedPath> FusionLines::of_whole(double slope, double least) {
  const residency::Path* path = whole_.at(slope);
  if (path == nullptr) return std::nullopt;
  FusedPath told;
  told.least = std::min(least, path->least);
  told.energy_pj = path->energy_pj;
  told.cycles = path->cycles;
  for (std::size_t s = 0; s < path->steps.size(); ++s) {
    told.parts.emplace_back();
    told.parts.back().step = static_cast<int>(s);
    told.parts.back().alone = path->steps[s];
  }
  return told;
}

void FusionLines::add_up(FusedPath& path, double slope) {
  for (PathPart& part : path.parts) {
    if (part.group == nullptr) {
      if (part.alone.line != nullptr) {
        const auto times = static_cast<double>(step(part.step).count);
        part.alone.energy_pj += times * part.alone.line->point.totals.energy_pj;
        part.alone.cycles += times * part.alone.line->point.totals.cycles;
      }
      path.energy_pj += part.alone.energy_pj;
      path.cycles += part.alone.cycles;
      continue;
    }
    for (const OperatorStep& one : part.operators) {
      path.energy_pj += one.cost.energy_pj;
      path.cycles += one.cost.cycles;
    }
    for (const LayerChoice* layer : part.plan->layers) {
      path.energy_pj += layer->moving.energy_pj;
      path.cycles += layer->moving.cycles;
    }
    for (const Plan::Runs& runs : part.plan->runs) {
      const Totals& totals = point(runs.piece, slope).totals;
      path.energy_pj += runs.times * totals.energy_pj;
      path.cycles += runs.times * totals.cycles;
    }
  }
}

const FusedPath* FusionLines::at(double slope) {
  auto known = known_.find(slope);
  if (known == known_.end()) known = known_.emplace(slope, find(slope)).first;
  return known->second ? &*known->second : nullptr;
}

}  // namespace pliant::fusion
