// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/exact_mapper.h"

#include <algorithm>
#include <utility>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "dse/audit/choices.h"
#include "dse/mappers/exact/search/first_mapping.h"
#include "dse/mappers/exact/search/prove.h"
#include "dse/mappers/exact/search/uneven_units.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"
#include "dse/mappers/mapper_options.h"
#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

/// A share of the time that is worth another search.
constexpr double kWorthATry = 0.05;

/// Remainders over units are tried for one part in so many of the effort that the search without them took, and for
/// at least and at most so many mappings (uneven_units.h).
constexpr std::uint64_t kShareOfEasier = 4, kFewestUneven = 200, kMostUneven = 4'000;

class ExactMapper final : public Mapper {
 public:
  std::string_view name() const override { return "exact"; }

  SearchResult search(const Task& task, const SearchOptions& options) const override {
    read_mapper_options(name(), options, {});
    std::uint64_t used = 0;
    SearchResult result = prove_best(task, options, options.budget.seconds > 0 ? 0 : exact::effort::kOfSearch, used);
    if (!result.mapping && !result.infeasible && result.ended_by != EndedBy::kStopped) take_any(task, options, result);
    // A search that ended early has not met every unrolling that its parts have: they are counted again.
    for (audit::Part& part : result.parts)
      if (!proven(result) && part.scope != audit::Part::Scope::kNamed) part.choices.reset();
    if (options.record_parts) audit::state_sizes(task, result.parts);
    return result;
  }

  /// What another task has found, if it is legal here. (Fixed tiles are rounded to divisors where factors must be
  /// perfect.)
  static exact::Incumbent priced(const Task& task, const Problem& problem, const std::optional<Mapping>& mapping) {
    if (!mapping ||
        !check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *mapping).empty())
      return {};
    Nest nest(problem);
    nest.load(flatten(problem, *mapping));
    const Totals totals = nest.price();
    return {mapping, totals, task_value(task, totals)};
  }

 private:
  /// Where not even one choice could be looked through: what has been proven, and any mapping.
  static void take_any(const Task& task, const SearchOptions& options, SearchResult& result) {
    exact::SearchLimits limits(options);
    exact::Incumbent first = exact::first_mapping(task, exact::kMostOfFirstInHaste, limits);
    result.evaluations += limits.priced;
    result.seconds += limits.seconds();
    if (!first.mapping) return;
    result.mapping = std::move(first.mapping);
    result.totals = first.totals;
    result.value = first.value;
    result.lower_bound = std::min(result.lower_bound, first.value);
  }

  static SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options,
                            exact::Incumbent incumbent, std::uint64_t effort, std::uint64_t& used) {
    return task.factorization == Factorization::kPadding
               ? exact::prove_padded(task, problem, options, std::move(incumbent), effort)
               : exact::prove(task, problem, options, std::move(incumbent), effort, &used);
  }

  static SearchOptions left_of(const SearchOptions& options, double started) {
    SearchOptions left = options;
    if (options.budget.seconds > 0)
      left.budget.seconds = std::max(1e-3, options.budget.seconds - (options.clock->wall_seconds() - started));
    return left;
  }

  /// Limits for a part of the work that leaves half of the time, and of which nobody wants to hear.
  static SearchOptions limited(const SearchOptions& options) {
    SearchOptions half = options;
    half.budget.seconds /= 2;
    half.record_parts = false;
    half.on_progress = {};
    return half;
  }

  /// `known`: a mapping of the task, where there is one.
  static SearchResult prove_best(const Task& task, const SearchOptions& options, std::uint64_t effort,
                                 std::uint64_t& used, exact::Incumbent known = {}) {
    const double started = options.clock->wall_seconds();
    const Problem problem(task.layer, task.accelerator);
    const bool walks = exact::displacement_walks(problem);
    // Where the proof may be out of reach, an easier task gives a good mapping first; then the proof goes as far as the
    // budget allows. With remainders or padding: the task without them, for they are allowed, not asked for.
    Task easier = task;
    switch (task.factorization) {
      case Factorization::kRuby: easier.factorization = Factorization::kRubyS; break;
      case Factorization::kRubyS:
      case Factorization::kRubyT:
      case Factorization::kPadding: easier.factorization = Factorization::kPerfect; break;
      case Factorization::kPerfect:
        // Timeloop's memory of windows: the run rule's words are hardly ever fewer.
        easier.accelerator.conventions.halo = Conventions::Halo::kRun;
    }
    if (walks && leaves_remainders(task.factorization)) return prove_parts(task, problem, options, effort, used);
    // Without remainders a mapping that is known is as good as what the easier task could give.
    const bool known_enough = known.value < kInfinity && easier.factorization == Factorization::kPerfect;
    if (known_enough || (task.factorization == Factorization::kPerfect && !walks))
      return prove(task, problem, options, std::move(known), effort, used);
    std::uint64_t used_here = 0;
    const SearchResult first = prove_best(easier, limited(options), effort / 4, used_here, known);
    exact::Incumbent incumbent = priced(task, problem, first.mapping);
    if (known.value < incumbent.value) incumbent = std::move(known);
    std::uint64_t more_priced = 0;
    if (task.factorization == Factorization::kRubyS) {
      exact::SearchLimits limits(left_of(options, started));
      const std::uint64_t most = used_here / (kShareOfEasier * exact::effort::kUnevenPrice);
      incumbent = exact::with_uneven_units(task, problem, std::move(incumbent),
                                           std::clamp(most, kFewestUneven, kMostUneven), limits);
      used_here += limits.effort;
      more_priced = limits.priced;
    }
    used += used_here;
    SearchResult result = prove(task, problem, left_of(options, started), std::move(incumbent),
                                effort - std::min(used_here, effort / 4), used);
    result.seconds += first.seconds;
    result.evaluations += first.evaluations + more_priced;
    return result;
  }

  static bool leaves_remainders(Factorization rule) {
    return may_be_imperfect(rule, true) || may_be_imperfect(rule, false);
  }

  /// Are the mappings of the task that leave no remainder those of the task that allows none? Otherwise there are none:
  /// it asks for a tile that is no divisor.
  static bool divides(const Task& task, const Task& whole) {
    const MapSpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
    const MapSpaceRules dividing(whole.layer, whole.accelerator, whole.flexibility, whole.factorization);
    return std::ranges::all_of(rules.memories, [&](const MemoryRules& memory) {
      for (int d = 0; d < static_cast<int>(task.layer.dims.size()); ++d) {
        const Count size = task.layer.dims[d].size;
        if (rules.fixed_tile(memory, d, size) != dividing.fixed_tile(memory, d, size)) return false;
      }
      return true;
    });
  }

  /// Displacements are remembered only where no dim leaves a remainder (docs/dev/proof, L14). So the mappings that
  /// leave none are a task of their own. The others cost what they cost under the run rule, and there far fewer
  /// unrollings differ.
  static SearchResult prove_parts(const Task& task, const Problem& problem, const SearchOptions& options,
                                  std::uint64_t effort, std::uint64_t& used) {
    const double started = options.clock->wall_seconds();
    Task whole = task, run = task;
    whole.factorization = Factorization::kPerfect;
    run.accelerator.conventions.halo = Conventions::Halo::kRun;
    std::uint64_t used_here = 0;
    SearchResult without;
    without.infeasible = exact::sure<"L14.1">(!divides(task, whole));
    without.lower_bound = kInfinity;
    if (!without.infeasible) without = prove_best(whole, limited(options), effort / 4, used_here);
    exact::Incumbent best = priced(task, problem, without.mapping);
    SearchOptions left = left_of(options, started);
    if (options.on_progress)
      left.on_progress = [&](Progress progress) {
        progress.lower_bound = std::min(progress.lower_bound, without.lower_bound);
        options.on_progress(progress);
      };
    SearchResult result = prove_best(run, left, effort - std::min(used_here, effort / 4), used_here, best);
    result.evaluations += without.evaluations;
    const auto improve = [&](const SearchResult& found) {
      exact::Incumbent one = priced(task, problem, found.mapping);
      if (one.value < best.value) best = std::move(one);
    };
    improve(result);
    // What is left may show that those without remainders are no better than this. Where the run rule thinks better of
    // some of them than the task does, all mappings are one task after all.
    const bool misled = result.value < best.value * (1 - exact::kRounding);
    const bool open = misled || !exact::no_better(without.lower_bound, best.value * (1 - options.gap));
    left = left_of(options, started);
    const std::uint64_t effort_left = effort - std::min(used_here, effort);
    SearchResult again;
    if (open && (effort > 0 ? effort_left > 0 : left.budget.seconds > kWorthATry * options.budget.seconds)) {
      if (!misled) left = limited(left);
      const Problem divided(whole.layer, whole.accelerator);
      again = misled ? prove(task, problem, left, best, effort_left, used_here)
                     : prove(whole, divided, left, best, effort_left, used_here);
      result.evaluations += again.evaluations;
      improve(again);
      if (!misled) {
        without.lower_bound = std::max(without.lower_bound, again.lower_bound);
        without.ended_by = again.ended_by;
      }
    }
    used += used_here;
    join(without, best, options.gap, result);
    if (misled && again.lower_bound > result.lower_bound) {
      again.evaluations = result.evaluations;
      result = std::move(again);
    }
    result.seconds = options.clock->wall_seconds() - started;
    return result;
  }

  /// What is proven of both parts together. `best`: of all.
  static void join(const SearchResult& without, exact::Incumbent best, double gap, SearchResult& result) {
    const EndedBy ended_by = proven(result) && !proven(without) ? without.ended_by : result.ended_by;
    result.infeasible &= without.infeasible;
    result.mapping = std::move(best.mapping);
    result.totals = best.totals;
    result.value = best.value;
    result.lower_bound = std::min({without.lower_bound, result.lower_bound, result.value});
    result.certified = result.mapping && exact::no_better(result.lower_bound, result.value);
    const bool enough = result.mapping && exact::no_better(result.lower_bound, result.value * (1 - gap));
    if (result.certified) result.lower_bound = result.value;
    result.ended_by = result.certified ? EndedBy::kProof : enough ? EndedBy::kProofWithinGap : ended_by;
    // A choice holds mappings of both sorts. What was left may be no better than what was found later.
    for (audit::Part& part : result.parts) {
      part.lower_bound = std::min(part.lower_bound, without.lower_bound);
      for (audit::Member& member : part.members) member.lower_bound = std::min(member.lower_bound, without.lower_bound);
      if (result.certified && part.closed_by == audit::ClosedBy::kLeft) part.closed_by = audit::ClosedBy::kChoiceBounds;
    }
  }
};

}  // namespace

std::unique_ptr<Mapper> make_exact_mapper() { return std::make_unique<ExactMapper>(); }

SearchResult prove_from(const Task& task, const Mapping& start, const SearchOptions& options) {
  const Problem problem(task.layer, task.accelerator);
  exact::Incumbent known = ExactMapper::priced(task, problem, start);
  if (!known.mapping || task.factorization != Factorization::kPerfect) return ExactMapper().search(task, options);
  return exact::prove(task, problem, options, std::move(known),
                      options.budget.seconds > 0 ? 0 : exact::effort::kOfSearch);
}

}  // namespace pliant
