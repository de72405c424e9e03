// SPDX-License-Identifier: Apache-2.0
#include "core/input/flexibility_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/flexibility_class.h"
#include "core/input/flexibility_rules.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

/// The place of a rule in a block, as near as it exists.
Cursor place_of(const Cursor& block, const RuleProblem& problem) {
  const auto axis = block.find(axis_key(problem.axis));
  if (!axis) return block;
  const auto level = problem.level.empty() ? std::nullopt : axis->find(problem.level);
  const auto block_sizes = level && problem.axis == Axis::kShape ? level->find("block") : std::nullopt;
  return block_sizes ? *block_sizes : level ? *level : *axis;
}

/// Axes that the block says more about need no settings of the accelerator.
LeftOut axes_with_entries(const Cursor& block) {
  LeftOut entries;
  for (std::size_t a = 0; a < kAxisCount; ++a) entries.axes[a] = block.find(axis_key(static_cast<Axis>(a))).has_value();
  entries.fusion = block.find(axis_key(Axis::kFusion)).has_value();
  return entries;
}

std::optional<FlexibilityClass> read_class(const Cursor& c, const Accelerator& accelerator, const LeftOut& entries) {
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
  const auto check = [&](Axis axis, bool wants, bool is) {
    const auto entry = block.find(axis_key(axis));
    const bool said = wants && wanted.degree != FlexibilityClass::Degree::kInFlex;
    if (!entry || said == is) return;
    FlexibilityClass meant = class_of(accelerator, rules);
    entry->problem(fmt::format("the class {} says that the {} {}, and this entry {}", wanted.name(), axis_name(axis),
                               said ? "can change" : "cannot change", is ? "leaves a choice" : "leaves none"),
                   fmt::format("an entry that agrees, or class {}", meant.bits()));
  };
  for (std::size_t a = 0; a < kAxisCount; ++a)
    check(static_cast<Axis>(a), wanted.flexible[a], freedom[a] != Freedom::kFixed);
  check(Axis::kFusion, wanted.fusion, fusion_freedom(accelerator) != Freedom::kFixed);
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
  if (const auto fusion = block.find(axis_key(Axis::kFusion)))
    read_fusion(*fusion, accelerator, false, settings.all.fusion.emplace());
  for (std::size_t f = 0; f < keys::kFamilies.size(); ++f) {
    const auto family = block.find(keys::kFamilies[f]);
    if (!family || !family->only_keys(keys::kClassAxes, "a map of rules")) continue;
    const auto operation = static_cast<Operation>(f);
    settings.by_family[operation] = read_settings(*family, accelerator, operation, settings.of(operation));
  }
  return settings;
}

/// A layer of a family with every dim that the family has; an einsum names its own.
std::optional<Layer> with_every_dim(Operation family) {
  switch (family) {
    case Operation::kConv: return make_conv("", {.B = 2, .M = 4, .C = 4, .P = 2, .Q = 2, .R = 2, .S = 2, .groups = 2});
    case Operation::kDepthwise:
      return make_conv("", {.B = 2, .M = 2, .C = 2, .P = 2, .Q = 2, .R = 2, .S = 2, .groups = 2});
    case Operation::kGemm: return make_gemm("", {.B = 2, .M = 2, .N = 2, .K = 2});
    case Operation::kEinsum: return std::nullopt;
  }
  return std::nullopt;
}

/// Of the orders that keep a tensor still, the one that a baseline means: the loops that move the tensor outside, the
/// others inside, both as the family lists its dims.
std::vector<std::string> canonical_order(const Layer& layer, Role stationary) {
  DimSet moving{};
  for (std::size_t t = 0; t < layer.tensors.size(); ++t)
    if (layer.tensors[t].role == stationary) moving |= layer.coupled(static_cast<int>(t));
  std::vector<std::string> order;
  for (const bool outside : {true, false})
    for (std::size_t d = 0; d < layer.dims.size(); ++d)
      if (((moving >> d & 1U) != 0) == outside) order.push_back(layer.dims[d].name);
  return order;
}

bool names_stationarity(const AxisSettings& settings) {
  return std::ranges::any_of(settings.rules.levels, [](const LevelFlexibility& rules) {
    return rules.order.allowed.size() == 1 && rules.order.allowed[0].stationary;
  });
}

/// `weight-stationary` in a baseline becomes its canonical order, which differs between families.
void choose_canonical_orders(ClassSettings& settings) {
  for (const Operation family : {Operation::kConv, Operation::kGemm, Operation::kDepthwise})
    if (names_stationarity(settings.of(family))) settings.by_family.try_emplace(family, settings.of(family));
  const auto choose = [](AxisSettings& own, const Layer& layer) {
    if (!names_stationarity(own)) return;
    for (LevelFlexibility& rules : own.rules.levels)
      for (OrderPattern& pattern : rules.order.allowed)
        if (pattern.stationary) pattern = {canonical_order(layer, *pattern.stationary), std::nullopt};
  };
  for (auto& [family, own] : settings.by_family)
    if (const auto layer = with_every_dim(family)) choose(own, *layer);
  choose(settings.all, *with_every_dim(Operation::kConv));
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
      complain(Axis::kOrders, "a baseline with several orders",
               "one list of dims, outermost first, or one stationarity");
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
  choose_canonical_orders(accelerator.baseline);
  check_baseline(block, accelerator.baseline.all, accelerator);
  for (const auto& [operation, own] : accelerator.baseline.by_family)
    if (const auto family = block.find(to_string(operation))) check_baseline(*family, own, accelerator);
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
    if (values[i].only_keys(keys::kVariant, "a map of rules"))
      accelerator.partial[name] = read_class_settings(values[i], accelerator);
  }
}

void read_flexibility(const Cursor& block, Keys allowed, Accelerator& accelerator) {
  Accelerator own = accelerator;
  accelerator.flexibility = full_flexibility(accelerator);
  accelerator.flexibility_for.clear();
  accelerator.fusion.clear();
  if (!block.only_keys(allowed, "a map of rules")) return;
  const std::size_t before = block.problems().size();
  std::optional<FlexibilityClass> wanted;
  if (const auto name = block.find("class")) wanted = read_class(*name, accelerator, axes_with_entries(block));
  if (wanted) {
    // What is not an axis comes from the accelerator as it was.
    own = apply_class(std::move(own), *wanted, axes_with_entries(block));
    accelerator.flexibility = std::move(own.flexibility);
    accelerator.flexibility_for = std::move(own.flexibility_for);
    accelerator.fusion = std::move(own.fusion);
  }
  if (const auto fusion = block.find(axis_key(Axis::kFusion)))
    read_fusion(*fusion, accelerator, wanted.has_value(), accelerator.fusion);
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
