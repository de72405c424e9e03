// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/best_of_box.h"

#include <algorithm>
#include <limits>

#include "core/partial_sums.h"

namespace pliant::audit {

namespace {

void wider(std::optional<double>& best, const std::optional<double>& other) {
  if (best && other)
    best = std::max(*best, *other);
  else
    best.reset();  // unlimited
}

/// Everything of a memory that must be the same.
Memory fixed_part(Memory memory) {
  if (memory.capacity_words) memory.capacity_words = 1;
  memory.reserved_words = {};
  memory.read_pj = memory.write_pj = memory.update_pj = 0;
  memory.read_words_per_cycle.reset();
  memory.write_words_per_cycle.reset();
  memory.bus_words_per_cycle.reset();
  memory.leak_pj_per_cycle = memory.area_um2 = 0;
  memory.bits = {};
  return memory;
}

Fanout fixed_part(Fanout fanout) {
  fanout.rows = fanout.cols = 1;
  fanout.area_um2 = fanout.pj_per_bit = 0;
  return fanout;
}

template <class Pattern>
void add_patterns(std::vector<Pattern>& any, const std::vector<Pattern>& more) {
  if (any.empty() || more.empty()) {
    any.clear();  // one of them allows all
    return;
  }
  for (const Pattern& one : more)
    if (std::ranges::find(any, one) == any.end()) any.push_back(one);
}

/// All that must be the same.
LevelFlexibility fixed_part(LevelFlexibility rules) {
  rules.order.allowed.clear();
  rules.parallel.assignments.clear();
  return rules;
}

}  // namespace

bool narrow(std::optional<ElementBits>& best, const ElementBits& other) {
  if (!best) {
    best = other;
    return true;
  }
  bool known = true;
  const auto least = [&](std::optional<int>& to, const std::optional<int>& from) {
    known = known && to.has_value() == from.has_value();
    if (to && from) to = std::min(*to, *from);
  };
  // Memories that take no partial sums are another kind of memory.
  known = (best->partial_sums == kNoPartialSums) == (other.partial_sums == kNoPartialSums);
  for (std::size_t r = 0; r < kRoles; ++r) least(best->of[r], other.of[r]);
  least(best->partial_sums, other.partial_sums);
  return known;
}

void BestLevel::add(const Level& level) {
  if (!best_) {
    best_ = level;
    if (level.is_memory()) {
      least_area_um2_ = level.memory().area_um2;
      least_leak_ = level.memory().leak_pj_per_cycle;
    } else if (level.is_fanout()) {
      least_area_um2_ = level.fanout().area_um2;
      least_units_ = most_units_ = level.fanout().units();
    } else {
      least_area_um2_ = level.compute().area_um2;
      least_leak_ = level.compute().leak_pj_per_cycle;
    }
    return;
  }
  if (level.name != best_->name || level.part.index() != best_->part.index())
    unknown_ = "levels differ in name or kind";
  else if (level.is_memory())
    add_memory(level.memory());
  else if (level.is_fanout())
    add_fanout(level.fanout());
  else
    add_compute(level.compute());
}

void BestLevel::add_memory(const Memory& memory) {
  Memory& best = best_->memory();
  if (fixed_part(memory) != fixed_part(best)) unknown_ = best_->name + " differs in more than sizes and prices";
  if (best.capacity_words && memory.capacity_words)
    best.capacity_words = std::max(*best.capacity_words, *memory.capacity_words);
  for (std::size_t r = 0; r < kRoles; ++r)
    best.reserved_words[r] = std::min(best.reserved_words[r], memory.reserved_words[r]);
  best.read_pj = std::min(best.read_pj, memory.read_pj);
  best.write_pj = std::min(best.write_pj, memory.write_pj);
  best.update_pj = std::min(best.update_pj, memory.update_pj);
  wider(best.read_words_per_cycle, memory.read_words_per_cycle);
  wider(best.write_words_per_cycle, memory.write_words_per_cycle);
  wider(best.bus_words_per_cycle, memory.bus_words_per_cycle);
  std::optional<ElementBits> bits = best.bits;
  if (!narrow(bits, memory.bits)) unknown_ = best_->name + " says some widths only here and there";
  best.bits = *bits;
  least_area_um2_ = std::min(least_area_um2_, memory.area_um2);
  least_leak_ = std::min(least_leak_, memory.leak_pj_per_cycle);
}

void BestLevel::add_fanout(const Fanout& fanout) {
  Fanout& best = best_->fanout();
  if (fixed_part(fanout) != fixed_part(best)) unknown_ = best_->name + " differs in more than sizes and prices";
  varies_ = varies_ || fanout.rows != best.rows || fanout.cols != best.cols;
  best.rows = std::max(best.rows, fanout.rows);
  best.cols = std::max(best.cols, fanout.cols);
  best.pj_per_bit = std::min(best.pj_per_bit, fanout.pj_per_bit);
  least_units_ = std::min(least_units_, fanout.units());
  most_units_ = std::max(most_units_, fanout.units());
  least_area_um2_ = std::min(least_area_um2_, fanout.area_um2);
}

void BestLevel::add_compute(const Compute& compute) {
  Compute& best = best_->compute();
  speeds_vary_ = speeds_vary_ || compute.cycles_per_mac != best.cycles_per_mac;
  best.mac_pj = std::min(best.mac_pj, compute.mac_pj);
  best.cycles_per_mac = std::min(best.cycles_per_mac, compute.cycles_per_mac);
  least_area_um2_ = std::min(least_area_um2_, compute.area_um2);
  least_leak_ = std::min(least_leak_, compute.leak_pj_per_cycle);
}

bool BestLevels::systolic_varies() const {
  bool systolic = false, varies = false;
  for (const BestLevel& level : levels_) {
    const bool here = level.best().is_fanout() && level.best().fanout().systolic;
    systolic = systolic || here;
    varies = varies || (here && level.varies()) || (systolic && level.speeds_vary());
  }
  return varies;
}

double BestLevels::least_area_um2() const {
  double area = 0, instances = 1;
  for (const BestLevel& level : levels_) {
    area += instances * level.least_area_um2();
    instances *= static_cast<double>(level.least_units());
  }
  return area;
}

void BestLevels::move_leakage(Accelerator& accelerator) const {
  double leak = 0, instances = 1;
  for (const BestLevel& level : levels_) {
    leak += instances * level.least_leak();
    instances *= static_cast<double>(level.least_units());
  }
  for (Level& level : accelerator.levels) {
    if (level.is_memory()) level.memory().leak_pj_per_cycle = 0;
    if (level.is_compute()) level.compute().leak_pj_per_cycle = 0;
  }
  accelerator.levels.front().memory().leak_pj_per_cycle = leak;
}

bool BestLevels::set_arrays(Accelerator& accelerator) const {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    if (!levels_[l].varies()) continue;
    std::vector<ShapeRule::Kind> kinds;
    const auto add = [&](const Flexibility& rules) {
      kinds.push_back(l < rules.levels.size() ? rules.levels[l].shape.kind : ShapeRule::Kind::kFixed);
    };
    add(accelerator.flexibility);
    for (const auto& [operation, rules] : accelerator.flexibility_for) add(rules);
    if (std::ranges::find(kinds, ShapeRule::Kind::kBlocks) != kinds.end()) return false;
    if (std::ranges::find(kinds, ShapeRule::Kind::kFixed) != kinds.end()) continue;
    accelerator.levels[l].fanout().rows = 1;
    accelerator.levels[l].fanout().cols = levels_[l].most_units();
  }
  return true;
}

void BestRules::add(const LevelFlexibility& rules) {
  if (!best_) {
    best_ = rules;
    return;
  }
  if (fixed_part(rules) != fixed_part(*best_)) unknown_ = "rules differ in more than tiles, orders and parallel dims";
  add_patterns(best_->order.allowed, rules.order.allowed);
  add_patterns(best_->parallel.assignments, rules.parallel.assignments);
}

namespace {

void add_bits(const ElementBits& bits, std::vector<double>& sizes) {
  for (const std::optional<int>& of_role : bits.of) sizes.push_back(-of_role.value_or(0));
  sizes.push_back(-bits.partial_sums.value_or(0));
}

/// Which widths are said at all.
ElementBits said(ElementBits bits) {
  for (auto& of_role : bits.of)
    if (of_role) of_role = 1;
  if (bits.partial_sums && *bits.partial_sums != kNoPartialSums) bits.partial_sums = 1;
  return bits;
}

void add_memory(Memory& memory, std::vector<double>& sizes) {
  sizes.push_back(static_cast<double>(memory.capacity_words.value_or(0)));
  for (const Count words : memory.reserved_words) sizes.push_back(-static_cast<double>(words));
  for (const double energy : {memory.read_pj, memory.write_pj, memory.update_pj}) sizes.push_back(-energy);
  for (const auto& words : {memory.read_words_per_cycle, memory.write_words_per_cycle, memory.bus_words_per_cycle})
    sizes.push_back(words.value_or(std::numeric_limits<double>::infinity()));
  add_bits(memory.bits, sizes);
  const ElementBits widths = said(memory.bits);
  memory = fixed_part(std::move(memory));
  memory.bits = widths;
}

void add_fanout(Fanout& fanout, ShapeRule::Kind shape, std::vector<double>& sizes) {
  const auto rows = static_cast<double>(fanout.rows), cols = static_cast<double>(fanout.cols);
  if (fanout.systolic || shape == ShapeRule::Kind::kBlocks)
    sizes.insert(sizes.end(), {rows, cols, -rows, -cols});  // only the same will do
  else if (shape == ShapeRule::Kind::kFree)
    sizes.push_back(rows * cols);
  else
    sizes.insert(sizes.end(), {rows, cols});
  sizes.push_back(-fanout.pj_per_bit);
  fanout = fixed_part(fanout);
}

}  // namespace

Sized sized(Accelerator accelerator, const Flexibility& flexibility) {
  Sized all;
  double leak = 0, instances = 1;
  bool systolic = false;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    Level& level = accelerator.levels[l];
    if (level.is_memory()) {
      leak += instances * level.memory().leak_pj_per_cycle;
      add_memory(level.memory(), all.sizes);
      level.memory().technology.clear();
    } else if (level.is_fanout()) {
      instances *= static_cast<double>(level.fanout().units());
      systolic = systolic || level.fanout().systolic;
      add_fanout(level.fanout(),
                 l < flexibility.levels.size() ? flexibility.levels[l].shape.kind : ShapeRule::Kind::kFixed, all.sizes);
    } else {
      Compute& compute = level.compute();
      leak += instances * compute.leak_pj_per_cycle;
      all.sizes.insert(all.sizes.end(), {-compute.mac_pj, -compute.cycles_per_mac});
      if (systolic) all.sizes.push_back(compute.cycles_per_mac);
      compute = {};
    }
  }
  all.sizes.push_back(-leak);
  add_bits(accelerator.bits, all.sizes);
  accelerator.bits = said(accelerator.bits);
  accelerator.flexibility = flexibility;
  accelerator.flexibility.name.clear();
  accelerator.flexibility_for.clear();
  accelerator.baseline = {};
  accelerator.partial.clear();
  accelerator.base_area_um2 = 0;
  accelerator.flexibility_area_um2 = {};
  accelerator.flexibility_area_from.clear();
  accelerator.name.clear();
  accelerator.description.clear();
  accelerator.clock_hz.reset();
  all.form = std::move(accelerator);
  return all;
}

Accelerator without_rules(const Accelerator& accelerator) {
  Accelerator all = accelerator;
  all.flexibility_for.clear();
  all.flexibility = {};
  all.flexibility.levels.resize(all.levels.size());
  for (std::size_t l = 0; l < all.levels.size(); ++l)
    if (all.levels[l].is_fanout()) all.flexibility.levels[l].shape.kind = ShapeRule::Kind::kFree;
  return all;
}

bool fits_nowhere(Accelerator accelerator, const std::vector<Count>& least_tiles,
                  const std::optional<FlexibilityClass>& classes) {
  if (!classes || classes->flexible[static_cast<std::size_t>(Axis::kTiles)]) return false;
  std::size_t next = 0;
  const auto tiled_once = [&](Flexibility& rules) {
    int memories = 0;
    for (LevelFlexibility& level : rules.levels) {
      memories += level.tile.fixed.empty() ? 0 : 1;
      for (TileRule::Tile& tile : level.tile.fixed) tile.size = least_tiles[next++];
    }
    return memories <= 1;
  };
  bool once = tiled_once(accelerator.baseline.all.rules);
  for (auto& [operation, own] : accelerator.baseline.by_family) once = tiled_once(own.rules) && once;
  if (!once) return false;
  const auto problem = class_problem(accelerator, *classes);
  return problem && problem->axis == Axis::kTiles && !problem->level.empty();
}

}  // namespace pliant::audit
