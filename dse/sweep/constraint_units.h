// SPDX-License-Identifier: Apache-2.0
// Numbers with a unit in conditions: `latency_s <= 5 ms`. Columns say their unit in their name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pliant {

/// What a unit measures and how it stands to the unit without a prefix: ms is a time of 10^-3.
struct DecimalUnit {
  enum class Measure { kTime, kEnergy, kPower, kArea, kFrequency, kOperations } measure = Measure::kTime;
  int exponent = 0;
};

/// Of a word such as ms, uJ, mm2, GHz or TOPS.
std::optional<DecimalUnit> decimal_unit(std::string_view word);
/// Of a column by its name: `latency_s`, `energy_pj`, `area_um2`; nothing for one without such a unit.
std::optional<DecimalUnit> unit_of_column(std::string_view name);
/// The number in another unit of the same measure: the decimal point moves, so 5 and ms give what 0.005 and s do.
double in_unit(const std::string& number, const DecimalUnit& from, const DecimalUnit& to);

}  // namespace pliant
