// SPDX-License-Identifier: Apache-2.0
// Limits between the parameters of a design: `rows*cols <= 256`, `area_um2 <= 2e6`, `Buffer.capacity + L1.capacity <=
// 64Ki`. Two sums of products, one comparison; the caller looks names up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pliant {

class Constraint {
 public:
  /// Gives the value of a name; nullopt when it has none.
  using Lookup = std::function<std::optional<double>(const std::string&)>;

  /// A text is the reason why it cannot be understood.
  static std::variant<Constraint, std::string> parse(std::string_view text);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& names() const { return names_; }
  /// It has a size such as 64KiB, which counts as bytes.
  bool has_sizes() const { return has_sizes_; }
  /// The truth between two values of this name follows from the truth at both, the other names held: it stands once, so
  /// each side rises or falls with it, and the comparison is one of order.
  bool decided_by_ends(const std::string& name) const;
  /// nullopt when a name has no value.
  std::optional<bool> holds(const Lookup& lookup) const;

  using Interval = std::pair<double, double>;
  /// Gives the least and the most that a name may be; nullopt when nothing is known.
  using Ranges = std::function<std::optional<Interval>(const std::string&)>;
  /// True only if it holds for no values within the ranges.
  bool never_holds(const Ranges& ranges) const;

 private:
  friend class ConstraintParser;
  /// Postfix: a number, a name, or an operator.
  struct Instruction {
    enum class Kind { kNumber, kName, kAdd, kSubtract, kMultiply, kDivide } kind = Kind::kNumber;
    double number = 0;
    std::string name;
  };
  using Program = std::vector<Instruction>;
  static std::optional<double> value(const Program& program, const Lookup& lookup);
  static std::optional<Interval> range(const Program& program, const Ranges& ranges);

  std::string text_, comparison_;
  Program left_, right_;
  std::vector<std::string> names_;
  bool has_sizes_ = false;
};

}  // namespace pliant
