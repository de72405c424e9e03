// SPDX-License-Identifier: Apache-2.0
// Figures of a prediction from kernels that were timed. What is fitted is never called published.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dse/measured/judged.h"

namespace pliant {

/// One figure: the overhead, or the share of a level that kernels reach.
struct FittedFigure {
  std::string name;  ///< "overhead", "achievable.HBM"
  int level = -1;    ///< -1 = the overhead
};

/// `overhead,achievable` and the like; `achievable` alone means the outermost memory. InputError names what is unknown.
std::vector<FittedFigure> parse_figures(std::string_view text, const Accelerator& accelerator);

/// Every other row, in an order drawn by a seed: true = the figures are fitted on it.
std::vector<bool> one_half(std::size_t rows, std::uint64_t seed);

/// The figures with the least mean error of seconds over the rows of `used`. Mappings are searched, priced with other
/// figures, and searched again with those found.
PredictionFigures fit(const Judge& judge, const std::vector<Measurement>& rows, const std::vector<bool>& used,
                      const std::vector<FittedFigure>& figures, PredictionFigures start);

}  // namespace pliant
