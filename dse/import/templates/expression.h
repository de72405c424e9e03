// SPDX-License-Identifier: Apache-2.0
// Expressions as they stand in Jinja tags and in values of Timeloop's and AccelForge's files: numbers, texts, lists,
// arithmetic, comparisons, `a if b else c`, filters and calls. Nothing in them can loop, so evaluation ends.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// What an expression is worth.
struct Worth {
  enum class Kind { kUndefined, kTruth, kNumber, kText, kList, kDocument };
  Kind kind = Kind::kUndefined;
  bool truth = false;
  double number = 0;
  std::string text;          ///< texts; of an undefined name: the name
  std::vector<Worth> list;   ///< lists
  std::size_t document = 0;  ///< kDocument: which of the files that were included as data

  static Worth of_truth(bool truth);
  static Worth of_number(double number);
  static Worth of_text(std::string text);
  static Worth of_document(std::size_t document);
  /// As Python sees it; throws for an undefined name.
  bool holds() const;
  double as_number() const;
  /// As Jinja prints it: whole numbers without a point.
  std::string shown() const;
};

/// What is wrong with an expression; the caller knows the place.
struct ExpressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What names mean. A name may have dots: `weight.bits_per_value`.
struct ExpressionScope {
  /// Nothing for an unknown name.
  std::function<std::optional<Worth>(const std::string& name)> value;
  /// Functions beyond the built-in ones (min, max, ceil, floor, round, abs, len, sum, range, int, float, str, dict);
  /// nothing for an unknown one. May be empty.
  std::function<std::optional<Worth>(const std::string& name, const std::vector<Worth>& arguments)> call;
};

/// Throws ExpressionError.
Worth evaluate_expression(std::string_view text, const ExpressionScope& scope);

/// The number an expression without names is worth: "1024 * 64 * 8"; nothing when it is no such expression.
std::optional<double> plain_number(std::string_view text);

}  // namespace pliant
