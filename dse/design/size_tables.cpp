// SPDX-License-Identifier: Apache-2.0
#include "dse/design/size_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/input/diagnostics.h"
#include "core/partial_sums.h"

namespace pliant {

namespace {

/// Of one memory: more combinations than these are no table.
constexpr std::int64_t kMostCells = 200'000;

Memory without_bandwidth(Memory memory) {
  memory.read_words_per_cycle.reset();
  memory.write_words_per_cycle.reset();
  memory.bus_words_per_cycle.reset();
  return memory;
}

/// The larger bandwidth; none is the largest.
std::optional<double> wider(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
}

/// Narrower elements take fewer words everywhere.
void narrow(ElementBits& best, const ElementBits& other) {
  const auto least = [](std::optional<int>& to, const std::optional<int>& from) {
    if (to && from) to = std::min(*to, *from);
  };
  for (std::size_t r = 0; r < kRoles; ++r) least(best.of[r], other.of[r]);
  least(best.partial_sums, other.partial_sums);
}

/// Which widths are said, not how wide; and whether partial sums come at all.
ElementBits said(ElementBits bits) {
  for (auto& of_role : bits.of)
    if (of_role) of_role = 1;
  if (bits.partial_sums && *bits.partial_sums != kNoPartialSums) bits.partial_sums = 1;
  return bits;
}

/// Takes the better end of everything but the bandwidth.
void widen(Memory& best, const Memory& other, LevelRange& range) {
  if (best.capacity_words && other.capacity_words) {
    best.capacity_words = std::max(*best.capacity_words, *other.capacity_words);
    range.least_capacity = std::min(*range.least_capacity, *other.capacity_words);
  }
  best.read_pj = std::min(best.read_pj, other.read_pj);
  best.write_pj = std::min(best.write_pj, other.write_pj);
  best.update_pj = std::min(best.update_pj, other.update_pj);
  for (std::size_t r = 0; r < kRoles; ++r)
    best.reserved_words[r] = std::min(best.reserved_words[r], other.reserved_words[r]);
  narrow(best.bits, other.bits);
  range.least_area_um2 = std::min(range.least_area_um2, other.area_um2);
  range.least_leak_pj_per_cycle = std::min(range.least_leak_pj_per_cycle, other.leak_pj_per_cycle);
}

template <class T>
T larger(const T& a, const T& b) {
  return std::max(a, b);
}
template <class T>
T smaller(const T& a, const T& b) {
  return std::min(a, b);
}

/// One end of a size that an axis sets.
struct End {
  const std::vector<Level>& at;
  HardwareBox::Range range;

  /// False when the axis leaves the size as it is.
  template <class Part, class T>
  bool take(const Part& base, T Part::*field, T (*better)(const T&, const T&), T& end) const {
    const auto value = [&](std::int32_t k) { return std::get<Part>(at[static_cast<std::size_t>(k)].part).*field; };
    const bool sets =
        std::ranges::any_of(at, [&](const Level& level) { return std::get<Part>(level.part).*field != base.*field; });
    if (!sets) return false;
    end = value(range.first);
    for (std::int32_t k = range.first; k <= range.last; ++k) end = better(end, value(k));
    return true;
  }
};

}  // namespace

Accelerator without_sizes(const Accelerator& accelerator) {
  Accelerator plain = accelerator;
  plain.flexibility_area_um2 = {};
  plain.bits = said(plain.bits);
  bool systolic = false;
  for (Level& level : plain.levels) {
    if (level.is_memory()) {
      Memory& memory = level.memory() = without_bandwidth(level.memory());
      if (memory.capacity_words) memory.capacity_words = 1;
      memory.read_pj = memory.write_pj = memory.update_pj = memory.leak_pj_per_cycle = memory.area_um2 = 0;
      memory.reserved_words = {};
      memory.bits = said(memory.bits);
    } else if (level.is_fanout()) {
      // More units are no worse, except of a systolic array, which takes longer to fill.
      systolic |= level.fanout().systolic.has_value();
      if (!level.fanout().systolic) level.fanout().rows = level.fanout().cols = 1;
      level.fanout().area_um2 = level.fanout().pj_per_bit = 0;
    } else {
      // A slower unit may hide more of the filling of a systolic array, to within the rounding of cycles.
      const Compute before = std::exchange(level.compute(), {});
      if (systolic) level.compute().cycles_per_mac = before.cycles_per_mac;
    }
  }
  return plain;
}

SizeTables::SizeTables(const Read& read, std::vector<std::int32_t> at, const std::vector<std::size_t>& free,
                       const std::vector<std::int32_t>& sizes)
    : at_(std::move(at)) {
  try {
    base_ = read(at_);
    tables_.resize(base_.levels.size());
    for (const std::size_t axis : free)
      if (!read_axis(read, axis, sizes[axis])) return;
    for (std::size_t l = 0; l < tables_.size(); ++l)
      if (!fill_joint(read, tables_[l], l, sizes)) return;
  } catch (const InputError& error) {
    problem_ = error.diagnostics().front().what;
  }
}

bool SizeTables::read_axis(const Read& read, std::size_t axis, std::int32_t size) {
  const Accelerator common = without_sizes(base_);
  std::vector<std::vector<Level>> levels(base_.levels.size());
  std::vector<ElementBits> bits;
  for (std::int32_t position = 0; position < size; ++position) {
    std::vector<std::int32_t> positions = at_;
    positions[axis] = position;
    Accelerator now = read(positions);
    if (without_sizes(now) != common) {
      problem_ = "it changes more than sizes";
      return false;
    }
    for (std::size_t l = 0; l < levels.size(); ++l) levels[l].push_back(std::move(now.levels[l]));
    bits.push_back(now.bits);
  }
  if (std::ranges::any_of(bits, [&](const ElementBits& one) { return one != base_.bits; }))
    bits_.push_back({axis, std::move(bits)});
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool changes = std::ranges::any_of(levels[l], [&](const Level& level) { return level != base_.levels[l]; });
    if (!changes) continue;
    if (base_.levels[l].is_memory() && std::ranges::any_of(levels[l], [&](const Level& level) {
          return without_bandwidth(level.memory()) != without_bandwidth(base_.levels[l].memory());
        }))
      tables_[l].joint.push_back(axis);
    tables_[l].single.push_back({axis, std::move(levels[l])});
  }
  return true;
}

bool SizeTables::fill_joint(const Read& read, Table& table, std::size_t level, const std::vector<std::int32_t>& sizes) {
  std::int64_t cells = 1;
  for (const std::size_t axis : table.joint) {
    cells *= sizes[axis];
    if (cells <= kMostCells) continue;
    problem_ = fmt::format("it changes {} together with other axes, in over {} combinations", base_.levels[level].name,
                           kMostCells);
    return false;
  }
  if (table.joint.size() == 1) {
    for (const AxisLevels& single : table.single)
      if (single.axis == table.joint.front()) table.cells = single.at;
    return true;
  }
  for (std::int64_t cell = 0; cell < cells && !table.joint.empty(); ++cell) {
    std::vector<std::int32_t> positions = at_;
    std::int64_t rest = cell;
    for (std::size_t k = table.joint.size(); k-- > 0;) {
      positions[table.joint[k]] = static_cast<std::int32_t>(rest % sizes[table.joint[k]]);
      rest /= sizes[table.joint[k]];
    }
    table.cells.push_back(read(positions).levels[level]);
  }
  return true;
}

void SizeTables::range_of_memory(const Table& table, const HardwareBox& box, LevelRange& range) const {
  Memory& best = range.best.memory();
  if (!table.joint.empty()) {
    // Every combination of the box.
    std::vector<std::int32_t> at;
    for (const std::size_t axis : table.joint) at.push_back(box.axes[axis].first);
    std::vector<std::int64_t> stride(at.size(), 1);
    for (std::size_t k = at.size(); k-- > 1;) {
      const auto inner = std::ranges::find(table.single, table.joint[k], &AxisLevels::axis);
      stride[k - 1] = stride[k] * static_cast<std::int64_t>(inner->at.size());
    }
    bool first = true;
    for (bool more = true; more;) {
      std::int64_t cell = 0;
      for (std::size_t k = 0; k < at.size(); ++k) cell += at[k] * stride[k];
      const Memory& other = table.cells[static_cast<std::size_t>(cell)].memory();
      if (first) {
        best = other;
        range.least_capacity = other.capacity_words;
        range.least_area_um2 = other.area_um2;
        range.least_leak_pj_per_cycle = other.leak_pj_per_cycle;
      }
      first = false;
      widen(best, other, range);
      more = false;
      for (std::size_t k = at.size(); k-- > 0 && !more;) {
        more = at[k] < box.axes[table.joint[k]].last;
        at[k] = more ? at[k] + 1 : box.axes[table.joint[k]].first;
      }
    }
  }
  const Memory& base = base_.levels[static_cast<std::size_t>(&table - tables_.data())].memory();
  best.read_words_per_cycle = base.read_words_per_cycle;
  best.write_words_per_cycle = base.write_words_per_cycle;
  best.bus_words_per_cycle = base.bus_words_per_cycle;
  for (const AxisLevels& single : table.single) {
    const End end{single.at, box.axes[single.axis]};
    end.take(base, &Memory::read_words_per_cycle, wider, best.read_words_per_cycle);
    end.take(base, &Memory::write_words_per_cycle, wider, best.write_words_per_cycle);
    end.take(base, &Memory::bus_words_per_cycle, wider, best.bus_words_per_cycle);
  }
}

void SizeTables::range_of_fanout(const Table& table, const HardwareBox& box, LevelRange& range) {
  Fanout& best = range.best.fanout();
  const Fanout base = best;
  range.least_rows = base.rows;
  range.least_cols = base.cols;
  range.least_area_um2 = base.area_um2;
  std::optional<Count> joint_units;
  for (const AxisLevels& single : table.single) {
    const End end{single.at, box.axes[single.axis]};
    const bool rows = end.take(base, &Fanout::rows, larger<Count>, best.rows);
    const bool cols = end.take(base, &Fanout::cols, larger<Count>, best.cols);
    end.take(base, &Fanout::rows, smaller<Count>, range.least_rows);
    end.take(base, &Fanout::cols, smaller<Count>, range.least_cols);
    end.take(base, &Fanout::area_um2, smaller<double>, range.least_area_um2);
    end.take(base, &Fanout::pj_per_bit, smaller<double>, best.pj_per_bit);
    if (!rows || !cols) continue;
    joint_units = 0;  // one axis sets both sides: the largest product of one position
    for (std::int32_t k = end.range.first; k <= end.range.last; ++k)
      joint_units = std::max(*joint_units, single.at[static_cast<std::size_t>(k)].fanout().units());
  }
  range.most_units = joint_units.value_or(best.rows * best.cols);
}

void SizeTables::range_of_compute(const Table& table, const HardwareBox& box, LevelRange& range) {
  Compute& best = range.best.compute();
  const Compute base = best;
  range.least_area_um2 = base.area_um2;
  range.least_leak_pj_per_cycle = base.leak_pj_per_cycle;
  for (const AxisLevels& single : table.single) {
    const End end{single.at, box.axes[single.axis]};
    end.take(base, &Compute::mac_pj, smaller<double>, best.mac_pj);
    end.take(base, &Compute::cycles_per_mac, smaller<double>, best.cycles_per_mac);
    end.take(base, &Compute::area_um2, smaller<double>, range.least_area_um2);
    end.take(base, &Compute::leak_pj_per_cycle, smaller<double>, range.least_leak_pj_per_cycle);
  }
}

ElementBits SizeTables::narrowest(const HardwareBox& box) const {
  ElementBits best = base_.bits;
  for (const AxisBits& axis : bits_) {
    const HardwareBox::Range& range = box.axes[axis.axis];
    // What the axis sets is at one of its values; what it leaves as it is stays at the base's.
    ElementBits own = axis.at[static_cast<std::size_t>(range.first)];
    for (std::int32_t k = range.first; k <= range.last; ++k) narrow(own, axis.at[static_cast<std::size_t>(k)]);
    const auto take = [&](std::optional<int>& to, auto get) {
      const bool sets =
          std::ranges::any_of(axis.at, [&](const ElementBits& one) { return get(one) != get(base_.bits); });
      if (sets) to = get(own);
    };
    for (std::size_t r = 0; r < kRoles; ++r) take(best.of[r], [r](const ElementBits& one) { return one.of[r]; });
    take(best.partial_sums, [](const ElementBits& one) { return one.partial_sums; });
  }
  return best;
}

LevelRange SizeTables::range(std::size_t level, const HardwareBox& box) const {
  const Table& table = tables_[level];
  LevelRange range;
  range.best = base_.levels[level];
  if (range.best.is_fanout()) {
    range_of_fanout(table, box, range);
  } else if (range.best.is_compute()) {
    range_of_compute(table, box, range);
  } else {
    range.least_capacity = range.best.memory().capacity_words;
    range.least_area_um2 = range.best.memory().area_um2;
    range.least_leak_pj_per_cycle = range.best.memory().leak_pj_per_cycle;
    range_of_memory(table, box, range);
  }
  return range;
}

}  // namespace pliant
