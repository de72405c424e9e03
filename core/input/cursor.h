// SPDX-License-Identifier: Apache-2.0
// A place in a YAML document together with its key path: reads typed values and notes what is wrong instead of
// throwing, so that one pass over a file finds everything. Every reading function gives nothing after noting a problem.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/keys.h"
#include "core/input/yaml_node.h"
#include "core/layer.h"

namespace pliant {

class Cursor {
 public:
  Cursor(const YamlNode& node, std::string path, Diagnostics& problems)
      : node_(&node), path_(std::move(path)), problems_(&problems) {}

  const YamlNode& node() const { return *node_; }
  const std::string& path() const { return path_; }
  Diagnostics& problems() const { return *problems_; }

  /// Notes a problem at this value.
  void problem(std::string what, std::string expected = "", std::string did_you_mean = "") const;

  /// True for a map, a list; otherwise notes what was there instead of `expected`.
  bool expect_map(std::string_view expected) const;
  bool expect_list(std::string_view expected) const;
  /// A map whose keys are all among these; notes every other one.
  bool only_keys(Keys keys, std::string_view expected = "a map") const;

  std::optional<Cursor> find(std::string_view key) const;
  /// Notes a missing key.
  std::optional<Cursor> require(std::string_view key, std::string_view expected) const;
  std::vector<Cursor> items() const;    ///< of a list; empty otherwise
  std::vector<Cursor> entries() const;  ///< of a map; empty otherwise
  const YamlEntry& entry(std::size_t i) const { return node_->entries[i]; }

  std::optional<std::string> text(std::string_view expected = "text") const;
  /// Letters, digits, `_` and `-`, starting with a letter or `_`: what can stand in `--set NAME.key` and in a table.
  std::optional<std::string> name() const;
  std::optional<bool> flag() const;
  std::optional<Count> count(Count least = 1, Count most = std::numeric_limits<Count>::max()) const;
  std::optional<double> real(double least = 0) const;  ///< >= least
  std::optional<double> positive_real() const;
  /// Index of the scalar among the words.
  std::optional<std::size_t> choice(Keys words) const;

 private:
  const YamlNode* node_;
  std::string path_;
  Diagnostics* problems_;
};

std::vector<std::string> to_words(Keys keys);
/// True for a name as in Cursor::name().
bool is_name(std::string_view text);
/// Checks the optional first key `pliant: KIND`.
void check_kind(const Cursor& root, std::string_view kind);

}  // namespace pliant
