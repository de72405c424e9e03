// SPDX-License-Identifier: Apache-2.0
#include "support/random_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/input/load.h"
#include "core/legality.h"
#include "core/workload_graph.h"
#include "costmodel/report.h"
#include "flex/mapspace/enumerate.h"
#include "support/draw.h"

namespace pliant::tests {

namespace {

constexpr int kOutside = -1;

Memory memory(Draw& draw, std::optional<Count> capacity, double pj) {
  Memory m;
  m.capacity_words = capacity;
  m.read_pj = pj;
  m.write_pj = pj * static_cast<double>(draw.from(1, 2));
  m.update_pj = m.write_pj;
  if (draw.chance(0.5)) m.bus_words_per_cycle = static_cast<double>(draw.from(1, 4));
  if (draw.chance(0.2)) m.leak_pj_per_cycle = static_cast<double>(draw.from(1, 3));
  return m;
}

/// DRAM, one or two shared memories, sometimes a row of units, a latch for each unit.
Accelerator random_machine(Draw& draw) {
  Accelerator a;
  a.name = "small";
  a.conventions = Conventions::physical();
  const bool two = draw.chance(0.6);
  Memory dram = memory(draw, std::nullopt, static_cast<double>(draw.from(8, 40)));
  dram.bus_words_per_cycle = static_cast<double>(draw.from(1, 3)) / 2;
  a.levels.push_back({"DRAM", dram});
  Memory outer = memory(draw, draw.from(8, 60), static_cast<double>(draw.from(2, 6)));
  if (draw.chance(0.2)) outer.buffers = 2;
  if (draw.chance(0.15)) outer.may_keep[static_cast<std::size_t>(draw.from(0, 2))] = false;
  a.levels.push_back({"L2", outer});
  if (two) a.levels.push_back({"L1", memory(draw, draw.from(4, 30), 1)});
  if (draw.chance(0.4)) a.levels.push_back({"PEs", Fanout{1, draw.from(2, 3)}});
  Memory latch = memory(draw, 3, 0.125);
  latch.bus_words_per_cycle.reset();
  a.levels.push_back({"Latch", latch});
  a.levels.push_back({"MAC", Compute{static_cast<double>(draw.from(0, 2))}});
  // One order at most memories keeps the enumeration small; the innermost holds one word of each tensor.
  a.flexibility.levels.resize(a.levels.size());
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    LevelFlexibility& rules = a.flexibility.levels[l];
    if (a.levels[l].name == "Latch") rules.loops.dims.emplace();
    if (a.levels[l].is_memory() && !draw.chance(l == 0 ? 0.5 : 0.15)) {
      std::vector<std::string> dims{"M", "N", "K"};
      draw.shuffle(dims);
      rules.order.allowed.push_back({dims, std::nullopt});
    }
    if (l == 1 && draw.chance(0.2)) rules.tile.partition = {1.0, static_cast<double>(draw.from(1, 2)), 1.0};
  }
  return a;
}

/// Elements that are not as wide as words, in some of the networks: of the machine, of memories and of layers. Drawn
/// after everything else.
void draw_widths(Draw& draw, Accelerator& machine, Workload& workload) {
  if (!draw.chance(0.5)) return;
  static const std::vector<int> kElements{4, 8, 12, 16, 24}, kSums{16, 20, 32};
  const auto said = [&](double share) {
    ElementBits bits;
    for (auto& of_role : bits.of)
      if (draw.chance(share)) of_role = draw.of(kElements);
    if (draw.chance(share)) bits.partial_sums = draw.of(kSums);
    return bits;
  };
  machine.bits = said(0.5);
  for (Level& level : machine.levels)
    if (level.is_memory() && draw.chance(0.2)) level.memory().bits = said(0.4);
  for (Workload::Entry& entry : workload.layers)
    if (draw.chance(0.2)) entry.layer.bits = said(0.5);
  for (Level& level : machine.levels) {
    if (level.name == "Latch") level.memory().capacity_words = 6;  // of 16 bits: one of each, of any width
    if (!level.is_fanout()) continue;
    if (draw.chance(0.4)) level.fanout().pj_per_bit = static_cast<double>(draw.from(1, 20)) / 64;
    if (draw.chance(0.3)) level.fanout().systolic = static_cast<Role>(draw.from(0, 2));
  }
}

/// A network of up to six layers, written as a file would be.
std::string random_network(Draw& draw) {
  std::string layers, graph;
  struct Made {
    std::string name;
    Count rows, cols;
  };
  std::vector<Made> made;
  const Count count = draw.from(2, 6), rows = draw.from(1, 3);
  std::vector<Count> widths{1, 2, 3, 4};
  for (Count i = 0; i < count; ++i) {
    const std::string name = fmt::format("l{}", i);
    // Mostly what was made last; sometimes an older tensor (a branch), or what comes from outside.
    const Made* source = made.empty() || draw.chance(0.08) ? nullptr : &made.back();
    if (source != nullptr && draw.chance(0.25)) source = &draw.of(made);
    const Count K = source != nullptr ? source->cols : draw.of(widths), N = draw.of(widths);
    std::string from = source != nullptr ? source->name : "input";
    if (source != nullptr && draw.chance(0.2))
      for (const Made& other : made)
        if (other.rows * other.cols == K * N) {  // both operands were made by the network
          from = fmt::format("[{}, {}]", source->name, other.name);
          break;
        }
    layers += fmt::format("  - {{layer: {}, gemm: {{M: {}, N: {}, K: {}}}}}\n", name, rows, N, K);
    graph += fmt::format("  - {{layer: {}, from: {}}}\n", name, from);
    made.push_back({name, rows, N});
    if (!draw.chance(0.35)) continue;
    const std::string op = fmt::format("o{}", i);
    std::string second;
    for (const Made& other : made)
      if (other.name != name && other.cols == N && draw.chance(0.7)) second = other.name;
    static const std::vector<std::string> kAlone{"activation", "softmax", "norm"};
    graph += second.empty() ? fmt::format("  - {{op: {}, name: {}, from: {}}}\n", draw.of(kAlone), op, name)
                            : fmt::format("  - {{op: add, name: {}, from: [{}, {}]}}\n", op, second, name);
    made.push_back({op, rows, N});
  }
  return "name: net\nlayers:\n" + layers + "graph:\n" + graph;
}

/// A tensor of the run as the enumeration sees it.
struct Tensor {
  Count elements = 0;
  int made = 0, last = 0;  // steps
  std::vector<int> homes{kOutside};
};

class Enumeration {
 public:
  Enumeration(const RandomGraph& graph, bool stay)
      : graph_(graph), machine_(graph.rows.front().accelerator), run_(run_of(*graph.workload.graph)) {
    find_tensors();
    if (stay) find_homes();
  }

  Pairs all() {
    std::vector<int> home(tensors_.size(), kOutside);
    Pairs found;
    const auto choose = [&](auto&& self, std::size_t t) -> void {
      if (t == tensors_.size()) {
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
  const Layer& layer(std::size_t step) const { return graph_.rows[static_cast<std::size_t>(node(step).layer)].layer; }
  const Memory& memory_at(int level) const { return machine_.levels[static_cast<std::size_t>(level)].memory(); }

  void find_tensors() {
    std::vector<int> readers(run_.size(), 0);
    for (const GraphStep& step : run_)
      for (const auto& edge : step.from)
        if (edge.node >= 0) ++readers[static_cast<std::size_t>(edge.node)];
    for (std::size_t s = 0; s < run_.size(); ++s) {
      for (const auto& edge : run_[s].from)
        if (edge.node >= 0)
          tensors_[static_cast<std::size_t>(of_step_[static_cast<std::size_t>(edge.node)])].last = static_cast<int>(s);
      const bool in_place = !node(s).is_layer() && node(s).work == WorkloadGraph::Operator::kActivation &&
                            run_[s].from.at(0).node >= 0 &&
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

  /// Bits of an element: the memory says, or the layer, or the machine; else it is a word.
  int width(int l, Role role, const Layer* of) const {
    const auto r = static_cast<std::size_t>(role);
    if (memory_at(l).bits.of[r]) return *memory_at(l).bits.of[r];
    if (of != nullptr && of->bits.of[r]) return *of->bits.of[r];
    return machine_.bits.of[r].value_or(memory_at(l).word_bits);
  }
  int sum_width(int l, const Layer& of) const {
    const int result = width(l, Role::kOutput, &of);
    const auto said = memory_at(l).bits.partial_sums ? memory_at(l).bits.partial_sums
                      : of.bits.partial_sums         ? of.bits.partial_sums
                                                     : machine_.bits.partial_sums;
    return std::max(result, said.value_or(result));
  }
  int final_width(std::size_t t, int l) const {
    const auto made = static_cast<std::size_t>(tensors_[t].made);
    return width(l, Role::kOutput, node(made).is_layer() ? &layer(made) : nullptr);
  }

  /// Words that a tensor takes at a memory while a step runs.
  Count room_of(std::size_t t, std::size_t s, int l) const {
    int bits = final_width(t, l);
    if (node(s).is_layer()) {
      if (makes_[s] == static_cast<int>(t)) bits = sum_width(l, layer(s));
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

  /// What lives in a memory while a step runs, by role of its use; nothing when it does not fit.
  struct Living {
    std::map<int, std::array<Count, kRoles>> words;  // by level
    std::array<int, kRoles> homes{kOutside, kOutside, kOutside};
  };
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
          !is_layer && makes_[s] >= 0 && where != kOutside && tensor.last == static_cast<int>(s) &&
          where == home[static_cast<std::size_t>(makes_[s])] &&
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
    return living;
  }

  Pairs cost(const std::vector<int>& home) {
    Pairs sums{{0, 0}};
    for (std::size_t s = 0; s < run_.size() && !sums.empty(); ++s) {
      const Living now = living(s, home);
      Pairs own;
      bool fits = true;
      for (const auto& [level, words] : now.words)
        fits &= words[0] + words[1] + words[2] <= *memory_at(level).capacity_words;
      if (fits) own = node(s).is_layer() ? mappings(s, now) : Pairs{operator_cost(s, home)};
      Pairs next;
      for (const auto& [energy, cycles] : sums)
        for (const auto& [e, t] : own) next.emplace_back(energy + e, cycles + t);
      sums = without_beaten(std::move(next));
    }
    return sums;
  }

  /// Every mapping on a machine without limits of capacity, judged by what the tensors leave.
  const Pairs& mappings(std::size_t s, const Living& now) {
    const int row = node(s).layer;
    const auto key = std::tuple(row, now.homes, now.words);
    const auto known = priced_.find(key);
    if (known != priced_.end()) return known->second;
    const Task& task = graph_.rows[static_cast<std::size_t>(row)];
    Accelerator wide = task.accelerator;
    Flexibility rules = task.flexibility;
    for (std::size_t l = 0; l < wide.levels.size(); ++l) {
      if (!wide.levels[l].is_memory()) continue;
      wide.levels[l].memory().capacity_words.reset();
      rules.levels[l].tile.partition.reset();
      for (std::size_t role = 0; role < kRoles; ++role)
        if (now.homes[role] > static_cast<int>(l)) wide.levels[l].memory().may_keep[role] = false;
    }
    Pairs all;
    for_each_mapping(task.layer, wide, rules, task.factorization, [&](const Mapping& mapping) {
      if (!holds(task, now, mapping)) return true;
      if (!check_legality(task.layer, wide, rules, task.factorization, mapping).empty()) return true;
      const Totals totals = price(task.layer, wide, mapping).totals;
      all.emplace_back(totals.energy_pj, totals.cycles);
      return true;
    });
    return priced_.emplace(key, without_beaten(std::move(all))).first->second;
  }

  /// Tiles of what does not live there, beside what lives there. Dims are M, N, K; tiles are products of bounds.
  bool holds(const Task& task, const Living& now, const Mapping& mapping) const {
    std::array<Count, 3> tile{1, 1, 1};
    for (std::size_t l = mapping.levels.size(); l-- > 0;) {
      for (const Loop& loop : mapping.levels[l].temporal) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
      for (const SpatialLoop& loop : mapping.levels[l].spatial) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
      const Level& level = machine_.levels[l];
      if (!level.is_memory() || !level.memory().capacity_words) continue;
      const std::array<Count, 3> words{tile[0] * tile[2], tile[2] * tile[1], tile[0] * tile[1]};
      const auto lives = now.words.find(static_cast<int>(l));
      const std::array<Count, kRoles> taken = lives == now.words.end() ? std::array<Count, kRoles>{} : lives->second;
      std::array<Count, kRoles> held{};  // bits
      for (std::size_t role = 0; role < kRoles; ++role)
        if ((mapping.levels[l].keeps >> role & 1) != 0 && now.homes[role] != static_cast<int>(l))
          held[role] = words[role] * (role == 2 ? sum_width(static_cast<int>(l), task.layer)
                                                : width(static_cast<int>(l), static_cast<Role>(role), &task.layer));
      const Count buffers = level.memory().buffers, capacity = *level.memory().capacity_words;
      const Count word = level.memory().word_bits;
      if (held[0] + held[1] + held[2] > (capacity - taken[0] - taken[1] - taken[2]) / buffers * word) return false;
      const auto& partition = task.flexibility.levels[l].tile.partition;
      if (!partition) continue;
      const double shares = (*partition)[0] + (*partition)[1] + (*partition)[2];
      for (std::size_t role = 0; role < kRoles; ++role) {
        const double room = (*partition)[role] / shares * static_cast<double>(capacity / buffers) -
                            static_cast<double>(taken[role]) / static_cast<double>(buffers);
        if (static_cast<double>(held[role]) > room * static_cast<double>(word) + 1e-9) return false;
      }
    }
    return true;
  }

  /// Every word read where it lives, every word of the result written where it will live, one bus each.
  std::pair<double, double> operator_cost(std::size_t s, const std::vector<int>& home) const {
    if (makes_[s] < 0) return {0, 0};
    std::map<int, double> moved;
    double energy = 0, cycles = 0, leak = 0;
    const auto level_of = [](int where) { return where == kOutside ? 0 : where; };
    const auto words_of = [&](Count elements, int bits, int l) {
      return static_cast<double>(elements) * bits / memory_at(l).word_bits;
    };
    for (const auto& edge : run_[s].from) {
      const int t = edge.node < 0 ? -1 : of_step_[static_cast<std::size_t>(edge.node)];
      const int l = level_of(t < 0 ? kOutside : home[static_cast<std::size_t>(t)]);
      const double words = t < 0 ? words_of(node(s).words, width(l, Role::kInput, nullptr), l)
                                 : words_of(tensors_[static_cast<std::size_t>(t)].elements,
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
    Count copies = 1;
    for (const Level& level : machine_.levels) {
      if (level.is_fanout()) copies *= level.fanout().units();
      if (level.is_memory()) leak += static_cast<double>(copies) * level.memory().leak_pj_per_cycle;
    }
    return {energy + leak * cycles, cycles};
  }

  const RandomGraph& graph_;
  const Accelerator& machine_;
  std::vector<GraphStep> run_;
  std::vector<Tensor> tensors_;
  std::vector<int> of_step_, makes_;  // by step: the tensor it stands for; the one it makes or -1
  std::map<std::tuple<int, std::array<int, kRoles>, std::map<int, std::array<Count, kRoles>>>, Pairs> priced_;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed) {
  Draw draw(seed);
  RandomGraph graph;
  Accelerator machine = random_machine(draw);
  graph.workload = parse_workload_text(random_network(draw), "net.yaml");
  draw_widths(draw, machine, graph.workload);
  for (const Workload::Entry& entry : graph.workload.layers) {
    Task task;
    task.layer = entry.layer;
    task.accelerator = machine;
    task.flexibility = machine.flexibility;
    graph.rows.push_back(std::move(task));
  }
  graph.text = fmt::format("seed {}\n{}\n{}", seed, write_workload(graph.workload), write_accelerator(machine));
  return graph;
}

Pairs without_beaten(Pairs all) {
  std::ranges::sort(all);
  Pairs kept;
  for (const auto& [energy, cycles] : all)
    if (kept.empty() || cycles < kept.back().second) kept.emplace_back(energy, cycles);
  return kept;
}

Pairs every_choice(const RandomGraph& graph, bool stay) { return Enumeration(graph, stay).all(); }

}  // namespace pliant::tests
