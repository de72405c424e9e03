// SPDX-License-Identifier: Apache-2.0
// Many unrollings are looked at one by one before any is listed with what it keeps: the least floor first, or the
// fastest.
#include <algorithm>
#include <utility>

#include "core/arithmetic.h"
#include "dse/mappers/exact/search/prover.h"
#include "dse/mappers/exact/task/effort.h"

namespace pliant::exact {

namespace {

/// So many are sorted between two looks at the clock.
constexpr std::size_t kSortedAtOnce = 65'536;

}  // namespace

bool Prover::sort_unrollings() {
  const auto faster = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(choices_->least(a), choices_->steps(a)) < std::pair(choices_->least(b), choices_->steps(b));
  };
  const auto at = [&](std::size_t i) { return mine_.begin() + static_cast<std::ptrdiff_t>(std::min(i, mine_.size())); };
  for (std::size_t first = 0; first < mine_.size(); first += kSortedAtOnce) {
    if (limits_.expired()) return false;
    std::stable_sort(at(first), at(first + kSortedAtOnce), faster);
  }
  for (std::size_t width = kSortedAtOnce; width < mine_.size(); width *= 2)
    for (std::size_t first = 0; first + width < mine_.size(); first += 2 * width) {
      if (limits_.expired()) return false;
      std::inplace_merge(at(first), at(first + width), at(first + 2 * width), faster);
    }
  return true;
}

void Prover::look_at_all() {
  limits_.effort += effort::kSorting * mine_.size();
  if (!sort_unrollings()) return leave_rest();
  std::vector<Candidate> all;
  double left = kInfinity;  // least of what there was no time for
  for (const std::uint32_t i : mine_) {
    if (closed_by_floor(i)) continue;
    double least = std::max(bounds_.floor(choices_->steps(i)), choices_->least(i));
    if (limits_.expired()) {
      left = least;  // the others are no better
      break;
    }
    if (turns_.left(kShareOfLooking) > 0) least = look_at(i, state_.incumbent.value).least;
    if (!closed_by(least)) all.push_back({least, i, 0});
  }
  mine_.clear();
  if (limits_.expired()) {
    for (const Candidate& unrolling : all) left = std::min(left, unrolling.bound);
    if (left < kInfinity) state_.leave_unseen(left);
    return;
  }
  std::sort(all.begin(), all.end());
  for (const Candidate& unrolling : all) {
    mine_.push_back(unrolling.spatial);
    looked_.push_back(unrolling.bound);
  }
  next_fastest_ = fastest_.size();
}

}  // namespace pliant::exact
