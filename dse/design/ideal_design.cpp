// SPDX-License-Identifier: Apache-2.0
#include "dse/design/ideal_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/input/diagnostics.h"
#include "core/input/source_text.h"
#include "dse/import/open.h"

namespace pliant {

namespace {

/// The full class that contains all of these; nullopt when one of them is no class.
std::optional<FlexibilityClass> union_of(const std::vector<std::string>& flexibilities) {
  FlexibilityClass all;
  for (const std::string& name : flexibilities) {
    const auto one = looks_like_class(name) ? parse_flexibility_class(name) : std::nullopt;
    if (!one) return std::nullopt;
    if (one->degree == FlexibilityClass::Degree::kInFlex) continue;
    for (std::size_t a = 0; a < kAxisCount; ++a) all.flexible[a] = all.flexible[a] || one->flexible[a];
  }
  return all;
}

std::optional<double> as_number(const AxisValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

}  // namespace

IdealDesigns::IdealDesigns(const Library& library, std::shared_ptr<const Sweep> sweep)
    : sweep_(std::move(sweep)), bounding_class_(union_of(sweep_->flexibilities)) {
  for (const std::string& accelerator : sweep_->accelerators)
    templates_.push_back(std::make_unique<AcceleratorTemplate>(open_accelerator_template(library, accelerator)));
  for (const SweepAxis& axis : sweep_->axes) sizes_.push_back(static_cast<std::int32_t>(axis.values.size()));
  const std::vector<std::int32_t> first(sizes_.size(), 0);
  for (std::size_t a = 0; a < sizes_.size(); ++a)
    ordered_.push_back(sweep_->axes[a].keys.front() != kAcceleratorAxis &&
                       SizeTables([&](const auto& at) { return read(at); }, first, {a}, sizes_).problem().empty());
}

Accelerator IdealDesigns::read(const std::vector<std::int32_t>& positions) {
  std::vector<Setting> settings = sweep_->settings;
  std::size_t accelerator = 0;
  for (std::size_t a = 0; a < positions.size(); ++a) {
    const SweepAxis& axis = sweep_->axes[a];
    const auto at = static_cast<std::size_t>(positions[a]);
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      if (axis.keys[k] == kAcceleratorAxis)
        accelerator = at;
      else
        settings.emplace_back(axis.keys[k], axis.values[at][k]);
    }
  }
  return templates_[accelerator]->with(settings);
}

std::optional<std::size_t> IdealDesigns::must_split(const HardwareBox& box) const {
  for (std::size_t a = 0; a < ordered_.size(); ++a)
    if (!ordered_[a] && box.axes[a].size() > 1) return a;
  return std::nullopt;
}

const SizeTables& IdealDesigns::tables_for(const HardwareBox& box) {
  std::vector<std::int32_t> at(sizes_.size(), 0);
  std::vector<std::size_t> free;
  for (std::size_t a = 0; a < sizes_.size(); ++a) {
    if (ordered_[a]) {
      free.push_back(a);
    } else {
      at[a] = box.axes[a].first;
    }
  }
  std::unique_ptr<SizeTables>& tables = tables_[at];
  if (!tables)
    tables = std::make_unique<SizeTables>([&](const auto& positions) { return read(positions); }, at, free, sizes_);
  return *tables;
}

/// The accelerator with the flexibility that contains every other of the sweep.
Accelerator IdealDesigns::freed(const Accelerator& accelerator) const {
  if (bounding_class_ && !class_problem(accelerator, *bounding_class_))
    return apply_class(accelerator, *bounding_class_);
  Accelerator all = accelerator;
  all.flexibility_for.clear();
  all.flexibility = {};
  all.flexibility.levels.resize(all.levels.size());
  for (std::size_t l = 0; l < all.levels.size(); ++l)
    if (all.levels[l].is_fanout()) all.flexibility.levels[l].shape.kind = ShapeRule::Kind::kFree;
  return all;
}

std::optional<IdealDesign> IdealDesigns::of(const HardwareBox& box) {
  const SizeTables& tables = tables_for(box);
  if (!tables.problem().empty()) {
    if (!box.is_point())
      throw InputError(Diagnostic{sweep_->name, 0, 0, "vary",
                                  "an axis means more than sizes on one accelerator only: " + tables.problem(),
                                  "axes that mean the same on every accelerator", ""});
    return std::nullopt;
  }
  IdealDesign ideal;
  Accelerator best = tables.base();
  best.hints = {};
  std::vector<LevelRange> ranges;
  double leak = 0, instances = 1;
  ideal.least_area_um2 = best.base_area_um2;
  for (std::size_t l = 0; l < best.levels.size(); ++l) {
    const LevelRange& range = ranges.emplace_back(tables.range(l, box));
    best.levels[l] = range.best;
    leak += instances * range.least_leak_pj_per_cycle;
    ideal.least_area_um2 += instances * range.least_area_um2;
    if (best.levels[l].is_memory()) best.levels[l].memory().leak_pj_per_cycle = 0;
    if (best.levels[l].is_compute()) best.levels[l].compute().leak_pj_per_cycle = 0;
    if (best.levels[l].is_fanout())
      instances *= static_cast<double>(range.least_rows) * static_cast<double>(range.least_cols);
  }
  // All leakage stands at the outermost memory: there is one of it, however many units the ideal has.
  best.levels.front().memory().leak_pj_per_cycle = leak;
  best = freed(best);
  for (std::size_t l = 0; l < best.levels.size(); ++l) {
    if (!best.levels[l].is_fanout()) continue;
    const auto free = [&](const Flexibility& rules) {
      return l < rules.levels.size() && rules.levels[l].shape.kind == ShapeRule::Kind::kFree;
    };
    // One shape stays as it is: costs may follow from it.
    if (ranges[l].least_rows == ranges[l].best.fanout().rows && ranges[l].least_cols == ranges[l].best.fanout().cols)
      continue;
    // A free array is its number of units: both sides at their largest may never stand together.
    if (!free(best.flexibility)) continue;
    if (!std::ranges::all_of(best.flexibility_for, [&](const auto& own) { return free(own.second); })) continue;
    best.levels[l].fanout().rows = 1;
    best.levels[l].fanout().cols = ranges[l].most_units;
  }
  note_numbers(ideal, box, ranges);
  ideal.accelerator = std::make_shared<const Accelerator>(std::move(best));
  return ideal;
}

void IdealDesigns::note_numbers(IdealDesign& ideal, const HardwareBox& box,
                                const std::vector<LevelRange>& ranges) const {
  auto& numbers = ideal.numbers;
  std::size_t column = 0;
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    for (std::size_t k = 0; k < sweep_->axes[a].keys.size(); ++k, ++column) {
      if (sweep_->axes[a].keys[k].find('.') != std::string::npos) continue;  // of a level: below, in its own unit
      std::optional<std::pair<double, double>> range;
      for (std::int32_t p = box.axes[a].first; p <= box.axes[a].last; ++p) {
        const auto value = as_number(sweep_->cells[a][static_cast<std::size_t>(p)][k]);
        if (!value) {
          range.reset();
          break;
        }
        range = range ? std::pair(std::min(range->first, *value), std::max(range->second, *value))
                      : std::pair(*value, *value);
      }
      if (range) numbers[sweep_->axes[a].keys[k]] = *range;
    }
  }
  double least_units = 1, most_units = 1;
  for (std::size_t l = 0; l < ranges.size(); ++l) {
    const LevelRange& range = ranges[l];
    const std::string& name = range.best.name;
    numbers[name + ".instances"] = {least_units, most_units};
    if (range.best.is_memory() && range.least_capacity) {
      const Memory& memory = range.best.memory();
      const auto least = static_cast<double>(*range.least_capacity), most = static_cast<double>(*memory.capacity_words);
      numbers[name + ".capacity"] = {least, most};
      numbers[name + ".capacity_bits"] = {least * memory.word_bits, most * memory.word_bits};
      numbers[name + ".capacity_bytes"] = {least * memory.word_bits / 8, most * memory.word_bits / 8};
    }
    if (!range.best.is_fanout()) continue;
    const auto least_rows = static_cast<double>(range.least_rows), least_cols = static_cast<double>(range.least_cols);
    numbers[name + ".rows"] = {least_rows, static_cast<double>(range.best.fanout().rows)};
    numbers[name + ".cols"] = {least_cols, static_cast<double>(range.best.fanout().cols)};
    numbers[name + ".units"] = {least_rows * least_cols, static_cast<double>(range.most_units)};
    least_units *= least_rows * least_cols;
    most_units *= static_cast<double>(range.most_units);
  }
  numbers["compute_units"] = {least_units, most_units};
  numbers["area_um2"] = {ideal.least_area_um2, std::numeric_limits<double>::infinity()};
}

std::pair<std::size_t, std::int32_t> IdealDesigns::best_split(const HardwareBox& box) const {
  std::size_t widest = 0;
  double most = -1;
  const auto number = [&](std::size_t axis, std::int32_t position) {
    const auto value = as_number(sweep_->cells[axis][static_cast<std::size_t>(position)].front());
    return value && *value > 0 ? *value : static_cast<double>(position + 1);
  };
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    if (box.axes[a].size() == 1) continue;
    const double ratio = std::abs(std::log(number(a, box.axes[a].last) / number(a, box.axes[a].first)));
    if (ratio <= most) continue;
    most = ratio;
    widest = a;
  }
  const HardwareBox::Range& range = box.axes[widest];
  const double low = number(widest, range.first), high = number(widest, range.last), middle = std::sqrt(low * high);
  std::int32_t last = range.first;
  while (last + 1 < range.last &&
         (low <= high ? number(widest, last + 1) <= middle : number(widest, last + 1) >= middle))
    ++last;
  return {widest, last};
}

}  // namespace pliant
