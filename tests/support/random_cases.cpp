// SPDX-License-Identifier: Apache-2.0
#include "support/random_cases.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "core/input/load.h"
#include "core/partial_sums.h"
#include "flex/mapspace/count.h"
#include "flex/mapspace/legal_count.h"
#include "support/draw.h"

namespace pliant::tests {

namespace {

Layer draw_layer(Draw& draw, bool imperfect) {
  // A few iterations in all: every further prime multiplies the space.
  const std::vector<Count> large =
      imperfect ? std::vector<Count>{2, 3, 4, 5, 6, 7} : std::vector<Count>{2, 3, 4, 5, 6, 8, 9, 12};
  const auto size = [&](double big) { return draw.chance(big) ? draw.of(large) : draw.from(1, 3); };
  if (draw.chance(0.35)) {
    GemmShape shape{.M = size(0.7), .N = size(0.7), .K = size(0.7)};
    if (draw.chance(0.2)) shape.B = 2;
    return make_gemm("gemm", shape);
  }
  ConvShape shape;
  const double big = 0.25;
  shape.M = draw.chance(0.7) ? size(big) : 1;
  shape.C = draw.chance(0.6) ? size(big) : 1;
  shape.P = draw.chance(0.7) ? size(big) : 1;
  shape.Q = draw.chance(0.4) ? size(big) : 1;
  shape.R = draw.chance(0.6) ? draw.from(2, 3) : 1;
  shape.S = draw.chance(0.3) ? draw.from(2, 3) : 1;
  switch (draw.from(0, 7)) {
    case 0: shape.stride_p = draw.from(2, 3); break;
    case 1: shape.dilation_r = draw.from(2, 3); break;
    case 2:
      shape.stride_p = shape.stride_q = draw.from(1, 3);
      shape.dilation_r = shape.dilation_s = draw.from(1, 3);
      break;
    case 3:
      shape.groups = 2;
      shape.M *= 2;
      shape.C *= 2;
      break;
    case 4: shape.M = shape.C = shape.groups = draw.from(2, 4); break;
    case 5: shape.B = draw.from(2, 3); break;
    case 6:
      shape.transposed = true;
      shape.stride_p = draw.from(1, 2);
      break;
    default: break;
  }
  return make_conv("conv", shape);
}

/// One or two long dims, so that several fanouts with loops between them leave remainders of remainders.
Layer draw_spread_layer(Draw& draw) {
  const auto size = [&](double big) { return draw.chance(big) ? draw.from(5, 17) : draw.from(1, 2); };
  if (draw.chance(0.7)) return make_gemm("gemm", {.M = size(0.5), .N = size(0.5), .K = size(0.4)});
  ConvShape shape;
  shape.M = size(0.4);
  shape.C = size(0.4);
  shape.P = draw.chance(0.4) ? draw.from(2, 9) : 1;
  shape.R = draw.chance(0.3) ? 2 : 1;
  return make_conv("conv", shape);
}

/// A window of two or three values that are not neighbours, and hardly any other dims.
Layer draw_holed_layer(Draw& draw) {
  const std::vector<Count> sizes{4, 6, 8, 9, 12};
  ConvShape shape;
  shape.P = draw.of(sizes);
  shape.R = draw.from(2, 3);
  shape.dilation_r = draw.from(2, 4);
  shape.stride_p = draw.chance(0.2) ? draw.from(2, 3) : 1;
  shape.Q = draw.chance(0.5) ? draw.from(2, 4) : 1;
  shape.transposed = draw.chance(0.1);
  return make_conv("conv", shape);
}

Memory draw_memory(Draw& draw, bool outermost, bool innermost) {
  Memory memory;
  const double scale = outermost ? 64 : innermost ? 0.5 : 4;
  memory.read_pj = scale * static_cast<double>(draw.from(8, 16)) / 8;
  memory.write_pj = draw.chance(0.5) ? memory.read_pj : scale * static_cast<double>(draw.from(8, 16)) / 8;
  memory.update_pj = draw.chance(0.7) ? memory.write_pj : memory.write_pj * 1.5;
  if (!outermost) {
    memory.capacity_words = draw.chance(0.15) ? draw.from(40, 200) : draw.from(3, innermost ? 16 : 60);
    if (draw.chance(0.15)) memory.buffers = 2;
    for (int r = 0; r < kRoles; ++r) {
      memory.may_keep[static_cast<std::size_t>(r)] = draw.chance(0.8);
      memory.may_bypass[static_cast<std::size_t>(r)] =
          memory.may_keep[static_cast<std::size_t>(r)] && draw.chance(0.25);
    }
  }
  if (draw.chance(0.4)) {
    memory.read_words_per_cycle = static_cast<double>(draw.from(1, 16)) / (draw.chance(0.5) ? 4 : 1);
    memory.write_words_per_cycle =
        draw.chance(0.5) ? *memory.read_words_per_cycle : static_cast<double>(draw.from(1, 16)) / 4;
  }
  if (draw.chance(0.2)) memory.leak_pj_per_cycle = static_cast<double>(draw.from(1, 8)) / 4;
  return memory;
}

void share_bus(Memory& memory) {
  memory.bus_words_per_cycle = *memory.read_words_per_cycle + memory.write_words_per_cycle.value_or(0);
  memory.read_words_per_cycle.reset();
  memory.write_words_per_cycle.reset();
}

Accelerator draw_accelerator(Draw& draw, bool spread) {
  Accelerator accelerator;
  accelerator.name = "random";
  const Count memories = draw.chance(0.6) ? 2 : 3;
  Count fanouts = spread ? 2 : draw.from(0, 2);
  for (Count m = 0; m < memories; ++m) {
    accelerator.levels.push_back({"M" + std::to_string(m), draw_memory(draw, m == 0, m + 1 == memories)});
    const bool last = m + 1 == memories;
    if (spread && draw.chance(0.8)) {
      Memory& memory = accelerator.levels.back().memory();
      memory.read_words_per_cycle.reset();
      memory.write_words_per_cycle.reset();
    }
    while (fanouts > 0 && (draw.chance(0.5) || (last && draw.chance(0.7)))) {
      Fanout fanout;
      fanout.cols = draw.from(2, 6);
      if (draw.chance(0.5)) fanout.rows = draw.from(2, 4);
      fanout.multicast = !draw.chance(0.15);
      fanout.reduction = !draw.chance(0.15);
      fanout.partial_multicast = draw.chance(0.15);
      accelerator.levels.push_back({"F" + std::to_string(fanouts), fanout});
      --fanouts;
    }
  }
  if (draw.chance(0.15)) {  // weights have another home
    accelerator.levels[0].memory().may_keep[static_cast<std::size_t>(Role::kWeight)] = false;
    for (std::size_t l = 1; l < accelerator.levels.size(); ++l) {
      if (!accelerator.levels[l].is_memory()) continue;
      Memory& memory = accelerator.levels[l].memory();
      memory.may_keep[static_cast<std::size_t>(Role::kWeight)] = true;
      memory.capacity_words = draw.chance(0.5) ? std::nullopt : std::optional<Count>(draw.from(40, 200));
      break;
    }
  }
  Compute compute;
  compute.mac_pj = 0.25 * static_cast<double>(draw.from(1, 4));
  compute.cycles_per_mac = draw.chance(0.15) ? 2 : 1;
  accelerator.levels.push_back({"MAC", compute});
  const std::vector<std::string> presets = Conventions::preset_names();
  accelerator.conventions = *Conventions::preset(draw.of(presets));
  return accelerator;
}

std::vector<std::string> dim_names(const Layer& layer) {
  std::vector<std::string> names;
  for (const Dim& dim : layer.dims) names.push_back(dim.name);
  return names;
}

std::vector<std::string> some(Draw& draw, std::vector<std::string> names, Count least, Count most) {
  draw.shuffle(names);
  const Count count = std::min<Count>(static_cast<Count>(names.size()), draw.from(least, most));
  names.resize(static_cast<std::size_t>(count));
  return names;
}

OrderPattern draw_order(Draw& draw, const Layer& layer, bool whole) {
  OrderPattern pattern;
  if (!whole && draw.chance(0.5)) {
    pattern.stationary = static_cast<Role>(draw.from(0, kRoles - 1));
    return pattern;
  }
  const auto all = static_cast<Count>(layer.dims.size());
  pattern.dims = some(draw, dim_names(layer), whole ? all : 2, all);
  return pattern;
}

Flexibility draw_flexibility(Draw& draw, const Layer& layer, const Accelerator& accelerator, unsigned bits) {
  Flexibility flexibility;
  flexibility.levels.resize(accelerator.levels.size());
  const auto freedom = [&](unsigned bit) {
    return (bits >> bit & 1U) == 0 ? Freedom::kFixed : draw.chance(0.5) ? Freedom::kPartial : Freedom::kFull;
  };
  const Freedom tiles = freedom(3), orders = freedom(2), parallel = freedom(1), shape = freedom(0);
  const std::vector<std::string> names = dim_names(layer);
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    LevelFlexibility& rules = flexibility.levels[l];
    const Level& level = accelerator.levels[l];
    if (level.is_memory()) {
      if (l > 0 && tiles == Freedom::kFixed && draw.chance(0.7)) {
        for (const std::string& name : some(draw, names, 1, static_cast<Count>(names.size())))
          rules.tile.fixed.push_back({name, draw.from(1, 4)});
      }
      if (l > 0 && tiles == Freedom::kPartial)
        rules.tile.partition = {static_cast<double>(draw.from(1, 3)), static_cast<double>(draw.from(1, 3)),
                                static_cast<double>(draw.from(1, 3))};
      if (orders == Freedom::kFixed) rules.order.allowed = {draw_order(draw, layer, true)};
      if (orders == Freedom::kPartial && draw.chance(0.8))
        for (Count n = draw.from(1, 3); n > 0; --n) rules.order.allowed.push_back(draw_order(draw, layer, false));
      if (l > 0 && draw.chance(0.25)) rules.loops.dims = some(draw, names, 1, static_cast<Count>(names.size()));
    } else if (level.is_fanout()) {
      const Count choices = parallel == Freedom::kFixed ? 1 : draw.from(2, 3);
      if (parallel != Freedom::kFull)
        for (Count n = 0; n < choices; ++n)
          rules.parallel.assignments.push_back({some(draw, names, 0, 2), some(draw, names, 1, 3)});
      if (draw.chance(0.2)) rules.parallel.max_dims_per_side = 1;
      if (shape == Freedom::kFull) rules.shape.kind = ShapeRule::Kind::kFree;
      if (shape == Freedom::kPartial) rules.shape = {ShapeRule::Kind::kBlocks, draw.from(1, 2), draw.from(1, 2)};
    }
  }
  return flexibility;
}

/// Some roles live in one of the memories but the outermost, which then is where they come from.
void draw_residents(Draw& draw, Accelerator& accelerator) {
  for (std::size_t r = 0; r < kRoles; ++r) {
    if (!draw.chance(0.45)) continue;
    std::vector<std::size_t> keepers;
    for (std::size_t l = 1; l < accelerator.levels.size(); ++l)
      if (accelerator.levels[l].is_memory() && accelerator.levels[l].memory().may_keep[r]) keepers.push_back(l);
    if (keepers.empty()) continue;
    const std::size_t home = draw.of(keepers);
    for (std::size_t l = 0; l < home; ++l)
      if (accelerator.levels[l].is_memory())
        accelerator.levels[l].memory().may_keep[r] = accelerator.levels[l].memory().may_bypass[r] = false;
    accelerator.levels[home].memory().may_bypass[r] = false;
    accelerator.levels[home].memory().resident[r] = true;
  }
  for (Level& level : accelerator.levels)
    if (level.is_memory() && level.memory().capacity_words && draw.chance(0.5))
      level.memory().reserved_words[static_cast<std::size_t>(draw.from(0, 2))] =
          draw.from(0, std::max<Count>(1, *level.memory().capacity_words / 2));
}

std::string describe(const Task& task) {
  Accelerator shown = task.accelerator;
  shown.flexibility = task.flexibility;
  return write_layer(task.layer) + "factorization: " + std::string(to_string(task.factorization)) +
         ", objective: " + std::string(to_string(task.objective)) + "\n" + write_accelerator(shown);
}

/// Memories inside systolic arrays take a tile while they use another; and several fanouts are one array.
void add_shadows(Draw& draw, Accelerator& accelerator) {
  const auto role = static_cast<Role>(draw.from(0, 2));
  bool inside = false;
  for (Level& level : accelerator.levels) {
    if (level.is_fanout()) {
      inside = true;
      level.fanout().systolic = role;
    } else if (inside && level.is_memory() && draw.chance(0.7)) {
      Memory& memory = level.memory();
      if (memory.capacity_words && memory.buffers == 1) *memory.capacity_words *= 2;
      memory.buffers = 2;
    }
  }
}

}  // namespace

RandomCase random_case(std::uint64_t seed, const CaseOptions& options) {
  Draw draw(seed * 0x9E3779B97F4A7C15ULL + 1);
  const bool infeasible_allowed = draw.chance(options.infeasible_share);
  for (;;) {
    Task task;
    task.factorization = draw.of(options.factorizations);
    task.layer = options.spread  ? draw_spread_layer(draw)
                 : options.holes ? draw_holed_layer(draw)
                                 : draw_layer(draw, task.factorization != Factorization::kPerfect);
    task.accelerator = draw_accelerator(draw, options.spread || options.holes);
    if (options.buses)
      for (Level& level : task.accelerator.levels)
        if (level.is_memory() && level.memory().read_words_per_cycle) share_bus(level.memory());
    if (options.widths) {
      for (auto& bits : task.accelerator.bits.of) bits = draw.of(std::vector<int>{4, 8, 12, 16});
      task.accelerator.bits.partial_sums = draw.of(std::vector<int>{16, 24, 32});
    }
    for (Level& level : task.accelerator.levels)
      if (options.finished && level.is_memory() && draw.chance(0.5)) level.memory().bits.partial_sums = kNoPartialSums;
    for (Level& level : task.accelerator.levels) {
      if (!level.is_fanout()) continue;
      if (options.networks) level.fanout().pj_per_bit = static_cast<double>(draw.from(1, 40)) / 100;
      if (options.arrays && draw.chance(0.7)) level.fanout().systolic = static_cast<Role>(draw.from(0, 2));
      if (options.arrays && draw.chance(0.1))
        level.fanout().wired_sums[static_cast<std::size_t>(draw.from(0, 1))] = true;
    }
    if (options.arrays && draw.chance(0.4)) add_shadows(draw, task.accelerator);
    task.flexibility = draw_flexibility(draw, task.layer, task.accelerator, static_cast<unsigned>(seed % 16));
    if (options.bursts)
      for (std::size_t l = 1; l < task.accelerator.levels.size(); ++l)
        if (task.accelerator.levels[l].is_memory() && draw.chance(0.6))
          task.flexibility.levels[l].tile.burst = draw.from(2, 4);
    if (options.residents) draw_residents(draw, task.accelerator);
    task.objective = static_cast<Objective>(draw.from(0, 5));
    BigCount chains = 1;
    const MapSpaceSize size = map_space_size(task.layer, task.accelerator, task.flexibility, task.factorization);
    for (const BigCount& of_dim : size.chains) chains *= of_dim;
    if (chains > 100'000) continue;
    if (task.factorization == Factorization::kPadding) {
      if (size.total() > options.most_mappings || size.total() < options.least_mappings) continue;
    } else {
      const std::optional<BigCount> legal =
          count_legal_mappings(task.layer, task.accelerator, task.flexibility, task.factorization, {20'000, 5'000'000});
      if (!legal || *legal > options.most_mappings) continue;
      if (*legal < options.least_mappings && !(infeasible_allowed && *legal == 0)) continue;
    }
    return {task, "seed " + std::to_string(seed) + "\n" + describe(task)};
  }
}

}  // namespace pliant::tests
