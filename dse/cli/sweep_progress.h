// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "dse/sweep/run_sweep.h"

namespace pliant {

/// How a running sweep shows itself: a bar that is drawn over (terminals), a line every few seconds, or one JSON object
/// a line for programs.
class SweepProgressView {
 public:
  enum class Style { kNone, kBar, kLines, kJson };
  SweepProgressView(Style style, std::ostream& out) : style_(style), out_(out) {}

  void show(const SweepProgress& progress);
  void show(const PhaseProgress& phase);
  void note(const std::string& text);
  void finish();  ///< leaves the bar's line

 private:
  void clear_bar();
  void draw_bar(double share, const std::string& text);

  Style style_;
  std::ostream& out_;
  std::size_t bar_width_ = 0;
  double shown_ = -1;  ///< seconds
  std::string phase_;  ///< shown last
  std::chrono::steady_clock::time_point phase_shown_{};
  std::int64_t first_done_ = -1;
  double first_seconds_ = 0;
};

}  // namespace pliant
