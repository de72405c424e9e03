// SPDX-License-Identifier: Apache-2.0
#include "core/input/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/input/cursor.h"
#include "core/input/keys.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

struct LevelKind {
  std::string_view key;
  Keys keys;                                                         ///< of the level's own block
  std::vector<std::pair<std::string_view, std::string_view>> rules;  ///< `--set` word, key of the flexibility block
};

const std::vector<LevelKind>& level_kinds() {
  static const std::vector<LevelKind> kinds{
      {"memory",
       keys::kMemory,
       {{"partition", "tiles"}, {"tiles", "tiles"}, {"orders", "orders"}, {"loops", "loops"}, {"fusion", "fusion"}}},
      {"fanout", keys::kFanout, {{"parallel", "parallel"}, {"shape", "shape"}}},
      {"compute", keys::kCompute, {}}};
  return kinds;
}

/// Top-level blocks that `--set` may change, with how many more words their key path has.
constexpr std::array<std::string_view, 11> kTopKeys{"name", "word_bits", "bits",   "conventions", "technology", "clock",
                                                    "area", "hints",     "vector", "links",       "prediction"};

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> words(1);
  for (const char c : path) {
    if (c == '.') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

class Setter {
 public:
  Setter(YamlNode& root, const Setting& setting, int stage, Diagnostics& problems)
      : root_(root), setting_(setting), problems_(problems) {
    at_.file = std::make_shared<const std::string>(
        fmt::format("--set {}={}", shorten(setting.first, 60), shorten(setting.second, 60)));
    at_.setting = std::make_shared<const std::string>(setting.first);
    stage_ = stage;
  }

  void apply() {
    if (!root_.is_map()) return;
    if (!parse_value()) return;
    const std::vector<std::string> path = split_path(setting_.first);
    if (path.size() == 1 && set_parameter(path[0])) return;
    if (path.size() == 2 && set_level(path[0], path[1])) return;
    if (set_top(path)) return;
    unknown(path);
  }

 private:
  void problem(std::string what, std::string expected = "", std::string did_you_mean = "") const {
    problems_.add(at_, "", std::move(what), std::move(expected), std::move(did_you_mean));
  }

  bool parse_value() {
    if (setting_.second.find_first_not_of(' ') == std::string::npos) {
      problem("no value", "KEY=VALUE");
      return false;
    }
    try {
      value_ = parse_yaml(setting_.second, "", problems_);
    } catch (const InputError& error) {
      problem("the value is " + error.diagnostics().front().what, "a value as in the file");
      return false;
    }
    if (value_.is_null()) {
      problem("no value", "KEY=VALUE");
      return false;
    }
    place(value_);
    return true;
  }

  void place(YamlNode& node) const {
    node.at = at_;
    node.stage = stage_;
    for (YamlNode& item : node.items) place(item);
    for (YamlEntry& entry : node.entries) {
      entry.at = at_;
      place(entry.value);
    }
  }

  bool set_parameter(const std::string& name) {
    YamlNode* parameters = root_.find("parameters");
    YamlNode* parameter = parameters != nullptr && parameters->is_map() ? parameters->find(name) : nullptr;
    if (parameter == nullptr) return false;
    *parameter = value_;
    return true;
  }

  bool set_level(const std::string& name, const std::string& key) {
    YamlNode* levels = root_.find("levels");
    if (levels == nullptr || !levels->is_sequence()) return false;
    for (YamlNode& level : levels->items) {
      for (const LevelKind& kind : level_kinds()) {
        const YamlNode* own = level.find(kind.key);
        if (own == nullptr || own->text != name) continue;
        set_level_key(level, kind, name, key);
        return true;
      }
    }
    return false;
  }

  void set_level_key(YamlNode& level, const LevelKind& kind, const std::string& name, const std::string& key) {
    for (const auto& [word, block] : kind.rules) {
      if (key == word) return set_rule(std::string(block), name, key == "partition");
    }
    if (key != kind.key && std::ranges::find(kind.keys, std::string_view(key)) != kind.keys.end()) {
      // One shared bandwidth and one for each direction exclude each other; the setting wins.
      if (key == "bandwidth") {
        std::erase_if(level.entries,
                      [](const YamlEntry& e) { return e.key == "read_bandwidth" || e.key == "write_bandwidth"; });
      }
      level.value_of(key, at_) = value_;
      return;
    }
    std::vector<std::string> known;
    for (const std::string_view word : kind.keys) {
      if (word != kind.key) known.emplace_back(word);
    }
    for (const auto& rule : kind.rules) known.emplace_back(rule.first);
    problem(fmt::format("the {} {} has no key `{}`", kind.key, name, shorten(key, 40)), "one of " + join(known),
            nearest(key, known));
  }

  /// A rule of one level in the flexibility block, and in every family that has rules of its own for this axis.
  void set_rule(const std::string& block, const std::string& level, bool partition) {
    YamlNode rule = value_;
    if (partition) {
      rule = YamlNode{};
      rule.kind = YamlNode::Kind::kMap;
      rule.value_of("partition", at_) = value_;
      rule.at = at_;
    }
    YamlNode& flexibility = root_.value_of("flexibility", at_);
    if (!flexibility.is_map() && !flexibility.is_null()) return;
    YamlNode& rules = flexibility.value_of(block, at_);
    if (rules.is_map() || rules.is_null()) rules.value_of(level, at_) = rule;
    for (const std::string_view family : keys::kFamilies) {
      YamlNode* own = flexibility.find(family);
      YamlNode* own_rules = own != nullptr && own->is_map() ? own->find(block) : nullptr;
      if (own_rules != nullptr && (own_rules->is_map() || own_rules->is_null())) own_rules->value_of(level, at_) = rule;
    }
  }

  bool set_top(const std::vector<std::string>& path) {
    if (std::ranges::find(kTopKeys, std::string_view(path[0])) == kTopKeys.end() || path.size() > 3) return false;
    YamlNode* node = &root_;
    for (const std::string& word : path) {
      if (!node->is_map() && !node->is_null()) {
        // `conventions: timeloop` is short for `{preset: timeloop}`.
        if (path[0] == "conventions" && node->is_scalar()) {
          YamlNode preset = *node;
          *node = YamlNode{};
          node->at = at_;
          node->value_of("preset", at_) = preset;
        } else {
          return false;
        }
      }
      node = &node->value_of(word, at_);
    }
    *node = value_;
    return true;
  }

  void unknown(const std::vector<std::string>& path) const {
    std::vector<std::string> known;
    if (const YamlNode* parameters = root_.find("parameters"); parameters != nullptr) {
      for (const YamlEntry& entry : parameters->entries) known.push_back(entry.key);
    }
    if (const YamlNode* levels = root_.find("levels"); levels != nullptr) {
      for (const YamlNode& level : levels->items) {
        for (const LevelKind& kind : level_kinds()) {
          const YamlNode* name = level.find(kind.key);
          if (name == nullptr) continue;
          const bool has =
              path.size() == 2 && std::ranges::find(kind.keys, std::string_view(path[1])) != kind.keys.end();
          known.push_back(fmt::format("{}.{}", name->text, has ? path[1] : "KEY"));
        }
      }
    }
    for (const std::string_view key : kTopKeys) known.emplace_back(key);
    // `--set capacity=64KiB` forgets the level.
    std::string near = nearest(setting_.first, known);
    if (near.empty() && path.size() == 1) {
      for (const LevelKind& kind : level_kinds()) {
        if (std::ranges::find(kind.keys, std::string_view(path[0])) != kind.keys.end()) near = "LEVEL." + path[0];
      }
    }
    problem(fmt::format("no parameter, level or key `{}`", shorten(setting_.first, 60)), "one of " + join(known), near);
  }

  YamlNode& root_;
  const Setting& setting_;
  Diagnostics& problems_;
  Position at_;
  int stage_ = 0;
  YamlNode value_;
};

/// The word after `$` of a plain scalar, or "".
std::string_view parameter_name(const YamlNode& node) {
  if (!node.is_scalar() || node.quoted || node.text.size() < 2 || node.text[0] != '$') return {};
  const std::string_view name = std::string_view(node.text).substr(1);
  return is_name(name) ? name : std::string_view{};
}

/// Blocks of a file that no size of a level depends on.
constexpr std::array<std::string_view, 9> kNoLevelFollows{
    "name", "description", "parameters", "flexibility", "conventions", "hints", "prediction", "baseline", "partial"};

bool uses_parameter(const YamlNode& node, std::string_view name) {
  const auto in = [&](const YamlNode& inner) { return uses_parameter(inner, name); };
  return parameter_name(node) == name || std::ranges::any_of(node.items, in) ||
         std::ranges::any_of(node.entries, in, &YamlEntry::value);
}

std::size_t count_nodes(const YamlNode& node) {
  std::size_t nodes = 1;
  for (const YamlNode& item : node.items) nodes += count_nodes(item);
  for (const YamlEntry& entry : node.entries) nodes += count_nodes(entry.value);
  return nodes;
}

class Substitution {
 public:
  Substitution(const YamlNode& parameters, Diagnostics& problems) : problems_(problems) {
    for (const YamlEntry& entry : parameters.entries) {
      names_.push_back(entry.key);
      parameters_.emplace(entry.key, Value{&entry.value, count_nodes(entry.value)});
    }
  }

  void run(YamlNode& node, const std::string& path) {
    if (const std::string_view name = parameter_name(node); !name.empty())
      return replace(node, path, std::string(name));
    for (std::size_t i = 0; i < node.items.size(); ++i) run(node.items[i], fmt::format("{}[{}]", path, i));
    for (YamlEntry& entry : node.entries) {
      run(entry.value, path.empty() ? shorten(entry.key, 40) : path + "." + shorten(entry.key, 40));
    }
  }

  std::set<std::string> used;

 private:
  void replace(YamlNode& node, const std::string& path, const std::string& name) {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) {
      node.kind = YamlNode::Kind::kNull;
      node.noted = true;
      if (problems_.full()) return problems_.add(Diagnostic{});
      std::string near = nearest(name, names_);
      used.insert(near);
      if (!near.empty()) near = fmt::format("${}", near);
      problems_.add(node.at, path, fmt::format("unknown parameter `${}`", shorten(name, 40)),
                    names_.empty() ? "a `parameters:` block that gives it" : "one of " + join(names_), near);
      return;
    }
    const YamlNode* value = found->second.node;
    used.insert(name);
    copied_ += found->second.nodes;
    if (copied_ > kMaxCopied) {
      if (!too_much_) problems_.add(node.at, path, "the parameters expand to too many values", "a smaller file");
      too_much_ = true;
      node = YamlNode{};
      node.noted = true;
      return;
    }
    const int stage = std::max(node.stage, value->stage);
    node = *value;
    node.stage = stage;
    node.parameter = name;
    node.noted = node.noted || !parameter_name(node).empty();
  }

  static constexpr std::size_t kMaxCopied = 100'000;
  struct Value {
    const YamlNode* node;
    std::size_t nodes;  ///< in the tree below it
  };
  std::map<std::string_view, Value> parameters_;
  std::vector<std::string> names_;  ///< in the order of the file
  Diagnostics& problems_;
  std::size_t copied_ = 0;
  bool too_much_ = false;
};

}  // namespace

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw InputError(Diagnostic{"--set", 0, 0, "", fmt::format("`{}` is not KEY=VALUE", shorten(text, 60)),
                                "KEY=VALUE, as in GLB.capacity=64KiB", ""});
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void apply_setting(YamlNode& root, const Setting& setting, int stage, Diagnostics& problems) {
  Setter(root, setting, stage, problems).apply();
}

std::optional<std::vector<std::size_t>> levels_reached(const YamlNode& root, const Setting& setting) {
  const auto& [key, value] = setting;
  const YamlNode* levels = root.find("levels");
  // What stands for a parameter follows that parameter, too.
  if (levels == nullptr || !levels->is_sequence() || value.find('$') != std::string::npos) return std::nullopt;
  const std::vector<std::string> path = split_path(key);
  std::vector<std::size_t> reached;
  if (const YamlNode* parameters = root.find("parameters");
      path.size() == 1 && parameters != nullptr && parameters->find(key) != nullptr) {
    for (const YamlEntry& entry : root.entries) {
      const bool of_all = std::ranges::find(kNoLevelFollows, std::string_view(entry.key)) == kNoLevelFollows.end();
      if (of_all && entry.key != "levels" && uses_parameter(entry.value, key)) return std::nullopt;
    }
    for (std::size_t l = 0; l < levels->items.size(); ++l)
      if (uses_parameter(levels->items[l], key)) reached.push_back(l);
    return reached;
  }
  for (std::size_t l = 0; l < levels->items.size() && path.size() == 2; ++l) {
    for (const LevelKind& kind : level_kinds()) {
      const YamlNode* name = levels->items[l].find(kind.key);
      if (name == nullptr || name->text != path[0]) continue;
      const bool rule =
          std::ranges::find(kind.rules, path[1], [](const auto& one) { return one.first; }) != kind.rules.end();
      if (!rule) reached.push_back(l);
      return reached;
    }
  }
  if (std::ranges::find(kNoLevelFollows, std::string_view(path[0])) != kNoLevelFollows.end()) return reached;
  return std::nullopt;
}

std::set<std::string> substitute_parameters(YamlNode& root, std::string_view main_file,
                                            const std::set<std::string>& used_before, Diagnostics& problems) {
  if (!root.is_map()) return {};
  YamlNode parameters;
  if (const YamlNode* given = root.find("parameters")) {
    const Cursor cursor(*given, "parameters", problems);
    if (!cursor.expect_map("a map of names and values")) return {};
    parameters = *given;
    for (const Cursor& value : cursor.entries()) {
      if (value.node().is_null()) value.problem("no value", "a default");
      if (!parameter_name(value.node()).empty()) value.problem("a parameter of a parameter", "a plain value");
    }
    for (const YamlEntry& entry : given->entries) {
      const bool is_top =
          std::ranges::find(keys::kAccelerator, std::string_view(entry.key)) != keys::kAccelerator.end();
      if (!is_name(entry.key)) {
        problems.add(entry.at, "parameters." + shorten(entry.key, 40), "not a name",
                     "letters, digits, _ and -, starting with a letter");
      } else if (is_top) {
        problems.add(entry.at, "parameters." + entry.key, "a key of the file has this name", "another name");
      }
    }
  }
  Substitution substitution(parameters, problems);
  for (YamlEntry& entry : root.entries) {
    if (entry.key != "parameters") substitution.run(entry.value, entry.key);
  }
  for (const YamlEntry& entry : parameters.entries) {
    const bool own = entry.at.file != nullptr && *entry.at.file == main_file;
    const bool set = entry.value.at.line == 0;
    // A file's parameter whose only use was overridden by a setting is not a mistake; one set in vain is.
    const bool used = substitution.used.contains(entry.key) || (!set && used_before.contains(entry.key));
    if ((own || set) && !used) {
      problems.add(set ? entry.value.at : entry.at, "parameters." + shorten(entry.key, 40),
                   "the parameter is never used", fmt::format("${} as a value somewhere", shorten(entry.key, 40)));
    }
  }
  return substitution.used;
}

}  // namespace pliant
