// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/space_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "core/input/diagnostics.h"
#include "core/input/load_flexibility.h"
#include "costmodel/area.h"
#include "dse/audit/best_of_box.h"

namespace pliant::audit {

namespace {

/// Of one piece: more combinations of its axes are not listed.
constexpr std::int64_t kMostCells = 200'000;

/// Rules of all families, then of those with rules of their own.
template <class Settings>
auto families_in(Settings& settings) {
  std::vector<decltype(&settings.all.rules)> all{&settings.all.rules};
  for (auto& [operation, own] : settings.by_family) all.push_back(&own.rules);
  return all;
}

std::optional<FlexibilityClass> class_named(const std::string& name) {
  return looks_like_class(name) ? parse_flexibility_class(name) : std::nullopt;
}

bool flexible_at(const FlexibilityClass& of, std::size_t axis) {
  return of.degree != FlexibilityClass::Degree::kInFlex && of.flexible[axis];
}

std::vector<std::int32_t> first_of(const Box& box) {
  std::vector<std::int32_t> positions;
  for (const AxisRange& range : box) positions.push_back(range.first);
  return positions;
}

std::string why(const InputError& error) { return error.diagnostics().front().what; }

}  // namespace

bool allows_all_of(const std::string& larger, const std::string& smaller) {
  if (larger == smaller) return true;
  const auto large = class_named(larger), small = class_named(smaller);
  if (!large || !small) return false;
  for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
    // A full axis has no rule. An inflexible one has the baseline's choice in both. Partial settings promise nothing.
    if (flexible_at(*large, axis) && large->degree == FlexibilityClass::Degree::kPartFlex) return false;
    if (flexible_at(*small, axis) && !flexible_at(*large, axis)) return false;
  }
  return true;
}

SpaceTables::SpaceTables(const Library& library, const DesignTask& task)
    : library_(library), task_(task), template_(library, task.accelerator), all_classes_(FlexibilityClass{}) {
  for (const std::string& name : task_.flexibilities) {
    const auto one = class_named(name);
    for (std::size_t axis = 0; one && all_classes_ && axis < kAxisCount; ++axis)
      all_classes_->flexible[axis] |= flexible_at(*one, axis);
    if (!one) all_classes_.reset();
  }
  try {
    build();
    if (problem_.empty()) compare_all();
  } catch (const InputError& error) {
    problem_ = "an accelerator of the space contradicts itself: " + why(error);
  }
}

Accelerator SpaceTables::read(const std::vector<std::int32_t>& positions) {
  std::vector<Setting> settings = task_.settings;
  for (std::size_t a = 0; a < positions.size(); ++a)
    for (std::size_t k = 0; k < task_.axes[a].keys.size(); ++k)
      settings.emplace_back(task_.axes[a].keys[k], task_.axes[a].values[static_cast<std::size_t>(positions[a])][k]);
  return template_.with(settings);
}

SpaceTables::Parts SpaceTables::taken_apart(const Accelerator& accelerator) {
  Parts parts;
  Accelerator rest = accelerator;
  for (Level& level : rest.levels) {
    parts.emplace_back(level);
    level = {level.name, Compute{}};
  }
  parts.emplace_back(std::exchange(rest.bits, {}));
  for (Flexibility* family : families_in(rest.baseline))
    for (LevelFlexibility& level : family->levels) {
      for (TileRule::Tile& tile : level.tile.fixed) parts.emplace_back(std::exchange(tile.size, 1));
      const std::size_t tiles = level.tile.fixed.size();
      parts.emplace_back(level);
      level = {};
      level.tile.fixed.resize(tiles);
    }
  rest.flexibility_area_um2 = {};  // follows from the sizes; it is never negative
  parts.emplace_back(std::move(rest));
  return parts;
}

Accelerator SpaceTables::put_together(const Parts& parts) {
  Accelerator all = std::get<Accelerator>(parts.back());
  std::size_t next = 0;
  for (Level& level : all.levels) level = std::get<Level>(parts[next++]);
  all.bits = std::get<ElementBits>(parts[next++]);
  for (Flexibility* family : families_in(all.baseline))
    for (LevelFlexibility& level : family->levels) {
      std::vector<Count> sizes;
      for (std::size_t t = 0; t < level.tile.fixed.size(); ++t) sizes.push_back(std::get<Count>(parts[next++]));
      level = std::get<LevelFlexibility>(parts[next++]);
      for (std::size_t t = 0; t < sizes.size(); ++t) level.tile.fixed[t].size = sizes[t];
    }
  return all;
}

void SpaceTables::build() {
  const std::vector<std::int32_t> origin(task_.axes.size(), 0);
  const Accelerator first = read(origin);
  if (write_accelerator(first) != task_.first) {
    problem_ = fmt::format("{} is not the accelerator that the certificate is about", task_.accelerator);
    return;
  }
  const Parts pieces = taken_apart(first);
  tables_.resize(pieces.size());
  for (std::size_t a = 0; a < task_.axes.size(); ++a) {
    std::vector<bool> moves(tables_.size(), false);
    std::vector<std::int32_t> positions = origin;
    for (std::size_t p = 1; p < task_.axes[a].values.size(); ++p) {
      positions[a] = static_cast<std::int32_t>(p);
      const Parts now = taken_apart(read(positions));
      if (now.size() != tables_.size()) {
        problem_ = fmt::format("axis {} changes which levels or rules there are", task_.axes[a].keys.front());
        return;
      }
      for (std::size_t k = 0; k < tables_.size(); ++k) moves[k] = moves[k] || now[k] != pieces[k];
    }
    for (std::size_t k = 0; k < tables_.size(); ++k)
      if (moves[k]) tables_[k].axes.push_back(a);
  }
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    Table& table = tables_[k];
    std::int64_t cells = 1;
    for (const std::size_t a : table.axes) cells *= static_cast<std::int64_t>(task_.axes[a].values.size());
    if (cells > kMostCells) {
      problem_ = fmt::format("a level, or a rule, follows from axes with over {} combinations", kMostCells);
      return;
    }
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      std::vector<std::int32_t> positions = origin;
      std::int64_t rest = cell;
      for (std::size_t i = table.axes.size(); i-- > 0;) {
        const auto size = static_cast<std::int64_t>(task_.axes[table.axes[i]].values.size());
        positions[table.axes[i]] = static_cast<std::int32_t>(rest % size);
        rest /= size;
      }
      table.cells.push_back(table.axes.empty() ? pieces[k] : taken_apart(read(positions)).at(k));
    }
  }
}

const SpaceTables::Piece& SpaceTables::at(const Table& table, const std::vector<std::int32_t>& positions) const {
  std::size_t cell = 0;
  for (const std::size_t a : table.axes)
    cell = cell * task_.axes[a].values.size() + static_cast<std::size_t>(positions[a]);
  return table.cells[cell];
}

bool SpaceTables::as_tables_say(const std::vector<std::int32_t>& positions) {
  ++points_read_;
  const Parts now = taken_apart(read(positions));
  if (now.size() != tables_.size()) return false;
  for (std::size_t k = 0; k < tables_.size(); ++k)
    if (now[k] != at(tables_[k], positions)) return false;
  return true;
}

void SpaceTables::compare_all() {
  const std::int64_t points = task_.points();
  std::mt19937_64 random(1);
  for (std::int64_t k = 0; k < std::min(points, points <= kMostPoints ? kMostPoints : kSample); ++k) {
    const std::int64_t point =
        points <= kMostPoints ? k : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(points));
    if (as_tables_say(task_.positions(point))) continue;
    problem_ = fmt::format("hardware point {} is not what its axes make one by one", point);
    return;
  }
}

template <class Visit>
void SpaceTables::for_each_cell(const Table& table, const Box& box, const Visit& visit) const {
  std::vector<std::int32_t> positions(box.size());
  for (const std::size_t a : table.axes) positions[a] = box[a].first;
  for (bool more = true; more;) {
    visit(at(table, positions));
    more = false;
    for (std::size_t k = table.axes.size(); k-- > 0 && !more;) {
      const std::size_t a = table.axes[k];
      more = positions[a] < box[a].last;
      positions[a] = more ? positions[a] + 1 : box[a].first;
    }
  }
}

/// With a flexibility that contains every other of the space.
Accelerator SpaceTables::freed(const Accelerator& accelerator) const {
  if (all_classes_ && !class_problem(accelerator, *all_classes_)) return apply_class(accelerator, *all_classes_);
  return without_rules(accelerator);
}

std::variant<BoxIdeal, std::string> SpaceTables::ideal(const Box& box) const {
  BestLevels levels;
  Parts best;
  std::vector<Count> least_tiles;
  for (const Table& table : tables_) {
    const Piece& any = table.cells.front();
    std::string unknown;
    if (std::holds_alternative<Level>(any)) {
      BestLevel level;
      for_each_cell(table, box, [&](const Piece& piece) { level.add(std::get<Level>(piece)); });
      levels.add(level);
      unknown = level.unknown();
      best.emplace_back(level.best());
    } else if (std::holds_alternative<ElementBits>(any)) {
      std::optional<ElementBits> bits;
      for_each_cell(table, box, [&](const Piece& piece) {
        if (!narrow(bits, std::get<ElementBits>(piece))) unknown = "which widths are said differs";
      });
      best.emplace_back(*bits);
    } else if (std::holds_alternative<Count>(any)) {
      Count least = 0, most = 0;
      for_each_cell(table, box, [&](const Piece& piece) {
        const Count size = std::get<Count>(piece);
        least = least == 0 ? size : std::min(least, size);
        most = std::max(most, size);
      });
      least_tiles.push_back(least);
      best.emplace_back(least == most ? least : kOpenTile);
    } else if (std::holds_alternative<Accelerator>(any)) {
      best.push_back(at(table, first_of(box)));
      for_each_cell(table, box, [&](const Piece& piece) {
        if (piece != best.back()) unknown = "designs differ in more than sizes and what is wired in";
      });
    } else {
      BestRules of_level;
      for_each_cell(table, box, [&](const Piece& piece) { of_level.add(std::get<LevelFlexibility>(piece)); });
      unknown = of_level.unknown();
      best.emplace_back(of_level.best());
    }
    if (!unknown.empty()) return unknown;
  }
  if (levels.systolic_varies()) return std::string("systolic arrays of several sizes have no better end");
  BoxIdeal ideal;
  Accelerator all = put_together(best);
  ideal.least_area_um2 = all.base_area_um2 + levels.least_area_um2();
  levels.move_leakage(all);
  ideal.contradicts = fits_nowhere(all, least_tiles, all_classes_);
  for (Flexibility* family : families_in(all.baseline))
    for (LevelFlexibility& level : family->levels)
      std::erase_if(level.tile.fixed, [](const TileRule::Tile& tile) { return tile.size == kOpenTile; });
  all = freed(all);
  if (!levels.set_arrays(all)) return std::string("arrays made of blocks have no better end");
  all.baseline = {};
  all.partial.clear();
  all.hints = {};
  ideal.accelerator = std::move(all);
  return ideal;
}

std::variant<Accelerator, std::string> SpaceTables::design(std::int64_t design) {
  const std::int64_t point = design / task_.designs_of_point();
  const std::string& name =
      task_.flexibilities[static_cast<std::size_t>(design % task_.designs_of_point() / task_.variants())];
  try {
    Accelerator accelerator = read(task_.positions(point));
    return name == "own" ? accelerator : choose_flexibility(library_, name, std::move(accelerator));
  } catch (const InputError& error) {
    return why(error);
  }
}

}  // namespace pliant::audit
