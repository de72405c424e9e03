// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/hardware_sizes.h"

#include <algorithm>
#include <cmath>

#include "dse/import/open.h"

namespace pliant {
namespace {

/// More readings than these are no gain over reading what is asked for.
constexpr std::int64_t kMostReadings = 50'000;

/// The area of flexibility on every axis is proportional to what it grows with (core/accelerator.h).
std::array<double, 4> flexibility_area_of(const Accelerator& base, const Accelerator& now) {
  const std::array<double, 4> before = flexibility_growth(base), after = flexibility_growth(now);
  std::array<double, 4> area = base.flexibility_area_um2;
  for (std::size_t a = 0; a < area.size(); ++a) area[a] *= before[a] > 0 && after[a] > 0 ? after[a] / before[a] : 1;
  return area;
}

/// What the reader refuses of a chain whose levels are all good: let it say why.
bool too_large(const Accelerator& accelerator) {
  double copies = 1, most = 0;
  for (const Level& level : accelerator.levels) {
    if (level.is_fanout())
      copies *= static_cast<double>(level.fanout().rows) * static_cast<double>(level.fanout().cols);
    if (level.is_memory() && level.memory().capacity_words)
      most = std::max(most, copies * static_cast<double>(*level.memory().capacity_words));
  }
  return copies > std::exp2(39) || most > std::exp2(61);
}

bool about_equal(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) <= 1e-12 * std::max(x, y); });
}

}  // namespace

std::vector<std::size_t> axis_positions(const Sweep& sweep, std::int64_t hardware) {
  std::vector<std::size_t> positions(sweep.axes.size());
  for (std::size_t a = sweep.axes.size(); a-- > 0;) {
    const auto base = static_cast<std::int64_t>(sweep.axes[a].values.size());
    positions[a] = static_cast<std::size_t>(hardware % base);
    hardware /= base;
  }
  return positions;
}

std::vector<Setting> settings_at(const Sweep& sweep, const std::vector<std::size_t>& positions,
                                 std::size_t& accelerator_index) {
  std::vector<Setting> settings = sweep.settings;
  accelerator_index = 0;
  for (std::size_t a = 0; a < positions.size(); ++a) {
    const SweepAxis& axis = sweep.axes[a];
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      if (axis.keys[k] == kAcceleratorAxis)
        accelerator_index = positions[a];
      else
        settings.emplace_back(axis.keys[k], axis.values[positions[a]][k]);
    }
  }
  return settings;
}

std::size_t HardwareSizes::cell(const Table& table, const std::vector<std::size_t>& positions) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < table.axes.size(); ++k) at += positions[table.axes[k]] * table.stride[k];
  return at;
}

std::vector<std::size_t> HardwareSizes::last_positions(const Sweep& sweep, std::size_t accelerator) const {
  std::vector<std::size_t> positions;
  for (const SweepAxis& axis : sweep.axes) positions.push_back(axis.values.size() - 1);
  if (accelerator_axis_) positions[*accelerator_axis_] = accelerator;
  return positions;
}

HardwareSizes::Table HardwareSizes::table_over(const Sweep& sweep, std::vector<std::size_t> axes) {
  Table table;
  table.axes = std::move(axes);
  for (const std::size_t axis : table.axes) {
    table.stride.push_back(table.size);
    table.size = std::min<std::size_t>(table.size * sweep.axes[axis].values.size(), kMostReadings + 1);
  }
  return table;
}

HardwareSizes::Chain HardwareSizes::lay_out(AcceleratorTemplate& reader, const Sweep& sweep,
                                            std::size_t accelerator) const {
  std::vector<std::size_t> positions = last_positions(sweep, accelerator);
  std::size_t index = 0;
  const std::size_t levels = reader.sizes_with(settings_at(sweep, positions, index)).levels.size();
  std::vector<std::vector<std::size_t>> reached_by(levels);
  std::vector<std::size_t> by_all;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const SweepAxis& axis = sweep.axes[a];
    std::vector<bool> reached(levels, false);
    bool all = false;
    for (std::size_t k = 0; k < axis.keys.size() && axis.keys[k] != kAcceleratorAxis; ++k) {
      for (const auto& value : axis.values) {
        const auto some = reader.levels_reached(sweep.settings, {axis.keys[k], value[k]});
        all = all || !some;
        if (some)
          for (const std::size_t l : *some) reached[l] = true;
      }
    }
    for (std::size_t l = 0; l < levels; ++l)
      if (all || reached[l]) reached_by[l].push_back(a);
    if (all) by_all.push_back(a);
  }
  Chain chain;
  for (const std::vector<std::size_t>& axes : reached_by) chain.tables.push_back(table_over(sweep, axes));
  chain.common = table_over(sweep, by_all);
  return chain;
}

std::shared_ptr<const HardwareSizes> HardwareSizes::read(const Library& library, const Sweep& sweep,
                                                         const OnPhase& on_phase, const std::stop_token& stop,
                                                         std::int64_t least_gain) {
  const auto sizes = std::make_shared<HardwareSizes>();
  std::int64_t points = 1, cells = 0;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    points *= static_cast<std::int64_t>(sweep.axes[a].values.size());
    if (sweep.axes[a].keys.front() == kAcceleratorAxis) sizes->accelerator_axis_ = a;
  }
  std::vector<AcceleratorTemplate> readers;
  for (const std::string& name : sweep.accelerators) readers.push_back(open_accelerator_template(library, name));
  try {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      sizes->chains_.push_back(sizes->lay_out(readers[i], sweep, i));
      cells += static_cast<std::int64_t>(sizes->chains_.back().common.size);
      for (const Table& table : sizes->chains_.back().tables) cells += static_cast<std::int64_t>(table.size);
    }
  } catch (const InputError&) {
    return nullptr;  // the last point contradicts itself
  }
  if (cells > kMostReadings || cells * least_gain > points) return nullptr;

  Phase phase(on_phase, "reading the sizes that the axes set", cells);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    Chain& chain = sizes->chains_[i];
    // The accelerator at this cell, all other axes at their last value; nothing when it contradicts itself.
    const auto read_cell = [&](const Table& table, std::size_t at) -> std::optional<Accelerator> {
      std::vector<std::size_t> positions = sizes->last_positions(sweep, i);
      for (std::size_t k = 0; k < table.axes.size(); ++k)
        positions[table.axes[k]] = at / table.stride[k] % sweep.axes[table.axes[k]].values.size();
      ++sizes->readings_;
      phase.advance(1);
      std::size_t index = 0;
      try {
        Accelerator accelerator = readers[i].sizes_with(settings_at(sweep, positions, index));
        // What was said of the area of flexibility is checked wherever it is used.
        const auto* base = chain.bases.empty() ? nullptr : &chain.bases[cell(chain.common, positions)];
        if (base != nullptr && *base &&
            !about_equal(flexibility_area_of(**base, accelerator), accelerator.flexibility_area_um2))
          return std::nullopt;
        return accelerator;
      } catch (const InputError&) {
        return std::nullopt;
      }
    };
    std::vector<std::optional<Accelerator>> bases;
    for (std::size_t c = 0; c < chain.common.size; ++c) bases.push_back(read_cell(chain.common, c));
    chain.bases = std::move(bases);
    for (const Table& table : chain.tables) {
      const std::size_t level = chain.at.size();
      auto& cells_of_level = chain.at.emplace_back();
      for (std::size_t c = 0; c < table.size && !stop.stop_requested(); ++c) {
        const auto accelerator = read_cell(table, c);
        cells_of_level.push_back(accelerator ? std::optional(accelerator->levels[level]) : std::nullopt);
      }
    }
    if (stop.stop_requested()) return nullptr;
  }
  return sizes;
}

bool HardwareSizes::find(const std::vector<std::size_t>& positions, Point& point) const {
  const std::size_t index = accelerator_axis_ ? positions[*accelerator_axis_] : 0;
  const Chain& chain = chains_[index];
  const auto& base = chain.bases[cell(chain.common, positions)];
  if (!base) return false;
  if (!point.known || point.accelerator_index != index) {
    point.accelerator = *base;
    point.cells.assign(chain.tables.size(), std::size_t(-1));
    point.accelerator_index = index;
    point.known = true;
  }
  for (std::size_t l = 0; l < chain.tables.size(); ++l) {
    const std::size_t at = cell(chain.tables[l], positions);
    if (at == point.cells[l]) continue;
    if (!chain.at[l][at]) return false;
    point.accelerator.levels[l] = *chain.at[l][at];
    point.cells[l] = at;
  }
  if (too_large(point.accelerator)) return false;
  point.accelerator.base_area_um2 = base->base_area_um2;
  point.accelerator.flexibility_area_um2 = flexibility_area_of(*base, point.accelerator);
  return true;
}

}  // namespace pliant
