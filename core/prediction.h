// SPDX-License-Identifier: Apache-2.0
// What separates the time of a good kernel from the bound that no kernel beats (docs/model.md, "Predictions"). It is no
// part of an accelerator's cycles, energies and proofs.
#pragma once

#include <optional>
#include <vector>

namespace pliant {

struct PredictionFigures {
  double overhead_s = 0;                  ///< of a layer: launch, fill, drain
  std::optional<double> power_limit_w{};  ///< a run takes at least its energy over this
  double idle_w = 0;                      ///< drawn whatever runs
  std::vector<double> achievable{};       ///< by level: the share of its bandwidth, or of its peak, that kernels reach
  bool operator==(const PredictionFigures&) const = default;
};

}  // namespace pliant
