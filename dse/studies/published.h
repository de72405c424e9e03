// SPDX-License-Identifier: Apache-2.0
// What the papers print, from configs/studies/published.csv: numbers and statements, never anything of ours. What we
// have to say about them is in remarks.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"

namespace pliant {

struct PublishedValue {
  enum class Relation : std::uint8_t { kEqual, kLess, kAtMost, kGreater, kAtLeast, kNear };
  std::string study, figure, quantity;   ///< `figure` is the place: a figure, a table, a section, the abstract
  Relation relation = Relation::kEqual;  ///< kEqual: a printed number; the others: a statement in words
  std::string text;                      ///< as printed, "0.98"
  double value = 0;
  int decimals = 0;  ///< printed digits after the point: what rounding means
};

/// InputError with the line that is wrong.
std::vector<PublishedValue> load_published(const Library& library);
std::vector<PublishedValue> parse_published(std::string_view text, std::string_view name);

std::string_view to_string(PublishedValue::Relation relation);  ///< "=", "<", "<=", ">", ">=", "~"

}  // namespace pliant
