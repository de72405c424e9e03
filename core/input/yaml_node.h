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
YamlNode parse_yaml(std::string_view text, std::string_view file, Diagnostics& problems, YamlDialect dialect = {});

}  // namespace pliant
