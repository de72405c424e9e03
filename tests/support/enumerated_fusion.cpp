// SPDX-License-Identifier: Apache-2.0
#include "support/enumerated_fusion.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/legality.h"
#include "core/workload_graph.h"
#include "costmodel/report.h"
#include "flex/mapspace/enumerate.h"
#include "support/reference_walker.h"

namespace pliant::tests {

namespace {

using reference::WalkedHold;
using reference::WalkedLoop;
using reference::WalkedPlan;

constexpr int kOutside = -1;

class FusionEnumeration {
 public:
  explicit FusionEnumeration(const RandomChain& chain)
      : chain_(chain), machine_(chain.rows.front().accelerator), layers_(static_cast<int>(chain.rows.size())) {}

  EveryFusion all() {
    places_.assign(static_cast<std::size_t>(layers_), kOutside);
    place_next(0);
    found_.all = without_beaten(std::move(found_.all));
    found_.whole = without_beaten(std::move(found_.whole));
    return std::move(found_);
  }

  /// All layers in tiles in a memory, among what lives around them.
  Pairs in_tiles(int home, const TiledSteps* around = nullptr) {
    around_ = around;
    const auto& keeps = memory_at(home).may_keep;
    if (partitioned() || !keeps[static_cast<std::size_t>(Role::kInput)] ||
        !keeps[static_cast<std::size_t>(Role::kOutput)])
      return {};
    places_.assign(static_cast<std::size_t>(layers_), kTiles + home);
    return group(0, layers_);
  }

 private:
  /// What is between layers l and l + 1 lives outside, in a memory, or in tiles (a memory's number, plus 100).
  static constexpr int kTiles = 100;

  const Layer& layer(int l) const { return chain_.rows[static_cast<std::size_t>(l)].layer; }
  const Memory& memory_at(int level) const { return machine_.levels[static_cast<std::size_t>(level)].memory(); }
  int link(int l) const { return l < 0 || l + 1 >= layers_ ? kOutside : places_[static_cast<std::size_t>(l)]; }

  bool partitioned() const {
    return std::ranges::any_of(chain_.rows.front().flexibility.levels,
                               [](const LevelFlexibility& rules) { return rules.tile.partition.has_value(); });
  }

  void place_next(int l) {
    if (l + 1 == layers_) {
      add_all();
      return;
    }
    places_[static_cast<std::size_t>(l)] = kOutside;
    place_next(l + 1);
    for (int level = 1; machine_.levels[static_cast<std::size_t>(level)].is_memory() &&
                        level + 1 < static_cast<int>(machine_.levels.size());
         ++level) {
      const auto& keeps = memory_at(level).may_keep;
      if (!keeps[static_cast<std::size_t>(Role::kInput)] || !keeps[static_cast<std::size_t>(Role::kOutput)]) continue;
      places_[static_cast<std::size_t>(l)] = level;
      place_next(l + 1);
      if (partitioned()) continue;
      places_[static_cast<std::size_t>(l)] = kTiles + level;
      if (link(l - 1) < kTiles || link(l - 1) == kTiles + level) place_next(l + 1);
    }
    places_[static_cast<std::size_t>(l)] = kOutside;
  }

  /// Groups and single layers one after the other.
  void add_all() {
    Pairs sums{{0, 0}};
    bool tiles = false;
    for (int l = 0; l < layers_;) {
      int end = l + 1;
      while (link(end - 1) >= kTiles) ++end;
      tiles |= end > l + 1;
      const Pairs own = end == l + 1 ? single(l) : group(l, end);
      Pairs next;
      for (const auto& [energy, cycles] : sums)
        for (const auto& [e, t] : own) next.emplace_back(energy + e, cycles + t);
      sums = without_beaten(std::move(next));
      l = end;
    }
    found_.all.insert(found_.all.end(), sums.begin(), sums.end());
    found_.all = without_beaten(std::move(found_.all));
    if (!tiles) found_.whole.insert(found_.whole.end(), sums.begin(), sums.end());
  }

  Count words_of(Count elements, int bits, int level) const {
    const Count word = memory_at(level).word_bits;
    return (elements * bits + word - 1) / word;
  }
  /// Of the tensor between l and l + 1 while one of the two runs.
  Count whole_words(int l, int while_layer, int level) const {
    const Layer &made = layer(l), &read = layer(l + 1);
    const int finished = machine_.element_bits(level, made, made.output());
    const int bits = while_layer == l       ? machine_.partial_sum_bits(level, made)
                     : while_layer == l + 1 ? std::max(finished, machine_.element_bits(level, read, 0))
                                            : finished;
    return words_of(chain_.count * made.tensor_words(made.output()), bits, level);
  }

  using Taken = std::map<int, std::array<Count, kRoles>>;  ///< by level, and the role whose share it is
  using Homes = std::array<int, kRoles>;

  Pairs single(int l) {
    Homes homes{kOutside, kOutside, kOutside};
    Taken taken;
    if (const int from = link(l - 1); from != kOutside) {
      homes[static_cast<std::size_t>(Role::kInput)] = from;
      taken[from][static_cast<std::size_t>(Role::kInput)] += whole_words(l - 1, l, from);
    }
    if (const int to = link(l); to != kOutside) {
      homes[static_cast<std::size_t>(Role::kOutput)] = to;
      taken[to][static_cast<std::size_t>(Role::kOutput)] += whole_words(l, l, to);
    }
    std::vector<Count> sizes;
    for (const Dim& dim : layer(l).dims) sizes.push_back(dim.size);
    Pairs all = mappings(l, sizes, homes, taken, kOutside, false);
    for (auto& [energy, cycles] : all) {
      energy *= static_cast<double>(chain_.count);
      cycles *= static_cast<double>(chain_.count);
    }
    return all;
  }

  /// Layers [from, to), all stacks and held sets.
  Pairs group(int from, int to) {
    from_ = from;
    to_ = to;
    own_ = {};
    own_.layers.assign(chain_.walked.layers.begin() + from, chain_.walked.layers.begin() + to);
    own_.reads.assign(chain_.walked.reads.begin() + from, chain_.walked.reads.begin() + to - 1);
    if (!chain_.walked.padded.empty())
      own_.padded.assign(chain_.walked.padded.begin() + from, chain_.walked.padded.begin() + to - 1);
    own_.places.assign(chain_.walked.places.begin() + from, chain_.walked.places.begin() + to);
    own_.sizes = chain_.walked.sizes;
    for (const auto& [axis, same] : chain_.walked.same) own_.same[axis].assign(same.begin() + from, same.begin() + to);
    if (!chain_.walked.online.empty())
      own_.online.assign(chain_.walked.online.begin() + from, chain_.walked.online.begin() + to - 1);
    plan_ = {};
    plan_.home = link(from) - kTiles;
    plan_.result_in = link(to - 1) == kOutside ? -1 : link(to - 1);
    if (around_ != nullptr) plan_.result_in = around_->places.back()[static_cast<std::size_t>(Role::kOutput)];
    best_.clear();
    next_stack();
    return without_beaten(std::move(best_));
  }

  void next_stack() {
    const std::size_t i = plan_.stacks.size();
    if (i + 1 == own_.layers.size()) {
      nests_.clear();
      for (std::size_t l = 0; l < own_.layers.size(); ++l) {
        const std::vector<WalkedLoop> none;
        const auto &before = l > 0 ? plan_.stacks[l - 1] : none, &after = l < i ? plan_.stacks[l] : none;
        nests_.push_back(before.size() > after.size() ? before : after);
      }
      next_hold(0, 0);
      return;
    }
    std::vector<WalkedLoop> stack;
    const auto grow = [&](auto&& self) -> void {
      const bool window = !stack.empty() && own_.places[i].at(stack.back().axis).window;
      for (const auto& counted : with_counts(stack, window)) {
        if (counted.empty() || !nests(counted) || !allowed(i, counted)) continue;
        plan_.stacks.push_back(counted);
        next_stack();
        plan_.stacks.pop_back();
      }
      if (stack.size() == (!stack.empty() && in_all(stack.front().axis) ? 3 : 2) || window) return;
      for (const auto& [axis, place] : own_.places[i]) {
        if (!own_.places[i + 1].contains(axis) || own_.same.contains(axis)) continue;
        if (std::ranges::find(stack, axis, &WalkedLoop::axis) != stack.end()) continue;
        const Count size = own_.sizes.at(axis);
        for (Count tile = 1; tile < size; ++tile) {
          if (size % tile != 0) continue;
          stack.push_back({axis, tile});
          self(self);
          stack.pop_back();
        }
      }
    };
    grow(grow);
  }

  /// May the home hold the tile of the tensor between layers i and i + 1? Loops over counted layers cut no dim.
  bool allowed(std::size_t i, const std::vector<WalkedLoop>& stack) const {
    if (machine_.fusion.empty()) return true;
    const FusionRule& rule = machine_.fusion[static_cast<std::size_t>(plan_.home)];
    int loops = 0;
    bool good = rule.tiles;
    for (const WalkedLoop& loop : stack) {
      if (own_.same.contains(loop.axis)) continue;
      ++loops;
      const Dim& cut = own_.layers[i].dims[static_cast<std::size_t>(own_.places[i].at(loop.axis).dim)];
      good &= !rule.dims || std::ranges::count(*rule.dims, cut.name) > 0;
    }
    return good && (rule.depth == 0 || loops <= rule.depth);
  }

  /// Products side by side.
  bool in_all(const std::string& axis) const {
    for (std::size_t l = 0; l < own_.layers.size(); ++l)
      for (int x = 0; x < static_cast<int>(own_.layers[l].tensors.size()); ++x)
        if (!own_.places[l].contains(axis) || !indexed(l, {axis, 1}, x)) return false;
    return true;
  }

  /// Groups of layers outermost, layers of a group anywhere but inside a window.
  std::vector<std::vector<WalkedLoop>> with_counts(std::vector<WalkedLoop> stack, bool window) const {
    if (own_.same.contains("groups")) stack.insert(stack.begin(), {"groups", 1});
    if (!own_.same.contains("heads")) return {stack};
    std::vector<std::vector<WalkedLoop>> all;
    for (std::size_t i = own_.same.contains("groups") ? 1 : 0; i <= stack.size() - (window ? 1 : 0); ++i) {
      all.push_back(stack);
      all.back().insert(all.back().begin() + static_cast<std::ptrdiff_t>(i), {"heads", 1});
    }
    return all;
  }

  /// One is the beginning of the other.
  bool nests(const std::vector<WalkedLoop>& stack) const {
    if (plan_.stacks.empty()) return true;
    const std::vector<WalkedLoop>& before = plan_.stacks.back();
    for (std::size_t i = 0; i < std::min(stack.size(), before.size()); ++i)
      if (stack[i].axis != before[i].axis || stack[i].tile != before[i].tile) return false;
    return true;
  }

  bool indexed(std::size_t l, const WalkedLoop& loop, int tensor) const {
    if (const auto counts = own_.same.find(loop.axis); counts != own_.same.end())
      return (counts->second[l] >> tensor & 1U) == 0;
    return (own_.layers[l].coupled(tensor) >> own_.places[l].at(loop.axis).dim & 1U) != 0;
  }

  void next_hold(std::size_t l, int tensor) {
    if (l == own_.layers.size()) {
      price_plan();
      return;
    }
    if (tensor == static_cast<int>(own_.layers[l].tensors.size())) return next_hold(l + 1, 0);
    next_hold(l, tensor + 1);
    const bool is_output = tensor == own_.layers[l].output();
    if (l > 0 && tensor == own_.reads[l - 1]) return;
    if (is_output && (l + 1 < own_.layers.size() || plan_.result_in >= 0)) return;
    if (l == 0 && tensor == 0 && link(from_ - 1) != kOutside) return;
    const auto role = static_cast<std::size_t>(own_.layers[l].tensors[static_cast<std::size_t>(tensor)].role);
    if (!memory_at(plan_.home).may_keep[role]) return;
    if (around_ != nullptr && around_->places[l][role] != kOutside) return;
    const auto& nest = nests_[l];
    for (std::size_t h = 0; h < nest.size(); ++h) {
      if (indexed(l, nest[h], tensor) || (h > 0 && !indexed(l, nest[h - 1], tensor))) continue;
      plan_.held.push_back({static_cast<int>(l), tensor, h});
      next_hold(l, tensor + 1);
      plan_.held.pop_back();
    }
  }

  /// A memory that outputs may pass takes finished ones only.
  bool no_sums() const {
    return std::ranges::any_of(machine_.levels, [](const Level& level) {
      return level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(Role::kOutput)] &&
             level.memory().bits.partial_sums == 0;
    });
  }

  void price_plan() {
    ++found_.plans;
    const reference::WalkedGroup walked = reference::walk_group(own_, machine_, plan_);
    if (!walked.wrong.empty()) return;
    for (std::size_t l = 0; l < own_.layers.size(); ++l)
      if (walked.adds[l] && (!memory_at(plan_.home).may_keep[static_cast<std::size_t>(Role::kOutput)] || no_sums()))
        return;
    // What lives whole beside the group lives through all of it, as wide as it ever is there.
    Taken around;
    const auto add = [&](int between, int level) {
      if (level == kOutside) return;
      Count most = 0;
      for (int l = from_; l < to_; ++l) most = std::max(most, whole_words(between, l, level));
      around[level][0] += most;
    };
    add(from_ - 1, link(from_ - 1));
    add(to_ - 1, link(to_ - 1));
    if (around_ != nullptr) around = around_->taken;
    Pairs sums{{walked.energy_pj, walked.cycles}};
    for (std::size_t l = 0; l < own_.layers.size() && !sums.empty(); ++l) {
      Homes homes{kOutside, kOutside, kOutside};
      if (around_ != nullptr) homes = around_->places[l];
      const auto home = [&](Role role, int level) { homes[static_cast<std::size_t>(role)] = level; };
      if (l > 0 || link(from_ - 1) != kOutside) home(Role::kInput, l > 0 ? plan_.home : link(from_ - 1));
      if (l + 1 < own_.layers.size() || plan_.result_in >= 0)
        home(Role::kOutput, l + 1 < own_.layers.size() ? plan_.home : plan_.result_in);
      for (const WalkedHold& hold : plan_.held)
        if (hold.layer == static_cast<int>(l))
          home(own_.layers[l].tensors[static_cast<std::size_t>(hold.tensor)].role, plan_.home);
      Taken taken = around;
      taken[plan_.home][0] += walked.taken[l];
      for (const auto& [sizes, times] : walked.runs[l]) {
        const Pairs& own = mappings(from_ + static_cast<int>(l), sizes, homes, taken,
                                    walked.sums_come_back[l] ? plan_.home : kOutside, walked.adds[l]);
        Pairs next;
        for (const auto& [energy, cycles] : sums)
          for (const auto& [e, t] : own)
            next.emplace_back(energy + static_cast<double>(times) * e, cycles + static_cast<double>(times) * t);
        sums = without_beaten(std::move(next));
      }
    }
    best_.insert(best_.end(), sums.begin(), sums.end());
    best_ = without_beaten(std::move(best_));
  }

  /// Every mapping on a machine without limits of capacity, judged by what is taken.
  const Pairs& mappings(int l, const std::vector<Count>& sizes, const Homes& homes, const Taken& taken,
                        int must_keep_outputs, bool sums) {
    static const Pairs none;
    for (const auto& [level, words] : taken)
      if (words[0] + words[1] + words[2] > *memory_at(level).capacity_words) return none;
    const auto key = std::tuple(l, sizes, homes, taken, must_keep_outputs, sums);
    const auto known = priced_.find(key);
    if (known != priced_.end()) return known->second;
    Task task = chain_.rows[static_cast<std::size_t>(l)];
    for (std::size_t d = 0; d < sizes.size(); ++d) task.layer.dims[d].size = sizes[d];
    Accelerator wide = task.accelerator;
    Flexibility rules = task.flexibility;
    for (std::size_t k = 0; k < wide.levels.size(); ++k) {
      if (!wide.levels[k].is_memory()) continue;
      Memory& memory = wide.levels[k].memory();
      memory.capacity_words.reset();
      if (sums)  // every run makes sums, never results
        memory.bits.of[static_cast<std::size_t>(Role::kOutput)] =
            machine_.partial_sum_bits(static_cast<int>(k), task.layer);
      rules.levels[k].tile.partition.reset();
      for (std::size_t role = 0; role < kRoles; ++role)
        if (homes[role] > static_cast<int>(k))
          memory.may_keep[role] = memory.may_bypass[role] = false;
        else if (homes[role] == static_cast<int>(k))
          memory.may_bypass[role] = false;
    }
    const auto output = static_cast<std::size_t>(task.layer.output());
    Pairs all;
    for_each_mapping(task.layer, wide, rules, task.factorization, [&](const Mapping& mapping) {
      if (must_keep_outputs >= 0 &&
          (mapping.levels[static_cast<std::size_t>(must_keep_outputs)].keeps >> output & 1U) == 0)
        return true;
      if (!holds(task, homes, taken, mapping)) return true;
      if (!check_legality(task.layer, wide, rules, task.factorization, mapping).empty()) return true;
      const Totals totals = pliant::price(task.layer, wide, mapping).totals;
      all.emplace_back(totals.energy_pj, totals.cycles);
      if (all.size() > 1000) all = without_beaten(std::move(all));
      return true;
    });
    return priced_.emplace(key, without_beaten(std::move(all))).first->second;
  }

  bool holds(const Task& task, const Homes& homes, const Taken& taken, const Mapping& mapping) const {
    for (int level = 0; level < static_cast<int>(machine_.levels.size()); ++level) {
      const Level& of = machine_.levels[static_cast<std::size_t>(level)];
      if (!of.is_memory() || !of.memory().capacity_words) continue;
      const auto known = taken.find(level);
      const std::array<Count, kRoles> here = known == taken.end() ? std::array<Count, kRoles>{} : known->second;
      std::array<Count, kRoles> bits{};
      for (std::size_t x = 0; x < task.layer.tensors.size(); ++x) {
        const auto role = static_cast<std::size_t>(task.layer.tensors[x].role);
        if ((mapping.levels[static_cast<std::size_t>(level)].keeps >> x & 1U) == 0 || homes[role] == level) continue;
        bits[role] += reference::tile_words(task.layer, machine_, mapping, level, static_cast<int>(x)) *
                      machine_.held_bits(level, task.layer, static_cast<int>(x));
      }
      const Count buffers = of.memory().buffers, capacity = *of.memory().capacity_words, word = of.memory().word_bits;
      if (bits[0] + bits[1] + bits[2] > (capacity - here[0] - here[1] - here[2]) / buffers * word) return false;
      const auto& partition = task.flexibility.levels[static_cast<std::size_t>(level)].tile.partition;
      if (!partition) continue;
      const double shares = (*partition)[0] + (*partition)[1] + (*partition)[2];
      for (std::size_t role = 0; role < kRoles; ++role) {
        const double room = (*partition)[role] / shares * static_cast<double>(capacity / buffers) -
                            static_cast<double>(here[role]) / static_cast<double>(buffers);
        if (static_cast<double>(bits[role]) > room * static_cast<double>(word) + 1e-9) return false;
      }
    }
    return true;
  }

  const RandomChain& chain_;
  const Accelerator& machine_;
  const int layers_;
  std::vector<int> places_;  ///< by link
  EveryFusion found_;
  int from_ = 0, to_ = 0;
  reference::WalkedChain own_;
  WalkedPlan plan_;
  std::vector<std::vector<WalkedLoop>> nests_;
  Pairs best_;
  const TiledSteps* around_ = nullptr;
  std::map<std::tuple<int, std::vector<Count>, Homes, Taken, int, bool>, Pairs> priced_;
};

}  // namespace

Pairs every_group(const RandomChain& chain, int home) { return FusionEnumeration(chain).in_tiles(home); }

Pairs every_choice_of_graph(const RandomGraph& graph) {
  const std::vector<GraphStep> run = run_of(*graph.workload.graph);
  return every_choice_with_tiles(graph, [&](const TiledSteps& tiled) {
    RandomChain chain;
    std::vector<Layer> layers;
    for (const int s : tiled.steps) {
      const int node = run[static_cast<std::size_t>(s)].node;
      const int row = graph.workload.graph->nodes[static_cast<std::size_t>(node)].layer;
      chain.rows.push_back(graph.rows[static_cast<std::size_t>(row)]);
      layers.push_back(chain.rows.back().layer);
    }
    chain.walked = reference::walked_gemms(std::move(layers));
    for (std::size_t i = 0; i < tiled.whole_rows.size(); ++i)
      for (auto& places : chain.walked.places)
        if (tiled.whole_rows[i]) places.erase("n" + std::to_string(i + 1));
    return FusionEnumeration(chain).in_tiles(tiled.home, &tiled);
  });
}

EveryFusion every_fusion(const RandomChain& chain) { return FusionEnumeration(chain).all(); }

}  // namespace pliant::tests
