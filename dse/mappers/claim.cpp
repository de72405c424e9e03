// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/claim.h"

#include <fmt/format.h>

#include <cmath>

#include "core/legality.h"
#include "costmodel/report.h"
#include "flex/mapspace/legal_count.h"

namespace pliant {
namespace {

constexpr double kRounding = 1e-9;  ///< of sums formed in another order

bool equal(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

Proof::Outcome outcome_of(const SearchResult& again, bool enumerated) {
  if (!again.mapping && !again.infeasible) return Proof::Outcome::kNotProven;
  if (enumerated) return Proof::Outcome::kEnumerated;
  if (again.certified) return Proof::Outcome::kProven;
  return again.infeasible ? Proof::Outcome::kInfeasible : Proof::Outcome::kBounded;
}

std::string in_words(Proof::Outcome outcome, const SearchResult& again) {
  switch (outcome) {
    case Proof::Outcome::kNotProven: return fmt::format("not proven again ({})", to_string(again.ended_by));
    case Proof::Outcome::kEnumerated: return fmt::format("enumerated all {} mappings", again.mappings_covered);
    case Proof::Outcome::kProven: return "proven again by the exact mapper";
    case Proof::Outcome::kInfeasible: return "nothing fits, proven again by the exact mapper";
    case Proof::Outcome::kBounded:
      return fmt::format("exact mapper: lower bound {:.7g}, gap {:.3g} %", again.lower_bound, 100 * again.gap());
  }
  return "";
}

}  // namespace

std::vector<std::string> check_claim(const Task& task, const Claim& claim) {
  std::vector<std::string> wrong;
  if (!claim.mapping) return wrong;
  for (const Violation& violation :
       check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *claim.mapping))
    wrong.push_back("illegal: " + violation.message);
  if (!wrong.empty()) return wrong;
  const Totals totals = price(task.layer, task.accelerator, *claim.mapping).totals;
  const auto compare = [&](const char* key, const std::optional<double>& then, double now) {
    if (then && !equal(*then, now)) wrong.push_back(fmt::format("{} is {:.12g}, not {:.12g}", key, now, *then));
  };
  compare("energy_pj", claim.energy_pj, totals.energy_pj);
  compare("runtime_cycles", claim.runtime_cycles, totals.cycles);
  compare("edp_pj_cycles", claim.edp_pj_cycles, totals.edp());
  compare("utilization", claim.utilization, totals.utilization);
  const double value = objective_value(task.objective, totals);
  compare("value", claim.value, value);
  if (claim.certified && (!claim.lower_bound || !equal(*claim.lower_bound, value)))
    wrong.emplace_back("certified, but lower_bound is not the value");
  if (claim.lower_bound && *claim.lower_bound > value * (1 + kRounding))
    wrong.push_back(fmt::format("lower_bound {:.12g} is above the value {:.12g}", *claim.lower_bound, value));
  return wrong;
}

Proof prove_claim(const Task& task, const Claim& claim, const ProofOptions& options) {
  Proof proof;
  SearchOptions search;
  search.stop = options.stop;
  search.threads = options.threads;
  search.budget.seconds = options.seconds;
  const std::optional<BigCount> size =
      count_legal_mappings(task.layer, task.accelerator, task.flexibility, task.factorization, {50'000, 50'000'000});
  const bool small = size && *size <= options.limit;
  if (small) search.extra = {{"limit", std::to_string(options.limit)}};
  const SearchResult again = run_mapper(*make_mapper(small ? "exhaustive" : "exact"), task, search);
  if (again.mapping && !claim.mapping) proof.wrong.emplace_back("a legal mapping exists");
  if (again.infeasible && claim.mapping) proof.wrong.emplace_back("the mapper finds that nothing fits");
  if (again.mapping && claim.mapping) {
    const double value = objective_value(task.objective, price(task.layer, task.accelerator, *claim.mapping).totals);
    if (claim.lower_bound && again.value < *claim.lower_bound * (1 - kRounding))
      proof.wrong.push_back(fmt::format("a mapping of value {:.12g} exists, below the claimed bound {:.12g}",
                                        again.value, *claim.lower_bound));
    if (claim.certified && again.certified && !equal(again.value, value))
      proof.wrong.push_back(fmt::format("the optimum is {:.12g}, not {:.12g}", again.value, value));
  }
  proof.outcome = outcome_of(again, small);
  proof.how = in_words(proof.outcome, again);
  return proof;
}

}  // namespace pliant
