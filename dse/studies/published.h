// SPDX-License-Identifier: Apache-2.0
// What the papers print, from configs/studies/published.csv: figures and claims, never anything of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"

namespace pliant {

struct PublishedValue {
  enum class Relation : std::uint8_t { kEqual, kLess, kAtMost, kGreater, kAtLeast };
  std::string study, figure, quantity;
  Relation relation = Relation::kEqual;  ///< kEqual: a printed number; the others: a claim about ours
  std::string text;                      ///< as printed, "0.98"
  double value = 0;
  int decimals = 0;     ///< printed digits after the point: what rounding means
  bool exact = false;   ///< the setting is known and a rule gives the printed number: ours must be exact
  std::string because;  ///< where ours differs: why
};

/// InputError with the line that is wrong.
std::vector<PublishedValue> load_published(const Library& library);
std::vector<PublishedValue> parse_published(std::string_view text, std::string_view name);

std::string_view to_string(PublishedValue::Relation relation);  ///< "=", "<", "<=", ">", ">="

}  // namespace pliant
