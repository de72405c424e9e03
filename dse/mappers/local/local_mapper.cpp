// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/local/local_mapper.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/arithmetic.h"
#include "dse/mappers/local/met_table.h"
#include "dse/mappers/mapper_options.h"

namespace pliant {

namespace {

constexpr double kIllegal = kInfinity;
constexpr int kMostMoves = 16;
/// Moves in a row that may go anywhere; each later one must refill the place that the one before emptied.
constexpr int kFreeHops = 2;
/// Allocations whose price with remembered orders is further off than this get no search of their own orders.
constexpr double kWorth = 3;
/// Array uses whose price with the present tiles is further off than this are not followed.
constexpr double kNear = 3;
/// Allocations of the beam that are followed in any case.
constexpr std::size_t kFirstBeam = 64;
/// Searches that priced less than this start again elsewhere.
constexpr std::uint64_t kShort = 80'000;
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
/// Values that differ by less may be one value, summed in another order.
constexpr double kClearlyLess = 1 - 1e-12;
/// Full use of the array comes first in round 1.
constexpr double kRound1Exponent = 10;

struct LocalOptions {
  double hops[3] = {4, 2, 4};
  double chain = 8, beam = 1024, arrays = 128, effort = 40'000, utilization = 1, restarts = 1;
};

struct Reached {
  double value = 0;
  int moves = 0;
  std::array<Move, kMostMoves> path;
};

/// A move from where the search stands, and the key of where it leads.
struct Next {
  Move move;
  std::uint64_t hash = 0;
};

enum class Round { kParallelism, kTiling, kBoth };

class LocalSearch {
 public:
  LocalSearch(const Task& task, const SearchOptions& options, const LocalOptions& local)
      : space_(task), now_(space_), options_(options), local_(local), deadline_(options, 64) {}

  const LocalCounts& counts() const { return now_.counts(); }

  SearchResult run() {
    SearchResult result;
    if (now_.start(options_.seed)) {
      const std::vector<Allocation::Saved> arrays = parallelism(static_cast<int>(local_.hops[0]));
      now_.restore(arrays.front());
      round(Round::kTiling, static_cast<int>(local_.hops[1]), {});
      round(Round::kBoth, static_cast<int>(local_.hops[2]), arrays);
      // A search that was short has another try from elsewhere, and goes on where that ends lower.
      double lowest = base_;
      for (std::uint64_t again = 1; again <= static_cast<std::uint64_t>(local_.restarts); ++again) {
        if (now_.evaluations() > kShort || deadline_.look() || !now_.start_at_random(options_.seed + again)) break;
        for (int hops = 1; hops <= kFreeHops; ++hops) round(Round::kBoth, hops, {});
        if (base_ < lowest * kClearlyLess) round(Round::kBoth, static_cast<int>(local_.hops[2]), arrays);
        lowest = std::min(lowest, base_);
      }
    }
    result.evaluations = now_.evaluations();
    result.ended_by = !deadline_.over()     ? EndedBy::kLocalOptimum
                      : deadline_.stopped() ? EndedBy::kStopped
                                            : EndedBy::kBudget;
    result.seconds = deadline_.seconds();
    if (!now_.found()) {
      if (!deadline_.over()) result.ended_by = EndedBy::kNoLegalStart;
      return result;
    }
    result.mapping = now_.best();
    result.totals = now_.best_totals();
    result.value = now_.best_value();
    return result;
  }

 private:
  /// Round 1: parallelism, all other factors in the outermost memory; the best choices first.
  std::vector<Allocation::Saved> parallelism(int hops) {
    set_out(Round::kParallelism, kRound1Exponent);
    begin();
    explore(0, hops, -1);
    std::stable_sort(reached_.begin(), reached_.end(),
                     [](const Reached& a, const Reached& b) { return a.value < b.value; });
    const Allocation::Saved first = now_.save();
    std::vector<Allocation::Saved> choices;
    for (const Reached& reached : reached_) {
      if (choices.size() >= static_cast<std::size_t>(local_.arrays)) break;
      for (int i = 0; i < reached.moves; ++i) now_.apply(reached.path[static_cast<std::size_t>(i)]);
      choices.push_back(now_.save());
      now_.restore(first);
    }
    if (choices.empty()) choices.push_back(first);
    return choices;
  }

  void set_out(Round round, double exponent) {
    round_ = round;
    exponent_ = exponent;
    met_.clear();
    search_ = 0;
    base_ = now_.price(kIllegal, 0, exponent_);
    base_steps_ = now_.steps();
  }

  /// Rounds 2 and 3: from the present allocation to one that no chain of moves improves.
  void round(Round round, int hops, const std::vector<Allocation::Saved>& arrays) {
    set_out(round, local_.utilization);
    const std::uint64_t quota = now_.evaluations() + static_cast<std::uint64_t>(local_.effort);
    bool improved = true;
    while (improved && !deadline_.over()) {
      // 1. The best allocation within two hops.
      begin();
      explore(0, std::min(hops, kFreeHops), -1);
      now_.counts().reached.push_back(static_cast<double>(reached_.size()));
      improved = accept();
      if (improved || hops <= kFreeHops || deadline_.over()) continue;
      // 2. None is better: go on from the best ones reached. Then another use of the array with the present tiles. Then
      // more hops. The later the step the dearer it is, so it is taken only while the search has been short.
      const std::vector<Reached> front = best_reached();
      improved = widen(front, 0, kFirstBeam, false);
      stop_at_ = quota;
      if (!improved) improved = change_array(arrays);
      if (!improved) improved = widen(front, kFirstBeam, front.size(), false);
      if (!improved) improved = widen(front, 0, front.size(), true);
      for (int n = kFreeHops + 1; n <= hops && !improved && !spent(); ++n) {
        begin();
        explore(0, n, -1);
        improved = accept();
      }
      stop_at_ = kNever;
    }
  }

  bool spent() { return deadline_.over() || now_.evaluations() >= stop_at_; }

  /// Downhill from the present allocation, one move at a time, at most `moves`; with `swaps`, two at a time where one
  /// does not help, the second into the place that the first emptied. Returns the value it ends with.
  double descend(double here, int moves, bool swaps) {
    while (moves > 0 && !spent()) {
      std::uint32_t& descended = met_.at(now_.hash()).descended;
      if (std::exchange(descended, 2 * search_ + swaps) >= 2 * search_ + swaps) break;
      if (const auto [value, move] = best_neighbour(-1); value < here * kClearlyLess) {
        now_.apply(move);
        here = value;
        --moves;
        continue;
      }
      if (!swaps || moves < 2) break;
      const auto [value, first, second] = best_swap();
      if (!(value < here * kClearlyLess)) break;
      now_.apply(first);
      now_.apply(second);
      here = value;
      moves -= 2;
    }
    return here;
  }

  std::tuple<double, Move, Move> best_swap() {
    std::tuple<double, Move, Move> best{kIllegal, {}, {}};
    for_each_move(-1, [&](const Move& first) {
      if (first.dim < 0 || spent()) return;
      now_.apply(first);
      if (const auto [value, second] = best_neighbour(first.from); value < std::get<0>(best))
        best = {value, first, second};
      now_.apply({first.dim, first.to, first.from, first.factor});
    });
    return best;
  }

  /// The spatial factors of each array use in turn, then downhill.
  bool change_array(const std::vector<Allocation::Saved>& arrays) {
    const Allocation::Saved home = now_.save();
    for (const Allocation::Saved& array : arrays) {
      if (deadline_.look() || spent()) break;
      if (now_.take_parallelism(array)) {
        double here = value_of_met(met_.at(now_.hash()));
        if (here < base_ * kNear) here = descend(here, static_cast<int>(local_.chain), false);
        if (improves(here)) return true;
      }
      now_.restore(home);
    }
    return false;
  }

  void begin() {
    ++search_;
    reached_.clear();
    Met& here = met_.at(now_.hash());
    here.key = now_.hash() | 1;
    here.value = base_;
    here.search = search_;
    here.depth = 0;
  }

  bool accept() {
    const auto best = std::min_element(reached_.begin(), reached_.end(),
                                       [](const Reached& a, const Reached& b) { return a.value < b.value; });
    if (best == reached_.end() || !(best->value < base_ * kClearlyLess)) return false;
    for (int i = 0; i < best->moves; ++i) now_.apply(best->path[static_cast<std::size_t>(i)]);
    base_ = best->value;
    ++now_.counts().steps;
    if (options_.on_progress) options_.on_progress({now_.best_value(), 0, now_.evaluations(), deadline_.seconds()});
    return true;
  }

  bool improves(double here) {
    if (!(here < base_ * kClearlyLess)) return false;
    base_ = here;
    if (options_.on_progress) options_.on_progress({now_.best_value(), 0, now_.evaluations(), deadline_.seconds()});
    return true;
  }

  std::vector<Reached> best_reached() {
    std::vector<Reached> front = std::move(reached_);
    reached_.clear();
    std::stable_sort(front.begin(), front.end(), [](const Reached& a, const Reached& b) { return a.value < b.value; });
    // After the best few, those a single move away: what they lead to differs most.
    if (front.size() > kFirstBeam)
      std::stable_partition(front.begin() + kFirstBeam, front.end(), [](const Reached& r) { return r.moves == 1; });
    front.resize(std::min(front.size(), static_cast<std::size_t>(local_.beam)));
    return front;
  }

  /// The beam: downhill from some of the best allocations reached, until one ends below the present.
  bool widen(const std::vector<Reached>& front, std::size_t first, std::size_t last, bool swaps) {
    ++now_.counts().beams;
    const Allocation::Saved home = now_.save();
    for (std::size_t k = first; k < std::min(last, front.size()); ++k) {
      if (deadline_.look() || spent()) break;
      const Reached& from = front[k];
      for (int i = 0; i < from.moves; ++i) now_.apply(from.path[static_cast<std::size_t>(i)]);
      if (improves(descend(from.value, static_cast<int>(local_.chain) - from.moves, swaps))) return true;
      now_.restore(home);
    }
    return false;
  }

  std::pair<double, Move> best_neighbour(int emptied) {
    std::pair<double, Move> best{kIllegal, {}};
    for_each_move(emptied, [&](const Move& move) {
      if (deadline_.reached()) return;
      if (const double value = value_after(move); value < best.first) best = {value, move};
    });
    return best;
  }

  double value_after(const Move& move) {
    if (const Met* const known = met_.find(now_.hash_after(move))) return known->value;
    const Move back = now_.inverse(move);
    now_.apply(move);
    const double value = value_of_met(met_.at(now_.hash()));
    now_.apply(back);
    return value;
  }

  double value_of_met(Met& met) {
    if (met.key == 0) {
      met.key = now_.hash() | 1;
      met.value = now_.legal() ? now_.price(base_ * kWorth, base_steps_, exponent_) : kIllegal;
    }
    return met.value;
  }

  bool may_use(int dim, int place) const {
    const LoopPlace& p = now_.places()[static_cast<std::size_t>(place)];
    if ((p.allowed >> dim & 1U) == 0) return false;
    switch (round_) {
      case Round::kParallelism: return p.spatial || place == now_.outermost(dim);
      case Round::kTiling: return !p.spatial;
      case Round::kBoth: return true;
    }
    return true;
  }

  /// Calls f with every move from the present allocation; `emptied` >= 0: only those that refill that place.
  template <typename F>
  void for_each_move(int emptied, F f) {
    const int places = static_cast<int>(now_.places().size());
    const int first_to = emptied >= 0 ? emptied : 0, end_to = emptied >= 0 ? emptied + 1 : places;
    for (int d = 0; d < space_.dims; ++d) {
      for (const Count prime : now_.primes(d)) {
        for (int from = 0; from < places; ++from) {
          const Count bound = now_.bound(d, from);  // most are 1, and divisions are what this takes
          if (bound < prime || bound % prime != 0 || !may_use(d, from)) continue;
          for (int to = first_to; to < end_to; ++to) {
            if (to == from || !may_use(d, to)) continue;
            // Generalised adjacency: any power of the prime goes at once.
            for (Count factor = prime; bound % factor == 0; factor *= prime)
              f(Move{static_cast<std::int8_t>(d), static_cast<std::int8_t>(from), static_cast<std::int8_t>(to),
                     factor});
          }
        }
      }
    }
    if (round_ == Round::kParallelism || emptied >= 0) return;
    for (const int l : space_.memories)
      for (std::size_t i = 0; i < space_.keep_sets(l).size(); ++i)
        if (space_.keep_sets(l)[i] != now_.keeps(l))
          f(Move{-1, static_cast<std::int8_t>(l), static_cast<std::int8_t>(i), 1});
  }

  /// All allocations within `limit` moves, deeper ones from each.
  void explore(int depth, int limit, int emptied) {
    std::vector<Next>& all = next_[static_cast<std::size_t>(depth)];
    all.clear();
    for_each_move(emptied, [&](const Move& move) {
      all.push_back({move, now_.hash_after(move)});
      met_.expect(all.back().hash);
    });
    for (const Next& next : all) {
      if (spent()) return;
      visit(next, depth, limit);
    }
  }

  void visit(const Next& next, int depth, int limit) {
    if (deadline_.reached()) return;
    const Met* const known = met_.find(next.hash);
    if (known != nullptr && known->search == search_ && known->depth <= depth + 1) return;
    const Move& move = next.move;
    const Move back = now_.inverse(move);
    now_.apply(move);
    Met& met = met_.at(now_.hash());
    const bool again = met.key != 0 && met.search == search_;
    met.search = search_;
    met.depth = static_cast<std::uint8_t>(depth + 1);
    const double value = value_of_met(met);
    path_[static_cast<std::size_t>(depth)] = move;
    if (value < kIllegal && !again) {
      Reached& reached = reached_.emplace_back();
      reached.value = value;
      reached.moves = depth + 1;
      std::copy_n(path_.begin(), depth + 1, reached.path.begin());
    }
    // A buffer that overflows for one move may fit again after the next; an array that does not is given up.
    const bool on = value < kIllegal || round_ == Round::kBoth;
    if (on && depth + 1 < limit)
      explore(depth + 1, limit, round_ != Round::kParallelism && depth + 1 >= kFreeHops ? move.from : -1);
    now_.apply(back);
  }

  Space space_;
  Allocation now_;
  const SearchOptions& options_;
  const LocalOptions local_;
  Deadline deadline_;
  MetTable met_;
  Round round_ = Round::kParallelism;
  double exponent_ = 1, base_ = 0, base_steps_ = 0;
  std::uint64_t stop_at_ = kNever;  ///< evaluations
  std::uint32_t search_ = 0;
  std::vector<Reached> reached_;
  std::array<Move, kMostMoves> path_;
  std::array<std::vector<Next>, kMostMoves> next_;  ///< by depth
};

constexpr std::string_view kLocalName = "local";

LocalOptions read_local_options(const SearchOptions& options) {
  LocalOptions local;
  read_mapper_options(kLocalName, options,
                      {{"hops1", &local.hops[0], 1, 8},
                       {"hops2", &local.hops[1], 1, 8},
                       {"hops3", &local.hops[2], 1, 8},
                       {"chain", &local.chain, 1, kMostMoves},
                       {"beam", &local.beam, 1, 1e6},
                       {"effort", &local.effort, 0, 1e12},
                       {"restarts", &local.restarts, 0, 1e12},
                       {"arrays", &local.arrays, 1, 1e6},
                       {"utilization", &local.utilization, 0, 100}});
  return local;
}

class LocalMapper final : public Mapper {
 public:
  std::string_view name() const override { return kLocalName; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    return LocalSearch(task, options, read_local_options(options)).run();
  }
};

}  // namespace

SearchResult search_and_count(const Task& task, const SearchOptions& options, LocalCounts& counts) {
  LocalSearch search(task, options, read_local_options(options));
  SearchResult result = search.run();
  counts = search.counts();
  return result;
}

std::unique_ptr<Mapper> make_local_mapper() { return std::make_unique<LocalMapper>(); }

}  // namespace pliant
