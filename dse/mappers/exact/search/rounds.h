// SPDX-License-Identifier: Apache-2.0
// Choices are closed in rounds, best bound first, on as many threads as there are.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "dse/mappers/exact/bounds/choice_bounds.h"
#include "dse/mappers/exact/choices/spatial_choices.h"
#include "dse/mappers/exact/search/effort_turns.h"
#include "dse/mappers/exact/search/search_state.h"

namespace pliant::exact {

/// A choice that may be better than the incumbent.
struct Candidate {
  double bound;
  std::uint32_t spatial, keeps, durations = 0;
  double cycles = 0;   // certain before the lattice
  bool spent = false;  // its lattice has used what it was allowed
  bool operator<(const Candidate& other) const {
    return std::tie(bound, spatial, durations, keeps) <
           std::tie(other.bound, other.spatial, other.durations, other.keeps);
  }
};

class Rounds {
 public:
  using ClosedBy = audit::ClosedBy;
  using Close = double (*)(Lattice&, Incumbent&, SearchLimits&, double cycles);

  Rounds(const ResolvedTask& resolved, const ChoiceBounds& bounds, SearchLimits& limits, SearchState& state,
         const EffortTurns& turns, int threads)
      : resolved_(resolved), bounds_(bounds), limits_(limits), state_(state), turns_(turns), threads_(threads) {}

  /// Candidates are numbered by this list, and have no durations yet.
  void begin(const SpatialChoices& choices) {
    choices_ = &choices;
    durations_.resize(1);
  }
  std::uint32_t next_durations() const { return static_cast<std::uint32_t>(durations_.size()); }
  void add(const Durations& durations) { durations_.push_back(durations); }
  /// From here on a lattice may have more nodes before tiles are grouped.
  void narrow_groups();

  /// Closes candidates and adds those that stay undecided to `open`. Returns those for which the share of the turn did
  /// not last. `tell(bound)` before every round: no candidate of it and after it is better.
  std::vector<Candidate> run(std::vector<Candidate> candidates, ClosedBy by, double share, Close close,
                             std::vector<Candidate>& open, const std::function<void(double)>& tell);
  /// Tables of one choice, with so much effort at most.
  double bound_one(const Spatial& spatial, std::uint32_t keeps, double cycles, std::uint64_t effort);

  /// Tables are cut off at the incumbent, so nothing above it is certain.
  void record(const Candidate& candidate, ClosedBy by) const;
  /// What no bound has closed after all. True: there was something.
  bool leave(const std::vector<Candidate>& candidates, ClosedBy by) const;

 private:
  double close_one(const Spatial& spatial, Candidate& candidate, std::uint64_t effort, Close close,
                   Incumbent& incumbent);

  /// Where a lattice has more nodes than this, tiles are grouped at first.
  static constexpr double kNodesOfTables = 400;

  const ResolvedTask& resolved_;
  const ChoiceBounds& bounds_;
  SearchLimits& limits_;
  SearchState& state_;
  const EffortTurns& turns_;
  const int threads_;
  const SpatialChoices* choices_ = nullptr;
  std::vector<Durations> durations_{{}};  // of candidates; number 0 is none
  double nodes_ = kNodesOfTables;
  tbb::enumerable_thread_specific<ArrayStore> stores_;
};

}  // namespace pliant::exact
