// SPDX-License-Identifier: Apache-2.0
#include "dse/design/wired_choices.h"

#include <algorithm>

#include "core/input/diagnostics.h"

namespace pliant {

namespace {

/// More combinations than these are not listed: the ideal may then do anything.
constexpr std::int64_t kMostCombinations = 4'096;
/// More orders or pairs of parallel dims than these are not worth a list.
constexpr std::size_t kMostPatterns = 40;

/// Rules of all families, then of those with rules of their own.
std::vector<Flexibility*> families_of(ClassSettings& settings) {
  std::vector<Flexibility*> all{&settings.all.rules};
  for (auto& [operation, own] : settings.by_family) all.push_back(&own.rules);
  return all;
}

std::vector<const Flexibility*> families_of(const ClassSettings& settings) {
  std::vector<const Flexibility*> all{&settings.all.rules};
  for (const auto& [operation, own] : settings.by_family) all.push_back(&own.rules);
  return all;
}

/// The baseline without what may be wired in one way or another.
ClassSettings without_choices(ClassSettings settings) {
  for (Flexibility* family : families_of(settings)) {
    for (LevelFlexibility& level : family->levels) {
      for (TileRule::Tile& tile : level.tile.fixed) tile.size = 1;
      level.order.allowed.clear();
      level.parallel.assignments.clear();
    }
  }
  return settings;
}

template <class Pattern>
void add_new(std::vector<Pattern>& to, const std::vector<Pattern>& from) {
  for (const Pattern& one : from)
    if (std::ranges::find(to, one) == to.end()) to.push_back(one);
}

/// Any of these patterns; an empty list stands for all of them.
template <class Pattern>
class AnyPattern {
 public:
  void add(const std::vector<Pattern>& patterns) {
    all_ = all_ || patterns.empty();
    add_new(seen_, patterns);
    all_ = all_ || seen_.size() > kMostPatterns;
  }
  std::vector<Pattern> patterns() const { return all_ ? std::vector<Pattern>{} : seen_; }

 private:
  bool all_ = false;
  std::vector<Pattern> seen_;
};

}  // namespace

bool WiredChoices::differ_in_choices_only(const Accelerator& one, const Accelerator& other) {
  Accelerator plain = one, also = other;
  plain.baseline = without_choices(one.baseline);
  also.baseline = without_choices(other.baseline);
  return plain == also;
}

WiredChoices::WiredChoices(SizeTables::Read read, std::vector<std::int32_t> at, std::vector<std::size_t> axes,
                           const std::vector<std::int32_t>& sizes)
    : read_(std::move(read)), at_(std::move(at)), axes_(std::move(axes)), sizes_(sizes) {
  try {
    const Accelerator base = read_(at_);
    for (const std::size_t axis : axes_) {
      std::vector<std::int32_t> positions = at_;
      for (positions[axis] = 0; positions[axis] < sizes_[axis]; ++positions[axis]) {
        Accelerator now = read_(positions);
        if (!differ_in_choices_only(base, now)) problem_ = "it changes more than what is wired in";
        known_.emplace(positions, std::move(now.baseline));
      }
    }
    if (problem_.empty()) list_rules();
  } catch (const InputError& error) {
    problem_ = error.diagnostics().front().what;
  }
}

const ClassSettings& WiredChoices::read(const std::vector<std::int32_t>& positions) {
  const auto [known, fresh] = known_.try_emplace(positions);
  if (fresh) known->second = read_(positions).baseline;
  return known->second;
}

void WiredChoices::list_rules() {
  const ClassSettings base = read(at_);
  const std::vector<const Flexibility*> families = families_of(base);
  for (std::size_t f = 0; f < families.size(); ++f) {
    for (std::size_t l = 0; l < families[f]->levels.size(); ++l) {
      for (std::size_t t = 0; t < families[f]->levels[l].tile.fixed.size(); ++t)
        rules_.push_back({f, l, Axis::kTiles, t, {}});
      rules_.push_back({f, l, Axis::kOrders, 0, {}});
      rules_.push_back({f, l, Axis::kParallel, 0, {}});
    }
  }
  for (const std::size_t axis : axes_) {
    kinds_[axis] = Axis::kOrders;
    for (std::int32_t position = 0; position < sizes_[axis]; ++position) {
      std::vector<std::int32_t> positions = at_;
      positions[axis] = position;
      const std::vector<const Flexibility*> now = families_of(read(positions));
      for (Rule& rule : rules_) {
        if (!rule.axes.empty() && rule.axes.back() == axis) continue;
        const LevelFlexibility& here = now[rule.family]->levels[rule.level];
        const LevelFlexibility& there = families[rule.family]->levels[rule.level];
        const bool differs = rule.axis == Axis::kTiles    ? here.tile.fixed[rule.tile] != there.tile.fixed[rule.tile]
                             : rule.axis == Axis::kOrders ? here.order != there.order
                                                          : here.parallel != there.parallel;
        if (!differs) continue;
        rule.axes.push_back(axis);
        // Parallel dims before tiles before orders.
        if (rule.axis == Axis::kParallel || kinds_[axis] == Axis::kOrders) kinds_[axis] = rule.axis;
      }
    }
  }
  std::erase_if(rules_, [](const Rule& rule) { return rule.axes.empty(); });
}

bool WiredChoices::for_each(const Rule& rule, const HardwareBox& box,
                            const std::function<void(const LevelFlexibility&)>& each) {
  std::int64_t combinations = 1;
  std::vector<std::int32_t> positions = at_;
  for (const std::size_t axis : rule.axes) {
    combinations *= box.axes[axis].size();
    positions[axis] = box.axes[axis].first;
    if (combinations > kMostCombinations) return false;
  }
  for (bool more = true; more;) {
    each(families_of(read(positions))[rule.family]->levels[rule.level]);
    more = false;
    for (std::size_t k = rule.axes.size(); k-- > 0 && !more;) {
      const std::size_t axis = rule.axes[k];
      more = positions[axis] < box.axes[axis].last;
      positions[axis] = more ? positions[axis] + 1 : box.axes[axis].first;
    }
  }
  return true;
}

BoxBaseline WiredChoices::of(const HardwareBox& box) {
  BoxBaseline baseline{read(at_), {}};
  constexpr Count kOpen = 0;  // a tile that the ideal may choose
  baseline.smallest = baseline.any;
  const std::vector<Flexibility*> any = families_of(baseline.any), smallest = families_of(baseline.smallest);
  for (const Rule& rule : rules_) {
    LevelFlexibility& here = any[rule.family]->levels[rule.level];
    LevelFlexibility& small = smallest[rule.family]->levels[rule.level];
    if (rule.axis == Axis::kTiles) {
      Count least = 0, most = 0;
      const bool listed = for_each(rule, box, [&](const LevelFlexibility& one) {
        const Count size = one.tile.fixed[rule.tile].size;
        least = least == 0 ? size : std::min(least, size);
        most = std::max(most, size);
      });
      here.tile.fixed[rule.tile].size = listed && least == most ? least : kOpen;
      small.tile.fixed[rule.tile].size = listed ? least : 1;
    } else if (rule.axis == Axis::kOrders) {
      AnyPattern<OrderPattern> all;
      const bool listed = for_each(rule, box, [&](const LevelFlexibility& one) { all.add(one.order.allowed); });
      here.order.allowed = small.order.allowed = listed ? all.patterns() : std::vector<OrderPattern>{};
    } else {
      AnyPattern<Assignment> all;
      const bool listed = for_each(rule, box, [&](const LevelFlexibility& one) { all.add(one.parallel.assignments); });
      here.parallel.assignments = small.parallel.assignments = listed ? all.patterns() : std::vector<Assignment>{};
    }
  }
  for (Flexibility* family : any)
    for (LevelFlexibility& level : family->levels)
      std::erase_if(level.tile.fixed, [](const TileRule::Tile& tile) { return tile.size == kOpen; });
  return baseline;
}

bool WiredChoices::tiles_the_array(std::size_t axis, const HardwareBox& box) {
  BoxBaseline baseline = of(box);
  const std::vector<Flexibility*> families = families_of(baseline.smallest);
  return std::ranges::any_of(rules_, [&](const Rule& rule) {
    if (rule.axis != Axis::kTiles || std::ranges::find(rule.axes, axis) == rule.axes.end()) return false;
    const Flexibility& family = *families[rule.family];
    const std::string& dim = family.levels[rule.level].tile.fixed[rule.tile].dim;
    return std::ranges::any_of(family.levels, [&](const LevelFlexibility& level) {
      const auto& assignments = level.parallel.assignments;
      return !assignments.empty() && std::ranges::all_of(assignments, [&](const Assignment& one) {
        return std::ranges::find(one.rows, dim) != one.rows.end() || std::ranges::find(one.cols, dim) != one.cols.end();
      });
    });
  });
}

}  // namespace pliant
