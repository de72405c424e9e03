// SPDX-License-Identifier: Apache-2.0
#include "support/walked_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace pliant::reference {

Count WalkedCosts::tile_words(int level, int x) const {
  std::set<Tuple> elements;
  for (const Mac& mac : macs_)
    if (indices(mac, [&](std::size_t i) { return loops_[i].level < level; }) == 0)
      elements.insert(element(x, mac.coords));
  return boxes() ? box_words(elements) : static_cast<Count>(elements.size());
}

double WalkedCosts::words_of(int level, int bits) const {
  return static_cast<double>(bits) / accelerator_.levels[static_cast<std::size_t>(level)].memory().word_bits;
}

/// May several instances of a memory have parts of the same sum? Where loops are unrolled outside it over a dim that is
/// no index of the output by itself.
bool WalkedCosts::shared_outside(int level) const {
  const Tensor& output = layer_.tensors[static_cast<std::size_t>(layer_.output())];
  for (int l = 0; l < level; ++l)
    for (const SpatialLoop& loop : mapping_.levels[static_cast<std::size_t>(l)].spatial) {
      const bool alone = std::ranges::any_of(
          output.ranks, [&](const Rank& rank) { return rank.terms.size() == 1 && rank.terms[0].dim == loop.dim; });
      if (loop.bound > 1 && !alone) return true;
    }
  return false;
}

/// Outputs that are whole when they arrive at an instance of a memory for the last time: all MACs of the element lie
/// inside that instance. Counted so where every index of the output is one dim; elsewhere, and where first arrivals are
/// not those of elements, by the rule of docs/model.md.
double WalkedCosts::finished(int level, Count first) const {
  const int x = layer_.output();
  const bool by_rule = boxes() || conventions_.first_time == Conventions::FirstTime::kPerSweep ||
                       !std::ranges::all_of(layer_.tensors[static_cast<std::size_t>(x)].ranks,
                                            [](const Rank& rank) { return rank.terms.size() == 1; });
  if (by_rule) return shared_outside(level) ? 0 : static_cast<double>(first);
  std::map<Key, Count> all;
  std::map<std::pair<Key, Key>, Count> inside;  // by element and instance
  for (const Mac& mac : macs_) {
    const Key element = element_key(x, mac.coords);
    ++all[element];
    ++inside[{element, instance_of(mac, level)}];
  }
  return static_cast<double>(
      std::ranges::count_if(inside, [&](const auto& part) { return part.second == all.at(part.first.first); }));
}

void WalkedCosts::charge(Walked& walked) const {
  walked.reads.assign(static_cast<std::size_t>(levels_), 0);
  walked.reads_of.fill(walked.reads);
  walked.writes = walked.reads;
  walked.writes_of = walked.reads_of;
  charge_words(walked);
  wait_for_ports(walked);
}

/// Energy of the MACs and of the words that were moved, and the words at every memory.
void WalkedCosts::charge_words(Walked& walked) const {
  const auto access = [&](const Words& w, int level, double reads, double writes) {
    const auto role = static_cast<std::size_t>(layer_.tensors[w.tensor].role);
    walked.reads[level] += reads;
    walked.reads_of[role][level] += reads;
    walked.writes[level] += writes;
    walked.writes_of[role][level] += writes;
  };
  walked.energy_pj = static_cast<double>(walked.macs) * accelerator_.levels.back().compute().mac_pj;
  std::map<int, double> output_fills;  // by level
  for (const Words& w : walked.words) {
    const Memory& parent = accelerator_.levels[w.parent].memory();
    const Memory* child = w.child < levels_ ? &accelerator_.levels[w.child].memory() : nullptr;
    const bool output = w.tensor == layer_.output();
    double parent_reads = static_cast<double>(w.served), updates = 0, fills = static_cast<double>(w.delivered),
           drains = 0;
    if (output) {
      updates = static_cast<double>(w.served);
      parent_reads -= static_cast<double>(w.first_parent);
      fills -= static_cast<double>(w.first_child);
      switch (conventions_.drain) {
        case Conventions::Drain::kCounted: drains = static_cast<double>(w.delivered); break;
        case Conventions::Drain::kFree: break;
        case Conventions::Drain::kParentWrites:
          drains =
              (updates + output_fills[w.parent]) * static_cast<double>(w.delivered) / static_cast<double>(w.served);
          break;
      }
      output_fills[w.child] = fills;
    }
    // What a finished output takes less than a partial sum.
    const auto narrower = [&](int level, Count first) {
      return finished(level, first) * (words_of(level, accelerator_.held_bits(level, layer_, w.tensor)) -
                                       words_of(level, accelerator_.element_bits(level, layer_, w.tensor)));
    };
    const double wide = words_of(w.parent, accelerator_.held_bits(w.parent, layer_, w.tensor));
    parent_reads *= wide;
    updates *= wide;
    if (output) updates -= narrower(w.parent, w.first_parent);
    access(w, w.parent, parent_reads, updates);
    walked.energy_pj += network_energy(w);
    walked.energy_pj += parent_reads * parent.read_pj + updates * parent.update_pj;
    if (child == nullptr) continue;
    const double child_wide = words_of(w.child, accelerator_.held_bits(w.child, layer_, w.tensor));
    fills *= child_wide;
    drains *= child_wide;
    if (output && conventions_.drain == Conventions::Drain::kCounted) drains -= narrower(w.child, w.first_child);
    access(w, w.child, drains, fills);
    walked.energy_pj += drains * child->read_pj + fills * child->write_pj;
  }
}

double WalkedCosts::network_energy(const Words& w) const {
  const double wide = accelerator_.held_bits(w.parent, layer_, w.tensor);
  double bits = static_cast<double>(w.delivered) * wide;
  if (w.tensor == layer_.output() && w.child < levels_) {
    bits += static_cast<double>(w.delivered - w.first_child) * wide;
    bits -= finished(w.child, w.first_child) * (wide - accelerator_.element_bits(w.parent, layer_, w.tensor));
  }
  double energy = 0;
  for (const auto& [level, words] : w.passed)
    energy += accelerator_.levels[static_cast<std::size_t>(level)].fanout().pj_per_bit * bits * words /
              static_cast<double>(w.delivered);
  return energy;
}

/// The cycle in which a time ends. A whole number that the time misses by its rounding alone is the time.
double WalkedCosts::last_cycle(double time) {
  const double nearest = std::nearbyint(time);
  return std::abs(time - nearest) < 1e-14 * time ? nearest : std::ceil(time);
}

/// Cycles of an array of so many rows and columns between the keepers of what stays in it.
double WalkedCosts::array_cycles(const Words& w, double rows, double cols) const {
  const double per_step = accelerator_.levels.back().compute().cycles_per_mac, skew = rows + cols - 2;
  const double shift = rows * static_cast<double>(w.child < levels_ ? tile_words(w.child, w.tensor) : 1);
  const bool shadow = w.child < levels_ && accelerator_.levels[static_cast<std::size_t>(w.child)].memory().buffers > 1;
  double cycles = shadow ? shift + skew : 0;
  for (std::size_t t = 0; t < w.steps_of_tiles.size(); ++t) {
    const double used = static_cast<double>(w.steps_of_tiles[t]) * per_step;
    if (!shadow)
      cycles += shift + used + skew;
    else  // the next tile comes meanwhile
      cycles += t + 1 < w.steps_of_tiles.size() ? std::max(used, shift) : used;
  }
  return cycles;
}

/// Steps, and the time in which systolic arrays are filled and drained.
double WalkedCosts::array_cycles(const Walked& walked, double steps) const {
  double cycles = steps;
  for (const Words& w : walked.words) {
    const Role role = layer_.tensors[static_cast<std::size_t>(w.tensor)].role;
    double rows = 0, cols = 0;
    for (int l = w.parent + 1; l <= w.child; ++l) {
      const Level& level = accelerator_.levels[static_cast<std::size_t>(l)];
      if (level.is_fanout() && level.fanout().systolic == role) {
        rows = std::max(rows, 1.0) * static_cast<double>(level.fanout().rows);
        cols = std::max(cols, 1.0) * static_cast<double>(level.fanout().cols);
      }
      const bool ends = l == w.child || (level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(role)]);
      if (!ends || rows == 0) continue;
      cycles = std::max(cycles, last_cycle(array_cycles(w, rows, cols)));
      rows = cols = 0;
    }
  }
  return cycles;
}

/// Cycles of the steps and of every port, and what leaks in that time.
void WalkedCosts::wait_for_ports(Walked& walked) const {
  const Compute& compute = accelerator_.levels.back().compute();
  walked.cycles = array_cycles(walked, static_cast<double>(walked.steps) * compute.cycles_per_mac);
  double leakage = compute.leak_pj_per_cycle, built = 1;
  for (int l = 0; l < levels_; ++l)
    if (!is_memory(l)) leakage *= static_cast<double>(accelerator_.levels[l].fanout().units());
  for (int l = 0; l < levels_; ++l) {
    if (!is_memory(l)) {
      built *= static_cast<double>(accelerator_.levels[l].fanout().units());
      continue;
    }
    const Memory& memory = accelerator_.levels[l].memory();
    leakage += memory.leak_pj_per_cycle * built;
    const auto used = static_cast<double>(walked.peak[l]);
    const auto wait = [&](const std::optional<double>& rate, double words) {
      if (rate) walked.cycles = std::max(walked.cycles, last_cycle(words / (*rate * used)));
    };
    wait(memory.read_words_per_cycle, walked.reads[l]);
    wait(memory.write_words_per_cycle, walked.writes[l]);
    wait(memory.bus_words_per_cycle, walked.reads[l] + walked.writes[l]);
    for (std::size_t r = 0; r < kRoles; ++r) {
      wait(memory.bandwidth_of[r].read, walked.reads_of[r][l]);
      wait(memory.bandwidth_of[r].write, walked.writes_of[r][l]);
      wait(memory.bandwidth_of[r].bus, walked.reads_of[r][l] + walked.writes_of[r][l]);
    }
  }
  walked.energy_pj += leakage * walked.cycles;
}

}  // namespace pliant::reference
