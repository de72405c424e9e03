// SPDX-License-Identifier: Apache-2.0
#include "dse/import/templates/builtin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {
namespace {

/// More values than any file of a network lists.
constexpr double kLongestRange = 10'000;

/// The values of min(a, b) or of min([a, b]).
std::vector<double> numbers(const std::vector<Worth>& arguments) {
  const bool listed = arguments.size() == 1 && arguments[0].kind == Worth::Kind::kList;
  std::vector<double> all;
  for (const Worth& one : listed ? arguments[0].list : arguments) all.push_back(one.as_number());
  if (all.empty()) throw ExpressionError("a function without values");
  return all;
}

double rounded(const std::string& name, double value) {
  if (name == "ceil") return std::ceil(value);
  if (name == "floor") return std::floor(value);
  if (name == "int") return std::trunc(value);
  if (name == "abs") return std::abs(value);
  if (name == "round") return std::nearbyint(value);
  return value;
}

Worth range(const std::vector<Worth>& arguments) {
  if (arguments.empty() || arguments.size() > 2) throw ExpressionError("`range` needs one or two numbers");
  const double from = arguments.size() == 2 ? arguments[0].as_number() : 0;
  const double to = arguments.back().as_number();
  if (!(to - from <= kLongestRange) || !std::isfinite(from)) {
    throw ExpressionError(fmt::format("a range of more than {} values", kLongestRange));
  }
  Worth list;
  list.kind = Worth::Kind::kList;
  for (double value = from; value < to; ++value) list.list.push_back(Worth::of_number(value));
  return list;
}

}  // namespace

std::optional<Worth> call_builtin(const std::string& name, const std::vector<Worth>& arguments) {
  if (name == "min") return Worth::of_number(std::ranges::min(numbers(arguments)));
  if (name == "max") return Worth::of_number(std::ranges::max(numbers(arguments)));
  if (name == "sum") {
    const auto all = numbers(arguments);
    return Worth::of_number(std::accumulate(all.begin(), all.end(), 0.0));
  }
  if (name == "range") return range(arguments);
  if (name == "dict" && arguments.empty()) {
    Worth none;
    none.kind = Worth::Kind::kList;
    return none;
  }
  if (arguments.size() != 1) return std::nullopt;
  const Worth& only = arguments[0];
  if (name == "str") return Worth::of_text(only.shown());
  if (name == "len") {
    if (only.kind != Worth::Kind::kList) throw ExpressionError("`len` needs a list");
    return Worth::of_number(static_cast<double>(only.list.size()));
  }
  for (const char* own : {"ceil", "floor", "int", "abs", "round", "float"}) {
    if (name == own) return Worth::of_number(rounded(name, only.as_number()));
  }
  return std::nullopt;
}

}  // namespace pliant
