// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/claim.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/audit/audit.h"
#include "dse/audit/choices.h"

namespace pliant {
namespace {

constexpr double kRounding = 1e-9;  ///< of sums formed in another order

bool equal(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

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
  // The claim as a certificate that says nothing about how it was proven: the whole map-space is one part.
  audit::Certificate certificate{
      task, claim.mapping, kInfinity, kInfinity, claim.certified && claim.mapping, !claim.mapping, {}};
  if (claim.mapping) {
    certificate.value = task_value(task, price(task.layer, task.accelerator, *claim.mapping).totals);
    certificate.lower_bound = claim.certified ? certificate.value : claim.lower_bound.value_or(0);
  }
  certificate.parts.push_back(
      {audit::ClosedBy::kSearch, certificate.lower_bound, audit::Part::Scope::kRest, 0, {}, {}});
  audit::state_sizes(task, certificate.parts);
  audit::AuditOptions wanted;
  wanted.enumerate = options.limit;
  wanted.seconds = options.seconds;
  wanted.threads = options.threads;
  wanted.stop = options.stop;
  const audit::AuditReport report = audit::audit(certificate, wanted);
  Proof proof;
  proof.wrong = report.wrong;
  if (report.mappings_enumerated > 0) {
    proof.outcome = Proof::Outcome::kEnumerated;
    proof.how = fmt::format("enumerated all {} mappings", report.mappings_enumerated);
  } else if (report.complete()) {
    proof.outcome = Proof::Outcome::kAudited;
    proof.how = fmt::format("audited all {} choices of unrolling and kept tensors", report.choices);
  } else {
    proof.how = fmt::format("not proven again: {} of {} choices audited", report.checked, report.choices);
  }
  return proof;
}

}  // namespace pliant
