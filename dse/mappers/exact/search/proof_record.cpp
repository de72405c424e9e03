// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/proof_record.h"

#include <algorithm>

namespace pliant::exact {

using audit::ClosedBy;
using audit::Part;

void ProofRecord::floor(double steps, double lower_bound) {
  slow_ = std::min(slow_, steps);
  slow_bound_ = std::min(slow_bound_, lower_bound);
  ++slow_unrollings_;
}

void ProofRecord::choice(std::uint32_t spatial, const Keeps& keeps, ClosedBy by, double lower_bound) {
  Closed& closed = choices_[{spatial, keeps}];
  closed.by = std::max(closed.by, by);
  closed.lower_bound = std::min(closed.lower_bound, lower_bound);
}

std::vector<Part> ProofRecord::parts(const Task& task, const Problem& problem, const SpatialChoices& choices,
                                     std::size_t keep_choices, double value) const {
  std::vector<Part> parts;
  // Where steps are chosen with the unrolling, a choice is closed once for each duration, and what is known of all of
  // them is that nothing is better than the optimum.
  const bool perfect = task.factorization == Factorization::kPerfect;
  const double certain = perfect ? kInfinity : std::min(value, left_);
  // 1. Unrollings that are too slow whatever they keep.
  if (slow_unrollings_ > 0) {
    Part& slow = parts.emplace_back(Part{ClosedBy::kFloor, slow_bound_, Part::Scope::kSlow, slow_, {}, {}});
    if (perfect && choices.complete()) slow.choices = slow_unrollings_ * keep_choices;
  }
  // 2. Choices with tables of their own, by what closed them.
  std::uint64_t named = 0;
  double left = left_;
  Spatial spatial;
  for (const ClosedBy by : {ClosedBy::kTables, ClosedBy::kSearch, ClosedBy::kLeft}) {
    Part part{by, kInfinity, Part::Scope::kNamed, 0, {}, {}};
    for (const auto& [choice, closed] : choices_) {
      if (closed.by != by) continue;
      audit::Member& member = part.members.emplace_back();
      choices.get(choice.first, spatial);
      for (int l = 0; l < problem.levels; ++l) {
        if (problem.is_memory[l])
          member.kept.push_back(choice.second[l]);
        else
          for (int d = 0; d < problem.dims; ++d) member.unrolling.push_back(spatial.factor[l][d]);
      }
      member.lower_bound = std::min(closed.lower_bound, certain);
      part.lower_bound = std::min(part.lower_bound, member.lower_bound);
    }
    if (by == ClosedBy::kLeft) left = std::min(left, part.lower_bound);
    part.choices = part.members.size();
    named += part.members.size();
    if (!part.members.empty()) parts.push_back(std::move(part));
  }
  // 3. All others. Under remainders an unrolling that another one dominates, or mirrors, was not looked at, and is no
  //    better than that one.
  const bool every_unrolling = perfect && left_ == kInfinity && choices.complete();
  const double rest = every_unrolling ? rest_ : std::min({rest_, left, value});
  const std::uint64_t others = (choices.size() - slow_unrollings_) * keep_choices - named;
  if (others > 0 || !every_unrolling) {
    Part part{left_ < kInfinity ? ClosedBy::kLeft : ClosedBy::kChoiceBounds, rest, Part::Scope::kRest, 0, {}, {}};
    if (every_unrolling) part.choices = others;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace pliant::exact
