// SPDX-License-Identifier: Apache-2.0
#include "core/flexibility_class.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/wide.h"

namespace pliant {

namespace {

constexpr PerAxis<Axis> kAxesInOrder{Axis::kTiles, Axis::kOrders, Axis::kParallel, Axis::kShape};
constexpr std::array<std::string_view, 3> kDegrees{"InFlex-", "PartFlex-", "FullFlex-"};
constexpr std::array<std::string_view, 6> kConvLoops{"M", "C", "P", "Q", "R", "S"};
constexpr std::array<std::string_view, 3> kGemmLoops{"M", "N", "K"};

std::size_t index(Axis axis) { return static_cast<std::size_t>(axis); }

bool is_bits(std::string_view text) {
  return text.size() == kAxisCount && std::ranges::all_of(text, [](char c) { return c == '0' || c == '1'; });
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Are these all the loops of a convolution, or of a GEMM?
bool names_a_whole_nest(const std::vector<std::string>& names) {
  const auto all = [&](const auto& loops) {
    return std::ranges::all_of(loops, [&](std::string_view dim) { return has(names, dim); });
  };
  return all(kConvLoops) || all(kGemmLoops);
}

/// Does a rule about these dims leave none of the loops at this memory free?
bool covers(const std::vector<std::string>& names, const LoopRule& loops) {
  if (!loops.dims) return names_a_whole_nest(names);
  return std::ranges::all_of(*loops.dims, [&](const std::string& dim) { return has(names, dim); });
}

Freedom tile_freedom(const LevelFlexibility& rules) {
  if (rules.tile.partition) return Freedom::kPartial;
  if (rules.tile.fixed.empty()) return rules.tile.burst > 1 ? Freedom::kPartial : Freedom::kFull;
  std::vector<std::string> dims;
  for (const TileRule::Tile& tile : rules.tile.fixed) dims.push_back(tile.dim);
  return covers(dims, rules.loops) ? Freedom::kFixed : Freedom::kPartial;
}

Freedom order_freedom(const LevelFlexibility& rules) {
  const auto& allowed = rules.order.allowed;
  if (rules.loops.dims && rules.loops.dims->size() == 1) return Freedom::kFixed;
  if (allowed.empty()) return Freedom::kFull;
  if (allowed.size() > 1 || allowed[0].stationary) return Freedom::kPartial;
  std::vector<std::string> named = allowed[0].dims;
  if (!rules.loops.dims) return covers(named, rules.loops) ? Freedom::kFixed : Freedom::kPartial;
  // One loop that the order does not name can still stand in several places.
  return covers(named, rules.loops) ? Freedom::kFixed : Freedom::kPartial;
}

Freedom parallel_freedom(const ParallelRule& rule) {
  if (rule.assignments.empty()) return Freedom::kFull;
  const Assignment& first = rule.assignments[0];
  const bool one = rule.assignments.size() == 1 && first.rows.size() <= 1 && first.cols.size() <= 1;
  return one ? Freedom::kFixed : Freedom::kPartial;
}

Freedom shape_freedom(const ShapeRule& rule) {
  switch (rule.kind) {
    case ShapeRule::Kind::kFixed: return Freedom::kFixed;
    case ShapeRule::Kind::kBlocks: return Freedom::kPartial;
    case ShapeRule::Kind::kFree: return Freedom::kFull;
  }
  return Freedom::kFull;
}

/// Bits that a tile of these sizes takes at least (stride 1, no dilation); 0 when the dims belong to no known family.
Wide least_bits(const std::vector<TileRule::Tile>& tiles, const Accelerator& accelerator, std::size_t level) {
  const Memory& memory = accelerator.levels[level].memory();
  std::vector<std::string> dims;
  for (const TileRule::Tile& tile : tiles) dims.push_back(tile.dim);
  const auto size = [&](std::string_view dim) {
    const auto at = std::ranges::find(tiles, dim, &TileRule::Tile::dim);
    return at == tiles.end() ? Count{1} : std::min<Count>(at->size, Count{1} << 15);
  };
  Layer layer;
  const bool gemm = has(dims, "N") || has(dims, "K");
  const bool conv =
      std::ranges::any_of(std::array{"C", "P", "Q", "R", "S"}, [&](const char* d) { return has(dims, d); });
  if (gemm == conv) return 0;
  if (gemm) layer = make_gemm("tile", {.M = size("M"), .N = size("N"), .K = size("K")});
  if (conv)
    layer = make_conv("tile",
                      {.M = size("M"), .C = size("C"), .P = size("P"), .Q = size("Q"), .R = size("R"), .S = size("S")});
  Wide bits = 0;
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    const auto role = static_cast<std::size_t>(layer.tensors[x].role);
    if (memory.may_keep[role] && !memory.may_bypass[role])
      bits += static_cast<Wide>(layer.tensor_words(static_cast<int>(x))) *
              accelerator.held_bits(static_cast<int>(level), layer, static_cast<int>(x));
  }
  return bits;
}

/// Can the dim have a loop at this level or inside?
bool can_loop_inside(const Accelerator& accelerator, const Flexibility& flexibility, std::size_t level,
                     const std::string& dim) {
  for (std::size_t k = level; k < accelerator.levels.size(); ++k) {
    const LevelFlexibility& rules = flexibility.levels[k];
    if (accelerator.levels[k].is_memory() && (!rules.loops.dims || has(*rules.loops.dims, dim))) return true;
    if (!accelerator.levels[k].is_fanout()) continue;
    if (rules.parallel.assignments.empty()) return true;
    for (const Assignment& one : rules.parallel.assignments)
      if (has(one.rows, dim) || has(one.cols, dim)) return true;
  }
  return false;
}

/// Copies one axis of the rules; how many dims a side takes is not an axis.
void copy_axis(Axis axis, const Flexibility& from, Flexibility& to) {
  for (std::size_t k = 0; k < to.levels.size(); ++k) {
    const LevelFlexibility& source = from.levels[k];
    LevelFlexibility& target = to.levels[k];
    switch (axis) {
      case Axis::kTiles: target.tile = source.tile; break;
      case Axis::kOrders: target.order = source.order; break;
      case Axis::kParallel: target.parallel.assignments = source.parallel.assignments; break;
      case Axis::kShape: target.shape = source.shape; break;
      case Axis::kFusion: break;  // of the accelerator, not of a family's rules
    }
  }
}

Flexibility fully_flexible(const Accelerator& accelerator) {
  Flexibility full;
  full.levels.resize(accelerator.levels.size());
  for (std::size_t k = 0; k < full.levels.size(); ++k)
    if (accelerator.levels[k].is_fanout() && accelerator.levels[k].fanout().units() > 1)
      full.levels[k].shape.kind = ShapeRule::Kind::kFree;
  return full;
}

/// Where a class finds the rules of one axis for one family (nullopt: for all without their own); nullptr when the
/// accelerator does not say.
const Flexibility* source_of(const Accelerator& accelerator, const FlexibilityClass& wanted, Axis axis,
                             std::optional<Operation> operation, const Flexibility& full, const Flexibility& as_built) {
  const auto settings = [operation](const ClassSettings& from) -> const AxisSettings& {
    return operation ? from.of(*operation) : from.all;
  };
  const bool flexible = wanted.flexible[index(axis)] && wanted.degree != FlexibilityClass::Degree::kInFlex;
  if (flexible && wanted.degree == FlexibilityClass::Degree::kFullFlex) return &full;
  if (flexible) {
    for (const std::string& variant : {wanted.variant, std::string()}) {
      const auto at = accelerator.partial.find(variant);
      if (at != accelerator.partial.end() && settings(at->second).given[index(axis)])
        return &settings(at->second).rules;
    }
    return nullptr;
  }
  const AxisSettings& baseline = settings(accelerator.baseline);
  if (baseline.given[index(axis)]) return &baseline.rules;
  return axis == Axis::kShape ? &as_built : nullptr;  // an array has a shape in any case
}

std::set<Operation> families_with_rules(const Accelerator& accelerator) {
  std::set<Operation> families;
  for (const auto& [operation, rules] : accelerator.flexibility_for) families.insert(operation);
  for (const auto& [operation, rules] : accelerator.baseline.by_family) families.insert(operation);
  for (const auto& [variant, settings] : accelerator.partial)
    for (const auto& [operation, rules] : settings.by_family) families.insert(operation);
  return families;
}

RuleProblem no_settings(const Accelerator& accelerator, const FlexibilityClass& wanted, Axis axis) {
  const bool flexible = axis == Axis::kFusion ? wanted.fusion : wanted.flexible[index(axis)];
  const bool partial = flexible && wanted.degree == FlexibilityClass::Degree::kPartFlex;
  const std::string block = partial ? "partial" : "baseline";
  return {axis, "",
          wanted.name() + " needs " + (partial ? "partial " : "a baseline's ") + std::string(axis_name(axis)) +
              ", and " + accelerator.name + " names none",
          "a block `" + block + ": {" + std::string(axis_key(axis)) + ": ...}` in the accelerator"};
}

struct Applied {
  Flexibility rules;
  std::optional<RuleProblem> problem;
};

Applied applied(const Accelerator& accelerator, const FlexibilityClass& wanted, std::optional<Operation> operation,
                const Flexibility& own, const LeftOut& leave_out) {
  const Flexibility full = fully_flexible(accelerator);
  Flexibility as_built;
  as_built.levels.resize(accelerator.levels.size());
  Applied result{own, std::nullopt};
  result.rules.levels.resize(accelerator.levels.size());
  result.rules.name = wanted.name();
  for (const Axis axis : kAxesInOrder) {
    const Flexibility* source = source_of(accelerator, wanted, axis, operation, full, as_built);
    if (source == nullptr && leave_out.axes[index(axis)]) continue;
    if (source == nullptr) {
      result.problem = no_settings(accelerator, wanted, axis);
      return result;
    }
    copy_axis(axis, *source, result.rules);
  }
  const auto problems = rule_problems(accelerator, result.rules);
  if (!problems.empty()) result.problem = problems[0];
  return result;
}

}  // namespace

std::string FlexibilityClass::bits() const {
  std::string text;
  for (const bool bit : flexible) text += bit ? '1' : '0';
  return fusion ? text + "+F" : text;
}

std::string FlexibilityClass::name() const {
  if (!fusion && std::ranges::none_of(flexible, [](bool bit) { return bit; })) return "InFlex-0000";
  return std::string(kDegrees[static_cast<std::size_t>(degree)]) + bits() + (variant.empty() ? "" : "-" + variant);
}

std::optional<FlexibilityClass> parse_flexibility_class(std::string_view text) {
  FlexibilityClass result;
  for (std::size_t d = 0; d < kDegrees.size(); ++d) {
    if (!text.starts_with(kDegrees[d])) continue;
    result.degree = static_cast<FlexibilityClass::Degree>(d);
    text.remove_prefix(kDegrees[d].size());
    break;
  }
  const std::size_t dash = text.find('-');
  std::string_view bits = text.substr(0, dash);
  result.fusion = bits.ends_with("+F");
  if (result.fusion) bits.remove_suffix(2);
  if (!is_bits(bits)) return std::nullopt;
  for (std::size_t a = 0; a < kAxisCount; ++a) result.flexible[a] = bits[a] == '1';
  if (dash != std::string_view::npos) {
    result.variant = text.substr(dash + 1);
    if (result.variant.empty() || result.degree != FlexibilityClass::Degree::kPartFlex) return std::nullopt;
  }
  return result;
}

bool looks_like_class(std::string_view text) {
  return std::ranges::any_of(kDegrees, [&](std::string_view degree) { return text.starts_with(degree); }) ||
         (!text.empty() &&
          std::ranges::all_of(text.substr(0, text.find('+')), [](char c) { return c >= '0' && c <= '9'; }));
}

std::string_view axis_letter(Axis axis) { return std::string_view("TOPSF").substr(index(axis), 1); }

std::string_view axis_key(Axis axis) {
  constexpr std::array<std::string_view, kAxisCount + 1> kKeys{"tiles", "orders", "parallel", "shape", "fusion"};
  return kKeys[index(axis)];
}

std::string_view axis_name(Axis axis) {
  constexpr std::array<std::string_view, kAxisCount + 1> kNames{"tile sizes", "loop order", "parallel dims",
                                                                "array shape", "fused tiles"};
  return kNames[index(axis)];
}

std::vector<RuleProblem> rule_problems(const Accelerator& accelerator, const Flexibility& flexibility) {
  std::vector<RuleProblem> problems;
  for (std::size_t k = 0; k < flexibility.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    const LevelFlexibility& rules = flexibility.levels[k];
    if (level.is_fanout() && rules.shape.kind == ShapeRule::Kind::kBlocks) {
      const Count units = level.fanout().units();
      if (rules.shape.block_rows > units / rules.shape.block_cols)
        problems.push_back({Axis::kShape, level.name,
                            "a block of " + std::to_string(rules.shape.block_rows) + "x" +
                                std::to_string(rules.shape.block_cols) + " is larger than the " +
                                std::to_string(units) + " units of " + level.name,
                            "a block that the array can be built of"});
    }
    if (!level.is_memory() || rules.tile.fixed.empty()) continue;
    if (const auto& capacity = level.memory().capacity_words) {
      const Count usable = *capacity / std::max(1, level.memory().buffers);
      const int word_bits = level.memory().word_bits;
      const Wide bits = least_bits(rules.tile.fixed, accelerator, k);
      const auto words = static_cast<Count>(bits / word_bits + (bits % word_bits != 0 ? 1 : 0));
      if (words > usable)
        problems.push_back({Axis::kTiles, level.name,
                            "the fixed tile needs " + std::to_string(words) + " words, and " + level.name + " holds " +
                                std::to_string(usable),
                            "a tile that fits"});
    }
    for (const TileRule::Tile& tile : rules.tile.fixed) {
      for (std::size_t outside = 0; outside < k; ++outside)
        for (const TileRule::Tile& larger : flexibility.levels[outside].tile.fixed)
          if (larger.dim == tile.dim && larger.size < tile.size)
            problems.push_back({Axis::kTiles, level.name,
                                "the tile of " + tile.dim + " is fixed at " + std::to_string(tile.size) +
                                    " here and at " + std::to_string(larger.size) + " at " +
                                    accelerator.levels[outside].name + ", which is outside",
                                "tiles that grow outwards"});
      if (tile.size > 1 && !can_loop_inside(accelerator, flexibility, k, tile.dim))
        problems.push_back({Axis::kTiles, level.name,
                            "the tile of " + tile.dim + " is fixed at " + std::to_string(tile.size) + ", but " +
                                tile.dim + " may loop neither at " + level.name + " nor inside",
                            "a tile of 1, or a loop for " + tile.dim});
    }
  }
  return problems;
}

std::optional<RuleProblem> class_problem(const Accelerator& accelerator, const FlexibilityClass& wanted,
                                         const LeftOut& leave_out) {
  if (!wanted.variant.empty() && !accelerator.partial.contains(wanted.variant)) {
    std::string known;
    for (const auto& [variant, settings] : accelerator.partial)
      if (!variant.empty()) known += (known.empty() ? "" : ", ") + variant;
    return RuleProblem{Axis::kTiles, "", accelerator.name + " has no partial variant " + wanted.variant,
                       known.empty() ? "no variant" : "one of " + known};
  }
  if (auto problem = applied(accelerator, wanted, std::nullopt, accelerator.flexibility, leave_out).problem)
    return problem;
  if (!leave_out.fusion && !fusion_of_class(accelerator, wanted))
    return no_settings(accelerator, wanted, Axis::kFusion);
  for (const Operation operation : families_with_rules(accelerator)) {
    const Flexibility& rules = accelerator.flexibility_of(operation);
    if (auto problem = applied(accelerator, wanted, operation, rules, leave_out).problem) return problem;
  }
  return std::nullopt;
}

Accelerator apply_class(Accelerator accelerator, const FlexibilityClass& wanted, const LeftOut& leave_out) {
  std::map<Operation, Flexibility> by_family;
  for (const Operation operation : families_with_rules(accelerator)) {
    const Flexibility& rules = accelerator.flexibility_of(operation);
    by_family[operation] = applied(accelerator, wanted, operation, rules, leave_out).rules;
  }
  accelerator.flexibility = applied(accelerator, wanted, std::nullopt, accelerator.flexibility, leave_out).rules;
  accelerator.flexibility_for = std::move(by_family);
  if (auto fusion = fusion_of_class(accelerator, wanted)) accelerator.fusion = std::move(*fusion);
  return accelerator;
}

PerAxis<Freedom> axis_freedom(const Accelerator& accelerator, const Flexibility& flexibility) {
  PerAxis<Freedom> freedom{};
  freedom.fill(Freedom::kFixed);
  const auto raise = [&freedom](Axis axis, Freedom to) { freedom[index(axis)] = std::max(freedom[index(axis)], to); };
  for (std::size_t k = 0; k < accelerator.levels.size() && k < flexibility.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    const LevelFlexibility& rules = flexibility.levels[k];
    if (level.is_memory()) {
      if (!level.memory().capacity_words) continue;                 // off chip: nothing to build
      if (rules.loops.dims && rules.loops.dims->empty()) continue;  // no loop, no choice
      raise(Axis::kTiles, tile_freedom(rules));
      raise(Axis::kOrders, order_freedom(rules));
    } else if (level.is_fanout() && level.fanout().units() > 1) {
      raise(Axis::kParallel, parallel_freedom(rules.parallel));
      raise(Axis::kShape, shape_freedom(rules.shape));
    }
  }
  return freedom;
}

std::vector<int> tile_homes(const Accelerator& accelerator) {
  std::vector<int> homes;
  for (std::size_t l = 1; l + 1 < accelerator.levels.size() && !accelerator.levels[l].is_fanout(); ++l) {
    if (!accelerator.levels[l].is_memory() || accelerator.levels[l].memory().off_chip) continue;
    const auto& keeps = accelerator.levels[l].memory().may_keep;
    if (keeps[static_cast<std::size_t>(Role::kInput)] && keeps[static_cast<std::size_t>(Role::kOutput)])
      homes.push_back(static_cast<int>(l));
  }
  return homes;
}

std::optional<std::vector<FusionRule>> fusion_of_class(const Accelerator& accelerator, const FlexibilityClass& wanted) {
  std::vector<FusionRule> rules(accelerator.levels.size());
  if (!wanted.fusion || wanted.degree == FlexibilityClass::Degree::kInFlex)
    for (FusionRule& rule : rules) rule.tiles = false;
  else if (wanted.degree == FlexibilityClass::Degree::kPartFlex) {
    for (const std::string& variant : {wanted.variant, std::string()})
      if (const auto at = accelerator.partial.find(variant); at != accelerator.partial.end() && at->second.all.fusion)
        return at->second.all.fusion;
    return std::nullopt;
  }
  return rules;
}

Freedom fusion_freedom(const Accelerator& accelerator) {
  Freedom freedom = Freedom::kFixed;
  for (const int home : tile_homes(accelerator)) {
    const FusionRule rule =
        accelerator.fusion.empty() ? FusionRule{} : accelerator.fusion[static_cast<std::size_t>(home)];
    if (rule.tiles) freedom = std::max(freedom, rule.dims || rule.depth > 0 ? Freedom::kPartial : Freedom::kFull);
  }
  return freedom;
}

FlexibilityClass class_of(const Accelerator& accelerator, const Flexibility& flexibility) {
  const PerAxis<Freedom> of_layers = axis_freedom(accelerator, flexibility);
  std::vector<Freedom> freedom(of_layers.begin(), of_layers.end());
  if (!accelerator.fusion.empty()) freedom.push_back(fusion_freedom(accelerator));
  FlexibilityClass result;
  result.degree = FlexibilityClass::Degree::kInFlex;
  for (std::size_t a = 0; a < kAxisCount; ++a) result.flexible[a] = freedom[a] != Freedom::kFixed;
  result.fusion = freedom.size() > kAxisCount && freedom.back() != Freedom::kFixed;
  if (std::ranges::find(freedom, Freedom::kFull) != freedom.end()) result.degree = FlexibilityClass::Degree::kFullFlex;
  if (std::ranges::find(freedom, Freedom::kPartial) != freedom.end())
    result.degree = FlexibilityClass::Degree::kPartFlex;
  return result;
}

}  // namespace pliant
