// SPDX-License-Identifier: Apache-2.0
// Names whose values are expressions of one another: attributes of a component, variables of a file.
#pragma once

#include <map>
#include <set>
#include <string>

#include "dse/import/templates/expression.h"

namespace pliant {

class NamedValues {
 public:
  explicit NamedValues(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {}
  /// Every name is evaluated once; throws ExpressionError, also for names that need each other.
  Worth evaluate(const std::string& text);
  /// A value that is known without an expression.
  void set(const std::string& name, Worth worth) { known_[name] = std::move(worth); }

 private:
  std::optional<Worth> value(const std::string& name);

  std::map<std::string, std::string> texts_;
  std::map<std::string, Worth> known_;
  std::set<std::string> open_;  ///< being evaluated
};

}  // namespace pliant
