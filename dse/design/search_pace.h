// SPDX-License-Identifier: Apache-2.0
// How long a design search may still take.
#pragma once

#include <optional>
#include <vector>

namespace pliant {

/// Small boxes come first and large ones last, so the share of designs that is decided grows by about the same factor
/// in the same time. What is left is told from the second half of the time so far; it may be wrong by a factor of a
/// few.
class SearchPace {
 public:
  void note(double seconds, double share);
  std::optional<double> seconds_left() const;

 private:
  struct Sample {
    double seconds, share;
  };
  std::vector<Sample> samples_;  ///< ascending
};

}  // namespace pliant
