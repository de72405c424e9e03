// SPDX-License-Identifier: Apache-2.0
// How far a proof is: the best mapping found, the bounds of what was closed and of what was left.
#pragma once

#include <algorithm>

#include "core/arithmetic.h"
#include "dse/mappers/exact/search/proof_record.h"
#include "dse/mappers/exact/search/search.h"

namespace pliant::exact {

/// What a search has found and what it had to leave.
struct SearchState {
  Incumbent incumbent;
  const SearchLimits& limits;
  bool rough = false;            // the incumbent is a first mapping: a dive may find a far better one
  double undecided = kInfinity;  // least bound of what was left over
  double closed = kInfinity;     // least bound of what was closed: with a gap it may be below the value
  bool out_of_effort = false;
  ProofRecord* record = nullptr;  // where a certificate is wanted

  bool hopeless(double bound) const { return no_better(bound, limits.enough(incumbent.value)); }
  /// The same for what ends here if it is.
  bool close(double bound) {
    const bool ends = hopeless(bound);
    if (ends) closed = std::min(closed, bound);
    return ends;
  }
  /// The same where a bound without tables is enough.
  bool close_by_bound(double bound) {
    const bool ends = close(bound);
    if (ends) record_bounded(bound);
    return ends;
  }
  void record_bounded(double bound) const {
    if (record != nullptr) record->bounded(std::min(bound, incumbent.value));
  }
  void leave(double bound) { undecided = std::min(undecided, bound); }
  /// What was not even looked at.
  void leave_unseen(double bound) {
    leave(bound);
    if (record != nullptr) record->left(bound);
  }
  /// What was not even listed: closed at the end, by the best that was found, or left.
  void close_unlisted(double bound) {
    if (!close(bound))
      leave_unseen(bound);
    else if (record != nullptr)
      record->bounded(bound);
  }
};

/// A bound for choices that are not even listed, with at least so many steps.
double floor_of_all(const Task& task, const Problem& problem, double steps);

SearchResult result_of(SearchState state, SearchLimits& limits);

}  // namespace pliant::exact
