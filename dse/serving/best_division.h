// SPDX-License-Identifier: Apache-2.0
// The best way to serve a model on so many chips: every division and batch is bounded before any is searched.
#pragma once

#include <optional>
#include <vector>

#include "dse/serving/serve.h"

namespace pliant::serving {

struct Limits {
  std::optional<double> ttft_s, tpot_s;
};

/// How a way to serve came out.
enum class WayEnd : std::uint8_t { kSearched, kTooSlow, kUndecided, kBounded, kDoesNotFit };
inline constexpr std::array<std::string_view, 5> kWayEndNames{"searched", "too slow", "undecided", "bounded",
                                                              "does not fit"};

struct ServingWay {
  Division division;
  Count batch = 1;
  double bound = 0;  ///< tokens per second (of least energy: per joule) that it cannot exceed
  WayEnd end = WayEnd::kBounded;
  std::optional<Served> served;  ///< where it was searched
};

struct BestDivision {
  std::vector<ServingWay> ways;     ///< best bound first
  std::optional<std::size_t> best;  ///< of them; nullopt when none meets the limits
  double bound = 0;                 ///< no way exceeds it
  double gap = 0;                   ///< (bound - best) / bound
  std::uint64_t searches = 0;
};

/// `batches` empty: 1, 2, 4, ... and the largest that fits, for each division by itself.
BestDivision best_division(const Request& request, Count chips, std::vector<Count> batches, const Limits& limits);

}  // namespace pliant::serving
