// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/run_floor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "dse/audit/index_values.h"
#include "dse/audit/lower_bound.h"
#include "dse/audit/widths.h"

namespace pliant::audit {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

int first_fanout(const Accelerator& accelerator) {
  int level = 0;
  while (accelerator.levels[static_cast<std::size_t>(level)].is_memory()) ++level;
  return level;
}

double units_inside(const Accelerator& accelerator, int level) {
  double units = 1;
  for (std::size_t l = static_cast<std::size_t>(level) + 1; l < accelerator.levels.size(); ++l)
    if (accelerator.levels[l].is_fanout()) units *= static_cast<double>(accelerator.levels[l].fanout().units());
  return units;
}

/// All ways to keep a tensor of a role, from the outside in: the outermost memory that may, and any of the others that
/// it may not leave out, or may.
std::vector<std::vector<int>> ways_to_keep(const Accelerator& accelerator, std::size_t role) {
  std::vector<std::vector<int>> all{{}};
  for (int l = 0; l < static_cast<int>(accelerator.levels.size()); ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    if (!level.is_memory() || !level.memory().may_keep[role]) continue;
    const bool may_leave_out = level.memory().may_bypass[role] && !all.front().empty();
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < before; ++i) {
      if (may_leave_out) all.push_back(all[i]);
      all[i].push_back(l);
    }
  }
  return all;
}

}  // namespace

Count elements_of(const Layer& layer, int tensor, const std::vector<Count>& sizes) {
  const std::vector<Rank>& ranks = layer.tensors[static_cast<std::size_t>(tensor)].ranks;
  Count product = 1;
  DimSet seen = 0;
  for (const Rank& rank : ranks) {
    std::array<IndexTerm, kMostTerms> terms;
    std::size_t count = 0;
    for (const Term& term : rank.terms) {
      if ((seen >> term.dim & 1U) != 0) {  // ranks that share a dim are counted together
        std::array<Count, kMaxDims> tile{};
        std::ranges::copy(sizes, tile.begin());
        const TileElements elements(layer, Conventions::Footprint::kDistinct, sizes);
        return static_cast<Count>(elements.of(tensor, tile).fewest);
      }
      seen |= DimSet{1} << term.dim;
      const Count size = sizes[static_cast<std::size_t>(term.dim)];
      if (size > 1) terms[count++] = {term.coefficient, size};
    }
    product *= fewest_values(std::span<const IndexTerm>(terms.data(), count));
  }
  return product;
}

RunFloor::RunFloor(const Task& task) : layer_(task.layer) {
  known_ = task.accelerator.conventions == Conventions::physical();
  if (!known_) return;
  padded_ = task.factorization == Factorization::kPadding;
  const Accelerator& accelerator = task.accelerator;
  const Compute& compute = accelerator.levels.back().compute();
  mac_pj_ = compute.mac_pj;
  step_ = compute.cycles_per_mac;
  cycles_of_a_mac_ = compute.cycles_per_mac / static_cast<double>(accelerator.macs_units());
  const int fanout = first_fanout(accelerator);
  for (int l = 0; l < static_cast<int>(accelerator.levels.size()); ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    const double own = level.is_memory()    ? level.memory().leak_pj_per_cycle
                       : level.is_compute() ? level.compute().leak_pj_per_cycle
                                            : 0;
    leak_ += own * static_cast<double>(accelerator.instances(l));
    if (!level.is_memory() || l >= fanout) continue;
    const Memory& memory = level.memory();
    const auto add = [&](const std::optional<double>& rate, auto passes, bool any, std::size_t role) {
      if (rate) ports_.push_back({l, role, passes, any, *rate});
    };
    add(memory.read_words_per_cycle, Port::kReads, true, 0);
    add(memory.write_words_per_cycle, Port::kWrites, true, 0);
    add(memory.bus_words_per_cycle, Port::kBoth, true, 0);
    for (std::size_t r = 0; r < kRoles; ++r) {
      add(memory.bandwidth_of[r].read, Port::kReads, false, r);
      add(memory.bandwidth_of[r].write, Port::kWrites, false, r);
      add(memory.bandwidth_of[r].bus, Port::kBoth, false, r);
    }
  }
  for (int x = 0; x < static_cast<int>(layer_.tensors.size()); ++x) {
    const auto role = static_cast<std::size_t>(layer_.tensors[static_cast<std::size_t>(x)].role);
    std::vector<Way>& ways = ways_.emplace_back();
    for (const std::vector<int>& keepers : ways_to_keep(accelerator, role))
      if (!keepers.empty()) ways.push_back(way(task, x, keepers));
  }
}

/// Words of a memory that an element takes; a result that arrives finished is the narrowest.
double RunFloor::least_words(const Task& task, int tensor, int level) const {
  return static_cast<double>(task.accelerator.element_bits(level, task.layer, tensor)) /
         task.accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits;
}

RunFloor::Way RunFloor::way(const Task& task, int x, const std::vector<int>& keepers) const {
  const Accelerator& accelerator = task.accelerator;
  const bool output = x == task.layer.output();
  const auto memory = [&](int l) -> const Memory& { return accelerator.levels[static_cast<std::size_t>(l)].memory(); };
  const auto leaving_pj = [&](int l) {
    return least_words(task, x, l) * (output ? memory(l).update_pj : memory(l).read_pj);
  };
  Way way;
  way.units = units_inside(accelerator, keepers.back());
  way.nearest_pj = leaving_pj(keepers.back());
  way.load.assign(ports_.size(), 0);
  const auto role = static_cast<std::size_t>(task.layer.tensors[static_cast<std::size_t>(x)].role);
  const auto pass = [&](int l, bool writes) {
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      const Port& port = ports_[p];
      if (port.level != l || (!port.any_role && port.role != role)) continue;
      if (port.passes == (writes ? Port::kReads : Port::kWrites)) continue;
      way.load[p] += least_words(task, x, l);
    }
  };
  // Outside all fanouts there is one of each memory: every element leaves its keeper for the next one once at least and
  // arrives there; of results every one arrives.
  const int fanout = first_fanout(accelerator);
  for (std::size_t i = 0; i + 1 < keepers.size(); ++i) {
    if (keepers[i] >= fanout) continue;
    way.each_pj += leaving_pj(keepers[i]);
    pass(keepers[i], output);
    if (output || keepers[i + 1] >= fanout) continue;
    way.each_pj += least_words(task, x, keepers[i + 1]) * memory(keepers[i + 1]).write_pj;
    pass(keepers[i + 1], true);
  }
  return way;
}

RunFloor::Least RunFloor::of(const std::vector<Count>& sizes) const {
  Least least;
  if (!known_) return least;
  double macs = 1;
  for (const Count size : sizes) macs *= static_cast<double>(size);
  least.energy_pj = macs * mac_pj_;
  least.cycles = macs * cycles_of_a_mac_;
  std::vector<double> load(ports_.size(), 0);
  for (std::size_t x = 0; x < ways_.size() && !padded_; ++x) {
    const auto elements = static_cast<double>(elements_of(layer_, static_cast<int>(x), sizes));
    double cheapest = kNever;
    std::vector<double> fewest(ports_.size(), kNever);
    for (const Way& way : ways_[x]) {
      // Units share a word at most between all of them; every element is asked for, every result arrives.
      const double taken = std::max(macs / way.units, elements);
      cheapest = std::min(cheapest, taken * way.nearest_pj + elements * way.each_pj);
      for (std::size_t p = 0; p < load.size(); ++p) fewest[p] = std::min(fewest[p], way.load[p]);
    }
    least.energy_pj += cheapest;
    for (std::size_t p = 0; p < load.size(); ++p) load[p] += elements * fewest[p];
  }
  for (std::size_t p = 0; p < load.size(); ++p) least.cycles = std::max(least.cycles, load[p] / ports_[p].bandwidth);
  // A mapping takes whole steps, or the whole cycles of a port.
  const double reached = least.cycles * (1 - kRounding);
  least.cycles = std::max(least.cycles, std::min(std::ceil(reached), std::ceil(reached / step_) * step_));
  least.moved_pj = least.energy_pj;
  least.energy_pj += leak_ * least.cycles;
  return least;
}

}  // namespace pliant::audit
