// SPDX-License-Identifier: Apache-2.0
// Data in a page: numbers with the digits that are worth their bytes, columns by dictionary, gzip in base64.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "dse/results/data_table.h"

namespace pliant {

/// Seven significant digits; whole numbers below 2^53 as they are; null when not finite.
nlohmann::ordered_json compact_number(double value);

/// {"name", "values"} or, where few values recur, {"name", "values", "codes"}: value of row i = values[codes[i]].
nlohmann::ordered_json compact_column(const DataColumn& column);

std::string base64(std::string_view bytes);
std::string gzip(std::string_view bytes);

}  // namespace pliant
