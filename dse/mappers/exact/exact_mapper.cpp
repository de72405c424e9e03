// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/exact_mapper.h"

#include <algorithm>
#include <chrono>

#include "core/legality.h"
#include "dse/mappers/exact/lattice/windows.h"
#include "dse/mappers/exact/search/prove.h"
#include "dse/mappers/mapper_options.h"
#include "dse/mappers/random/random_mapper.h"

namespace pliant {

namespace {

/// Without a budget a search ends after so much work, in units of about a nanosecond: always at the same place, after
/// a few seconds. Where an easier task comes first, that one has a quarter of it, and what it leaves goes to the other.
constexpr std::uint64_t kEffort = 5'800'000'000;

class ExactMapper final : public Mapper {
 public:
  std::string_view name() const override { return "exact"; }

  SearchResult search(const Task& task, const SearchOptions& options) const override {
    read_mapper_options(name(), options, {});
    const auto started = Clock::now();
    std::uint64_t used = 0;
    SearchResult result = prove_best(task, options, options.budget.seconds > 0 ? 0 : kEffort, used);
    if (!result.mapping && (result.ended_by == EndedBy::kMemory || result.ended_by == EndedBy::kEffort))
      draw_mapping(task, left_of(options, started), result);
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Where not even one choice could be looked through: what has been proven, and any mapping.
  static void draw_mapping(const Task& task, SearchOptions options, SearchResult& result) {
    options.on_progress = {};
    options.extra.clear();
    SearchResult drawn = make_random_mapper()->search(task, options);
    result.evaluations += drawn.evaluations;
    result.seconds += drawn.seconds;
    if (!drawn.mapping) return;
    result.mapping = std::move(drawn.mapping);
    result.totals = drawn.totals;
    result.value = drawn.value;
    result.lower_bound = std::min(result.lower_bound, drawn.value);
  }

  static SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options,
                            exact::Incumbent incumbent, std::uint64_t effort, std::uint64_t& used) {
    return task.factorization == Factorization::kPadding
               ? exact::prove_padded(task, problem, options, std::move(incumbent), effort)
               : exact::prove(task, problem, options, std::move(incumbent), effort, &used);
  }

  static SearchOptions left_of(const SearchOptions& options, Clock::time_point started) {
    SearchOptions left = options;
    if (options.budget.seconds > 0)
      left.budget.seconds =
          std::max(1e-3, options.budget.seconds - std::chrono::duration<double>(Clock::now() - started).count());
    return left;
  }

  static SearchResult prove_best(const Task& task, const SearchOptions& options, std::uint64_t effort,
                                 std::uint64_t& used) {
    const auto started = Clock::now();
    const Problem problem(task.layer, task.accelerator);
    // Where the proof may be out of reach, an easier task gives a good mapping first; then the proof goes as far as the
    // budget allows. With remainders or padding: the task without them, for they are allowed, not asked for.
    Task easier = task;
    switch (task.factorization) {
      case Factorization::kRuby: easier.factorization = Factorization::kRubyS; break;
      case Factorization::kRubyS:
      case Factorization::kRubyT:
      case Factorization::kPadding: easier.factorization = Factorization::kPerfect; break;
      case Factorization::kPerfect:
        // Timeloop's memory of windows: the run rule's words are never fewer.
        if (!exact::displacement_walks(problem)) return exact::prove(task, problem, options, {}, effort, &used);
        easier.accelerator.conventions.halo = Conventions::Halo::kRun;
    }
    SearchOptions limited = options;
    limited.budget.seconds /= 2;
    limited.record_parts = false;
    limited.on_progress = {};
    const SearchResult first = prove_best(easier, limited, effort / 4, used);
    exact::Incumbent incumbent;
    // Fixed tiles are rounded to divisors where the factors must be perfect, so it need not be legal here.
    if (first.mapping &&
        check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *first.mapping).empty()) {
      Nest nest(problem);
      nest.load(flatten(problem, *first.mapping));
      incumbent = {first.mapping, nest.price(), 0};
      incumbent.value = task_value(task, incumbent.totals);
    }
    limited = left_of(options, started);
    SearchResult result =
        prove(task, problem, limited, std::move(incumbent), effort - std::min(used, effort / 4), used);
    result.seconds += first.seconds;
    result.evaluations += first.evaluations;
    return result;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_exact_mapper() { return std::make_unique<ExactMapper>(); }

}  // namespace pliant
