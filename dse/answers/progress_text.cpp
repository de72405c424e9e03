// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/progress_text.h"

#include <fmt/format.h>

#include <cmath>

namespace pliant {

std::string readable_seconds(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string best_text(const SweepProgress::Best& best) {
  return fmt::format("best {} {:.5g} ({}, design {}: {})", best.column, best.value, best.workload, best.design_id,
                     best.label);
}

}  // namespace pliant
