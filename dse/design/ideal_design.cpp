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
    all.fusion = all.fusion || one->fusion;
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
    : library_(library), sweep_(std::move(sweep)), bounding_class_(union_of(sweep_->flexibilities)) {
  for (const std::string& accelerator : sweep_->accelerators)
    templates_.push_back(std::make_unique<AcceleratorTemplate>(open_accelerator_template(library, accelerator)));
  for (const SweepAxis& axis : sweep_->axes) sizes_.push_back(static_cast<std::int32_t>(axis.values.size()));
  for (std::size_t a = 0; a < sizes_.size(); ++a) kinds_.push_back(kind_of(a));
}

IdealDesigns::AxisKind IdealDesigns::kind_of(std::size_t axis) {
  if (sweep_->axes[axis].keys.front() == kAcceleratorAxis) return AxisKind::kSingle;
  std::vector<std::int32_t> at(sizes_.size(), 0);
  if (SizeTables([&](const auto& positions) { return read(positions); }, at, {axis}, sizes_).problem().empty())
    return AxisKind::kSizes;
  try {
    const Accelerator first = read(at);
    for (at[axis] = 1; at[axis] < sizes_[axis]; ++at[axis])
      if (!WiredChoices::differ_in_choices_only(first, read(at))) return AxisKind::kSingle;
  } catch (const InputError&) {
    return AxisKind::kSingle;
  }
  return AxisKind::kChoices;
}

bool IdealDesigns::has_choices() const { return std::ranges::find(kinds_, AxisKind::kChoices) != kinds_.end(); }

std::vector<Setting> IdealDesigns::settings_at(const std::vector<std::int32_t>& positions,
                                               std::size_t& accelerator) const {
  std::vector<Setting> settings = sweep_->settings;
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
  return settings;
}

Accelerator IdealDesigns::read(const std::vector<std::int32_t>& positions) {
  std::size_t accelerator = 0;
  const std::vector<Setting> settings = settings_at(positions, accelerator);
  return templates_[accelerator]->with(settings);
}

std::optional<std::size_t> IdealDesigns::must_split(const HardwareBox& box) const {
  for (std::size_t a = 0; a < kinds_.size(); ++a)
    if (kinds_[a] == AxisKind::kSingle && box.axes[a].size() > 1) return a;
  return std::nullopt;
}

/// Axes without ranges at the box's positions, all others at their first.
std::vector<std::int32_t> IdealDesigns::single_positions(const HardwareBox& box) const {
  std::vector<std::int32_t> at(sizes_.size(), 0);
  for (std::size_t a = 0; a < sizes_.size(); ++a)
    if (kinds_[a] == AxisKind::kSingle) at[a] = box.axes[a].first;
  return at;
}

std::vector<std::size_t> IdealDesigns::axes_of(AxisKind kind) const {
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < kinds_.size(); ++a)
    if (kinds_[a] == kind) axes.push_back(a);
  return axes;
}

const SizeTables& IdealDesigns::tables_for(const HardwareBox& box) {
  const std::vector<std::int32_t> at = single_positions(box);
  std::unique_ptr<SizeTables>& tables = tables_[at];
  if (!tables)
    tables = std::make_unique<SizeTables>([&](const auto& positions) { return read(positions); }, at,
                                          axes_of(AxisKind::kSizes), sizes_);
  return *tables;
}

WiredChoices& IdealDesigns::choices_for(const HardwareBox& box) {
  const std::vector<std::int32_t> at = single_positions(box);
  std::unique_ptr<WiredChoices>& choices = choices_[at];
  if (!choices)
    choices = std::make_unique<WiredChoices>([&](const auto& positions) { return read(positions); }, at,
                                             axes_of(AxisKind::kChoices), sizes_);
  return *choices;
}

/// Do even the smallest tiles that are wired in fit nowhere, whatever the class? With one memory of such tiles that is
/// a matter of its capacity alone, which the ideal has more of than any design.
bool IdealDesigns::contradicts(const Accelerator& best, const ClassSettings& smallest) const {
  if (!bounding_class_ || bounding_class_->flexible[static_cast<std::size_t>(Axis::kTiles)]) return false;
  const auto tiled = [](const Flexibility& rules) {
    return std::ranges::count_if(rules.levels, [](const LevelFlexibility& level) { return !level.tile.fixed.empty(); });
  };
  if (tiled(smallest.all.rules) > 1) return false;
  for (const auto& [operation, own] : smallest.by_family)
    if (tiled(own.rules) > 1) return false;
  Accelerator all = best;
  all.baseline = smallest;
  const auto problem = class_problem(all, *bounding_class_);
  return problem && problem->axis == Axis::kTiles && !problem->level.empty();
}

/// The accelerator with the flexibility that contains every other of the sweep.
Accelerator IdealDesigns::freed(const Accelerator& accelerator) const {
  if (bounding_class_ && !class_problem(accelerator, *bounding_class_))
    return apply_class(accelerator, *bounding_class_);
  Accelerator all = accelerator;
  all.flexibility_for.clear();
  all.flexibility = {};
  all.fusion.clear();
  all.flexibility.levels.resize(all.levels.size());
  for (std::size_t l = 0; l < all.levels.size(); ++l)
    if (all.levels[l].is_fanout()) all.flexibility.levels[l].shape.kind = ShapeRule::Kind::kFree;
  return all;
}

std::optional<IdealDesign> IdealDesigns::of(const HardwareBox& box) {
  const SizeTables& tables = tables_for(box);
  const std::string problem =
      !tables.problem().empty() || !has_choices() ? tables.problem() : choices_for(box).problem();
  if (!problem.empty()) {
    if (!box.is_point())
      throw InputError(Diagnostic{sweep_->name, 0, 0, "vary",
                                  "an axis means something else on one accelerator only: " + problem,
                                  "axes that mean the same on every accelerator", ""});
    return std::nullopt;
  }
  IdealDesign ideal;
  Accelerator best = tables.base();
  best.hints = {};
  best.bits = tables.narrowest(box);
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
  if (has_choices()) {
    BoxBaseline baseline = choices_for(box).of(box);
    ideal.contradicts = contradicts(best, baseline.smallest);
    best.baseline = std::move(baseline.any);
  }
  best = freed(best);
  // What classes are made of is of no more use, and every price copies the accelerator.
  best.baseline = {};
  best.partial.clear();
  best.description.clear();
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

/// The wired-in choice to make next: parallel dims, or else tiles of the dims on the array, other tiles, orders. Of
/// equals the one with most values.
std::optional<std::size_t> IdealDesigns::next_choice(const HardwareBox& box, bool parallel) {
  std::optional<std::size_t> best;
  std::pair<int, std::int64_t> most;
  for (const std::size_t a : axes_of(AxisKind::kChoices)) {
    if (box.axes[a].size() == 1) continue;
    WiredChoices& choices = choices_for(box);
    if (!choices.problem().empty()) return parallel ? std::nullopt : std::optional(a);  // of() will say so
    const Axis kind = choices.kind_of(a);
    if ((kind == Axis::kParallel) != parallel) continue;
    const int first = kind == Axis::kOrders ? 0 : parallel || choices.tiles_the_array(a, box) ? 2 : 1;
    const std::pair<int, std::int64_t> rank{first, box.axes[a].size()};
    if (best && rank <= most) continue;
    best = a;
    most = rank;
  }
  return best;
}

std::vector<HardwareBox> IdealDesigns::parts(const HardwareBox& box) {
  const auto singles = [&](std::size_t axis) {
    std::vector<HardwareBox> all;
    for (std::int32_t position = box.axes[axis].first; position <= box.axes[axis].last; ++position)
      all.emplace_back(box).axes[axis] = {position, position};
    return all;
  };
  if (const auto axis = must_split(box)) {
    const HardwareBox::Range& range = box.axes[*axis];
    auto [first, second] = box.split(*axis, range.first + (range.last - range.first) / 2);
    return {std::move(first), std::move(second)};
  }
  if (const auto axis = next_choice(box, true)) return singles(*axis);
  std::optional<std::size_t> widest;
  double most = -1;
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    if (box.axes[a].size() == 1 || kinds_[a] == AxisKind::kChoices) continue;
    const double ratio = std::abs(std::log(end_of(a, box.axes[a].last) / end_of(a, box.axes[a].first)));
    if (ratio <= most) continue;
    most = ratio;
    widest = a;
  }
  if (widest) return halves(box, *widest);
  return singles(*next_choice(box, false));
}

/// A number that stands for a position of an axis.
double IdealDesigns::end_of(std::size_t axis, std::int32_t position) const {
  const auto value = as_number(sweep_->cells[axis][static_cast<std::size_t>(position)].front());
  return value && *value > 0 ? *value : static_cast<double>(position + 1);
}

std::vector<HardwareBox> IdealDesigns::halves(const HardwareBox& box, std::size_t axis) const {
  const HardwareBox::Range& range = box.axes[axis];
  const double low = end_of(axis, range.first), high = end_of(axis, range.last), middle = std::sqrt(low * high);
  std::int32_t last = range.first;
  while (last + 1 < range.last && (low <= high ? end_of(axis, last + 1) <= middle : end_of(axis, last + 1) >= middle))
    ++last;
  auto [first, second] = box.split(axis, last);
  return {std::move(first), std::move(second)};
}

}  // namespace pliant
