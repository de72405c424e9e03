// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/local_mapper.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "dse/mappers/local_search.h"
#include "dse/mappers/mapper_options.h"

namespace pliant {

namespace {

constexpr double kIllegal = std::numeric_limits<double>::infinity();
constexpr int kMostMoves = 16;
/// Moves in a row that may go anywhere; each later one must refill the place that the one before emptied.
constexpr int kFreeHops = 2;
/// Allocations whose price with remembered orders is further off than this get no search of their own orders.
constexpr double kWorth = 1.5;
/// Full use of the array comes first in round 1.
constexpr double kRound1Exponent = 10;

struct LocalOptions {
  double hops[3] = {4, 2, 2};
  double chain = 8, beam = 200, utilization = 1, starts = 4, mid = 2, finals = 1, worth = 10, fine = 10;
};

/// What is known about an allocation met before.
struct Met {
  std::uint64_t key = 0;
  double value = 0;
  std::uint32_t search = 0;     ///< the local search that reached it last ...
  std::uint8_t depth = 0;       ///< ... and in how many moves
  std::uint32_t descended = 0;  ///< the local search that last went downhill from it
};

class Memory64 {
 public:
  Memory64() : slots_(1U << 14) {}
  /// The entry of a key; fresh when its key was 0.
  Met& at(std::uint64_t key) {
    if (used_ * 2 > slots_.size()) grow();
    key |= 1;
    std::size_t i = key >> 7 & (slots_.size() - 1);
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    if (slots_[i].key == 0) ++used_;
    return slots_[i];
  }
  void clear() {
    std::fill(slots_.begin(), slots_.end(), Met{});
    used_ = 0;
  }

 private:
  void grow() {
    std::vector<Met> old(slots_.size() * 4);
    old.swap(slots_);
    for (const Met& met : old) {
      if (met.key == 0) continue;
      std::size_t i = met.key >> 7 & (slots_.size() - 1);
      while (slots_[i].key != 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = met;
    }
  }
  std::vector<Met> slots_;
  std::size_t used_ = 0;
};

struct Reached {
  double value = 0;
  int moves = 0;
  std::array<Move, kMostMoves> path;
};

enum class Round { kParallelism, kTiling, kBoth };

class LocalSearch {
 public:
  LocalSearch(const Task& task, const SearchOptions& options, const LocalOptions& local)
      : space_(task), now_(space_), options_(options), local_(local), deadline_(options, 64) {}

  SearchResult run() {
    SearchResult result;
    if (now_.start(options_.seed)) {
      std::vector<Start> starts = spatial_starts(static_cast<int>(local_.hops[0]));
      starts.resize(std::min(starts.size(), static_cast<std::size_t>(local_.starts)));
      worth_ = local_.fine;
      improve(starts, local_.mid, Round::kTiling, 1, 0);
      worth_ = local_.worth;
      improve(starts, local_.finals, Round::kTiling, static_cast<int>(local_.hops[1]), 0);
      improve(starts, 1, Round::kBoth, static_cast<int>(local_.hops[2]), local_.beam);
    }
    result.evaluations = now_.evaluations();
    result.ended_by = !deadline_.over() ? "local optimum" : deadline_.stopped() ? "stopped" : "budget";
    result.seconds = deadline_.seconds();
    if (!now_.found()) {
      if (!deadline_.over()) result.ended_by = "no legal start";
      return result;
    }
    result.mapping = now_.best();
    result.totals = now_.best_totals();
    result.value = now_.best_value();
    return result;
  }

 private:
  struct Start {
    double value = 0;
    Allocation::Saved at;
  };

  /// Searches on from every start and keeps the best few, best first.
  void improve(std::vector<Start>& starts, double keep, Round round_kind, int hops, double beam) {
    for (Start& start : starts) {
      now_.restore(start.at);
      round(round_kind, hops, local_.utilization, beam);
      start = {base_, now_.save()};
    }
    std::stable_sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) { return a.value < b.value; });
    starts.resize(std::min(starts.size(), static_cast<std::size_t>(keep)));
  }

  /// Round 1: parallelism, all other factors in the outermost memory; the best choices first.
  std::vector<Start> spatial_starts(int hops) {
    round_ = Round::kParallelism;
    exponent_ = kRound1Exponent;
    met_.clear();
    search_ = 0;
    base_ = now_.price(kIllegal, exponent_);
    begin();
    explore(0, hops, -1);
    std::vector<Reached> all = std::move(reached_);
    std::stable_sort(all.begin(), all.end(), [](const Reached& a, const Reached& b) { return a.value < b.value; });
    std::vector<Start> starts;
    const Allocation::Saved first = now_.save();
    for (const Reached& reached : all) {
      if (starts.size() >= static_cast<std::size_t>(local_.starts)) break;
      for (int i = 0; i < reached.moves; ++i) now_.apply(reached.path[static_cast<std::size_t>(i)]);
      starts.push_back({reached.value, now_.save()});
      now_.restore(first);
    }
    if (starts.empty()) starts.push_back({base_, first});
    return starts;
  }

  /// From the present allocation to one that no chain of moves improves.
  void round(Round round, int hops, double exponent, double beam) {
    round_ = round;
    exponent_ = exponent;
    met_.clear();
    search_ = 0;
    base_ = now_.price(kIllegal, exponent_);
    while (!deadline_.over()) {
      // 1. As few hops as bring an improvement; the best allocation reached replaces the present one.
      bool improved = false;
      for (int n = hops; n <= hops && !improved && !deadline_.over(); ++n) {
        begin();
        explore(0, n, -1);
        improved = accept();
      }
      // 2. None: go on from the best ones reached.
      if (!improved && beam > 0 && !deadline_.over()) improved = widen(static_cast<int>(local_.chain));
      if (!improved) break;
    }
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
    if (best == reached_.end() || !(best->value < base_ * (1 - 1e-12))) return false;
    for (int i = 0; i < best->moves; ++i) now_.apply(best->path[static_cast<std::size_t>(i)]);
    base_ = best->value;
    if (options_.on_progress) options_.on_progress({now_.best_value(), 0, now_.evaluations(), deadline_.seconds()});
    return true;
  }

  /// The beam: from each of the best allocations reached, downhill one move at a time, until one ends below the
  /// present.
  bool widen(int moves) {
    std::vector<Reached> front = std::move(reached_);
    reached_.clear();
    std::stable_sort(front.begin(), front.end(), [](const Reached& a, const Reached& b) { return a.value < b.value; });
    front.resize(std::min(front.size(), static_cast<std::size_t>(local_.beam)));
    const Allocation::Saved home = now_.save();
    for (const Reached& from : front) {
      for (int i = 0; i < from.moves; ++i) now_.apply(from.path[static_cast<std::size_t>(i)]);
      double here = from.value;
      for (int n = from.moves; n < moves && !deadline_.over(); ++n) {
        if (std::exchange(met_.at(now_.hash()).descended, search_) == search_) break;
        const auto [value, move] = best_neighbour();
        if (!(value < here * (1 - 1e-12))) break;
        now_.apply(move);
        here = value;
      }
      if (here < base_ * (1 - 1e-12)) {
        base_ = here;
        if (options_.on_progress) options_.on_progress({now_.best_value(), 0, now_.evaluations(), deadline_.seconds()});
        return true;
      }
      now_.restore(home);
      if (deadline_.look()) return false;
    }
    return false;
  }

  std::pair<double, Move> best_neighbour() {
    std::pair<double, Move> best{kIllegal, {}};
    for_each_move(-1, [&](const Move& move) {
      if (deadline_.reached()) return;
      const Move back = now_.inverse(move);
      now_.apply(move);
      if (const double value = value_of_met(met_.at(now_.hash())); value < best.first) best = {value, move};
      now_.apply(back);
    });
    return best;
  }

  double value_of_met(Met& met) {
    if (met.key == 0) {
      met.key = now_.hash() | 1;
      met.value = now_.legal() ? now_.price(base_ * worth_, exponent_) : kIllegal;
    }
    return met.value;
  }

  bool may_use(int dim, int place) const {
    const Place& p = now_.places()[static_cast<std::size_t>(place)];
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
    for (int d = 0; d < space_.dims; ++d) {
      for (const Count prime : now_.primes(d)) {
        for (int from = 0; from < places; ++from) {
          if (now_.bound(d, from) % prime != 0 || !may_use(d, from)) continue;
          for (int to = 0; to < places; ++to) {
            if (to == from || !may_use(d, to) || (emptied >= 0 && to != emptied)) continue;
            // Generalised adjacency: any power of the prime goes at once.
            for (Count factor = prime; now_.bound(d, from) % factor == 0; factor *= prime)
              f(Move{static_cast<std::int8_t>(d), static_cast<std::int8_t>(from), static_cast<std::int8_t>(to),
                     factor});
          }
        }
      }
    }
    if (round_ == Round::kParallelism || emptied >= 0) return;
    for (const int l : space_.memories)
      for (std::size_t i = 0; i < space_.keep_sets[l].size(); ++i)
        if (space_.keep_sets[l][i] != now_.keeps(l))
          f(Move{-1, static_cast<std::int8_t>(l), static_cast<std::int8_t>(i), 1});
  }

  /// All allocations within `limit` moves, deeper ones from each.
  void explore(int depth, int limit, int emptied) {
    for_each_move(emptied, [&](const Move& move) {
      if (!deadline_.over()) visit(move, depth, limit);
    });
  }

  void visit(const Move& move, int depth, int limit) {
    if (deadline_.reached()) return;
    const Move back = now_.inverse(move);
    now_.apply(move);
    Met& met = met_.at(now_.hash());
    const bool fresh = met.key == 0;
    if (!fresh && met.search == search_ && met.depth <= depth + 1) {
      now_.apply(back);
      return;
    }
    const bool again = !fresh && met.search == search_;
    met.search = search_;
    met.depth = static_cast<std::uint8_t>(depth + 1);
    const double value = value_of_met(met);
    if (value < kIllegal) {
      path_[static_cast<std::size_t>(depth)] = move;
      if (!again) {
        Reached& reached = reached_.emplace_back();
        reached.value = value;
        reached.moves = depth + 1;
        std::copy_n(path_.begin(), depth + 1, reached.path.begin());
      }
      if (depth + 1 < limit)
        explore(depth + 1, limit, round_ != Round::kParallelism && depth + 1 >= kFreeHops ? move.from : -1);
    }
    now_.apply(back);
  }

  Space space_;
  Allocation now_;
  const SearchOptions& options_;
  const LocalOptions local_;
  Deadline deadline_;
  Memory64 met_;
  Round round_ = Round::kParallelism;
  double exponent_ = 1, base_ = 0, worth_ = 10;
  std::uint32_t search_ = 0;
  std::vector<Reached> reached_;
  std::array<Move, kMostMoves> path_;
};

class LocalMapper final : public Mapper {
 public:
  std::string_view name() const override { return "local"; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    LocalOptions local;
    read_mapper_options(name(), options,
                        {{"hops1", &local.hops[0], 1, 8},
                         {"hops2", &local.hops[1], 1, 8},
                         {"hops3", &local.hops[2], 1, 8},
                         {"chain", &local.chain, 1, kMostMoves},
                         {"beam", &local.beam, 1, 1e6},
                         {"starts", &local.starts, 1, 1e6},
                         {"mid", &local.mid, 1, 1e6},
                         {"finals", &local.finals, 1, 1e6},
                         {"worth", &local.worth, 0, 1e6},
                         {"fine", &local.fine, 0, 1e6},
                         {"utilization", &local.utilization, 0, 100}});
    return LocalSearch(task, options, local).run();
  }
};

}  // namespace

std::unique_ptr<Mapper> make_local_mapper() { return std::make_unique<LocalMapper>(); }

}  // namespace pliant
