// SPDX-License-Identifier: Apache-2.0
#include "dse/import/accelforge/tensor_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/input/source_text.h"
#include "dse/import/templates/expression.h"

namespace pliant::accelforge {
namespace {

constexpr RoleSet bit(Role role) { return 1U << static_cast<unsigned>(role); }

class SetParser {
 public:
  SetParser(std::string_view text, const std::map<std::string, RoleSet>& kept) : rest_(text), kept_(kept) {}

  RoleSet whole() {
    const RoleSet set = sum(0);
    skip_blanks();
    if (!rest_.empty()) throw ExpressionError(fmt::format("`{}` is no set of tensors", shorten(rest_, 40)));
    return set;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  bool take(char symbol) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != symbol) return false;
    rest_.remove_prefix(1);
    return true;
  }

  RoleSet sum(int depth) {
    RoleSet left = atom(depth);
    for (;;) {
      if (take('|')) {
        left |= atom(depth);
      } else if (take('&')) {
        left &= atom(depth);
      } else if (take('-')) {
        left &= ~atom(depth);
      } else {
        return left;
      }
    }
  }

  RoleSet atom(int depth) {
    constexpr int kDeepest = 20;
    if (depth > kDeepest) throw ExpressionError("a set nested too deep");
    if (take('~')) return kAllRoles & ~atom(depth + 1);
    if (take('(')) {
      const RoleSet inner = sum(depth + 1);
      if (!take(')')) throw ExpressionError("`)` is missing");
      return inner;
    }
    skip_blanks();
    std::size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 || rest_[end] == '_' || rest_[end] == '.'))
      ++end;
    std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (name.ends_with(".tensors")) name.resize(name.size() - 8);
    return named(name);
  }

  RoleSet named(const std::string& name) const {
    if (const auto memory = kept_.find(name); memory != kept_.end()) return memory->second;
    if (name == "All") return kAllRoles;
    if (name == "Nothing" || name == "Intermediates") return 0;
    if (name == "input") return bit(Role::kInput);
    if (name == "weight") return bit(Role::kWeight);
    if (name == "output" || name == "Outputs") return bit(Role::kOutput);
    if (name == "Inputs") return bit(Role::kInput) | bit(Role::kWeight);
    throw ExpressionError(fmt::format("the tensors `{}`", shorten(name, 40)));
  }

  std::string_view rest_;
  const std::map<std::string, RoleSet>& kept_;
};

/// Dims of the families and what they index: input, weight, output.
struct FamilyDim {
  const char* name;
  RoleSet indexes;
};
constexpr RoleSet kI = 1U << static_cast<unsigned>(Role::kInput), kW = 1U << static_cast<unsigned>(Role::kWeight),
                  kO = 1U << static_cast<unsigned>(Role::kOutput);

std::vector<FamilyDim> dims_of(Operation family) {
  if (family == Operation::kGemm) return {{"M", kI | kO}, {"N", kW | kO}, {"K", kI | kW}};
  std::vector<FamilyDim> dims{{"B", kI | kO}, {"P", kI | kO}, {"Q", kI | kO}, {"R", kI | kW}, {"S", kI | kW}};
  if (family == Operation::kConv) {
    dims.push_back({"M", kW | kO});
    dims.push_back({"C", kI | kW});
  }
  return dims;
}

}  // namespace

RoleSet read_tensor_set(std::string_view text, const std::map<std::string, RoleSet>& kept) {
  return SetParser(text, kept).whole();
}

std::vector<std::string> dims_that_reuse(RoleSet roles, Operation family) {
  std::vector<std::string> names;
  for (const FamilyDim& dim : dims_of(family)) {
    if ((dim.indexes & roles) == 0) names.emplace_back(dim.name);
  }
  return names;
}

}  // namespace pliant::accelforge
