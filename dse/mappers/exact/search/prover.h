// SPDX-License-Identifier: Apache-2.0
// The proof over the choices of one task: what each could be at best, tables for the best of them, and a search of what
// tables cannot decide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "dse/mappers/exact/bounds/decided_factors.h"
#include "dse/mappers/exact/bounds/fanout_floors.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/chain/durations.h"
#include "dse/mappers/exact/search/rounds.h"

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
    return std::max(floor(steps), decided_.least(steps, 0));
  }
  bool has_effort() const { return !limits_.expired() && !turns_.ends_within(kLastTurn); }

  /// A first mapping, before all choices are listed: `fastest` are all those that take the fewest steps.
  void dive_into(const SpatialChoices& fastest);
  /// Some choices of a list.
  void run(const SpatialChoices& choices, std::vector<std::uint32_t> mine);
  /// The same with so much effort at most, for the mapping that it finds: false where something is left undecided,
  /// which is then as if nothing had been looked at.
  bool try_first(const SpatialChoices& choices, std::vector<std::uint32_t> mine, std::uint64_t effort);

 private:
  /// The last turn, of so little of all effort, does not end before all is used.
  static constexpr double kLastTurn = 0.02;
  /// What a turn may take for looking at unrollings.
  static constexpr double kShareOfLooking = 0.6;

  using ClosedBy = audit::ClosedBy;

  /// An unrolling whose durations are still to be chosen.
  struct Unrolled {
    SharedBound least;
    std::uint32_t spatial;
  };

  /// What all mappings of so many steps or fewer cost at least.
  struct Fastest {
    double steps = 0, least = 0;
  };
  /// Of the unrollings with the fewest steps, the choice with the least bound.
  Fastest dive();

  using Looked = ChoiceBounds::Looked;

  /// At an unrolling and durations.
  Looked look_at(std::uint32_t spatial, double limit, const Durations& durations = {});

  /// Where there are many: all unrollings once, the fastest first, so that what a limit leaves is slow; then those that
  /// could be better, the least bound first.
  void look_at_all();
  /// The least floor first, or the fastest. False: time is up.
  bool sort_unrollings();
  /// Of an unrolling that was not looked at yet.
  double known_before(std::uint32_t spatial) const;
  /// Of one that was not listed yet, by its place in mine_.
  double known_of(std::size_t at) const;
  bool closed_by_floor(std::uint32_t spatial);
  void forget_list();

  /// Adds choices that could be better, by the bounds that need no lattice. True: there are no more.
  bool list_choices(std::vector<Candidate>& found);
  /// Where time is up: all that was not listed, by the fewest steps of them, for looking at each takes time.
  void leave_rest();
  /// True: there was something.
  bool leave_unlisted();
  bool dived_into(const Spatial& spatial) const;
  void add_candidates(const UnrollingBounds& bounds, std::uint32_t spatial, std::uint32_t durations,
                      std::vector<Candidate>& found);
  void count_tiles();
  /// Tables of the best of an unrolling, whatever its durations: a better mapping leaves fewer candidates.
  void improve_with(const Unrolled& unrolled);
  /// Best bound first, so that what the limits leave has the best bound it can.
  void choose_durations(std::vector<Candidate>& found);

  /// How far the search is, a few times a second.
  void tell(double least_to_come, const std::vector<Candidate>& open);

  const ResolvedTask resolved_;
  const SpatialChoices* choices_ = nullptr;
  std::vector<std::uint32_t> mine_;
  std::vector<double> looked_;      // what is known of these, where all were looked at
  std::size_t next_ = 0;            // of mine_: the first whose choices were not listed
  std::vector<Unrolled> unrolled_;  // looked at; their durations are still to be chosen
  bool first_turn_ = true;
  std::vector<Candidate> waiting_;  // for tables
  ChoiceBounds bounds_;
  FanoutFloors floors_;
  DecidedFactors decided_;
  DurationChoices duration_choices_;
  bool choose_durations_ = false;
  bool windows_ = false;  // of any tensor
  SearchLimits& limits_;
  const std::function<void(const Progress&)>& on_progress_;
  double told_ = 0;  // seconds
  EffortTurns turns_;
  SearchState& state_;
  Rounds rounds_;
  Spatial spatial_;
  /// What the dive has made tables of, whatever its durations, and what they say.
  struct Dived {
    std::array<Unrolling, kMaxLevels> at{};
    std::uint32_t keeps = 0;
    double bound = -kInfinity;
  };
  Dived dived_;
  Fastest fastest_;
};

}  // namespace pliant::exact
