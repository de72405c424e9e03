// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/search.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "dse/mappers/exact/search/rounded.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "dse/mappers/exact/words/charges.h"

namespace pliant::exact {

namespace {

/// So often are tables made again without mappings that are too slow.
constexpr int kMostTimesFaster = 4;

/// Paths of groups that may become narrower are not followed for long.
constexpr std::uint64_t kFewExpansions = 16, kManyExpansions = 512, kAnyExpansions = ~std::uint64_t{0} / 16;

/// What was decided outside, from the outermost memory inwards.
struct Suffix {
  std::array<double, kMaxFunctionals> cost{};  // by functional, constants included
  std::vector<PathLoops> loops;
  std::array<double, kMaxDims> slower{};  // steps of a dim over its fewest, at least
};

class ChoiceSearch {
 public:
  ChoiceSearch(Lattice& lattice, Incumbent& incumbent, SearchLimits& limits, double cycles)
      : lattice_(lattice),
        p_(lattice.resolved().problem),
        task_(lattice.resolved().task),
        incumbent_(incumbent),
        limits_(limits),
        least_cycles_(std::max(lattice.steps(), cycles)),
        steps_(lattice.steps()) {}

  /// Search as well, or tables only. A lower bound on all mappings of the choice.
  double run(bool search) {
    const double bound = close(search);
    return std::min(bound, at_least<"L7.3">(certain_, 0));
  }

 private:
  double close(bool search) {
    // 1. Each tensor moved once: no lattice needed.
    for (const Port& port : p_.ports) ports_.push_back({lattice_.port(port), false, 0});
    const Functional energy = lattice_.energy();
    for (const PortLoad& port : ports_) least_cycles_ = std::max(least_cycles_, lattice_.least(port.functional));
    double bound = value(lattice_.least(energy), least_cycles_);
    if (hopeless(bound)) return bound;
    // 2. The least energy over the lattice, and its mapping; where no port binds that is the optimum.
    if (!lattice_.build()) return lattice_.too_large() ? bound : kInfinity;
    add_table(energy, Kind::kEnergy, 0, energy_limit(0, least_cycles_));
    if (gave_up()) return bound;
    if (tables_[0].best == kInfinity) return std::max(bound, enough());
    bound = value(tables_[0].best, least_cycles_);
    if (hopeless(bound)) return bound;
    descend(0);
    //    Slow mappings need not be cheap to be no better: without them the least energy may be more.
    for (int times = 0; times < kMostTimesFaster && !hopeless(bound) && !gave_up(); ++times) {
      if (!lattice_.leave_out_from(slow_steps(tables_[0].best))) break;
      tables_[0] = lattice_.solve(functionals_[0], energy_limit(0, least_cycles_));
      if (gave_up()) return bound;
      if (tables_[0].best == kInfinity) return std::max(bound, enough());
      bound = std::max(bound, value(tables_[0].best, least_cycles_));
      if (!hopeless(bound)) descend(0);
    }
    if (hopeless(bound) || gave_up()) return bound;
    // 3. Otherwise the ports that bind get tables, alone and together with energy, and the search closes the gap.
    if (!search || lattice_.grouped()) {
      while (add_binding_port()) {
        if (gave_up()) break;
        if (least_cycles_ == kInfinity) return std::max(bound, enough());
        bound = region(nullptr).least(p_, task_, lattice_.steps());
        if (hopeless(bound) || gave_up()) break;
      }
      return search && !hopeless(bound) && !gave_up() ? least_of_paths(bound) : bound;
    }
    for (std::uint64_t patience = 64;; patience *= 8) {
      if (!add_binding_port() && patience > 64) patience = kAnyExpansions;
      if (gave_up()) return bound;
      if (least_cycles_ == kInfinity) return std::max(bound, enough());
      bound = region(nullptr).least(p_, task_, lattice_.steps());
      if (hopeless(bound)) return bound;
      expansions_left_ = patience;
      explore();
      if (lattice_.over()) return bound;
      if (expansions_left_ > 0) return std::max(bound, enough());
    }
  }

  enum class Kind : std::uint8_t { kEnergy, kCycles, kSum };
  /// In the order of Problem::ports.
  struct PortLoad {
    Functional functional;
    bool tabled;
    int bound_count;  // priced mappings it bound
  };

  double value(double energy, double cycles) const {
    return objective_bound(p_, task_, energy, cycles, lattice_.steps());
  }
  bool gave_up() const { return lattice_.over() || lattice_.too_large(); }
  /// Tables and searches are cut off here.
  double enough() const { return limits_.enough(incumbent_.value); }
  bool hopeless(double bound) const { return no_better(bound, enough()); }

  void add_table(Functional functional, Kind kind, double slope, double limit) {
    functionals_.push_back(std::move(functional));
    kinds_.push_back(kind);
    slopes_.push_back(slope);
    certain_ = std::min(certain_, enough());
    tables_.push_back(lattice_.solve(functionals_.back(), limit));
    cache_.clear();
    cache_.resize(static_cast<std::size_t>(lattice_.stages()));
    pointers_.clear();
    table_pointers_.clear();
    for (const Functional& f : functionals_) pointers_.push_back(&f);
    for (const Lattice::Tables& table : tables_) table_pointers_.push_back(&table);
  }

  /// Tables for the port that bound most of the mappings priced so far: its load, and energy plus its load at the
  /// slope where neither corner of the region of improvements dominates.
  bool add_binding_port() {
    PortLoad* most = nullptr;
    for (PortLoad& port : ports_)
      if (!port.tabled && port.bound_count > 0 && (most == nullptr || port.bound_count > most->bound_count))
        most = &port;
    if (most == nullptr || functionals_.size() + 2 > kMaxFunctionals) return false;
    most->tabled = true;
    const double least_energy = tables_[0].best;
    add_table(most->functional, Kind::kCycles, 0, cycle_limit(least_energy));
    least_cycles_ = std::max(least_cycles_, tables_.back().best);
    if (least_cycles_ == kInfinity || hopeless(value(least_energy, least_cycles_))) return true;
    // Where first arrivals are only bounded, so may be the energy: below zero. Any slope above zero is valid, for a
    // load is at most the cycles.
    const double slope = least_energy > 0 ? least_energy / least_cycles_ : 1;
    Functional sum = functionals_[0];
    for (std::size_t i = 0; i < sum.weights.size(); ++i) {
      sum.weights[i].served += slope * most->functional.weights[i].served;
      sum.weights[i].delivered += slope * most->functional.weights[i].delivered;
      sum.weights[i].first_parent += slope * most->functional.weights[i].first_parent;
      sum.weights[i].first_child += slope * most->functional.weights[i].first_child;
    }
    sum.constant += slope * most->functional.constant;
    // Loads may be up to the fewest whole cycles without a change of value.
    const double fewest = whole_cycles(p_, least_cycles_);
    const double limit =
        std::max(least_energy + slope * cycle_limit(least_energy), energy_limit(0, fewest) + slope * fewest) *
        (1 + kRoundingOfFloors);
    add_table(std::move(sum), Kind::kSum, slope, limit);
    if (tables_.back().best == kInfinity) {
      least_cycles_ = kInfinity;
      return true;
    }
    if (!hopeless(region(nullptr).least(p_, task_, lattice_.steps()))) descend(functionals_.size() - 1);
    return true;
  }

  /// The energies and cycles that are left for complete mappings: suffix + what is inside at least.
  Region region(const double* inside_by_functional) const {
    const auto at = [&](std::size_t f) {
      return inside_by_functional != nullptr ? inside_by_functional[f] : tables_[f].best;
    };
    Region left(at(0), std::max(least_cycles_, steps_));
    for (std::size_t f = 1; f < functionals_.size(); ++f) {
      if (kinds_[f] == Kind::kCycles) left.cycles_at_least(at(f));
      if (kinds_[f] == Kind::kSum) left.cut(slopes_[f], at(f));
    }
    return left;
  }

  double table_value(std::size_t f, int k, const Status& status, int node) const {
    const auto& before = tables_[f].before[static_cast<std::size_t>(k)];
    const auto entry = before.find(status);
    return entry == before.end() ? kInfinity : entry->second[static_cast<std::size_t>(node)];
  }

  double pending(const Status& status, std::size_t f) {
    return lattice_.pending_at_end(status, functionals_[f], pending_[f]);
  }

  /// Follow one table inwards, the best step at every memory, and price what comes out.
  void descend(std::size_t f) {
    Suffix suffix;
    int k = lattice_.stages() - 1;
    double target = tables_[f].best - functionals_[f].constant;
    const Status* after = nullptr;
    Step best;
    std::vector<int> nodes = lattice_.boxes().final_nodes();
    std::vector<Step> steps;
    std::array<const Functional*, 1> one{&functionals_[f]};
    std::vector<ChargeCache> cache(static_cast<std::size_t>(lattice_.stages()));
    while (true) {
      // What the table promises, but for rounding: nothing is better.
      const double met = target + std::abs(target) * kRoundingOfTables;
      double least = kInfinity;
      Step chosen;
      int chosen_end = -1;
      for (const int node : nodes) {
        StepQuery query;
        query.k = k;
        query.end = node;
        query.after = after;
        query.functionals = one;
        const Lattice::Tables* const table = &tables_[f];
        query.tables = {&table, 1};
        query.follow = true;
        query.limit = target + std::abs(target) * kRoundingOfSums + kRoundingOfFloors;
        query.ends = [&](const Step& step) {
          const double total = table_value(f, k, step.before, step.node) + step.charges[0] +
                               (after == nullptr ? pending(step.after, f) : 0);
          if (total < least) {
            least = total;
            chosen = step;
            chosen_end = node;
          }
          return least <= met;
        };
        query.cache = &cache[static_cast<std::size_t>(k)];
        steps.clear();
        steps_into(lattice_, query, steps);
        if (least <= met) break;
      }
      if (chosen_end < 0) return;
      best = chosen;
      suffix.loops.push_back({best, chosen_end});
      if (k == 0) break;
      target = table_value(f, k, best.before, best.node);
      after = &best.before;
      lattice_.boxes().nodes_under(k, best.node, nodes);
      --k;
    }
    price(suffix);
  }

  /// Paths through groups of tiles one by one: what each costs in energy, ports and steps at least holds for the
  /// mappings on it together. Those that are left say what all do.
  double least_of_paths(double bound) {
    expansions_left_ = lattice_.boxes().may_be_finer() ? kFewExpansions : kManyExpansions;
    least_path_ = kInfinity;
    explore();
    if (lattice_.over() || expansions_left_ == 0) return bound;
    return at_least<"L12.4">(std::max(bound, std::min(least_path_, enough())), bound);
  }

  void explore() {
    Suffix suffix;
    for (std::size_t f = 0; f < functionals_.size(); ++f) suffix.cost[f] = functionals_[f].constant;
    std::vector<std::pair<double, int>> ends;
    for (const int node : lattice_.boxes().final_nodes()) ends.emplace_back(lattice_.steps_to(node), node);
    std::sort(ends.begin(), ends.end());
    for (const auto& [steps, node] : ends) {
      steps_ = steps;
      suffix.slower.fill(1);
      expand(lattice_.stages() - 1, node, nullptr, suffix);
    }
    steps_ = lattice_.steps();
  }

  /// Depth first, best bound first: everything inside memory k, given what was decided outside.
  void expand(int k, int end, const Status* after, Suffix& suffix) {
    if (expansions_left_ == 0 || lattice_.over()) return;
    const double steps = steps_;
    const std::array<double, kMaxDims> slower = suffix.slower;
    steps_ = std::max(steps_, lattice_.steps() * lattice_.boxes().slow_down(k, end, suffix.slower));
    expand_node(k, end, after, suffix);
    steps_ = steps;
    suffix.slower = slower;
  }

  void expand_node(int k, int end, const Status* after, Suffix& suffix) {
    --expansions_left_;
    lattice_.work().work(effort::kExpansion);
    std::array<double, kMaxFunctionals> inside{};
    StepQuery query;
    query.k = k;
    query.end = end;
    query.after = after;
    query.functionals = pointers_;
    query.tables = table_pointers_;
    query.limit = energy_limit(suffix.cost[0], cycles_so_far(suffix));
    query.cache = &cache_[static_cast<std::size_t>(k)];
    if (functionals_.size() > 1) {
      query.worth = [&](const double* values) {
        for (std::size_t f = 0; f < functionals_.size(); ++f) {
          inside[f] = suffix.cost[f] + values[f];
          if (inside[f] == kInfinity) return false;
        }
        return !hopeless(region(inside.data()).least(p_, task_, steps_));
      };
    }
    std::vector<Step> steps;
    steps_into(lattice_, query, steps);
    std::vector<std::pair<double, std::size_t>> candidates;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::size_t f = 0; f < functionals_.size(); ++f)
        inside[f] = suffix.cost[f] + steps[i].charges[f] + table_value(f, k, steps[i].before, steps[i].node) +
                    (after == nullptr ? pending(steps[i].after, f) : 0);
      const double bound = region(inside.data()).least(p_, task_, steps_);
      if (!hopeless(bound)) candidates.emplace_back(bound, i);
    }
    std::sort(candidates.begin(), candidates.end());
    std::vector<int> nodes;
    for (const auto& [bound, i] : candidates) {
      if (hopeless(bound)) break;
      const Step& step = steps[i];
      const auto cost = suffix.cost;
      for (std::size_t f = 0; f < functionals_.size(); ++f)
        suffix.cost[f] += step.charges[f] + (after == nullptr ? pending(step.after, f) : 0);
      suffix.loops.push_back({step, end});
      if (k == 0) {
        price(suffix);
        if (!hopeless(bound)) least_path_ = std::min(least_path_, bound);
      } else {
        lattice_.boxes().nodes_under(k, step.node, nodes);
        const std::vector<int> under = nodes;
        for (const int node : under) expand(k - 1, node, &step.before, suffix);
      }
      suffix.loops.pop_back();
      suffix.cost = cost;
      if (lattice_.over() || expansions_left_ == 0) return;
    }
  }

  double cycles_so_far(const Suffix& suffix) const {
    double cycles = std::max(least_cycles_, steps_);
    for (std::size_t f = 1; f < functionals_.size(); ++f)
      if (kinds_[f] == Kind::kCycles) cycles = std::max(cycles, suffix.cost[f]);
    return cycles;
  }

  /// Largest energy (of what is still to come) that could improve on the incumbent by enough.
  double energy_limit(double spent, double cycles) const {
    return limit([&](double energy) { return value(energy, cycles); }) - spent;
  }
  /// Cycles from which on even this energy cannot improve on the incumbent.
  double cycle_limit(double energy) const {
    return limit([&](double cycles) { return value(energy, cycles); }) * (1 + kRoundingOfFloors) + 1;
  }
  /// Steps from which on even this energy cannot improve on the incumbent.
  double slow_steps(double energy) const {
    return limit([&](double cycles) { return value(energy, cycles); }, enough() * (1 - kRounding));
  }
  template <typename F>
  double limit(F objective) const {
    return limit(objective, enough());
  }
  template <typename F>
  double limit(F objective, double wanted) const {
    if (wanted == kInfinity) return kInfinity;
    double low = 0, high = 1;
    while (objective(high) < wanted && high < 1e300) high *= 16;
    if (high >= 1e300) return kInfinity;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (objective(middle) < wanted ? low : high) = middle;
    }
    return high;
  }

  /// The mapping of a path, or those near a path through groups of tiles.
  void price(const Suffix& suffix) {
    if (!lattice_.grouped()) return price(mapping_of(lattice_, suffix.loops));
    for_each_rounded(lattice_, suffix.loops, [&](Mapping&& mapping) {
      lattice_.work().work(effort::kChecking);
      if (check_legality(task_.layer, task_.accelerator, task_.flexibility, task_.factorization, mapping).empty())
        price(std::move(mapping));
    });
  }

  void price(Mapping mapping) {
    const ResolvedTask& resolved = lattice_.resolved();
    ++limits_.priced;
    lattice_.work().work(resolved.perfect ? effort::kPrice : effort::kUnevenPrice);
    if (!nest_) {
      nest_.emplace(p_);
      if (!resolved.perfect) nest_->remember_windows(resolved.short_windows.local());
    }
    nest_->load(flatten(p_, mapping));
    const Totals totals = nest_->price();
    if (totals.bound.port >= 0) ++ports_[static_cast<std::size_t>(totals.bound.port)].bound_count;
    const double found = task_value(task_, totals);
    if (found < incumbent_.value) {
      incumbent_.value = found;
      incumbent_.totals = totals;
      incumbent_.mapping = std::move(mapping);
    }
  }

  Lattice& lattice_;
  const Problem& p_;
  const Task& task_;
  Incumbent& incumbent_;
  SearchLimits& limits_;
  std::optional<Nest> nest_;  // made for the first price
  std::vector<PortLoad> ports_;
  double least_cycles_;
  double steps_;                // of the mappings that are explored
  double certain_ = kInfinity;  // tables were cut off here: what they say above it holds for some mappings only
  std::vector<Functional> functionals_;
  std::vector<const Functional*> pointers_;
  std::vector<const Lattice::Tables*> table_pointers_;
  std::vector<Kind> kinds_;
  std::vector<double> slopes_;
  std::vector<Lattice::Tables> tables_;
  std::vector<ChargeCache> cache_;                              // by memory
  std::array<Lattice::PendingCosts, kMaxFunctionals> pending_;  // by functional
  std::uint64_t expansions_left_ = 0;
  double least_path_ = kInfinity;  // through groups, of those that are no worse than the incumbent
};

}  // namespace

double bound_choice(Lattice& lattice, Incumbent& incumbent, SearchLimits& limits, double cycles) {
  return ChoiceSearch(lattice, incumbent, limits, cycles).run(false);
}

double close_choice(Lattice& lattice, Incumbent& incumbent, SearchLimits& limits, double cycles) {
  return ChoiceSearch(lattice, incumbent, limits, cycles).run(true);
}

}  // namespace pliant::exact
