// SPDX-License-Identifier: Apache-2.0
#include "core/input/load_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/input/cursor.h"
#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

class MappingReader {
 public:
  MappingReader(const Cursor& root, const Layer& layer, const Accelerator& accelerator)
      : root_(root), layer_(layer), accelerator_(accelerator) {}

  MappingFile read() {
    file_.mapping = empty_mapping(layer_, accelerator_);
    if (!root_.only_keys(keys::kMapping, "a mapping: a map with levels")) return file_;
    check_kind(root_, "mapping");
    check_name("accelerator", accelerator_.name);
    check_name("layer", layer_.name);
    if (const auto c = root_.find("description")) c->text();
    if (const auto c = root_.find("factorization")) factorization(*c);
    if (const auto c = root_.require("levels", "a list of {level: NAME, ...}, outermost first")) {
      levels(*c);
      check_product(*c);
    }
    if (const auto c = root_.find("padded")) padded(*c);
    return file_;
  }

 private:
  void check_name(std::string_view key, const std::string& wanted) const {
    const auto c = root_.find(key);
    const auto given = c ? c->text() : std::nullopt;
    if (given && *given != wanted) {
      c->problem(fmt::format("the mapping is for the {} {}", key, c->node().describe()),
                 fmt::format("`{}`, or no such key", wanted));
    }
  }

  void factorization(const Cursor& c) {
    std::vector<std::string> known;
    for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                     Factorization::kRuby, Factorization::kPadding}) {
      known.emplace_back(to_string(rule));
    }
    const auto text = c.text("one of " + join(known));
    if (!text) return;
    const auto rule = parse_factorization(*text);
    if (rule) {
      file_.factorization = *rule;
    } else {
      c.problem("unknown value " + c.node().describe(), "one of " + join(known), nearest(*text, known));
    }
  }

  void levels(const Cursor& list) {
    if (!list.expect_list("a list of {level: NAME, ...}, outermost first")) return;
    std::set<int> seen;
    int last = -1;
    for (const Cursor& item : list.items()) {
      if (!item.only_keys(keys::kMappingLevel, "{level: NAME, ...}")) continue;
      const auto name = item.require("level", "the name of a level");
      const auto text = name ? name->text("the name of a level") : std::nullopt;
      if (!text) continue;
      const int index = accelerator_.find_level(*text);
      if (index < 0) {
        std::vector<std::string> known;
        for (const Level& level : accelerator_.levels) known.push_back(level.name);
        name->problem(fmt::format("the accelerator {} has no level {}", accelerator_.name, name->node().describe()),
                      "one of " + join(known), nearest(*text, known));
        continue;
      }
      if (!seen.insert(index).second) {
        name->problem(fmt::format("a second entry for {}", *text), "each level once");
        continue;
      }
      if (index < last)
        name->problem(fmt::format("{} stands before its outer level", *text),
                      "the accelerator's order, outermost first");
      last = std::max(last, index);
      read_level(item, accelerator_.levels[static_cast<std::size_t>(index)],
                 file_.mapping.levels[static_cast<std::size_t>(index)]);
    }
  }

  void read_level(const Cursor& item, const Level& level, LevelMapping& mapping) const {
    const auto only_for = [&](std::string_view key, bool fits, std::string_view kind) {
      const auto c = item.find(key);
      if (c && !fits)
        c->problem(fmt::format("{} is not a {}", level.name, kind), fmt::format("`{}` at a {} only", key, kind));
      return c && fits ? c : std::nullopt;
    };
    if (const auto c = only_for("temporal", level.is_memory(), "memory")) {
      for (const auto& [dim, bound] : loops(*c)) mapping.temporal.push_back({dim, bound});
    }
    if (const auto c = only_for("rows", level.is_fanout(), "fanout")) {
      for (const auto& [dim, bound] : loops(*c)) mapping.spatial.push_back({dim, bound, Side::kRows});
    }
    if (const auto c = only_for("cols", level.is_fanout(), "fanout")) {
      for (const auto& [dim, bound] : loops(*c)) mapping.spatial.push_back({dim, bound, Side::kCols});
    }
    if (const auto c = only_for("keeps", level.is_memory(), "memory")) mapping.keeps = keeps(*c);
  }

  /// Iterations of the whole nest fit a Count, so nobody who multiplies bounds has to look.
  void check_product(const Cursor& list) const {
    Count product = 1;
    bool fits = true;
    const auto multiply = [&](Count bound) {
      const Count next = checked_multiply(product, bound).value_or(kMaxCount);
      fits = fits && next < kMaxCount;
      if (fits) product = next;
    };
    for (const LevelMapping& level : file_.mapping.levels) {
      for (const Loop& loop : level.temporal) multiply(loop.bound);
      for (const SpatialLoop& loop : level.spatial) multiply(loop.bound);
    }
    if (!fits) list.problem("the bounds of all loops multiply to too many iterations", "fewer than 2^62");
  }

  std::optional<int> dim(const Cursor& at, const std::string& name, const Position& where) const {
    const int index = layer_.find_dim(name);
    if (index >= 0) return index;
    std::vector<std::string> known;
    for (const Dim& d : layer_.dims) known.push_back(d.name);
    at.problems().add(where, at.path(), fmt::format("the layer {} has no dim `{}`", layer_.name, shorten(name, 40)),
                      "one of " + join(known), nearest(name, known));
    return std::nullopt;
  }

  /// [{Q: 2}, {P: 2}], outermost first; bounds of 1 do nothing and are left out.
  std::vector<Loop> loops(const Cursor& list) const {
    std::vector<Loop> all;
    if (!list.expect_list("a list of loops such as [{Q: 2}, {P: 4}], outermost first")) return all;
    if (list.node().items.size() > 1000) {
      list.problem(fmt::format("{} loops", list.node().items.size()), "at most 1000");
      return all;
    }
    for (const Cursor& item : list.items()) {
      if (!item.expect_map("one loop such as {Q: 2}")) continue;
      if (item.node().entries.size() != 1) {
        item.problem(fmt::format("{} loops in one item, which have no order", item.node().entries.size()),
                     "one loop such as {Q: 2}");
        continue;
      }
      const Cursor value = item.entries()[0];
      const auto index = dim(value, item.entry(0).key, item.entry(0).at);
      const auto bound = value.count(1, kMaxCount - 1);
      if (index && bound && *bound > 1) all.push_back({*index, *bound});
    }
    return all;
  }

  TensorSet keeps(const Cursor& list) const {
    TensorSet set = 0;
    if (!list.expect_list("a list of tensors")) return set;
    for (const Cursor& item : list.items()) {
      const auto name = item.text("the name of a tensor");
      if (!name) continue;
      const int index = layer_.find_tensor(*name);
      if (index < 0) {
        std::vector<std::string> known;
        for (const Tensor& tensor : layer_.tensors) known.push_back(tensor.name);
        item.problem(fmt::format("the layer {} has no tensor {}", layer_.name, item.node().describe()),
                     "one of " + join(known), nearest(*name, known));
        continue;
      }
      const TensorSet bit = TensorSet{1} << index;
      if ((set & bit) != 0) item.problem(fmt::format("{} is listed twice", *name), "each tensor once");
      set |= bit;
    }
    return set;
  }

  void padded(const Cursor& c) {
    if (!c.expect_map("a map from dims to padded sizes")) return;
    if (file_.factorization != Factorization::kPadding) {
      return c.problem(fmt::format("padded sizes with factorization {}", to_string(file_.factorization)),
                       "factorization: padding");
    }
    for (const Dim& d : layer_.dims) file_.mapping.padded.push_back(d.size);
    const std::vector<Cursor> values = c.entries();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto index = dim(values[i], c.entry(i).key, c.entry(i).at);
      if (!index) continue;
      const Count size = layer_.dims[static_cast<std::size_t>(*index)].size;
      if (const auto value = values[i].count(size, kMaxCount - 1))
        file_.mapping.padded[static_cast<std::size_t>(*index)] = *value;
    }
    Count product = 1;
    for (const Count size : file_.mapping.padded) {
      const auto next = checked_multiply(product, size);
      if (!next || *next >= kMaxCount)
        return c.problem("the padded sizes multiply to too many MACs", "fewer than 2^62");
      product = *next;
    }
  }

  const Cursor& root_;
  const Layer& layer_;
  const Accelerator& accelerator_;
  MappingFile file_;
};

}  // namespace

MappingFile load_mapping(const std::filesystem::path& file, const Layer& layer, const Accelerator& accelerator) {
  return parse_mapping_text(read_source(file), file.string(), layer, accelerator);
}

MappingFile parse_mapping_text(std::string_view text, std::string_view name, const Layer& layer,
                               const Accelerator& accelerator) {
  Diagnostics problems;
  const YamlNode tree = parse_yaml(text, name, problems);
  const Cursor root(tree, "", problems);
  MappingFile file = MappingReader(root, layer, accelerator).read();
  problems.throw_if_any();
  return file;
}

}  // namespace pliant
