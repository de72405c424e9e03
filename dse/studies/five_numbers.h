// SPDX-License-Identifier: Apache-2.0
// How something is distributed over designs that are equally good: least, quartiles and most, and their picture.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dse/report/chart.h"

namespace pliant {

/// Least, lower quartile, median, upper quartile and most; each is one of the values.
std::array<double, 5> five_numbers(std::vector<double> values);
inline constexpr std::array<const char*, 5> kFiveNumbers = {"least", "lower quartile", "median", "upper quartile",
                                                            "most"};

/// Of a table with the columns bandwidth, axes, area_percent and the five numbers; `filter` leaves rows out.
Chart five_number_chart(std::string name, std::string title, DataTable table, const std::string& filter = {});

}  // namespace pliant
