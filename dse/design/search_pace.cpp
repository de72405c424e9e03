// SPDX-License-Identifier: Apache-2.0
#include "dse/design/search_pace.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

/// Closer samples say nothing more.
constexpr double kBetweenSamples = 0.25;

/// Before that nothing can be told.
constexpr std::size_t kFewestSamples = 8;

}  // namespace

void SearchPace::note(double seconds, double share) {
  if (share <= 0 || (!samples_.empty() && seconds < samples_.back().seconds + kBetweenSamples)) return;
  samples_.push_back({seconds, share});
}

std::optional<double> SearchPace::seconds_left() const {
  if (samples_.size() < kFewestSamples) return std::nullopt;
  const Sample& now = samples_.back();
  const Sample& then = *std::ranges::lower_bound(samples_, now.seconds / 2, {}, &Sample::seconds);
  const double growth = std::log(now.share / then.share);
  if (growth <= 0) return std::nullopt;
  return -std::log(std::min(1.0, now.share)) * (now.seconds - then.seconds) / growth;
}

}  // namespace pliant
