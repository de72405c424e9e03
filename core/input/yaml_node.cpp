// SPDX-License-Identifier: Apache-2.0
#include "core/input/yaml_node.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/input/source_text.h"

namespace pliant {
namespace {

constexpr int kMaxDepth = 50;
constexpr std::size_t kMaxNodes = 500'000;
constexpr std::size_t kMaxCopied = 20'000;  ///< values under anchors, and as often as aliases repeat them
constexpr std::size_t kMaxKeys = 10'000;
constexpr std::size_t kMaxShownText = 40;

/// Ends the parse from inside an event.
struct Refused {
  Position at;
  std::string what, expected;
};

/// Builds the tree from yaml-cpp's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::shared_ptr<const std::string> file, Diagnostics& problems, YamlDialect dialect)
      : file_(std::move(file)), problems_(problems), dialect_(dialect) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(mark, YamlNode::Kind::kNull), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refused{position(mark), "an alias inside its own anchor", "a tree"};
    count_copies(found->second.nodes, position(mark));
    if (static_cast<int>(open_.size()) + found->second.depth > kMaxDepth) refuse_depth(position(mark));
    place(YamlNode(found->second.node));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(mark, YamlNode::Kind::kScalar);
    node.tag = named_tag(mark, tag);
    node.text = value;
    node.quoted = tag == "!";
    if (!node.quoted && (value == "~" || value == "null")) node.kind = YamlNode::Kind::kNull;
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::size_t nodes_before = 0;
    int depth_below = 0;
    std::map<std::string, int, std::less<>> key_lines;
    std::vector<std::pair<YamlNode, bool>> merged{};  ///< what `<<` names; true for `<<<`
    bool has_key = false;
    std::string key;
    Position key_at;
  };
  struct Anchored {
    YamlNode node;
    std::size_t nodes = 1;
    int depth = 0;
  };

  Position position(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    ++nodes_;
    check_budget(position(mark));
    YamlNode node;
    node.kind = kind;
    node.at = position(mark);
    return node;
  }

  void check_budget(const Position& at) const {
    if (nodes_ > kMaxNodes) {
      throw Refused{at, fmt::format("more than {} values", kMaxNodes), "a smaller file"};
    }
  }

  void count_copies(std::size_t nodes, const Position& at) {
    nodes_ += nodes;
    copied_ += nodes;
    if (copied_ > kMaxCopied) {
      throw Refused{at, fmt::format("anchors and aliases expand to more than {} values", kMaxCopied), "fewer of them"};
    }
    check_budget(at);
  }

  [[noreturn]] static void refuse_depth(const Position& at) {
    throw Refused{at, fmt::format("nested more than {} deep", kMaxDepth), "a flatter file"};
  }

  /// The tag as written, "" when there is none. (yaml-cpp has "?" for no tag and "!" for a quoted scalar.)
  std::string named_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return "";
    if (!dialect_.tags) {
      throw Refused{position(mark), fmt::format("the tag {}", shorten(tag, kMaxShownText)), "no tags"};
    }
    return tag;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (static_cast<int>(open_.size()) >= kMaxDepth) refuse_depth(position(mark));
    Open level;
    level.nodes_before = nodes_;
    level.node = make(mark, kind);
    level.node.tag = named_tag(mark, tag);
    level.anchor = anchor;
    open_.push_back(std::move(level));
  }

  void close() {
    Open level = std::move(open_.back());
    open_.pop_back();
    for (const auto& [other, deep] : level.merged) merge(level.node, other, deep);
    if (!open_.empty()) open_.back().depth_below = std::max(open_.back().depth_below, level.depth_below + 1);
    if (level.anchor != 0) {
      const std::size_t nodes = nodes_ - level.nodes_before;
      count_copies(nodes, level.node.at);
      anchors_[level.anchor] = {level.node, nodes, level.depth_below + 1};
    }
    place(std::move(level.node));
  }

  void add(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = {node, 1, 0};
    place(std::move(node));
  }

  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& level = open_.back();
    if (level.node.is_sequence()) {
      level.node.items.push_back(std::move(node));
    } else if (!level.has_key) {
      take_key(level, std::move(node));
    } else {
      // A missing value has no place of its own worth showing; its key has.
      if (node.is_null()) node.at = level.key_at;
      level.has_key = false;
      if (dialect_.merge_keys && is_merge_key(level.key)) {
        level.merged.emplace_back(std::move(node), level.key == "<<<");
        return;
      }
      level.node.entries.push_back({std::move(level.key), level.key_at, std::move(node)});
    }
  }

  /// `<<` is YAML's merge key; `<<<` is Timeloop's, which also merges maps that both have.
  static bool is_merge_key(std::string_view key) { return key == "<<" || key == "<<<"; }

  /// Adds what `other` (a map, or a list of maps) has and `map` has not.
  static void merge(YamlNode& map, const YamlNode& other, bool deep) {
    for (const YamlNode& item : other.items) merge(map, item, deep);
    if (!other.is_map() && !other.is_sequence()) throw Refused{other.at, other.describe() + " after <<", "a map"};
    for (const YamlEntry& entry : other.entries) {
      if (map.entries.size() >= kMaxKeys) throw Refused{entry.at, "too many keys in one map", "fewer keys"};
      YamlNode* own = map.find(entry.key);
      if (own == nullptr) {
        map.entries.push_back(entry);
      } else if (deep && own->is_map() && entry.value.is_map()) {
        merge(*own, entry.value, deep);
      }
    }
  }

  void take_key(Open& level, YamlNode node) {
    if (!node.is_scalar()) throw Refused{node.at, node.describe() + " as a key", "a plain word"};
    if (node.text == "<<" && !node.quoted && !dialect_.merge_keys) {
      throw Refused{node.at, "the merge key << is not supported", "the keys written out, or `include:`"};
    }
    if (level.node.entries.size() >= kMaxKeys) {
      throw Refused{node.at, fmt::format("more than {} keys in one map", kMaxKeys), "fewer keys"};
    }
    const auto [first, is_new] = level.key_lines.emplace(node.text, node.at.line);
    if (!is_new && dialect_.repeated != nullptr) {
      dialect_.repeated->push_back(node.at);
      std::erase_if(level.node.entries, [&](const YamlEntry& entry) { return entry.key == node.text; });
    } else if (!is_new) {
      problems_.add(node.at, path_to(node.text), "duplicate key",
                    fmt::format("each key once (first given on line {})", first->second));
    }
    level.has_key = true;
    level.key = std::move(node.text);
    level.key_at = node.at;
  }

  std::string path_to(const std::string& key) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const Open& level = open_[i];
      if (level.node.is_sequence()) {
        path += fmt::format("[{}]", level.node.items.size());
      } else {
        path += fmt::format("{}{}", path.empty() ? "" : ".", shorten(level.key, kMaxShownText));
      }
    }
    return fmt::format("{}{}{}", path, path.empty() ? "" : ".", shorten(key, kMaxShownText));
  }

  std::shared_ptr<const std::string> file_;
  Diagnostics& problems_;
  YamlDialect dialect_;
  YamlNode root_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0, copied_ = 0;
};

bool indented_by_tab(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::size_t first = text.find_first_not_of(' ');
  return first != std::string_view::npos && text[first] == '\t';
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

YamlNode* YamlNode::find(std::string_view key) { return const_cast<YamlNode*>(std::as_const(*this).find(key)); }

YamlNode& YamlNode::value_of(std::string_view key, const Position& where) {
  if (kind == Kind::kNull) kind = Kind::kMap;
  if (YamlNode* found = find(key)) return *found;
  YamlNode value;
  value.at = where;
  entries.push_back({std::string(key), where, std::move(value)});
  return entries.back().value;
}

std::string YamlNode::describe() const {
  switch (kind) {
    case Kind::kNull: return "nothing";
    case Kind::kScalar: return fmt::format("`{}`", shorten(text, kMaxShownText));
    case Kind::kSequence: return "a list";
    case Kind::kMap: return "a map";
  }
  return "";
}

YamlNode parse_yaml(std::string_view text, std::string_view file, Diagnostics& problems, YamlDialect dialect) {
  check_source_text(text, file);
  auto name = std::make_shared<const std::string>(file);
  TreeBuilder builder(name, problems, dialect);
  const auto refuse = [&](Position at, std::string what, std::string expected) {
    Diagnostics all = problems;
    all.add(at, "", std::move(what), std::move(expected));
    all.throw_if_any();
  };
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) refuse({name, 1, 1}, "the file is empty", "a map of keys");
    TreeBuilder rest(name, problems, dialect);
    YamlNode root = builder.take_root();
    if (root.at.line == 0) root.at = {name, 1, 1};
    if (parser.HandleNextDocument(rest)) {
      refuse(rest.take_root().at, "a second document", "one document in a file");
    }
    return root;
  } catch (const Refused& refused) {
    refuse(refused.at, refused.what, refused.expected);
  } catch (const YAML::Exception& error) {
    const Position at{name, error.mark.line + 1, error.mark.column + 1};
    if (indented_by_tab(text, at.line)) refuse({name, at.line, 1}, "a tab in the indentation", "spaces");
    refuse(at, "not valid YAML: " + error.msg, "");
  }
  return {};
}

}  // namespace pliant
