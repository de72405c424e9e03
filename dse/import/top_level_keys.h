// SPDX-License-Identifier: Apache-2.0
// The words that start a line of a YAML text and end with a colon: enough to recognise a tool's file without parsing
// it.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pliant {

class TopLevelKeys {
 public:
  explicit TopLevelKeys(std::string_view text);
  bool has(std::string_view key) const { return keys_.contains(key); }
  /// A key of the maps in a list at the top: `- name: x`.
  bool has_in_list(std::string_view key) const { return in_list_.contains(key); }
  /// One of Pliant's own files says so, or has the keys of one.
  bool ours() const;

 private:
  std::set<std::string, std::less<>> keys_, in_list_;
};

}  // namespace pliant
