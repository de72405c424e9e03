// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/prover.h"

#include <tbb/info.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/arithmetic.h"
#include "dse/mappers/exact/bounds/innermost_network.h"
#include "dse/mappers/exact/search/read_off.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// Of a limited effort so much may go into listing choices and tables; the rest is for the search, which finds the
/// better mappings.
constexpr double kShareOfTables = 0.8;

/// Choices are listed and get tables in turns, for tables find mappings that leave fewer choices to list: of what is
/// left for both, a turn has listed choices after so much and made tables after so much.
constexpr double kShareOfListing = 0.7, kShareOfTurn = 0.8;

/// More unrollings than this are looked at fastest first, so that those that a limit leaves are the slow ones.
constexpr std::size_t kFewUnrollings = 4096;

/// So many are sorted between two looks at the clock.
constexpr std::size_t kSortedAtOnce = 65'536;

/// Where all unrollings were looked at, the best bound first, the tables of so many choices come before others are
/// listed.
constexpr std::size_t kManyChoices = 1024;

/// So many unrollings get tables before durations are chosen for all, where there are so many times more of them.
constexpr std::size_t kTriedFirst = 8, kWorthTrying = 16;

/// Steps are chosen before the lattice where twice as many make the objective worse by this factor.
constexpr double kStepsMatter = 1.1;

}  // namespace

Prover::Prover(const Task& task, const Problem& problem, SearchLimits& limits, const SearchOptions& options,
               std::uint64_t effort, SearchState& state)
    : resolved_(task, problem),
      bounds_(resolved_),
      floors_(resolved_, bounds_),
      decided_(resolved_, bounds_, limits),
      duration_choices_(resolved_),
      limits_(limits),
      on_progress_(options.on_progress),
      turns_(limits, effort),
      state_(state),
      rounds_(resolved_, bounds_, limits, state, turns_, std::min(options.threads, tbb::info::default_concurrency())) {
  for (int x = 0; x < problem.tensors; ++x) windows_ |= !problem.affine[x].empty();
  // Where twice the steps hardly change the objective, one lattice for all durations is cheaper than one for each.
  const double steps = std::max(problem.busy_cycles, bounds_.floor_cycles());
  choose_durations_ =
      task.factorization == Factorization::kRubyS && bounds_.floor(2 * steps) > kStepsMatter * bounds_.floor(steps);
}

double Prover::floor(double steps) const { return bounds_.floor(std::max(steps, resolved_.problem.busy_cycles)); }

SpatialChoices::LeftOut Prover::left_out() {
  SpatialChoices::LeftOut left_out;
  left_out.most_steps =
      bounds_.most_steps([&](double floor) { return state_.hopeless(floor); }) * (1 + kRoundingOfFloors);
  left_out.floors = &floors_;
  left_out.enough = limits_.enough(state_.incumbent.value);
  left_out.partial = &decided_;
  return left_out;
}

void Prover::dive_into(const SpatialChoices& fastest) {
  choices_ = &fastest;
  mine_.resize(fastest.size());
  std::iota(mine_.begin(), mine_.end(), 0);
  turns_.begin(kShareOfTables);
  fastest_ = dive();
}

/// What is known by the numbers of the list before.
void Prover::forget_list() {
  next_ = 0;
  first_turn_ = true;
  looked_.clear();
  unrolled_.clear();
  waiting_.clear();
}

void Prover::run(const SpatialChoices& choices, std::vector<std::uint32_t> mine) {
  choices_ = &choices;
  rounds_.begin(choices);
  mine_ = std::move(mine);
  forget_list();
  turns_.begin(kShareOfTables);
  // 1. A first mapping.
  if (state_.incumbent.value == kInfinity || std::exchange(state_.rough, false)) dive();
  // 2. All choices that could be better, by the bounds that need no lattice; and tables of one after the other until
  //    the bound says the rest cannot be better. Where effort is limited, in turns.
  if (mine_.size() > length(kFewUnrollings, 2)) look_at_all();
  std::vector<Candidate> open, unsearched, undecided;
  const auto tell = [&](double least_to_come) { this->tell(least_to_come, open); };
  for (bool last = false; !last;) {
    last = list_choices(waiting_) || limits_.expired() || turns_.ends_within(kLastTurn);
    waiting_ = rounds_.run(std::move(waiting_), ClosedBy::kTables, last ? 1 : kShareOfTurn, bound_choice, open, tell);
    turns_.begin(kShareOfTables);
    first_turn_ = false;
  }
  // 3. Search what the tables could not decide, for by now the incumbent is good.
  turns_.begin(1);
  const auto search = [&] {
    while (!open.empty()) {
      std::vector<Candidate> searched;
      rounds_.narrow_groups();
      unsearched = rounds_.run(std::move(open), ClosedBy::kSearch, 1, close_choice, searched, tell);
      //  Once more those that used up their allowance, for now there is more for each.
      open.clear();
      for (const Candidate& candidate : searched)
        (candidate.spent && unsearched.empty() && !turns_.ends_within(kLastTurn) ? open : undecided)
            .push_back(candidate);
    }
  };
  search();
  // 4. What the search has left over goes into tables of those that still wait.
  if (!waiting_.empty() && unsearched.empty()) {
    turns_.begin(1);
    waiting_ = rounds_.run(std::move(waiting_), ClosedBy::kTables, kShareOfTurn, bound_choice, open, tell);
    search();
  }
  const bool left = leave_unlisted() | rounds_.leave(waiting_, ClosedBy::kChoiceBounds) |
                    rounds_.leave(unsearched, ClosedBy::kTables);
  state_.out_of_effort |= left && !limits_.expired();
  const auto spent = [](const Candidate& candidate) { return candidate.spent; };
  state_.out_of_effort |= rounds_.leave(undecided, ClosedBy::kSearch) && std::ranges::any_of(undecided, spent);
}

bool Prover::try_first(const SpatialChoices& choices, std::vector<std::uint32_t> mine, std::uint64_t effort) {
  const double undecided = state_.undecided;
  const bool out_of_effort = state_.out_of_effort;
  const EffortTurns whole = std::exchange(turns_, turns_.from_here(effort));
  run(choices, std::move(mine));
  turns_ = whole;
  turns_.begin(1);
  state_.out_of_effort = out_of_effort;
  return std::exchange(state_.undecided, undecided) == undecided;
}

Prover::Fastest Prover::dive() {
  double fewest = kInfinity;
  bool all = choices_->complete();
  for (const std::uint32_t i : mine_) fewest = std::min(fewest, choices_->steps(i));
  std::vector<Candidate> group;
  const bool by_floors = choices_->has_floors();  // then they are few
  for (const std::uint32_t i : mine_) {
    if (choices_->steps(i) > fewest && !by_floors) continue;
    if (limits_.expired() || turns_.left(kShareOfListing) == 0) {
      all = false;
      break;
    }
    group.push_back({look_at(i, kInfinity).least, i, 0});
  }
  std::sort(group.begin(), group.end());
  Candidate best{kInfinity, 0, 0};
  std::shared_ptr<const UnrollingBounds> bounds_of_best;
  for (const Candidate& unrolling : group) {
    if (unrolling.bound >= best.bound) break;
    if (limits_.expired()) {
      all = false;
      break;
    }
    const Looked looked = look_at(unrolling.spatial, kInfinity);
    if (looked.bounds == nullptr) continue;
    looked.bounds->keeps_below(best.bound, [&](std::size_t keeps, const SharedBound& bound) {
      best = std::min(best, {bound.value, unrolling.spatial, static_cast<std::uint32_t>(keeps), 0, bound.cycles});
      if (best.spatial == unrolling.spatial) bounds_of_best = looked.bounds;
    });
  }
  if (bounds_of_best == nullptr) return {};
  // Choices that were not asked for are no better. The list has all mappings of so few steps, or others as good (L9),
  // so this holds for them whatever list they are in later.
  const Fastest fastest = all ? Fastest{fewest, best.bound} : Fastest{};
  if (resolved_.perfect) read_off(resolved_, *bounds_of_best, best.keeps, best.bound, state_.incumbent, limits_);
  if (state_.hopeless(best.bound)) return fastest;
  dived_.keeps = best.keeps;
  for (const int l : members(resolved_.problem.fanouts)) dived_.at[l] = *bounds_of_best->spatial().unrolling[l];
  dived_.bound =
      rounds_.bound_one(bounds_of_best->spatial(), best.keeps, best.cycles, EffortTurns::allowance(turns_.left(1), 1));
  return fastest;
}

Prover::Looked Prover::look_at(std::uint32_t spatial, double limit, const Durations& durations) {
  choices_->get(spatial, spatial_);
  spatial_.durations = durations;
  Looked looked = bounds_.look_at(spatial_, limit);
  limits_.effort += displacement_walks(resolved_.problem)  ? effort::kRememberedWalks
                    : looked.bounds != nullptr || windows_ ? effort::kUnrolling
                                                           : effort::kGlance;
  return looked;
}

double Prover::known_before(std::uint32_t spatial) const {
  const double steps = choices_->steps(spatial);
  return std::max({bounds_.floor(steps), choices_->least(spatial), steps <= fastest_.steps ? fastest_.least : 0});
}

double Prover::known_of(std::size_t at) const { return looked_.empty() ? known_before(mine_[at]) : looked_[at]; }

bool Prover::closed_by_floor(std::uint32_t spatial) {
  const double floor = bounds_.floor(choices_->steps(spatial));
  if (!state_.close(floor)) return state_.close_by_bound(known_before(spatial));
  if (state_.record != nullptr) state_.record->floor(choices_->steps(spatial), floor);
  return true;
}

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
  InnermostNetwork innermost(resolved_, bounds_);
  std::vector<Candidate> all;
  double left = kInfinity;  // least of what there was no time for
  for (const std::uint32_t i : mine_) {
    if (closed_by_floor(i)) continue;
    double least = known_before(i);
    if (limits_.expired()) {
      left = least;  // the others are no better
      break;
    }
    if (turns_.left(kShareOfLooking) > 0) {
      if (innermost.applies()) {
        choices_->get(i, spatial_);
        least = std::max(least, innermost.least(spatial_, state_.incumbent.value));
        count_tiles();
      }
      if (!state_.hopeless(least)) least = std::max(least, look_at(i, state_.incumbent.value).least);
    }
    if (!state_.close_by_bound(least)) all.push_back({least, i, 0});
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
}

bool Prover::list_choices(std::vector<Candidate>& found) {
  for (; next_ < mine_.size(); ++next_) {
    const std::uint32_t i = mine_[next_];
    // Later turns have better mappings: there an unrolling may be too slow while as slow a one was looked at before.
    const double known = known_of(next_);
    if (first_turn_ && looked_.empty() ? closed_by_floor(i) : state_.close_by_bound(known)) continue;
    if (limits_.expired() || turns_.left(kShareOfLooking) == 0) break;
    if (!looked_.empty() && found.size() > length(kManyChoices, 3)) break;
    const auto [least, bounds] = look_at(i, state_.incumbent.value);
    // An unrolling that stays open is closed by the same bounds for whatever it is not a candidate with.
    const bool closed = state_.close(least);
    state_.record_bounded(closed ? least : kInfinity);
    if (closed) continue;
    if (limits_.too_long(static_cast<double>(found.size() * sizeof(Candidate) + unrolled_.size() * sizeof(Unrolled)))) {
      state_.leave_unseen(least);
      continue;
    }
    if (!choose_durations_ || bounds->port_cycles() >= duration_choices_.most_steps(bounds->spatial())) {
      add_candidates(*bounds, i, 0, found);
      continue;
    }
    const SharedBound shared = bounds->least_shared(state_.incumbent.value);
    count_tiles();
    if (shared.value == kInfinity || state_.close_by_bound(shared.value)) continue;
    // Where ports take longer than the fewest steps, one lattice for all durations.
    if (shared.port_cycles > choices_->steps(i))
      add_candidates(*bounds, i, 0, found);
    else
      unrolled_.push_back({shared, i});
  }
  choose_durations(found);
  return next_ == mine_.size() && unrolled_.empty();
}

void Prover::leave_rest() {
  double fewest = kInfinity, least = kInfinity;
  for (; next_ < mine_.size(); ++next_) {
    fewest = std::min(fewest, choices_->steps(mine_[next_]));
    least = std::min(least, choices_->least(mine_[next_]));
  }
  const double floor = std::max(bounds_.floor(fewest), least);
  if (fewest < kInfinity && !state_.close_by_bound(floor)) state_.leave_unseen(floor);
}

bool Prover::leave_unlisted() {
  if (limits_.expired() && looked_.empty()) leave_rest();
  bool any = false;
  const auto leave_one = [&](double bound) {
    if (state_.close_by_bound(bound)) return;
    state_.leave_unseen(bound);
    any = true;
  };
  for (; next_ < mine_.size(); ++next_) leave_one(known_of(next_));
  for (const Unrolled& unrolled : unrolled_) leave_one(unrolled.least.value);
  return any;
}

bool Prover::dived_into(const Spatial& spatial) const {
  for (const int l : members(resolved_.problem.fanouts))
    if (*spatial.unrolling[l] != dived_.at[l]) return false;
  return true;
}

void Prover::add_candidates(const UnrollingBounds& bounds, std::uint32_t spatial, std::uint32_t durations,
                            std::vector<Candidate>& found) {
  bounds.keeps_below(state_.incumbent.value, [&](std::size_t keeps, const SharedBound& bound) {
    limits_.effort += effort::kKeeps;
    if (state_.close_by_bound(bound.value)) return;
    Candidate candidate{bound.value, spatial, static_cast<std::uint32_t>(keeps), durations, bound.cycles};
    if (keeps == dived_.keeps && dived_into(bounds.spatial())) candidate.bound = std::max(bound.value, dived_.bound);
    if (state_.close(candidate.bound)) return rounds_.record(candidate, ClosedBy::kTables);
    found.push_back(candidate);
  });
  count_tiles();
}

void Prover::count_tiles() { limits_.effort += bounds_.newly_looked() * effort::kTile; }

void Prover::improve_with(const Unrolled& unrolled) {
  Candidate best{kInfinity, unrolled.spatial, 0};
  Spatial spatial;
  choices_->get(unrolled.spatial, spatial);
  const auto worth = [&](double steps) {
    return !limits_.expired() && !state_.hopeless(bounds_.with_steps(unrolled.least, steps));
  };
  duration_choices_.of(spatial, worth, [&](const Durations& durations) {
    const Looked looked = look_at(unrolled.spatial, kInfinity, durations);
    if (looked.bounds == nullptr) return;
    looked.bounds->keeps_below(best.bound, [&](std::size_t keeps, const SharedBound& bound) {
      if (bound.value >= best.bound) return;
      best = {bound.value, unrolled.spatial, static_cast<std::uint32_t>(keeps), 0, bound.cycles};
      spatial.durations = durations;
    });
  });
  count_tiles();
  if (state_.hopeless(best.bound)) return;
  rounds_.bound_one(spatial, best.keeps, best.cycles,
                    EffortTurns::allowance(turns_.left(kShareOfListing), kTriedFirst));
}

void Prover::choose_durations(std::vector<Candidate>& found) {
  std::sort(unrolled_.begin(), unrolled_.end(), [](const Unrolled& a, const Unrolled& b) {
    return std::tie(a.least.value, a.spatial) < std::tie(b.least.value, b.spatial);
  });
  for (std::size_t i = 0; i < kTriedFirst && kWorthTrying * kTriedFirst < unrolled_.size(); ++i)
    improve_with(unrolled_[i]);
  std::size_t done = 0;
  for (; done < unrolled_.size(); ++done) {
    const auto& [least, spatial] = unrolled_[done];
    if (limits_.too_long(static_cast<double>(found.size() * (sizeof(Candidate) + sizeof(Durations))))) {
      state_.leave_unseen(least.value);  // and the others, whose bounds are no better
      done = unrolled_.size();
      break;
    }
    if (limits_.expired() || turns_.left(kShareOfListing) == 0) break;
    const auto worth = [&, &least = least](double steps) {
      if (limits_.expired()) state_.leave_unseen(least.value);
      return !limits_.expired() && !state_.close_by_bound(bounds_.with_steps(least, steps));
    };
    choices_->get(spatial, spatial_);
    duration_choices_.of(spatial_, worth, [&, spatial = spatial](const Durations& durations) {
      const Looked looked = look_at(spatial, kInfinity, durations);
      if (looked.bounds == nullptr) return;
      const std::size_t before = found.size();
      add_candidates(*looked.bounds, spatial, rounds_.next_durations(), found);
      if (found.size() > before) rounds_.add(durations);
    });
  }
  unrolled_.erase(unrolled_.begin(), unrolled_.begin() + static_cast<std::ptrdiff_t>(done));
}

void Prover::tell(double least_to_come, const std::vector<Candidate>& open) {
  constexpr double kEvery = 0.1;  // seconds
  if (!on_progress_ || limits_.seconds() < told_ + kEvery) return;
  told_ = limits_.seconds();
  double bound = std::min({least_to_come, state_.undecided, state_.incumbent.value});
  for (const auto* more : {&std::as_const(waiting_), &open})
    for (const Candidate& candidate : *more) bound = std::min(bound, candidate.bound);
  for (const Unrolled& unrolled : unrolled_) bound = std::min(bound, unrolled.least.value);
  for (std::size_t i = next_; i < mine_.size(); ++i) bound = std::min(bound, known_of(i));
  on_progress_({state_.incumbent.value, bound, limits_.priced, told_});
}

}  // namespace pliant::exact
