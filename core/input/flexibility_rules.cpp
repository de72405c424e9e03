// SPDX-License-Identifier: Apache-2.0
#include "core/input/flexibility_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/flexibility_class.h"
#include "core/input/residents_block.h"
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

  void fusion(const Cursor& c, const Level&, FusionRule& rule) const {
    constexpr std::array<std::string_view, 2> kWords{"any", "none"};
    rule = {};
    if (c.node().is_scalar()) {
      const auto word = c.choice(kWords);
      rule.tiles = !word || *word == 0;
      return;
    }
    if (!c.only_keys(keys::kFusionRule, "any, none or {dims: [DIM], depth: LOOPS}")) return;
    if (const auto dims = c.find("dims")) {
      rule.dims = dim_list(*dims, "a list of dims");
      if (rule.dims && rule.dims->empty()) dims->problem("no dim at all", "none, or at least one dim");
    }
    if (const auto depth = c.find("depth")) rule.depth = static_cast<int>(depth->count(1, kMaxDims).value_or(1));
    if (!c.find("dims") && !c.find("depth")) c.problem("an empty rule", "any, none or {dims: [DIM], depth: LOOPS}");
  }

  /// Calls `read` for every level named in a block such as `tiles:`.
  template <class Rules, class Read>
  void by_level(const Cursor& block, bool memories, Rules& rules, Read read) const {
    if (block.node().is_scalar()) return by_word(block, memories, rules, read);
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
  /// One word instead of a map: the rule of all memories, or of all fanouts.
  template <class Rules, class Read>
  void by_word(const Cursor& word, bool memories, Rules& rules, Read read) const {
    const std::size_t before = word.problems().size();
    for (std::size_t l = 0; l < accelerator_.levels.size() && word.problems().size() == before; ++l) {
      const Level& one = accelerator_.levels[l];
      if (memories ? one.is_memory() : one.is_fanout()) (this->*read)(word, one, rules[l]);
    }
  }

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
      if (!memory.may_keep[r] && shares[r] > 0 && !lives_on_chip(accelerator_.levels, r)) {
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

}  // namespace

void read_axes(const Cursor& block, const Accelerator& accelerator, std::optional<Operation> family, bool keep_others,
               Flexibility& flexibility) {
  const RuleReader reader(accelerator, family ? dims_of(*family) : Keys{}, !family);
  const auto read = [&](std::string_view key, auto LevelFlexibility::*axis, bool of_memories, auto rule) {
    const auto c = block.find(key);
    if (!c) return;
    if (!keep_others || c->node().entries.empty())
      for (LevelFlexibility& level : flexibility.levels) level.*axis = {};
    reader.by_level(*c, of_memories, flexibility.levels, rule);
  };
  read("tiles", &LevelFlexibility::tile, true, &RuleReader::tiles);
  read("orders", &LevelFlexibility::order, true, &RuleReader::orders);
  read("loops", &LevelFlexibility::loops, true, &RuleReader::loops);
  read("parallel", &LevelFlexibility::parallel, false, &RuleReader::parallel);
  read("shape", &LevelFlexibility::shape, false, &RuleReader::shape);
}

void read_fusion(const Cursor& block, const Accelerator& accelerator, bool keep_others,
                 std::vector<FusionRule>& rules) {
  if (!keep_others || block.node().entries.empty()) rules.clear();
  rules.resize(accelerator.levels.size());
  RuleReader(accelerator, {}, true).by_level(block, true, rules, &RuleReader::fusion);
}

}  // namespace pliant
