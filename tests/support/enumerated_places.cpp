// SPDX-License-Identifier: Apache-2.0
// All choices of where the tensors and the weights of a small network live, each with all mappings of all layers.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/workload_graph.h"
#include "support/placed_mappings.h"

namespace pliant::tests {

namespace {

constexpr int kOutside = -1;

/// A tensor of the run as the enumeration sees it.
struct Tensor {
  Count elements = 0;
  int made = 0, last = 0;  // steps
  std::vector<int> homes{kOutside};
};

class Enumeration {
 public:
  Enumeration(const RandomGraph& graph, bool stay, Count inferences = 1)
      : graph_(graph),
        machine_(graph.rows.front().accelerator),
        run_(run_of(*graph.workload.graph)),
        inferences_(static_cast<double>(inferences)),
        mappings_(graph.rows) {
    find_tensors();
    if (stay) find_homes();
    weights_.assign(run_.size(), kOutside);
    weight_homes_.assign(run_.size(), {kOutside});
    if (inferences > 1) find_weight_homes();
  }

  /// Groups of layers are choices, too.
  void with_tiles(const TilePairs& tiles) {
    tiles_ = &tiles;
    find_chains();
  }

  double choices() const {
    double all = 1;
    for (const Tensor& tensor : tensors_) all *= static_cast<double>(tensor.homes.size());
    for (const auto& homes : weight_homes_) all *= static_cast<double>(homes.size());
    return all;
  }

  Pairs all() {
    std::vector<int> home(tensors_.size(), kOutside);
    Pairs found;
    const auto choose = [&](auto&& self, std::size_t t) -> void {
      if (t >= tensors_.size() && t - tensors_.size() < weight_homes_.size()) {
        for (const int h : weight_homes_[t - tensors_.size()]) {
          weights_[t - tensors_.size()] = h;
          self(self, t + 1);
        }
        return;
      }
      if (t == tensors_.size() + weight_homes_.size()) {
        const Pairs sums = cost(home);
        found.insert(found.end(), sums.begin(), sums.end());
        found = without_beaten(std::move(found));
        return;
      }
      for (const int h : tensors_[t].homes) {
        home[t] = h;
        self(self, t + 1);
      }
    };
    choose(choose, 0);
    return found;
  }

 private:
  const WorkloadGraph::Node& node(std::size_t step) const {
    return graph_.workload.graph->nodes[static_cast<std::size_t>(run_[step].node)];
  }
  bool does(std::size_t step, WorkloadGraph::Operator work) const {
    return !node(step).is_layer() && node(step).work == work;
  }
  const Layer& layer(std::size_t step) const { return graph_.rows[static_cast<std::size_t>(node(step).layer)].layer; }
  const Memory& memory_at(int level) const { return machine_.levels[static_cast<std::size_t>(level)].memory(); }
  int width(int l, Role role, const Layer* of) const { return mappings_.width(l, role, of); }

  void find_tensors() {
    std::vector<int> readers(run_.size(), 0);
    for (const GraphStep& step : run_)
      for (const auto& edge : step.from)
        if (edge.node >= 0) ++readers[static_cast<std::size_t>(edge.node)];
    for (std::size_t s = 0; s < run_.size(); ++s) {
      for (const auto& edge : run_[s].from)
        if (edge.node >= 0)
          tensors_[static_cast<std::size_t>(of_step_[static_cast<std::size_t>(edge.node)])].last = static_cast<int>(s);
      const bool in_place = does(s, WorkloadGraph::Operator::kActivation) && run_[s].from.at(0).node >= 0 &&
                            readers[static_cast<std::size_t>(run_[s].from[0].node)] == 1;
      if (in_place) {
        of_step_.push_back(of_step_[static_cast<std::size_t>(run_[s].from[0].node)]);
        makes_.push_back(-1);
        continue;
      }
      of_step_.push_back(static_cast<int>(tensors_.size()));
      makes_.push_back(of_step_.back());
      tensors_.push_back({node(s).words, static_cast<int>(s), static_cast<int>(s)});
    }
  }

  int final_width(std::size_t t, int l) const {
    const auto made = static_cast<std::size_t>(tensors_[t].made);
    return width(l, Role::kOutput, node(made).is_layer() ? &layer(made) : nullptr);
  }

  /// Words that a tensor takes at a memory while a step runs.
  Count room_of(std::size_t t, std::size_t s, int l) const {
    int bits = final_width(t, l);
    if (node(s).is_layer()) {
      if (makes_[s] == static_cast<int>(t)) bits = mappings_.sum_width(l, layer(s));
      for (const auto& edge : run_[s].from)
        if (edge.node >= 0 && of_step_[static_cast<std::size_t>(edge.node)] == static_cast<int>(t))
          bits = std::max(bits, width(l, layer(s).tensors[static_cast<std::size_t>(edge.tensor)].role, &layer(s)));
    }
    const Count all = tensors_[t].elements * bits;
    return all / memory_at(l).word_bits + (all % memory_at(l).word_bits == 0 ? 0 : 1);
  }

  /// Memories outside the units, where every layer that touches the tensor keeps its role.
  void find_homes() {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (tensors_[t].last == tensors_[t].made) continue;
      for (int l = 1; l < static_cast<int>(machine_.levels.size()); ++l) {
        if (!machine_.levels[static_cast<std::size_t>(l)].is_memory()) break;
        bool kept = true;
        for (std::size_t s = 0; s < run_.size(); ++s) {
          if (!node(s).is_layer()) continue;
          const auto role_kept = [&](Role role) { return memory_at(l).may_keep[static_cast<std::size_t>(role)]; };
          if (makes_[s] == static_cast<int>(t)) kept &= role_kept(Role::kOutput);
          for (const auto& edge : run_[s].from)
            if (edge.node >= 0 && of_step_[static_cast<std::size_t>(edge.node)] == static_cast<int>(t))
              kept &= role_kept(layer(s).tensors[static_cast<std::size_t>(edge.tensor)].role);
        }
        if (kept) tensors_[t].homes.push_back(l);
      }
    }
  }

  Count weight_words(std::size_t s, int l) const {
    const Count all = layer(s).dims[1].size * layer(s).dims[2].size * width(l, Role::kWeight, &layer(s));  // N x K
    return all / memory_at(l).word_bits + (all % memory_at(l).word_bits == 0 ? 0 : 1);
  }

  void find_weight_homes() {
    for (std::size_t s = 0; s < run_.size(); ++s) {
      if (!node(s).is_layer()) continue;
      bool from_outside = true;
      for (const auto& edge : run_[s].from)
        from_outside &= edge.node < 0 || layer(s).tensors[static_cast<std::size_t>(edge.tensor)].role != Role::kWeight;
      for (int l = 1; from_outside && machine_.levels[static_cast<std::size_t>(l)].is_memory(); ++l)
        if (memory_at(l).may_keep[static_cast<std::size_t>(Role::kWeight)]) weight_homes_[s].push_back(l);
    }
  }

  /// One inference's share of bringing the weights that stay from the outermost memory to where they stay.
  std::pair<double, double> loading(std::size_t s) const {
    const int home = weights_[s];
    if (home == kOutside) return {0, 0};
    const auto words = [&](int l) {
      return static_cast<double>(layer(s).dims[1].size * layer(s).dims[2].size) * width(l, Role::kWeight, &layer(s)) /
             memory_at(l).word_bits;
    };
    double cycles = 0;
    for (const int l : {0, home})
      if (memory_at(l).bus_words_per_cycle) cycles = std::max(cycles, words(l) / *memory_at(l).bus_words_per_cycle);
    cycles = whole(cycles);
    const double energy = words(0) * memory_at(0).read_pj + words(home) * memory_at(home).write_pj;
    return {(energy + leak() * cycles) / inferences_, cycles / inferences_};
  }

  double leak() const {
    double sum = 0;
    Count copies = 1;
    for (const Level& level : machine_.levels) {
      if (level.is_fanout()) copies *= level.fanout().units();
      if (level.is_memory()) sum += static_cast<double>(copies) * level.memory().leak_pj_per_cycle;
    }
    return sum;
  }

  Living living(std::size_t s, const std::vector<int>& home) const {
    Living living;
    const bool is_layer = node(s).is_layer();
    std::set<int> counted;
    const auto count = [&](int t, Role role) {
      if (home[static_cast<std::size_t>(t)] == kOutside || !counted.insert(t).second) return;
      const int l = home[static_cast<std::size_t>(t)];
      living.words[l][static_cast<std::size_t>(role)] += room_of(static_cast<std::size_t>(t), s, l);
    };
    bool replaced = false;
    for (const auto& edge : run_[s].from) {
      if (edge.node < 0) continue;
      const int t = of_step_[static_cast<std::size_t>(edge.node)];
      const Role role = is_layer ? layer(s).tensors[static_cast<std::size_t>(edge.tensor)].role : Role::kInput;
      if (is_layer) living.homes[static_cast<std::size_t>(role)] = home[static_cast<std::size_t>(t)];
      count(t, role);
      const Tensor& tensor = tensors_[static_cast<std::size_t>(t)];
      const int where = home[static_cast<std::size_t>(t)];
      replaced |=
          !is_layer && !does(s, WorkloadGraph::Operator::kPart) && makes_[s] >= 0 && where != kOutside &&
          tensor.last == static_cast<int>(s) && where == home[static_cast<std::size_t>(makes_[s])] &&
          room_of(static_cast<std::size_t>(t), s, where) >= room_of(static_cast<std::size_t>(makes_[s]), s, where);
    }
    if (makes_[s] >= 0) {
      if (is_layer) living.homes[static_cast<std::size_t>(Role::kOutput)] = home[static_cast<std::size_t>(makes_[s])];
      if (!replaced) count(makes_[s], Role::kOutput);
    }
    for (std::size_t t = 0; t < tensors_.size(); ++t)
      if (tensors_[t].made < static_cast<int>(s) && tensors_[t].last > static_cast<int>(s) &&
          makes_[s] != static_cast<int>(t))
        count(static_cast<int>(t), Role::kInput);
    for (std::size_t w = 0; w < weights_.size(); ++w) {
      if (weights_[w] == kOutside) continue;
      const Role role = w == s ? Role::kWeight : Role::kInput;
      living.words[weights_[w]][static_cast<std::size_t>(role)] += weight_words(w, weights_[w]);
      if (w == s) living.homes[static_cast<std::size_t>(Role::kWeight)] = weights_[w];
    }
    return living;
  }

  static Pairs sums_of(const Pairs& some, const Pairs& others) {
    Pairs all;
    for (const auto& [energy, cycles] : some)
      for (const auto& [e, t] : others) all.emplace_back(energy + e, cycles + t);
    return without_beaten(std::move(all));
  }

  /// Step by step, and where layers may pass tiles on over several steps at once.
  Pairs cost(const std::vector<int>& home) {
    std::vector<Pairs> sums(run_.size() + 1);
    sums[0] = {{0, 0}};
    const auto offer = [&](std::size_t to, const Pairs& more) {
      sums[to].insert(sums[to].end(), more.begin(), more.end());
      sums[to] = without_beaten(std::move(sums[to]));
    };
    for (std::size_t s = 0; s < run_.size(); ++s) {
      if (sums[s].empty()) continue;
      const Living now = living(s, home);
      bool fits = true;
      for (const auto& [level, words] : now.words)
        fits &= words[0] + words[1] + words[2] <= *memory_at(level).capacity_words;
      if (fits) {
        const Pairs own = node(s).is_layer() ? mappings_.all(node(s).layer, now) : Pairs{operator_cost(s, home)};
        offer(s + 1, sums_of(sums_of(sums[s], own), {loading(s)}));
      }
      for (const Chain& chain : chains_)
        if (chain.tiled.steps.front() == static_cast<int>(s))
          for (int l = 1; machine_.levels[static_cast<std::size_t>(l)].is_memory(); ++l)
            offer(static_cast<std::size_t>(chain.tiled.steps.back()) + 1, sums_of(sums[s], passing(chain, l, home)));
    }
    return sums.back();
  }

  /// Layers that read each other, one after the other, each as inputs, and what is done to the tensors in between.
  struct Chain {
    TiledSteps tiled;
    std::vector<std::size_t> operators;
    std::vector<std::size_t> in_place;  // activations: nothing moves, but a vector unit works on them
  };
  void find_chains() {
    for (std::size_t s = 0; s < run_.size(); ++s) {
      if (!node(s).is_layer()) continue;
      Chain chain;
      chain.tiled.steps = {static_cast<int>(s)};
      while (chain.tiled.steps.size() < 4 && add_layer(chain)) chains_.push_back(chain);
    }
  }
  bool add_layer(Chain& chain) const {
    int made = makes_[static_cast<std::size_t>(chain.tiled.steps.back())];
    bool whole_rows = false;
    for (auto s = static_cast<std::size_t>(chain.tiled.steps.back()) + 1; s < run_.size(); ++s) {
      const auto reads = std::ranges::count_if(run_[s].from, [&](const WorkloadGraph::Edge& edge) {
        return edge.node >= 0 && of_step_[static_cast<std::size_t>(edge.node)] == made;
      });
      if (reads != 1) return false;
      if (!node(s).is_layer() && makes_[s] < 0) {
        chain.in_place.push_back(s);
        continue;
      }
      if (tensors_[static_cast<std::size_t>(made)].last != static_cast<int>(s)) return false;
      if (node(s).is_layer()) {
        for (const auto& edge : run_[s].from)
          if (edge.node >= 0 && of_step_[static_cast<std::size_t>(edge.node)] == made &&
              layer(s).tensors[static_cast<std::size_t>(edge.tensor)].role != Role::kInput)
            return false;
        chain.tiled.steps.push_back(static_cast<int>(s));
        chain.tiled.whole_rows.push_back(whole_rows);
        return true;
      }
      if (does(s, WorkloadGraph::Operator::kPart) || does(s, WorkloadGraph::Operator::kOutput)) return false;
      whole_rows |= does(s, WorkloadGraph::Operator::kSoftmax) || does(s, WorkloadGraph::Operator::kNorm);
      chain.operators.push_back(s);
      made = makes_[s];
    }
    return false;
  }

  /// The chain in tiles in a memory. What is inside has no home of its own: of all homes it is asked once.
  Pairs passing(const Chain& chain, int l, std::vector<int> home) {
    const int first = chain.tiled.steps.front(), last = chain.tiled.steps.back();
    TiledSteps tiled = chain.tiled;
    tiled.home = l;
    for (int s = first; s < last; ++s)
      if (const int made = makes_[static_cast<std::size_t>(s)]; made >= 0) {
        if (home[static_cast<std::size_t>(made)] != kOutside) return {};
        home[static_cast<std::size_t>(made)] = l;
      }
    for (std::size_t i = 0; i < tiled.steps.size(); ++i) {
      const auto s = static_cast<std::size_t>(tiled.steps[i]);
      auto& places = tiled.places.emplace_back();
      places.fill(kOutside);
      // The result of an operator takes the place of what it reads.
      if (!chain.operators.empty() && width(l, Role::kOutput, nullptr) > width(l, Role::kOutput, &layer(s))) return {};
      for (const auto& edge : run_[s].from) {
        const int t = edge.node < 0 ? -1 : of_step_[static_cast<std::size_t>(edge.node)];
        if (t >= 0 && tensors_[static_cast<std::size_t>(t)].made < first)
          places[static_cast<std::size_t>(layer(s).tensors[static_cast<std::size_t>(edge.tensor)].role)] =
              home[static_cast<std::size_t>(t)];
      }
      if (tiled.steps[i] == last)
        places[static_cast<std::size_t>(Role::kOutput)] = home[static_cast<std::size_t>(makes_[s])];
    }
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const bool lives = tensors_[t].made == last || (tensors_[t].made < first && tensors_[t].last >= first);
      if (!lives || home[t] == kOutside) continue;
      Count most = 0;
      for (int s = first; s <= last; ++s) most = std::max(most, room_of(t, static_cast<std::size_t>(s), home[t]));
      tiled.taken[home[t]][0] += most;
    }
    if (!passed_.contains(tiled)) passed_[tiled] = (*tiles_)(tiled);
    Pairs all = passed_[tiled];
    for (const std::size_t s : chain.operators) all = sums_of(all, {operator_cost(s, home)});
    for (const std::size_t s : chain.in_place) all = sums_of(all, {operator_cost(s, home)});
    return all;
  }

  /// Words move while a vector unit works; who is done first waits, and everything leaks.
  std::pair<double, double> operator_cost(std::size_t s, const std::vector<int>& home) const {
    const auto [energy, cycles] = words_cost(s, home);
    if (!machine_.vector) return {energy, cycles};
    double each = 0;
    for (const auto& [work, ops] : std::map<WorkloadGraph::Operator, double>{{WorkloadGraph::Operator::kAdd, 1},
                                                                             {WorkloadGraph::Operator::kPool, 1},
                                                                             {WorkloadGraph::Operator::kActivation, 4},
                                                                             {WorkloadGraph::Operator::kSoftmax, 5},
                                                                             {WorkloadGraph::Operator::kNorm, 4}})
      if (does(s, work)) each = ops;
    const double ops = each * static_cast<double>(node(s).words), busy = whole(ops / machine_.vector->lanes);
    return {energy + ops * machine_.vector->pj_per_op + leak() * std::max(0.0, busy - cycles), std::max(busy, cycles)};
  }

  /// Every word read where it lives, every word of the result written where it will live, one bus each.
  std::pair<double, double> words_cost(std::size_t s, const std::vector<int>& home) const {
    if (makes_[s] < 0) return {0, 0};
    if (does(s, WorkloadGraph::Operator::kOutput) &&
        home[static_cast<std::size_t>(of_step_[static_cast<std::size_t>(run_[s].from[0].node)])] == kOutside)
      return {0, 0};
    const bool part = does(s, WorkloadGraph::Operator::kPart);
    std::map<int, double> moved;
    double energy = 0, cycles = 0;
    const auto level_of = [](int where) { return where == kOutside ? 0 : where; };
    const auto words_of = [&](Count elements, int bits, int l) {
      return static_cast<double>(elements) * bits / memory_at(l).word_bits;
    };
    for (const auto& edge : run_[s].from) {
      const int t = edge.node < 0 ? -1 : of_step_[static_cast<std::size_t>(edge.node)];
      const int l = level_of(t < 0 ? kOutside : home[static_cast<std::size_t>(t)]);
      const double words = t < 0 ? words_of(node(s).words, width(l, Role::kInput, nullptr), l)
                                 : words_of(part ? node(s).words : tensors_[static_cast<std::size_t>(t)].elements,
                                            final_width(static_cast<std::size_t>(t), l), l);
      energy += words * memory_at(l).read_pj;
      moved[l] += words;
    }
    const int l = level_of(home[static_cast<std::size_t>(makes_[s])]);
    const double made = words_of(node(s).words, width(l, Role::kOutput, nullptr), l);
    energy += made * memory_at(l).write_pj;
    moved[l] += made;
    for (const auto& [level, words] : moved)
      if (memory_at(level).bus_words_per_cycle)
        cycles = std::max(cycles, words / *memory_at(level).bus_words_per_cycle);
    cycles = whole(cycles);
    return {energy + leak() * cycles, cycles};
  }

  /// A port is done at the end of a cycle; bandwidths are halves of words here, so no whole quotient is rounded.
  static double whole(double cycles) { return std::ceil(cycles); }

  const RandomGraph& graph_;
  const Accelerator& machine_;
  std::vector<GraphStep> run_;
  double inferences_;
  std::vector<int> weights_;                    // by step: where its weights stay
  std::vector<std::vector<int>> weight_homes_;  // by step
  std::vector<Tensor> tensors_;
  std::vector<int> of_step_, makes_;  // by step: the tensor it stands for; the one it makes or -1
  PlacedMappings mappings_;
  const TilePairs* tiles_ = nullptr;
  std::vector<Chain> chains_;
  std::map<TiledSteps, Pairs> passed_;
};

}  // namespace

Pairs without_beaten(Pairs all) {
  std::ranges::sort(all);
  Pairs kept;
  for (const auto& [energy, cycles] : all)
    if (kept.empty() || cycles < kept.back().second) kept.emplace_back(energy, cycles);
  return kept;
}

Pairs every_choice(const RandomGraph& graph, bool stay) { return Enumeration(graph, stay).all(); }

Pairs every_choice_with_tiles(const RandomGraph& graph, const TilePairs& tiles) {
  Enumeration enumeration(graph, true);
  enumeration.with_tiles(tiles);
  return enumeration.all();
}

std::optional<Pairs> every_choice_with_weights(const RandomGraph& graph, Count inferences) {
  constexpr double kMostChoices = 3000;
  Enumeration enumeration(graph, true, inferences);
  return enumeration.choices() > kMostChoices ? std::nullopt : std::optional(enumeration.all());
}

}  // namespace pliant::tests
