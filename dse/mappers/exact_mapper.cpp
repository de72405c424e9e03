// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact_mapper.h"

#include <algorithm>

#include "dse/mappers/exact/prove.h"

namespace pliant {

namespace {

class ExactMapper final : public Mapper {
 public:
  std::string_view name() const override { return "exact"; }

  SearchResult search(const Task& task, const SearchOptions& options) const override {
    const Problem problem(task.layer, task.accelerator);
    if (task.factorization == Factorization::kPadding) return without_padding(task, options, problem);
    if (task.factorization == Factorization::kRuby || task.factorization == Factorization::kRubyT) {
      // The lattice finds good mappings with temporal remainders, but its tables are not proven to be bounds there.
      SearchResult result = exact::prove(task, problem, options, {});
      return only_found(std::move(result), task, problem, "lattice without proof");
    }
    if (!exact::Setting(task, problem).walks) return exact::prove(task, problem, options, {});
    // Timeloop's window memory finds reuse that depends on more than the node. A good mapping comes from the run rule,
    // whose words are never fewer; the proof then goes as far as the budget allows.
    Task simpler = task;
    simpler.accelerator.conventions.halo = Conventions::Halo::kRun;
    const Problem simpler_problem(task.layer, simpler.accelerator);
    const SearchResult first = exact::prove(simpler, simpler_problem, options, {});
    exact::Incumbent incumbent;
    if (first.mapping) {
      Nest nest(problem);
      nest.load(flatten(problem, *first.mapping));
      incumbent = {first.mapping, nest.price(), 0};
      incumbent.value = task_value(task, incumbent.totals);
    }
    SearchOptions limited = options;
    if (limited.budget.seconds == 0) limited.budget.seconds = kDefaultProofSeconds;
    limited.budget.seconds = std::max(1e-3, limited.budget.seconds - first.seconds);
    SearchResult result = exact::prove(task, problem, limited, std::move(incumbent));
    result.seconds += first.seconds;
    result.evaluations += first.evaluations;
    return result;
  }

 private:
  static constexpr double kDefaultProofSeconds = 2;

  /// Padded sizes multiply the lattices; the best mapping that needs no padding is given, with the bound of the MACs.
  static SearchResult without_padding(const Task& task, const SearchOptions& options, const Problem& problem) {
    Task perfect = task;
    perfect.factorization = Factorization::kPerfect;
    return only_found(exact::prove(perfect, problem, options, {}), task, problem, "perfect factors only");
  }

  /// A result that claims nothing but the bound of the MACs: their energy, on all units.
  static SearchResult only_found(SearchResult result, const Task& task, const Problem& problem, std::string ended_by) {
    result.certified = result.infeasible = false;
    const double steps = problem.macs * problem.cycles_per_mac / problem.built[problem.levels];
    result.lower_bound = exact::objective_bound(problem, task, problem.macs * problem.mac_pj, steps, steps);
    if (result.ended_by == "proof") result.ended_by = std::move(ended_by);
    return result;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_exact_mapper() { return std::make_unique<ExactMapper>(); }

}  // namespace pliant
