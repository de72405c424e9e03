// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "core/input/units.h"
#include "dse/sweep/constraint_units.h"

namespace pliant {

/// sum ::= product {(+|-) product}; product ::= factor {(*|/) factor}; factor ::= number | name | ( sum ).
class ConstraintParser {
 public:
  explicit ConstraintParser(std::string_view text) : text_(text) {}

  std::variant<Constraint, std::string> parse() {
    Constraint all;
    all.text_ = std::string(text_);
    sum(all.left_);
    all.comparison_ = comparison();
    on_left_ = false;
    sum(all.right_);
    skip_blanks();
    if (error_.empty() && at_ < text_.size()) fail(fmt::format("`{}` is left over", text_.substr(at_)));
    if (!error_.empty()) return error_;
    for (const Constraint::Program* program : {&all.left_, &all.right_}) {
      for (const Constraint::Instruction& instruction : *program) {
        if (instruction.kind == Constraint::Instruction::Kind::kName &&
            std::ranges::find(all.names_, instruction.name) == all.names_.end())
          all.names_.push_back(instruction.name);
      }
    }
    all.has_sizes_ = sizes_;
    for (const WithUnit& one : with_unit_) settle(one, one.left ? all.left_ : all.right_, all.names_);
    if (!error_.empty()) return error_;
    if (all.names_.empty()) return std::string("it names nothing that varies");
    return all;
  }

 private:
  using Kind = Constraint::Instruction::Kind;
  struct WithUnit {
    bool left;       ///< of the comparison
    std::size_t at;  ///< of that side's program
    std::string number, unit;
  };

  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string comparison() {
    skip_blanks();
    for (const std::string_view sign : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      return std::string(sign);
    }
    fail("no comparison");
    return "";
  }

  struct Operator {
    char sign;
    Kind kind;
  };
  /// Operands with one of two operators between each: a sum of products, a product of factors.
  void chain(Constraint::Program& program, void (ConstraintParser::*operand)(Constraint::Program&), Operator one,
             Operator other) {
    (this->*operand)(program);
    while (error_.empty()) {
      const bool first = take(one.sign);
      if (!first && !take(other.sign)) return;
      (this->*operand)(program);
      program.push_back({first ? one.kind : other.kind, 0, ""});
    }
  }

  void sum(Constraint::Program& program) {
    chain(program, &ConstraintParser::product, {'+', Kind::kAdd}, {'-', Kind::kSubtract});
  }
  void product(Constraint::Program& program) {
    chain(program, &ConstraintParser::factor, {'*', Kind::kMultiply}, {'/', Kind::kDivide});
  }

  void factor(Constraint::Program& program) {
    skip_blanks();
    if (take('(')) {
      if (++depth_ > 50) return fail("too many parentheses");
      sum(program);
      if (!take(')')) fail("a parenthesis is not closed");
      --depth_;
      return;
    }
    const std::size_t start = at_;
    const auto current = [&] { return at_ < text_.size() ? text_[at_] : '\0'; };
    const auto word = [&] {
      return std::isalnum(static_cast<unsigned char>(current())) != 0 || current() == '_' || current() == '.';
    };
    const bool number = std::isdigit(static_cast<unsigned char>(current())) != 0;
    while (word() || (number && (current() == '-' || current() == '+') && at_ > start &&
                      (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))
      ++at_;
    std::string token(text_.substr(start, at_ - start));
    if (token.empty())
      return fail(at_ < text_.size() ? fmt::format("`{}` where a name or a number belongs", current())
                                     : "it ends early");
    if (!number) return program.push_back({Kind::kName, 0, token});
    if (const std::string unit = take_unit(token); !unit.empty()) {
      with_unit_.push_back({on_left_, program.size(), token, unit});
      return program.push_back({Kind::kNumber, 0, ""});
    }
    if (const auto count = parse_count(token); std::holds_alternative<Count>(count))
      return program.push_back({Kind::kNumber, static_cast<double>(std::get<Count>(count)), ""});
    if (const auto real = parse_real(token); std::holds_alternative<double>(real))
      return program.push_back({Kind::kNumber, std::get<double>(real), ""});
    if (const auto bytes = parse_bytes(token); std::holds_alternative<Count>(bytes)) {
      sizes_ = true;
      return program.push_back({Kind::kNumber, static_cast<double>(std::get<Count>(bytes)), ""});
    }
    fail(fmt::format("`{}` is not a number", token));
  }

  /// `5ms` loses its unit; after `5` the next word is taken if it is one. "" when there is none.
  std::string take_unit(std::string& token) {
    const std::size_t own = token.find_first_not_of("0123456789.eE+-");
    if (own != std::string::npos && decimal_unit(token.substr(own)))
      return std::exchange(token, token.substr(0, own)).substr(own);
    const std::size_t before = at_;
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    if (own == std::string::npos && decimal_unit(word)) return word;
    if (own == std::string::npos && !word.empty() && std::holds_alternative<Count>(parse_bytes(token + word))) {
      token += word;  // a size in bytes
      return "";
    }
    at_ = before;
    return "";
  }

  /// A number with a unit counts in the unit of the columns beside it that measure the same.
  void settle(const WithUnit& one, Constraint::Program& program, const std::vector<std::string>& names) {
    const DecimalUnit unit = *decimal_unit(one.unit);
    std::optional<DecimalUnit> wanted;
    for (const std::string& name : names) {
      const auto own = unit_of_column(name);
      if (!own || own->measure != unit.measure) continue;
      if (wanted && wanted->exponent != own->exponent)
        return fail(fmt::format("`{} {}` beside columns in different units", one.number, one.unit));
      wanted = own;
    }
    if (!wanted) return fail(fmt::format("`{} {}`: no name here is measured in {}", one.number, one.unit, one.unit));
    program[one.at].number = in_unit(one.number, unit, *wanted);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool on_left_ = true;  ///< of the comparison
  std::vector<WithUnit> with_unit_;
  int depth_ = 0;
  bool sizes_ = false;
  std::string error_;
};

std::variant<Constraint, std::string> Constraint::parse(std::string_view text) {
  return ConstraintParser(text).parse();
}

std::optional<double> Constraint::value(const Program& program, const Lookup& lookup) {
  std::vector<double> stack;
  for (const Instruction& instruction : program) {
    if (instruction.kind == Instruction::Kind::kNumber) {
      stack.push_back(instruction.number);
      continue;
    }
    if (instruction.kind == Instruction::Kind::kName) {
      const auto found = lookup(instruction.name);
      if (!found) return std::nullopt;
      stack.push_back(*found);
      continue;
    }
    const double right = stack.back();
    stack.pop_back();
    double& left = stack.back();
    switch (instruction.kind) {
      case Instruction::Kind::kAdd: left += right; break;
      case Instruction::Kind::kSubtract: left -= right; break;
      case Instruction::Kind::kMultiply: left *= right; break;
      default: left /= right; break;
    }
  }
  return stack.back();
}

bool Constraint::decided_by_ends(const std::string& name) const {
  std::ptrdiff_t uses = 0;
  for (const Program* program : {&left_, &right_})
    uses += std::ranges::count_if(*program, [&](const Instruction& instruction) {
      return instruction.kind == Instruction::Kind::kName && instruction.name == name;
    });
  return uses == 1 && comparison_ != "==" && comparison_ != "!=";
}

std::optional<bool> Constraint::holds(const Lookup& lookup) const {
  const auto left = value(left_, lookup), right = value(right_, lookup);
  if (!left || !right) return std::nullopt;
  if (comparison_ == "<=") return *left <= *right;
  if (comparison_ == ">=") return *left >= *right;
  if (comparison_ == "<") return *left < *right;
  if (comparison_ == ">") return *left > *right;
  if (comparison_ == "==") return *left == *right;
  return *left != *right;
}

std::optional<Constraint::Interval> Constraint::range(const Program& program, const Ranges& ranges) {
  std::vector<Interval> stack;
  for (const Instruction& step : program) {
    if (step.kind == Instruction::Kind::kNumber) {
      stack.emplace_back(step.number, step.number);
      continue;
    }
    if (step.kind == Instruction::Kind::kName) {
      const auto found = ranges(step.name);
      if (!found) return std::nullopt;
      stack.push_back(*found);
      continue;
    }
    const Interval right = stack.back();
    stack.pop_back();
    Interval& left = stack.back();
    if (step.kind == Instruction::Kind::kAdd) {
      left = {left.first + right.first, left.second + right.second};
    } else if (step.kind == Instruction::Kind::kSubtract) {
      left = {left.first - right.second, left.second - right.first};
    } else {
      const bool divide = step.kind == Instruction::Kind::kDivide;
      if (divide && right.first <= 0 && right.second >= 0) return std::nullopt;
      const auto of = [&](double a, double b) { return divide ? a / b : a * b; };
      const std::array ends = {of(left.first, right.first), of(left.first, right.second), of(left.second, right.first),
                               of(left.second, right.second)};
      left = {*std::ranges::min_element(ends), *std::ranges::max_element(ends)};
      if (std::ranges::any_of(ends, [](double end) { return std::isnan(end); })) return std::nullopt;
    }
  }
  return stack.back();
}

bool Constraint::never_holds(const Ranges& ranges) const {
  const auto left = range(left_, ranges), right = range(right_, ranges);
  if (!left || !right) return false;
  // A sum may be formed in another order elsewhere: what differs by rounding only is not decided here.
  const auto above = [](double a, double b) { return a > b + 1e-9 * std::max(std::abs(a), std::abs(b)); };
  if (comparison_ == "<=" || comparison_ == "<") return above(left->first, right->second);
  if (comparison_ == ">=" || comparison_ == ">") return above(right->first, left->second);
  if (comparison_ == "==") return above(left->first, right->second) || above(right->first, left->second);
  return false;
}

}  // namespace pliant
