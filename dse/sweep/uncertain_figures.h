// SPDX-License-Identifier: Apache-2.0
// Figures of an accelerator that are known only roughly: `DRAM.read_pj 30%, Buffer.* 20%`.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/accelerator.h"

namespace pliant {

/// All figures that match the pattern are wrong by the same factor, between 1 - share and 1 + share.
struct UncertainFigures {
  std::string text;        ///< as written
  std::string level, key;  ///< patterns; * stands for any characters
  double share = 0;        ///< 0.3 = 30 %
};

/// Comma-separated; a text is the reason why it cannot be understood.
std::variant<std::vector<UncertainFigures>, std::string> parse_uncertain(std::string_view text);

/// Keys that may be uncertain: energies, leakage and area, on which cost depends linearly while the mapping is kept.
const std::vector<std::string>& uncertain_keys();

/// Multiplies what matches; how many figures that were.
int scale_figures(Accelerator& accelerator, const UncertainFigures& figures, double factor);

}  // namespace pliant
