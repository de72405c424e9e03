// SPDX-License-Identifier: Apache-2.0
// Maps of a YAML text as the auditor reads them: nothing in them may go unread.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/layer.h"
#include "core/partial_sums.h"

namespace pliant::audit {

inline constexpr std::array<const char*, kRoles> kRoleWords{"inputs", "weights", "outputs"};

/// A map of which every key must be asked for.
class Block {
 public:
  Block(const YAML::Node& node, std::string what) : node_(node), what_(std::move(what)) {
    if (!node_.IsMap()) throw std::runtime_error(what_ + " is no map");
  }
  YAML::Node find(const char* key) {
    asked_.insert(key);
    return node_[key];
  }
  YAML::Node at(const char* key) {
    const YAML::Node found = find(key);
    if (!found) throw std::runtime_error(fmt::format("{} has no `{}`", what_, key));
    return found;
  }
  template <class Value>
  Value or_else(const char* key, Value value) {
    const YAML::Node found = find(key);
    return found ? found.as<Value>() : value;
  }
  /// Nothing that is not understood may stand there.
  void end() const {
    for (const auto& entry : node_)
      if (!asked_.contains(entry.first.as<std::string>()))
        throw std::runtime_error(fmt::format("{}: `{}` is not known", what_, entry.first.as<std::string>()));
  }

 private:
  const YAML::Node node_;
  const std::string what_;
  std::set<std::string> asked_;
};

inline ElementBits bits_of(const YAML::Node& node) {
  ElementBits bits;
  if (!node) return bits;
  Block block(node, "bits");
  for (std::size_t r = 0; r < kRoles; ++r)
    if (const YAML::Node width = block.find(kRoleWords[r])) bits.of[r] = width.as<int>();
  if (const YAML::Node width = block.find("partial_sums"))
    bits.partial_sums = width.as<std::string>() == "none" ? kNoPartialSums : width.as<int>();
  block.end();
  return bits;
}

}  // namespace pliant::audit
