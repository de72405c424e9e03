// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/first_mapping.h"

#include "core/legality.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "dse/mappers/local/local_search.h"

namespace pliant::exact {

namespace {

/// Values that differ by less may be one value, summed in another order.
constexpr double kMoveHelps = 1 - kRoundingOfSums;

/// Downhill by single moves; the first that helps is taken.
class Descent {
 public:
  Descent(const Space& space, std::uint64_t most_priced) : space_(space), now_(space), most_(most_priced) {}

  void run() {
    if (!now_.start(1)) return;
    // Full use of the units counts most at first, and nothing at the end.
    for (const double utilization : {10.0, 1.0, 0.0}) {
      double here = now_.price(kInfinity, 0, utilization);
      while (step(here, utilization)) {
      }
    }
  }
  const Allocation& found() const { return now_; }

 private:
  bool spent() const { return now_.evaluations() >= most_; }

  /// One pass over all moves. True: at least one helped.
  bool step(double& here, double utilization) {
    bool helped = false;
    const auto places = static_cast<int>(now_.places().size());
    const auto attempt = [&](const Move& move) {
      if (spent()) return;
      const Move back = now_.inverse(move);
      now_.apply(move);
      const double value = now_.legal() ? now_.price(kInfinity, 0, utilization) : kInfinity;
      if (value < here * kMoveHelps) {
        here = value;
        helped = true;
      } else {
        now_.apply(back);
      }
    };
    for (int d = 0; d < space_.dims; ++d)
      for (const Count prime : now_.primes(d))
        for (int to = places - 1; to >= 0; --to)
          for (int from = 0; from < places; ++from)
            if (from != to && contains(now_.places()[static_cast<std::size_t>(to)].allowed, d) &&
                now_.bound(d, from) % prime == 0)
              attempt(
                  {static_cast<std::int8_t>(d), static_cast<std::int8_t>(from), static_cast<std::int8_t>(to), prime});
    for (const int l : space_.memories)
      for (std::size_t i = 0; i < space_.keep_sets(l).size(); ++i)
        if (space_.keep_sets(l)[i] != now_.keeps(l))
          attempt({-1, static_cast<std::int8_t>(l), static_cast<std::int8_t>(i), 1});
    return helped && !spent();
  }

  const Space& space_;
  Allocation now_;
  std::uint64_t most_;
};

}  // namespace

Incumbent first_mapping(const Task& task, std::uint64_t most_priced, SearchLimits& limits) {
  // A hint rules mappings out that these moves do not ask about.
  if (task.accelerator.hints.min_utilization > 0) return {};
  Task perfect = task;
  perfect.factorization = Factorization::kPerfect;
  const Space space(perfect);
  Descent descent(space, most_priced);
  descent.run();
  const Allocation& found = descent.found();
  limits.priced += found.evaluations();
  limits.effort += found.evaluations() * effort::kMove;
  if (!found.found() || found.best_value() == kInfinity) return {};
  // Fixed tiles are rounded to divisors where factors must be perfect.
  if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, found.best()).empty())
    return {};
  return {found.best(), found.best_totals(), found.best_value()};
}

}  // namespace pliant::exact
