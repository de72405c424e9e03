// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/network_places.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/arithmetic.h"

namespace pliant::audit {

namespace {

using Operator = WorkloadGraph::Operator;

constexpr auto kInput = static_cast<std::size_t>(Role::kInput), kOutput = static_cast<std::size_t>(Role::kOutput);

const Memory* memory_at(const Accelerator& accelerator, int level) {
  const Level& one = accelerator.levels[static_cast<std::size_t>(level)];
  return one.is_memory() ? &one.memory() : nullptr;
}

bool takes_the_place_of_its_operand(Operator work) {
  return work == Operator::kAdd || work == Operator::kActivation || work == Operator::kSoftmax ||
         work == Operator::kNorm;
}

Count total(const std::array<Count, kRoles>& words) { return words[0] + words[1] + words[2]; }

/// Does everything that lives in the memories fit?
bool fits(const Accelerator& accelerator, const Taken& taken) {
  for (int l = 0; l < static_cast<int>(taken.size()); ++l)
    if (const Memory* memory = memory_at(accelerator, l); memory != nullptr && memory->capacity_words)
      if (total(taken[static_cast<std::size_t>(l)]) > *memory->capacity_words) return false;
  return true;
}

bool is_divided(const Task& row, std::size_t level) {
  return level < row.flexibility.levels.size() && row.flexibility.levels[level].tile.partition.has_value();
}

}  // namespace

NetworkPlaces::NetworkPlaces(const NetworkTask& task, const std::vector<Task>& rows)
    : task_(task), accelerator_(task.accelerator), rows_(rows) {
  for (const Task& row : rows) {
    const auto first = std::ranges::find_if(rows, [&](const Task& one) {
      return one.layer.operation == row.layer.operation && one.layer.dims == row.layer.dims &&
             one.layer.tensors == row.layer.tensors && one.layer.bits == row.layer.bits &&
             one.flexibility == row.flexibility;
    });
    shapes_.push_back(static_cast<int>(first - rows.begin()));
  }
  follow(task.workload.graph ? *task.workload.graph : unrelated_layers(task.workload));
  for (int t = 0; t < static_cast<int>(tensors_.size()) && task.stay; ++t) find_places(t);
}

void NetworkPlaces::follow(const WorkloadGraph& graph) {
  const std::vector<GraphStep> run = run_of(graph);
  std::vector<int> readers(run.size(), 0), holds(run.size(), -1);  // by step; `holds`: the tensor that it leaves
  for (const GraphStep& step : run)
    for (const WorkloadGraph::Edge& edge : step.from)
      if (edge.node >= 0) ++readers[static_cast<std::size_t>(edge.node)];
  const auto node_of = [&](int step) -> const WorkloadGraph::Node& {
    return graph.nodes[static_cast<std::size_t>(run[static_cast<std::size_t>(step)].node)];
  };
  for (std::size_t s = 0; s < run.size(); ++s) {
    const WorkloadGraph::Node& node = node_of(static_cast<int>(s));
    Step& step = steps_.emplace_back();
    step.row = node.layer;
    step.count = node.count;
    step.work = node.work;
    step.online = node.online;
    step.words = node.words;
    for (const WorkloadGraph::Edge& edge : run[s].from) {
      if (edge.node >= 0) {
        const int tensor = holds[static_cast<std::size_t>(edge.node)];
        step.reads.emplace_back(tensor, edge.tensor);
        tensors_[static_cast<std::size_t>(tensor)].last = s;
      } else if (!node.is_layer()) {
        step.words_from_outside += node.words;
      }
    }
    const auto& from = run[s].from;
    const bool in_place = !node.is_layer() && node.work == Operator::kActivation && from.size() == 1 &&
                          from[0].node >= 0 && readers[static_cast<std::size_t>(from[0].node)] == 1 &&
                          node.words <= node_of(from[0].node).words;
    if (in_place) {
      holds[s] = step.reads.front().first;
      continue;
    }
    step.makes = holds[s] = static_cast<int>(tensors_.size());
    tensors_.push_back({node.words, s, s});
  }
  for (int t = 0; t < static_cast<int>(tensors_.size()); ++t) {
    const Lived& tensor = tensors_[static_cast<std::size_t>(t)];
    for (std::size_t s = tensor.made + 1; s <= tensor.last; ++s) steps_[s].alive.push_back(t);
  }
}

bool NetworkPlaces::keeps_whole(int row, int operand, int level) const {
  return may_stand_in(rows_[static_cast<std::size_t>(row)].layer, operand, accelerator_, level);
}

int NetworkPlaces::finished_bits(int tensor, int level) const {
  const int row = steps_[tensors_[static_cast<std::size_t>(tensor)].made].row;
  if (row < 0) return accelerator_.element_bits(level, Role::kOutput);
  const Layer& layer = rows_[static_cast<std::size_t>(row)].layer;
  return accelerator_.element_bits(level, layer, layer.output());
}

/// Words that a tensor takes of a memory while a step runs: partial sums while a layer makes it, later finished
/// elements, as wide as a layer that reads them takes them to be.
Count NetworkPlaces::words(int tensor, std::size_t s, int level) const {
  const Step& step = steps_[s];
  int bits = finished_bits(tensor, level);
  if (step.row >= 0) {
    const Layer& layer = rows_[static_cast<std::size_t>(step.row)].layer;
    if (step.makes == tensor) bits = accelerator_.partial_sum_bits(level, layer);
    for (const auto& [read, operand] : step.reads)
      if (read == tensor) bits = std::max(bits, accelerator_.element_bits(level, layer, operand));
  }
  return whole_words(accelerator_, tensors_[static_cast<std::size_t>(tensor)].elements, bits, level);
}

void NetworkPlaces::find_places(int t) {
  Lived& tensor = tensors_[static_cast<std::size_t>(t)];
  if (tensor.last == tensor.made) return;  // nobody reads it: it leaves the chip
  for (int l = 1; l + 1 < static_cast<int>(accelerator_.levels.size()); ++l) {
    if (accelerator_.levels[static_cast<std::size_t>(l)].is_fanout())
      return;  // further in there may be several of each
    const Memory* memory = memory_at(accelerator_, l);
    if (memory == nullptr || memory->off_chip) continue;
    bool may = true;
    for (std::size_t s = tensor.made; s <= tensor.last; ++s) {
      const Step& step = steps_[s];
      if (memory->capacity_words) may &= words(t, s, l) <= *memory->capacity_words;
      if (step.row < 0) continue;
      if (step.makes == t) may &= keeps_whole(step.row, rows_[static_cast<std::size_t>(step.row)].layer.output(), l);
      for (const auto& [read, operand] : step.reads)
        if (read == t) may &= keeps_whole(step.row, operand, l);
    }
    if (may) tensor.places.push_back(l);
  }
}

/// An operator reads its operands where they are and writes its result where that will be, in the whole cycles of the
/// busiest port, while everything leaks.
Move NetworkPlaces::operator_move(const Step& step, const PlaceOf& place_of) const {
  WordsMoved moved;
  const bool nothing_moves =
      step.makes < 0 || (step.work == Operator::kOutput && place_of(step.reads.front().first) == kElsewhere);
  if (nothing_moves) return worked_on(step, cost_of_moving(accelerator_, moved, Role::kInput, Role::kOutput));
  const auto in_words = [&](Count elements, int bits, int level) {
    return static_cast<double>(elements) * bits / memory_at(accelerator_, level)->word_bits;
  };
  const auto elements = [&](int tensor) { return tensors_[static_cast<std::size_t>(tensor)].elements; };
  const int outside = outermost_of(accelerator_, Role::kInput);
  for (const auto& [tensor, operand] : step.reads) {
    const int level = place_of(tensor) == kElsewhere ? outside : place_of(tensor);
    moved[level].first +=
        in_words(elements(step.work == Operator::kPart ? step.makes : tensor), finished_bits(tensor, level), level);
  }
  moved[outside].first += in_words(step.words_from_outside, accelerator_.element_bits(outside, Role::kInput), outside);
  const int made =
      place_of(step.makes) == kElsewhere ? outermost_of(accelerator_, Role::kOutput) : place_of(step.makes);
  moved[made].second += in_words(elements(step.makes), accelerator_.element_bits(made, Role::kOutput), made);
  return worked_on(step, cost_of_moving(accelerator_, moved, Role::kInput, Role::kOutput));
}

/// A vector unit has so many lanes, each one operation a cycle; whoever is done first waits for the other, and
/// everything leaks.
Move NetworkPlaces::worked_on(const Step& step, const MovingCost& moving) const {
  Move move{-1, moving.energy_pj, moving.cycles};
  if (!accelerator_.vector) return move;
  const VectorUnit& unit = *accelerator_.vector;
  const double operations = static_cast<double>(step.words) * unit.ops[static_cast<std::size_t>(step.work)];
  const double busy = std::ceil(operations / unit.lanes * (1 - 0x1p-46));
  move.energy_pj += operations * unit.pj_per_op;
  if (busy > moving.cycles) {
    move.energy_pj += (busy - moving.cycles) * leaks_per_cycle(accelerator_);
    move.cycles = busy;
  }
  return move;
}

std::optional<Move> NetworkPlaces::move(std::size_t s, const PlaceOf& place_of) {
  const Step& step = steps_[s];
  const Layer* layer = step.row >= 0 ? &rows_[static_cast<std::size_t>(step.row)].layer : nullptr;
  LayerVariant variant;
  variant.row = step.row;
  for (int l = 0; l < static_cast<int>(accelerator_.levels.size()); ++l) {
    const Memory* memory = memory_at(accelerator_, l);
    variant.taken.push_back(memory != nullptr ? memory->reserved_words : std::array<Count, kRoles>{});
  }
  std::set<int> counted;
  const auto take = [&](int tensor, std::size_t role) {
    const Place place = place_of(tensor);
    if (place == kElsewhere || !counted.insert(tensor).second) return;
    variant.taken[static_cast<std::size_t>(place)][role] += words(tensor, s, place);
  };
  bool makes_room = false;
  for (const auto& [tensor, operand] : step.reads) {
    const Place place = place_of(tensor);
    const auto role =
        layer != nullptr ? static_cast<std::size_t>(layer->tensors[static_cast<std::size_t>(operand)].role) : kInput;
    take(tensor, role);
    variant.places[role] = place;
    makes_room |= layer == nullptr && step.makes >= 0 && takes_the_place_of_its_operand(step.work) &&
                  tensors_[static_cast<std::size_t>(tensor)].last == s && place == place_of(step.makes) &&
                  place != kElsewhere && words(tensor, s, place) >= words(step.makes, s, place);
  }
  if (step.makes >= 0 && !makes_room) take(step.makes, kOutput);
  if (step.makes >= 0) variant.places[kOutput] = place_of(step.makes);
  for (const int tensor : step.alive)
    if (tensors_[static_cast<std::size_t>(tensor)].last > s) take(tensor, kInput);
  if (!fits(accelerator_, variant.taken)) return std::nullopt;
  if (layer == nullptr) return operator_move(step, place_of);
  return Move{number(std::move(variant)), 0, 0};
}

std::vector<NetworkPlaces::Choice> NetworkPlaces::choices(std::size_t s, const State& before) {
  const Step& step = steps_[s];
  std::vector<Choice> all;
  const std::vector<Place> nowhere{kElsewhere};
  for (const Place made : step.makes >= 0 ? tensors_[static_cast<std::size_t>(step.makes)].places : nowhere) {
    const auto place_of = [&](int tensor) {
      if (tensor == step.makes) return made;
      return before[static_cast<std::size_t>(std::ranges::find(step.alive, tensor) - step.alive.begin())];
    };
    const std::optional<Move> found = move(s, place_of);
    if (!found) continue;
    Choice& one = all.emplace_back(Choice{made, {}, *found});
    if (s + 1 == steps_.size()) continue;
    for (const int tensor : steps_[s + 1].alive) one.after.push_back(place_of(tensor));
  }
  return all;
}

int NetworkPlaces::number(LayerVariant variant) {
  const auto [at, is_new] = numbers_.try_emplace(std::move(variant), static_cast<int>(variants_.size()));
  if (is_new) variants_.push_back(at->first);
  return at->second;
}

bool NetworkPlaces::leaves_room(int row, const Taken& wider, const Taken& tighter) const {
  if (wider.size() != tighter.size()) return false;
  for (std::size_t l = 0; l < wider.size(); ++l) {
    if (total(wider[l]) > total(tighter[l])) return false;
    for (std::size_t r = 0; r < kRoles; ++r)
      if (is_divided(rows_[static_cast<std::size_t>(row)], l) && wider[l][r] > tighter[l][r]) return false;
  }
  return true;
}

}  // namespace pliant::audit
