// SPDX-License-Identifier: Apache-2.0
#include "core/input/load_flexibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/flexibility_class.h"
#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 3> kStationary{"input-stationary", "weight-stationary", "output-stationary"};
constexpr std::array<std::string_view, 8> kConvDims{"B", "G", "M", "C", "P", "Q", "R", "S"};
constexpr std::array<std::string_view, 4> kGemmDims{"B", "M", "N", "K"};
constexpr std::array<std::string_view, 10> kAllDims{"B", "G", "M", "C", "P", "Q", "R", "S", "N", "K"};

class RuleReader {
 public:
  /// `dims`: the only dims a family has; empty = any name, since a free einsum names its own. Rules for all families
  /// may use the names of all; a list of theirs with one name that none has is a mistake.
  RuleReader(const Accelerator& accelerator, Keys dims, bool all_families)
      : accelerator_(accelerator), dims_(dims), all_families_(all_families) {}

  void tiles(const Cursor& c, const Level& level, LevelFlexibility& rule) const {
    rule.tile = {};
    if (c.node().is_scalar() && c.node().text == "soft") return;
    constexpr std::string_view kExpected =
        "soft, {fixed: {DIM: SIZE}}, {partition: {inputs: SHARE, ...}} or {burst: WORDS}";
    if (!c.only_keys(keys::kTileRule, kExpected)) return;
    const auto fixed = c.find("fixed");
    const auto partition = c.find("partition");
    const auto burst = c.find("burst");
    if (fixed && partition) {
      return c.problem("both fixed and partition", "one of them: a fixed tile needs no partition");
    }
    if (!fixed && !partition && !burst) return c.problem("an empty rule", "soft, fixed, partition or burst");
    if (fixed) fixed_tile(*fixed, rule.tile);
    if (partition) read_partition(*partition, level.memory(), rule.tile);
    if (burst) rule.tile.burst = burst->count().value_or(1);
  }

  void orders(const Cursor& c, const Level&, LevelFlexibility& rule) const {
    rule.order = {};
    if (c.node().is_scalar()) {
      if (c.node().text == "any") return;
      if (auto pattern = order(c)) rule.order.allowed.push_back(std::move(*pattern));
      return;
    }
    if (!c.expect_list("any, or a list of orders such as [[M, C], weight-stationary]")) return;
    if (c.node().items.empty()) return c.problem("no order at all", "any, or at least one order");
    for (const Cursor& item : c.items()) {
      auto pattern = order(item);
      if (!pattern) continue;
      if (std::ranges::find(rule.order.allowed, *pattern) != rule.order.allowed.end()) {
        item.problem("an order that is already in the list", "each order once");
        continue;
      }
      rule.order.allowed.push_back(std::move(*pattern));
    }
  }

  void loops(const Cursor& c, const Level&, LevelFlexibility& rule) const {
    rule.loops = {};
    if (c.node().is_scalar() && c.node().text == "any") return;
    if (auto dims = dim_list(c, "any, or a list of dims")) rule.loops.dims = std::move(*dims);
  }

  void parallel(const Cursor& c, const Level&, LevelFlexibility& rule) const {
    constexpr std::string_view kExpected = "any, {rows: [DIM], cols: [DIM]}, or a list of such";
    const std::vector<Assignment> before = std::exchange(rule.parallel, {}).assignments;
    if (c.node().is_scalar() && c.node().text == "any") return;
    if (c.node().is_sequence()) return assignments(c, rule.parallel);
    if (!c.only_keys(keys::kParallelRule, kExpected)) return;
    if (const auto most = c.find("max_dims_per_side")) {
      rule.parallel.max_dims_per_side = static_cast<int>(most->count(1, kMaxDims).value_or(1));
    }
    const bool sides = c.find("rows") || c.find("cols");
    const auto any_of = c.find("any_of");
    if (sides && any_of) return c.problem("both any_of and rows or cols", "one or the other");
    if (any_of && any_of->expect_list("a list of {rows: [DIM], cols: [DIM]}")) assignments(*any_of, rule.parallel);
    if (sides) rule.parallel.assignments.push_back(assignment(c));
    if (!sides && !any_of) rule.parallel.assignments = before;
    if (!sides && !any_of && !c.find("max_dims_per_side")) c.problem("an empty rule", std::string(kExpected));
  }

  void shape(const Cursor& c, const Level&, LevelFlexibility& rule) const {
    constexpr std::array<std::string_view, 2> kWords{"fixed", "free"};
    rule.shape = {};
    if (c.node().is_scalar()) {
      if (c.node().text == kWords[1]) rule.shape.kind = ShapeRule::Kind::kFree;
      if (std::ranges::find(kWords, std::string_view(c.node().text)) == kWords.end()) {
        c.problem("unknown value " + c.node().describe(), "fixed, free or {block: [ROWS, COLS]}",
                  nearest(c.node().text, to_words(kWords)));
      }
      return;
    }
    if (!c.only_keys(keys::kShapeRule, "fixed, free or {block: [ROWS, COLS]}")) return;
    const auto block = c.require("block", "[ROWS, COLS]");
    if (!block || !block->expect_list("[ROWS, COLS]")) return;
    const auto sides = block->items();
    if (sides.size() != 2) return block->problem(fmt::format("{} numbers", sides.size()), "[ROWS, COLS]");
    const auto rows = sides[0].count(), cols = sides[1].count();
    if (!rows || !cols) return;
    rule.shape = {ShapeRule::Kind::kBlocks, *rows, *cols};
  }

  /// Calls `read` for every level named in a block such as `tiles:`.
  template <class Read>
  void by_level(const Cursor& block, bool memories, std::vector<LevelFlexibility>& rules, Read read) const {
    if (!block.expect_map(memories ? "a map from memories to rules" : "a map from fanouts to rules")) return;
    const std::vector<Cursor> values = block.entries();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const YamlEntry& entry = block.entry(i);
      const int index = accelerator_.find_level(entry.key);
      const std::string_view kind = memories ? "memory" : "fanout";
      const bool fits = index >= 0 && (memories ? level(index).is_memory() : level(index).is_fanout());
      if (!fits) {
        const std::vector<std::string> known = names(memories);
        block.problems().add(entry.at, values[i].path(),
                             index < 0 ? fmt::format("no level `{}`", shorten(entry.key, 40))
                                       : fmt::format("`{}` is not a {}", entry.key, kind),
                             known.empty() ? fmt::format("a {}, and the accelerator has none", kind)
                                           : fmt::format("a {}: {}", kind, join(known)),
                             nearest(entry.key, known));
        continue;
      }
      (this->*read)(values[i], level(index), rules[static_cast<std::size_t>(index)]);
    }
  }

 private:
  const Level& level(int index) const { return accelerator_.levels[static_cast<std::size_t>(index)]; }

  std::vector<std::string> names(bool memories) const {
    std::vector<std::string> all;
    for (const Level& level : accelerator_.levels) {
      if (memories ? level.is_memory() : level.is_fanout()) all.push_back(level.name);
    }
    return all;
  }

  std::optional<std::string> dim(const Cursor& c) const {
    const auto name = c.name();
    if (name && !check_dim(c.node().at, c, *name)) return std::nullopt;
    return name;
  }

  /// Names beside known ones that no family has.
  void check_mixture(const Cursor& c, const std::vector<std::string>& names, const std::vector<Position>& at) const {
    if (!all_families_) return;
    const auto known = [](const std::string& name) { return std::ranges::find(kAllDims, name) != kAllDims.end(); };
    if (std::ranges::none_of(names, known)) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (known(names[i])) continue;
      c.problems().add(at[i], c.path(),
                       fmt::format("no family has a dim `{}` beside the others", shorten(names[i], 40)),
                       "names among " + join(kAllDims) + "; those of a free einsum under `einsum`");
    }
  }

  bool check_dim(const Position& at, const Cursor& c, const std::string& name) const {
    if (dims_.empty() || std::ranges::find(dims_, std::string_view(name)) != dims_.end()) return true;
    c.problems().add(at, c.path(), fmt::format("this family has no dim `{}`", shorten(name, 40)),
                     "one of " + join(dims_));
    return false;
  }

  std::optional<std::vector<std::string>> dim_list(const Cursor& c, std::string_view expected) const {
    if (!c.expect_list(expected)) return std::nullopt;
    std::vector<std::string> list;
    std::vector<Position> at;
    for (const Cursor& item : c.items()) {
      const auto name = dim(item);
      if (!name) continue;
      if (std::ranges::find(list, *name) != list.end()) {
        item.problem(fmt::format("the dim {} is repeated", *name), "each dim once");
        continue;
      }
      list.push_back(*name);
      at.push_back(item.node().at);
    }
    check_mixture(c, list, at);
    return list;
  }

  std::optional<OrderPattern> order(const Cursor& c) const {
    if (c.node().is_scalar()) {
      const auto word = c.choice(kStationary);
      if (!word) return std::nullopt;
      return OrderPattern{{}, static_cast<Role>(*word)};
    }
    auto dims = dim_list(c, "a list of dims, outermost first, or " + join(kStationary, " | "));
    if (!dims) return std::nullopt;
    if (dims->empty()) {
      if (c.node().items.empty()) c.problem("an order without dims", "a list of dims, outermost first");
      return std::nullopt;
    }
    return OrderPattern{std::move(*dims), std::nullopt};
  }

  void fixed_tile(const Cursor& c, TileRule& rule) const {
    if (!c.expect_map("a map from dims to sizes")) return;
    if (c.node().entries.empty()) return c.problem("an empty tile", "a map from dims to sizes");
    const std::vector<Cursor> values = c.entries();
    std::vector<std::string> names;
    std::vector<Position> at;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string& name = c.entry(i).key;
      names.push_back(name);
      at.push_back(c.entry(i).at);
      if (!is_name(name)) {
        c.problems().add(c.entry(i).at, values[i].path(), "not the name of a dim", "letters and digits");
        continue;
      }
      const bool known = check_dim(c.entry(i).at, values[i], name);
      const auto size = values[i].count();
      if (known && size) rule.fixed.push_back({name, *size});
    }
    check_mixture(c, names, at);
  }

  void read_partition(const Cursor& c, const Memory& memory, TileRule& rule) const {
    constexpr std::string_view kExpected = "{inputs: SHARE, weights: SHARE, outputs: SHARE} or I:W:O such as 2:1:1";
    std::array<double, kRoles> shares{};
    if (c.node().is_scalar()) {
      if (!shorthand_partition(c, shares))
        return c.problem(c.node().describe() + " is not a partition", std::string(kExpected));
    } else {
      const std::size_t before = c.problems().size();
      if (!c.only_keys(keys::kRoleNames, kExpected) || c.problems().size() != before) return;
      for (std::size_t r = 0; r < kRoles; ++r) {
        if (const auto share = c.find(keys::kRoleNames[r])) {
          const auto value = memory.may_keep[r] ? share->positive_real() : share->real();
          if (!value) return;
          shares[r] = *value;
        }
      }
    }
    for (std::size_t r = 0; r < kRoles; ++r) {
      if (memory.may_keep[r] && !(shares[r] > 0)) {
        return c.problem(fmt::format("no share for {}, which this memory keeps", keys::kRoleNames[r]),
                         "a share above 0");
      }
      if (!memory.may_keep[r] && shares[r] > 0) {
        return c.problem(fmt::format("a share for {}, which this memory does not keep", keys::kRoleNames[r]),
                         "no share");
      }
    }
    rule.partition = shares;
  }

  static bool shorthand_partition(const Cursor& c, std::array<double, kRoles>& shares) {
    std::string_view text = c.node().text;
    for (std::size_t r = 0; r < kRoles; ++r) {
      const std::size_t end = r + 1 < kRoles ? text.find(':') : text.size();
      if (end == std::string_view::npos) return false;
      const Parsed<double> value = parse_real(text.substr(0, end));
      if (!std::holds_alternative<double>(value) || std::get<double>(value) < 0) return false;
      shares[r] = std::get<double>(value);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
  }

  Assignment assignment(const Cursor& c) const {
    Assignment one;
    if (const auto rows = c.find("rows"))
      one.rows = dim_list(*rows, "a list of dims").value_or(std::vector<std::string>{});
    if (const auto cols = c.find("cols"))
      one.cols = dim_list(*cols, "a list of dims").value_or(std::vector<std::string>{});
    return one;
  }

  void assignments(const Cursor& list, ParallelRule& rule) const {
    if (list.node().items.empty())
      return list.problem("no assignment at all", "any, or at least one {rows: [DIM], cols: [DIM]}");
    for (const Cursor& item : list.items()) {
      if (!item.only_keys(keys::kAssignment, "{rows: [DIM], cols: [DIM]}")) continue;
      Assignment one = assignment(item);
      if (std::ranges::find(rule.assignments, one) != rule.assignments.end()) {
        item.problem("an assignment that is already in the list", "each assignment once");
        continue;
      }
      rule.assignments.push_back(std::move(one));
    }
  }

  const Accelerator& accelerator_;
  Keys dims_;
  bool all_families_;
};

Keys dims_of(Operation operation) {
  switch (operation) {
    case Operation::kConv:
    case Operation::kDepthwise: return kConvDims;
    case Operation::kGemm: return kGemmDims;
    case Operation::kEinsum: return {};
  }
  return {};
}

/// The five axis keys of a block. A key present replaces all rules of its axis; those of a class only at the levels it
/// names, unless it names none.
void read_axes(const Cursor& block, const Accelerator& accelerator, std::optional<Operation> family, bool keep_others,
               Flexibility& flexibility) {
  const RuleReader reader(accelerator, family ? dims_of(*family) : Keys{}, !family);
  const auto reset = [&](const Cursor& c, auto LevelFlexibility::*axis) {
    if (keep_others && !c.node().entries.empty()) return;
    for (LevelFlexibility& rule : flexibility.levels) rule.*axis = {};
  };
  if (const auto c = block.find("tiles")) {
    reset(*c, &LevelFlexibility::tile);
    reader.by_level(*c, true, flexibility.levels, &RuleReader::tiles);
  }
  if (const auto c = block.find("orders")) {
    reset(*c, &LevelFlexibility::order);
    reader.by_level(*c, true, flexibility.levels, &RuleReader::orders);
  }
  if (const auto c = block.find("loops")) {
    reset(*c, &LevelFlexibility::loops);
    reader.by_level(*c, true, flexibility.levels, &RuleReader::loops);
  }
  if (const auto c = block.find("parallel")) {
    reset(*c, &LevelFlexibility::parallel);
    reader.by_level(*c, false, flexibility.levels, &RuleReader::parallel);
  }
  if (const auto c = block.find("shape")) {
    reset(*c, &LevelFlexibility::shape);
    reader.by_level(*c, false, flexibility.levels, &RuleReader::shape);
  }
}

/// The place of a rule in a block, as near as it exists.
Cursor place_of(const Cursor& block, const RuleProblem& problem) {
  const auto axis = block.find(axis_key(problem.axis));
  if (!axis) return block;
  const auto level = problem.level.empty() ? std::nullopt : axis->find(problem.level);
  const auto block_sizes = level && problem.axis == Axis::kShape ? level->find("block") : std::nullopt;
  return block_sizes ? *block_sizes : level ? *level : *axis;
}

/// Axes that the block says more about need no settings of the accelerator.
PerAxis<bool> axes_with_entries(const Cursor& block) {
  PerAxis<bool> entries{};
  for (std::size_t a = 0; a < kAxisCount; ++a) entries[a] = block.find(axis_key(static_cast<Axis>(a))).has_value();
  return entries;
}

std::optional<FlexibilityClass> read_class(const Cursor& c, const Accelerator& accelerator,
                                           const PerAxis<bool>& entries) {
  const auto text = c.text(kClassSpelling);
  if (!text) return std::nullopt;
  const auto wanted = parse_flexibility_class(*text);
  if (!wanted) {
    c.problem(fmt::format("{} is not a class", c.node().describe()), std::string(kClassSpelling));
    return std::nullopt;
  }
  if (const auto problem = class_problem(accelerator, *wanted, entries)) {
    c.problem(problem->what, problem->expected);
    return std::nullopt;
  }
  return wanted;
}

/// The entries refine a class; they may not make a fixed axis flexible or the other way round.
void check_class(const Cursor& block, const Accelerator& accelerator, const FlexibilityClass& wanted,
                 const Flexibility& rules) {
  const PerAxis<Freedom> freedom = axis_freedom(accelerator, rules);
  for (std::size_t a = 0; a < kAxisCount; ++a) {
    const auto axis = static_cast<Axis>(a);
    const auto entry = block.find(axis_key(axis));
    const bool said = wanted.flexible[a] && wanted.degree != FlexibilityClass::Degree::kInFlex;
    const bool is = freedom[a] != Freedom::kFixed;
    if (!entry || said == is) continue;
    FlexibilityClass meant = class_of(accelerator, rules);
    entry->problem(fmt::format("the class {} says that the {} {}, and this entry {}", wanted.name(), axis_name(axis),
                               said ? "can change" : "cannot change", is ? "leaves a choice" : "leaves none"),
                   fmt::format("an entry that agrees, or class {}", meant.bits()));
  }
}

AxisSettings read_settings(const Cursor& block, const Accelerator& accelerator, std::optional<Operation> family,
                           AxisSettings start) {
  start.rules.levels.resize(accelerator.levels.size());
  read_axes(block, accelerator, family, false, start.rules);
  for (std::size_t a = 0; a < kAxisCount; ++a)
    start.given[a] = start.given[a] || block.find(axis_key(static_cast<Axis>(a))).has_value();
  return start;
}

ClassSettings read_class_settings(const Cursor& block, const Accelerator& accelerator) {
  ClassSettings settings;
  settings.all = read_settings(block, accelerator, std::nullopt, {});
  for (std::size_t f = 0; f < keys::kFamilies.size(); ++f) {
    const auto family = block.find(keys::kFamilies[f]);
    if (!family || !family->only_keys(keys::kClassAxes, "a map of rules")) continue;
    const auto operation = static_cast<Operation>(f);
    settings.by_family[operation] = read_settings(*family, accelerator, operation, settings.of(operation));
  }
  return settings;
}

/// A baseline has one choice on every axis that it gives.
void check_baseline(const Cursor& block, const AxisSettings& settings, const Accelerator& accelerator) {
  for (std::size_t k = 0; k < settings.rules.levels.size(); ++k) {
    const LevelFlexibility& rules = settings.rules.levels[k];
    const std::string& level = accelerator.levels[k].name;
    const auto complain = [&](Axis axis, std::string what, std::string expected) {
      const Cursor place = place_of(block, {axis, level, "", ""});
      if (place.path() != block.path()) place.problem(std::move(what), std::move(expected));
    };
    if (rules.tile.partition) complain(Axis::kTiles, "a baseline with any tile in a partition", "{fixed: {DIM: SIZE}}");
    if (rules.tile.burst > 1 && rules.tile.fixed.empty())
      complain(Axis::kTiles, "a baseline with any tile of whole bursts", "{fixed: {DIM: SIZE}}");
    if (rules.order.allowed.size() > 1 || (!rules.order.allowed.empty() && rules.order.allowed[0].stationary))
      complain(Axis::kOrders, "a baseline with several orders", "one list of dims, outermost first");
    const auto& ways = rules.parallel.assignments;
    if (ways.size() > 1 || (!ways.empty() && std::max(ways[0].rows.size(), ways[0].cols.size()) > 1))
      complain(Axis::kParallel, "a baseline with several assignments", "one dim for each side");
    if (rules.shape.kind != ShapeRule::Kind::kFixed)
      complain(Axis::kShape, "a baseline whose array has no fixed shape", "fixed");
  }
}

}  // namespace

Flexibility full_flexibility(const Accelerator& accelerator) {
  Flexibility full;
  full.levels.resize(accelerator.levels.size());
  return full;
}

void read_baseline(const Cursor& block, Accelerator& accelerator) {
  if (!block.only_keys(keys::kBaseline, "a map of rules")) return;
  accelerator.baseline = read_class_settings(block, accelerator);
  check_baseline(block, accelerator.baseline.all, accelerator);
  for (const auto& [operation, own] : accelerator.baseline.by_family)
    check_baseline(*block.find(to_string(operation)), own, accelerator);
}

void read_partial(const Cursor& block, Accelerator& accelerator) {
  if (!block.only_keys(keys::kPartial, "a map of rules")) return;
  accelerator.partial[""] = read_class_settings(block, accelerator);
  const auto variants = block.find("variants");
  if (!variants || !variants->expect_map("a map from names such as B to rules")) return;
  const std::vector<Cursor> values = variants->entries();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = variants->entry(i).key;
    if (!is_name(name)) {
      variants->problems().add(variants->entry(i).at, values[i].path(), "not a name", "letters and digits such as B");
      continue;
    }
    if (values[i].only_keys(keys::kBaseline, "a map of rules"))
      accelerator.partial[name] = read_class_settings(values[i], accelerator);
  }
}

void read_flexibility(const Cursor& block, Keys allowed, Accelerator& accelerator) {
  Accelerator own = accelerator;
  accelerator.flexibility = full_flexibility(accelerator);
  accelerator.flexibility_for.clear();
  if (!block.only_keys(allowed, "a map of rules")) return;
  const std::size_t before = block.problems().size();
  std::optional<FlexibilityClass> wanted;
  if (const auto name = block.find("class")) wanted = read_class(*name, accelerator, axes_with_entries(block));
  if (wanted) {
    // What is no axis comes from the accelerator as it was.
    own = apply_class(std::move(own), *wanted, axes_with_entries(block));
    accelerator.flexibility = std::move(own.flexibility);
    accelerator.flexibility_for = std::move(own.flexibility_for);
  }
  read_axes(block, accelerator, std::nullopt, wanted.has_value(), accelerator.flexibility);
  if (block.problems().size() != before) return;
  for (auto& [operation, rules] : accelerator.flexibility_for)
    read_axes(block, accelerator, std::nullopt, wanted.has_value(), rules);
  for (std::size_t f = 0; f < keys::kFamilies.size(); ++f) {
    const auto family = block.find(keys::kFamilies[f]);
    if (!family || !family->only_keys(keys::kAxisRules, "a map of rules")) continue;
    const auto operation = static_cast<Operation>(f);
    Flexibility rules = accelerator.flexibility_of(operation);
    read_axes(*family, accelerator, operation, wanted.has_value(), rules);
    accelerator.flexibility_for[operation] = std::move(rules);
  }
  if (block.problems().size() != before) return;
  for (const RuleProblem& problem : rule_problems(accelerator, accelerator.flexibility))
    place_of(block, problem).problem(problem.what, problem.expected);
  if (wanted) check_class(block, accelerator, *wanted, accelerator.flexibility);
  for (const auto& [operation, rules] : accelerator.flexibility_for) {
    const auto family = block.find(to_string(operation));
    if (!family || block.problems().size() != before) continue;
    for (const RuleProblem& problem : rule_problems(accelerator, rules))
      place_of(*family, problem).problem(problem.what, problem.expected);
    if (wanted) check_class(*family, accelerator, *wanted, rules);
  }
}

}  // namespace pliant
