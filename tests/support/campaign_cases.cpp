// SPDX-License-Identifier: Apache-2.0
#include "support/campaign_cases.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/partial_sums.h"
#include "support/draw.h"

namespace pliant::tests {

namespace {

/// Gives some dims a size above 1, a few primes in all: every further one multiplies the space.
void scatter(Draw& draw, std::vector<Count*> sizes, Count primes) {
  const std::vector<Count> factors{2, 2, 2, 2, 3, 3, 5, 7};
  for (Count n = 0; n < primes; ++n) *draw.of(sizes) *= draw.of(factors);
}

Layer draw_conv(Draw& draw, Count primes) {
  ConvShape s;
  scatter(draw, {&s.M, &s.C, &s.P, &s.P, &s.Q, &s.R, &s.R, &s.S, &s.B}, primes);
  s.stride_p = draw.chance(0.5) ? draw.from(1, 4) : 1;
  s.stride_q = draw.chance(0.3) ? draw.from(1, 4) : 1;
  s.dilation_r = draw.chance(0.4) ? draw.from(1, 4) : 1;
  s.dilation_s = draw.chance(0.2) ? draw.from(1, 3) : 1;
  if (draw.chance(0.1)) s.M = s.C = s.groups = std::max<Count>(2, std::min(s.M, s.C));
  s.transposed = draw.chance(0.25);
  return make_conv("conv", s);
}

Rank draw_rank(Draw& draw, const std::vector<int>& dims) {
  Rank rank;
  std::vector<int> left = dims;
  draw.shuffle(left);
  const Count terms = draw.chance(0.6) ? 1 : draw.chance(0.8) ? 2 : 3;
  for (Count t = 0; t < terms && !left.empty(); ++t) {
    rank.terms.push_back({left.back(), draw.chance(0.65) ? 1 : draw.from(2, 4)});
    left.pop_back();
  }
  return rank;
}

Layer draw_einsum(Draw& draw, Count primes) {
  Layer layer;
  layer.name = "einsum";
  layer.operation = Operation::kEinsum;
  const Count dims = draw.from(1, 5), tensors = draw.chance(0.1) ? 2 : draw.from(3, 5);
  std::vector<Count*> sizes;
  for (Count d = 0; d < dims; ++d) layer.dims.push_back({std::string(1, static_cast<char>('A' + d)), 1});
  for (Dim& dim : layer.dims) sizes.push_back(&dim.size);
  scatter(draw, sizes, primes);
  const Count output = draw.from(0, tensors - 1);
  DimSet used = 0;
  for (Count x = 0; x < tensors; ++x) {
    Tensor tensor;
    tensor.name = "T" + std::to_string(x);
    tensor.role = x == output ? Role::kOutput : draw.chance(0.5) ? Role::kInput : Role::kWeight;
    std::vector<int> free;
    for (int d = 0; d < static_cast<int>(dims); ++d) free.push_back(d);
    for (Count r = draw.from(0, 3); r > 0 && !free.empty(); --r) {
      tensor.ranks.push_back(draw_rank(draw, free));
      for (const Term& term : tensor.ranks.back().terms) {
        used |= DimSet{1} << term.dim;
        if (!draw.chance(0.1)) std::erase(free, term.dim);  // now and then a dim moves two ranks
      }
    }
    layer.tensors.push_back(std::move(tensor));
  }
  for (int d = 0; d < static_cast<int>(dims); ++d)
    if (!(used >> d & 1U))
      layer.tensors[static_cast<std::size_t>(draw.from(0, tensors - 1))].ranks.push_back({{{d, 1}}});
  return layer;
}

Layer draw_layer(Draw& draw, Count primes) {
  if (draw.chance(0.4)) return draw_einsum(draw, primes);
  if (draw.chance(0.6)) return draw_conv(draw, primes);
  GemmShape shape;
  scatter(draw, {&shape.M, &shape.N, &shape.K, &shape.B}, primes);
  return make_gemm("gemm", shape);
}

double draw_energy(Draw& draw, double scale) {
  return draw.chance(0.15) ? 0 : scale * static_cast<double>(draw.from(1, 8)) / 4;
}

Memory draw_memory(Draw& draw, bool outermost) {
  Memory memory;
  const double scale = outermost ? draw.of(std::vector<double>{1, 8, 64}) : draw.of(std::vector<double>{0.5, 1, 4});
  memory.read_pj = draw_energy(draw, scale);
  memory.write_pj = draw.chance(0.5) ? memory.read_pj : draw_energy(draw, scale);
  memory.update_pj = draw.chance(0.6) ? memory.write_pj : draw_energy(draw, scale);
  memory.word_bits = draw.of(std::vector<int>{8, 16, 16, 32});
  if (!outermost || draw.chance(0.1)) {
    if (!draw.chance(0.2)) memory.capacity_words = draw.from(1, draw.chance(0.5) ? 8 : 40);
    if (memory.capacity_words && draw.chance(0.1)) memory.buffers = 2;
  }
  if (!outermost) {
    for (std::size_t r = 0; r < kRoles; ++r) {
      memory.may_keep[r] = draw.chance(0.75);
      memory.may_bypass[r] = memory.may_keep[r] && draw.chance(0.2);
    }
  }
  const auto bandwidth = [&] { return static_cast<double>(draw.from(1, 16)) / draw.of(std::vector<double>{1, 4, 16}); };
  if (draw.chance(0.3)) memory.read_words_per_cycle = bandwidth();
  if (draw.chance(0.3)) memory.write_words_per_cycle = bandwidth();
  if (draw.chance(0.15)) memory.leak_pj_per_cycle = static_cast<double>(draw.from(1, 8)) / 4;
  return memory;
}

Fanout draw_fanout(Draw& draw) {
  Fanout fanout;
  fanout.cols = draw.chance(0.15) ? 1 : draw.from(2, 5);
  if (draw.chance(0.4)) fanout.rows = draw.from(1, 3);
  fanout.multicast = !draw.chance(0.2);
  fanout.reduction = !draw.chance(0.2);
  fanout.partial_multicast = fanout.multicast && draw.chance(0.2);
  return fanout;
}

Accelerator draw_accelerator(Draw& draw) {
  Accelerator accelerator;
  accelerator.name = "random";
  const std::vector<Count> memory_counts{2, 2, 2, 2, 3, 3, 3, 4, 4, 5}, fanout_counts{0, 1, 1, 1, 2, 2, 3, 4};
  const Count memories = draw.of(memory_counts);
  std::vector<Count> after(static_cast<std::size_t>(memories), 0);  // fanouts just inside each memory
  for (Count f = draw.of(fanout_counts); f > 0; --f) ++after[static_cast<std::size_t>(draw.from(0, memories - 1))];
  int fanouts = 0;
  for (Count m = 0; m < memories; ++m) {
    accelerator.levels.push_back({"M" + std::to_string(m), draw_memory(draw, m == 0)});
    for (Count f = after[static_cast<std::size_t>(m)]; f > 0; --f)
      accelerator.levels.push_back({"F" + std::to_string(fanouts++), draw_fanout(draw)});
  }
  if (draw.chance(0.1)) {  // weights have another home
    const auto weights = static_cast<std::size_t>(Role::kWeight);
    accelerator.levels[0].memory().may_keep[weights] = false;
    for (std::size_t l = 1; l < accelerator.levels.size(); ++l) {
      if (!accelerator.levels[l].is_memory()) continue;
      accelerator.levels[l].memory().may_keep[weights] = true;
      break;
    }
  }
  Compute compute;
  compute.mac_pj = draw_energy(draw, 1);
  compute.cycles_per_mac = draw.of(std::vector<double>{1, 1, 1, 1, 1, 2, 3, 0.5, 0.25, 1.5, 0.75});
  if (draw.chance(0.1)) compute.leak_pj_per_cycle = 0.5;
  accelerator.levels.push_back({"MAC", compute});
  accelerator.conventions = *Conventions::preset(draw.of(Conventions::preset_names()));
  const std::vector<ConventionOption>& options = convention_options();
  for (std::size_t o = 0; o < options.size(); ++o)
    if (draw.chance(0.1))
      set_convention(accelerator.conventions, o,
                     static_cast<std::size_t>(draw.from(0, static_cast<Count>(options[o].values.size()) - 1)));
  return accelerator;
}

std::vector<std::string> some(Draw& draw, std::vector<std::string> names, Count least, Count most) {
  draw.shuffle(names);
  names.resize(static_cast<std::size_t>(std::min<Count>(static_cast<Count>(names.size()), draw.from(least, most))));
  return names;
}

void draw_memory_rules(Draw& draw, const std::vector<std::string>& names, bool outermost, Freedom tiles, Freedom orders,
                       LevelFlexibility& rules) {
  const auto all = static_cast<Count>(names.size());
  if (!outermost && tiles == Freedom::kFixed && draw.chance(0.6))
    for (const std::string& name : some(draw, names, 1, all)) rules.tile.fixed.push_back({name, draw.from(1, 4)});
  if (!outermost && tiles == Freedom::kPartial)
    rules.tile.partition = {static_cast<double>(draw.from(1, 3)), static_cast<double>(draw.from(1, 3)),
                            static_cast<double>(draw.from(1, 3))};
  Count patterns = orders == Freedom::kFixed ? 1 : orders == Freedom::kPartial ? draw.from(1, 3) : 0;
  for (; patterns > 0; --patterns) {
    OrderPattern pattern;
    if (draw.chance(0.35))
      pattern.stationary = static_cast<Role>(draw.from(0, kRoles - 1));
    else
      pattern.dims = some(draw, names, orders == Freedom::kFixed ? all : 1, all);
    if (std::find(rules.order.allowed.begin(), rules.order.allowed.end(), pattern) == rules.order.allowed.end())
      rules.order.allowed.push_back(pattern);
  }
  if (draw.chance(outermost ? 0.05 : 0.15)) rules.loops.dims = some(draw, names, 1, all);
}

Flexibility draw_flexibility(Draw& draw, const Layer& layer, const Accelerator& accelerator) {
  Flexibility flexibility;
  flexibility.levels.resize(accelerator.levels.size());
  // Most axes are free: where all are fixed hardly a mapping is left to compare.
  const auto freedom = [&] {
    return draw.chance(0.6) ? Freedom::kFull : draw.chance(0.6) ? Freedom::kPartial : Freedom::kFixed;
  };
  const Freedom tiles = freedom(), orders = freedom(), parallel = freedom(), shape = freedom();
  std::vector<std::string> names;
  for (const Dim& dim : layer.dims) names.push_back(dim.name);
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    LevelFlexibility& rules = flexibility.levels[l];
    if (accelerator.levels[l].is_memory()) draw_memory_rules(draw, names, l == 0, tiles, orders, rules);
    if (!accelerator.levels[l].is_fanout()) continue;
    const Fanout& fanout = accelerator.levels[l].fanout();
    const Count assignments = parallel == Freedom::kFixed ? 1 : parallel == Freedom::kPartial ? draw.from(2, 3) : 0;
    for (Count n = 0; n < assignments; ++n) {
      const Assignment assignment{some(draw, names, 0, 2), some(draw, names, 1, 3)};
      auto& all = rules.parallel.assignments;
      if (std::find(all.begin(), all.end(), assignment) == all.end()) all.push_back(assignment);
    }
    if (draw.chance(0.15)) rules.parallel.max_dims_per_side = static_cast<int>(draw.from(1, 2));
    if (shape == Freedom::kFull) rules.shape.kind = ShapeRule::Kind::kFree;
    if (shape == Freedom::kPartial)
      rules.shape = {ShapeRule::Kind::kBlocks, draw.from(1, fanout.rows),
                     draw.from(1, std::min<Count>(2, fanout.cols))};
  }
  return flexibility;
}

/// What moves through ports of each direction shares a bus in some memories, and in others has ports by role. Drawn
/// last, so that seeds of earlier campaigns give the same tasks but for this.
void join_ports(Draw& draw, Accelerator& accelerator) {
  for (Level& level : accelerator.levels) {
    if (!level.is_memory()) continue;
    Memory& memory = level.memory();
    const std::optional<double> read = memory.read_words_per_cycle, write = memory.write_words_per_cycle;
    if (!read && !write) continue;
    if (draw.chance(0.35)) {
      memory.bus_words_per_cycle = read.value_or(0) + write.value_or(0);
      memory.read_words_per_cycle.reset();
      memory.write_words_per_cycle.reset();
    } else if (draw.chance(0.25)) {
      for (std::size_t r = 0; r < kRoles; ++r) {
        if (draw.chance(0.4)) memory.bandwidth_of[r].read = read;
        if (draw.chance(0.4)) memory.bandwidth_of[r].write = write;
        if (draw.chance(0.2)) memory.bandwidth_of[r].bus = read.value_or(0) + write.value_or(0);
      }
      if (draw.chance(0.5)) memory.read_words_per_cycle.reset();
      if (draw.chance(0.5)) memory.write_words_per_cycle.reset();
    }
  }
}

/// Some tensors live in a memory, or take room there.
void reserve_room(Draw& draw, Accelerator& accelerator) {
  for (Level& level : accelerator.levels) {
    if (!level.is_memory() || !level.memory().capacity_words || draw.chance(0.5)) continue;
    Memory& memory = level.memory();
    const auto role = static_cast<std::size_t>(draw.from(0, kRoles - 1));
    memory.reserved_words[role] = draw.from(1, *memory.capacity_words);
    memory.resident[role] = memory.may_keep[role] && draw.chance(0.6);
  }
}

void draw_any_conventions(Draw& draw, Task& task) {
  const std::vector<ConventionOption>& options = convention_options();
  for (std::size_t o = 0; o < options.size(); ++o)
    set_convention(task.accelerator.conventions, o,
                   static_cast<std::size_t>(draw.from(0, static_cast<Count>(options[o].values.size()) - 1)));
  if (draw.chance(0.8))
    task.factorization =
        draw.of(std::vector<Factorization>{Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby});
}

/// Elements that are not as wide as words: of the accelerator, of memories and of the layer. Drawn after everything
/// else.
void draw_widths(Draw& draw, Task& task) {
  if (!draw.chance(0.3)) return;
  const auto said = [&](double share) {
    ElementBits bits;
    for (auto& of_role : bits.of)
      if (draw.chance(share)) of_role = draw.of(std::vector<int>{2, 4, 8, 12, 16, 24});
    if (draw.chance(share)) bits.partial_sums = draw.of(std::vector<int>{16, 20, 32});
    return bits;
  };
  task.accelerator.bits = said(0.6);
  if (draw.chance(0.3)) task.layer.bits = said(0.4);
  for (Level& level : task.accelerator.levels)
    if (level.is_memory() && draw.chance(0.25)) level.memory().bits = said(0.4);
}

/// Networks with energy, and systolic arrays. Drawn after everything else.
void draw_networks(Draw& draw, Accelerator& accelerator) {
  const bool energy = draw.chance(0.3), arrays = draw.chance(0.2);
  for (Level& level : accelerator.levels) {
    if (!level.is_fanout()) continue;
    if (energy && draw.chance(0.7)) level.fanout().pj_per_bit = static_cast<double>(draw.from(1, 60)) / 100;
    if (arrays && draw.chance(0.7)) level.fanout().systolic = static_cast<Role>(draw.from(0, 2));
  }
}

/// Wires that sum, arrays of several fanouts, memories inside them that take a tile while they use another. Drawn after
/// everything else.
void draw_wires(Draw& draw, Accelerator& accelerator) {
  const bool wires = draw.chance(0.1), arrays = draw.chance(0.15);
  const auto role = static_cast<Role>(draw.from(0, 2));
  bool inside = false;
  for (Level& level : accelerator.levels) {
    if (level.is_fanout()) {
      inside = true;
      for (bool& side : level.fanout().wired_sums) side = wires && draw.chance(0.4);
      if (arrays && draw.chance(0.8)) level.fanout().systolic = role;
    } else if (arrays && inside && level.is_memory() && draw.chance(0.5)) {
      Memory& memory = level.memory();
      if (memory.capacity_words && memory.buffers == 1) *memory.capacity_words *= 2;
      memory.buffers = 2;
    }
  }
}

/// Memories that take no partial sums. Drawn after everything else.
void draw_finished(Draw& draw, Accelerator& accelerator) {
  if (!draw.chance(0.15)) return;
  for (Level& level : accelerator.levels)
    if (level.is_memory() && draw.chance(0.4)) level.memory().bits.partial_sums = kNoPartialSums;
}

Draw draw_of(std::uint64_t seed) { return Draw(seed * 0x9E3779B97F4A7C15ULL + 7); }

Task draw_task(Draw& draw, std::uint64_t seed) {
  Task task;
  task.accelerator = draw_accelerator(draw);
  const Count levels = static_cast<Count>(task.accelerator.levels.size());
  task.layer = draw_layer(draw, draw.from(1, levels <= 4 ? 4 : levels <= 6 ? 3 : 2));
  task.flexibility = draw_flexibility(draw, task.layer, task.accelerator);
  task.factorization = static_cast<Factorization>(draw.from(0, 4));
  task.objective = static_cast<Objective>(draw.from(0, 5));
  // What was added later is drawn last, so that the seeds of earlier findings still mean what they did.
  if (draw.chance(0.05))
    for (std::size_t l = 1; l < task.accelerator.levels.size(); ++l)
      if (task.accelerator.levels[l].is_memory() && draw.chance(0.6))
        task.flexibility.levels[l].tile.burst = draw.from(2, 4);
  join_ports(draw, task.accelerator);
  if (draw.chance(0.06)) reserve_room(draw, task.accelerator);
  if (seed >= kAnyConventions) draw_any_conventions(draw, task);
  return task;
}

}  // namespace

Task campaign_task(std::uint64_t seed) {
  Draw draw = draw_of(seed);
  Task task = draw_task(draw, seed);
  draw_widths(draw, task);
  draw_networks(draw, task.accelerator);
  draw_wires(draw, task.accelerator);
  draw_finished(draw, task.accelerator);
  return task;
}

Task plain_campaign_task(std::uint64_t seed) {
  Draw draw = draw_of(seed);
  return draw_task(draw, seed);
}

}  // namespace pliant::tests
