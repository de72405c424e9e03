// SPDX-License-Identifier: Apache-2.0
#include "dse/import/templates/named_values.h"

#include <fmt/format.h>

#include "core/input/source_text.h"

namespace pliant {
namespace {

/// Longer chains of names would use up the stack; no file has one of five.
constexpr std::size_t kLongestChain = 12;

}  // namespace

Worth NamedValues::evaluate(const std::string& text) {
  const ExpressionScope scope{[this](const std::string& name) { return value(name); }, {}};
  return evaluate_expression(text, scope);
}

std::optional<Worth> NamedValues::value(const std::string& name) {
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  const auto text = texts_.find(name);
  if (text == texts_.end()) return std::nullopt;
  if (open_.size() >= kLongestChain || !open_.insert(name).second) {
    throw ExpressionError(fmt::format("`{}` needs itself", shorten(name, 40)));
  }
  struct Closing {
    ~Closing() { open.erase(name); }
    std::set<std::string>& open;
    const std::string& name;
  } closing{open_, name};
  return known_.emplace(name, evaluate(text->second)).first->second;
}

}  // namespace pliant
