// SPDX-License-Identifier: Apache-2.0
// A YAML document that remembers where everything was written. The only place that sees yaml-cpp is yaml_node.cpp.
//
// Stricter than YAML: one document, duplicate keys are errors, keys are plain scalars, no tags, no merge keys (unless
// the dialect of another tool's files asks for them); aliases are copied within a budget of nodes, nesting and size are
// limited. Scalars keep their text; the readers above decide what type they want.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input/diagnostics.h"

namespace pliant {

/// Where something was written. An override from the command line has no line: `file` is then the whole option, and
/// `setting` its key.
struct Position {
  std::shared_ptr<const std::string> file;
  int line = 0, column = 0;                         ///< 1-based
  std::shared_ptr<const std::string> setting = {};  ///< null in a file
};

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  std::string text;                ///< scalars
  std::string tag;                 ///< "!Container"; only where the dialect has tags
  bool quoted = false;             ///< scalars: written in quotes or as a block
  std::vector<YamlNode> items;     ///< sequences
  std::vector<YamlEntry> entries;  ///< maps, in the order written
  Position at;
  std::string parameter;  ///< "rows" when this value stands for `$rows`
  bool noted = false;     ///< already reported; readers stay silent about it
  int stage = 0;          ///< which layer of an include chain wrote it; see load_accelerator.cpp

  bool is_null() const { return kind == Kind::kNull; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_map() const { return kind == Kind::kMap; }
  const YamlNode* find(std::string_view key) const;  ///< maps; nullptr when absent
  YamlNode* find(std::string_view key);
  /// The value of a key, added as null when absent; a null node becomes a map first.
  YamlNode& value_of(std::string_view key, const Position& at);
  /// "a map", "a list", "the text \"abc\"", "nothing".
  std::string describe() const;
};

struct YamlEntry {
  std::string key;
  Position at;
  YamlNode value;
};

/// What was wrong, gathered while a file is read.
class Problems {
 public:
  void add(const Position& at, std::string key, std::string what, std::string expected = "",
           std::string did_you_mean = "");
  void add(Diagnostic diagnostic);
  bool empty() const { return diagnostics_.empty(); }
  std::size_t size() const { return diagnostics_.size() + more_; }
  /// Enough was noted; what comes now is only counted, so readers need not word it.
  bool full() const;
  /// Throws everything noted, in the order of the file.
  void throw_if_any() const;
  /// An unknown key of this map seems to mean `key`, so a missing `key` is no news.
  void note_misspelt(const YamlNode& map, std::string key) { misspelt_.emplace(&map, std::move(key)); }
  bool is_misspelt(const YamlNode& map, const std::string& key) const { return misspelt_.contains({&map, key}); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::set<std::pair<const YamlNode*, std::string>> misspelt_;
  std::size_t more_ = 0;  ///< beyond the limit
};

/// What of YAML a file may use. Our own files keep to the default; files of other tools need more.
struct YamlDialect {
  /// Kept in YamlNode::tag instead of refused.
  bool tags = false;
  /// `<<: *anchor` adds entries of other maps that this one does not have; `<<<` does so inside them as well.
  bool merge_keys = false;
  /// Keys given twice are listed here and the last one counts, instead of an error.
  std::vector<Position>* repeated = nullptr;
};

/// Parses one document. Syntax errors throw InputError at once; duplicate keys are added to `problems`.
YamlNode parse_yaml(std::string_view text, std::string_view file, Problems& problems, YamlDialect dialect = {});

}  // namespace pliant
