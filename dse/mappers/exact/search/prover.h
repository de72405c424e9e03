// SPDX-License-Identifier: Apache-2.0
// The proof over the choices of one task: what each could be at best, tables for the best of them, and a search of what
// tables cannot decide.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "dse/mappers/exact/bounds/decided_factors.h"
#include "dse/mappers/exact/bounds/factor_floors.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/chain/durations.h"
#include "dse/mappers/exact/search/effort_turns.h"
#include "dse/mappers/exact/search/search_state.h"

namespace pliant::exact {

/// The choices of one task, or some of them.
class Prover {
 public:
  Prover(const Task& task, const Problem& problem, SearchLimits& limits, const SearchOptions& options,
         std::uint64_t effort, SearchState& state);

  std::size_t keep_choices() const { return bounds_.keep_choices(); }
  /// A bound for choices that are not listed, with at least so many steps.
  double floor(double steps) const;
  /// The same, sharper, which no certificate states.
  double sharper_floor(double steps) const {
    return std::max(floor(steps), decided_.least_of_any(std::max(steps, resolved_.problem.busy_cycles)));
  }
  /// What is no better than what has been found: those with more steps, and those that cost so much.
  SpatialChoices::LeftOut left_out();
  /// No choice costs less that could be listed.
  double lowest() const {
    const double steps = resolved_.problem.busy_cycles;
    return std::max(floor(steps), decided_.least(steps));
  }
  bool has_effort() const { return !limits_.expired() && !turns_.ends_within(kLastTurn); }

  /// A first mapping, before all choices are listed.
  void dive_into(const SpatialChoices& fastest);
  /// Some choices of a list. What the dive has found of the fastest serves the first one, too.
  void run(const SpatialChoices& choices, std::vector<std::uint32_t> mine);
  /// The same with so much effort at most, for the mapping that it finds: false where something is left undecided,
  /// which is then as if nothing had been looked at.
  bool try_first(const SpatialChoices& choices, std::vector<std::uint32_t> mine, std::uint64_t effort);

 private:
  /// The last turn, of so little of all effort, does not end before all is used.
  static constexpr double kLastTurn = 0.02;
  /// What a turn may take for looking at unrollings.
  static constexpr double kShareOfLooking = 0.6;

  using Close = double (*)(Lattice&, Incumbent&, SearchLimits&, double cycles);
  using ClosedBy = audit::ClosedBy;

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
  /// An unrolling whose durations are still to be chosen.
  struct Unrolled {
    SharedBound least;
    std::uint32_t spatial;
  };

  /// Tables are cut off at the incumbent, so nothing above it is certain.
  void record(const Candidate& candidate, ClosedBy by) const;
  /// Closes what a bound without a lattice is enough for.
  bool closed_by(double bound);
  void record_bounded(double bound) const;

  /// Of the unrollings with the fewest steps, the choice with the least bound.
  void dive();
  /// What the dive knows, by the numbers of this list instead of another. The order of unrollings is the same in all.
  void renumber(const SpatialChoices& other);

  using Looked = ChoiceBounds::Looked;

  /// At an unrolling and durations.
  Looked look_at(std::uint32_t spatial, double limit, const Durations& durations = {});

  /// The same with the incumbent as the limit; or what the dive has found, where that is enough.
  Looked least_of(std::uint32_t spatial);

  /// Where there are many: all unrollings once, the fastest first, so that what a limit leaves is slow; then those that
  /// could be better, the least bound first.
  void look_at_all();
  /// The least floor first, or the fastest. False: time is up.
  bool sort_unrollings();
  /// Of an unrolling that was not listed yet, by its place in mine_.
  double known_of(std::size_t at) const;
  bool closed_by_floor(std::uint32_t spatial);
  void forget_list();

  /// Adds choices that could be better, by the bounds that need no lattice. True: there are no more.
  bool list_choices(std::vector<Candidate>& found);
  /// Where time is up: all that was not listed, by the fewest steps of them, for looking at each takes time.
  void leave_rest();
  /// True: there was something.
  bool leave_unlisted();
  /// What no bound has closed after all. True: there was something.
  bool leave(const std::vector<Candidate>& candidates, ClosedBy by);

  void add_candidates(const UnrollingBounds& bounds, std::uint32_t spatial, std::uint32_t durations,
                      std::vector<Candidate>& found);
  void count_tiles();
  /// Tables of the best of an unrolling, whatever its durations: a better mapping leaves fewer candidates.
  void improve_with(const Unrolled& unrolled);
  /// Best bound first, so that what the limits leave has the best bound it can.
  void choose_durations(std::vector<Candidate>& found);

  /// How far the search is, a few times a second.
  void tell(double least_to_come, const std::vector<Candidate>& open);

  /// Closes candidates, best bound first, and adds those that stay undecided to `open`. Returns those for which the
  /// share of the turn did not last.
  std::vector<Candidate> in_rounds(std::vector<Candidate> candidates, ClosedBy by, double share, Close close,
                                   std::vector<Candidate>& open);

  const ResolvedTask resolved_;
  const SpatialChoices* choices_ = nullptr;
  std::vector<std::uint32_t> mine_;
  std::vector<double> looked_;      // what is known of these, where all were looked at
  std::size_t next_ = 0;            // of mine_: the first whose choices were not listed
  std::vector<Unrolled> unrolled_;  // looked at; their durations are still to be chosen
  bool first_turn_ = true;
  std::vector<Candidate> waiting_;  // for tables
  ChoiceBounds bounds_;
  FactorFloors floors_;
  DecidedFactors decided_;
  DurationChoices duration_choices_;
  std::vector<Durations> durations_{{}};  // of candidates; number 0 is none
  bool choose_durations_ = false;
  bool windows_ = false;  // of any tensor
  SearchLimits& limits_;
  int threads_;
  const std::function<void(const Progress&)>& on_progress_;
  double told_ = 0;  // seconds
  EffortTurns turns_;
  double nodes_;  // of a lattice before tiles are grouped
  SearchState& state_;
  Spatial spatial_;
  Candidate dived_{-kInfinity, 0, 0};                           // what the tables of the dive say
  double steps_of_fastest_ = 0, least_of_fastest_ = kInfinity;  // infinity: not all were looked at
  std::vector<Candidate> fastest_;                              // what the dive looked at, in the order of mine_
  std::size_t next_fastest_ = 0;                                // of these: the first that was not asked for again
  std::unordered_map<std::uint32_t, Looked> seen_;              // by the dive, which looks at many twice
  tbb::enumerable_thread_specific<ArrayStore> stores_;
};

}  // namespace pliant::exact
