// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/network_proof.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "dse/mappers/network_lines.h"

namespace pliant {

namespace {

/// What is asked, and what is claimed of it.
template <class Optimum>
audit::NetworkCertificate claim_of(const Workload& workload, const std::vector<Task>& rows, const NetworkGoal& goal,
                                   bool stay, const Optimum& best) {
  audit::NetworkCertificate certificate;
  certificate.task = {workload, rows.front().accelerator, rows.front().factorization, goal.objective,
                      stay,     goal.most_cycles};
  // The rules in force, whatever chose them.
  Accelerator& accelerator = certificate.task.accelerator;
  accelerator.flexibility = rows.front().flexibility;
  accelerator.flexibility_for.clear();
  for (const Task& row : rows) accelerator.flexibility_for[row.layer.operation] = row.flexibility;
  certificate.value = best.value;
  certificate.energy_pj = best.energy_pj;
  certificate.cycles = best.cycles;
  certificate.certified = best.certified && best.line_bound >= best.value * (1 - kNetworkRounding);
  certificate.lower_bound = certificate.certified ? best.value : std::min(best.lower_bound, best.line_bound);
  certificate.slopes = best.slopes;
  return certificate;
}

void add_proofs(const std::vector<Task>& rows, const audit::LayerVariant& variant, const std::vector<LineProof>& proofs,
                audit::NetworkCertificate& certificate) {
  for (const auto& [slope, result] : proofs)
    certificate.proofs.push_back({variant,
                                  slope,
                                  {audit::line_task(rows[static_cast<std::size_t>(variant.row)], variant, slope),
                                   result.mapping, result.mapping ? result.value : kInfinity, result.lower_bound,
                                   result.certified, result.infeasible, result.parts}});
}

}  // namespace

audit::NetworkCertificate network_certificate(const Workload& workload, const std::vector<Task>& rows,
                                              const NetworkGoal& goal, bool stay, const residency::Search& search,
                                              const residency::Optimum& best) {
  audit::NetworkCertificate certificate = claim_of(workload, rows, goal, stay, best);
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    audit::StepClaim& claim = certificate.steps.emplace_back();
    const int makes = search.live().steps[s].makes;
    if (makes >= 0) claim.made = best.homes[static_cast<std::size_t>(makes)];
    for (const residency::StepPart& part : best.steps[s].parts) claim.parts.push_back({part.mapping, part.count});
  }
  const residency::VariantLines& variants = search.variants();
  for (int id = 0; id < variants.count(); ++id) {
    const residency::Variant& variant = variants.variant(id);
    add_proofs(rows, {variant.row, variant.homes, variant.reserved}, variants.proofs(id), certificate);
  }
  return certificate;
}

audit::NetworkCertificate network_certificate(const Workload& workload, const std::vector<Task>& rows,
                                              const NetworkGoal& goal, const NetworkOptimum& best) {
  audit::NetworkCertificate certificate = claim_of(workload, rows, goal, false, best);
  certificate.steps.resize(rows.size());
  for (const NetworkPart& part : best.parts) certificate.steps[part.layer].parts.push_back({part.mapping, part.count});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    audit::LayerVariant alone;
    alone.row = static_cast<int>(i);
    for (const Level& level : rows[i].accelerator.levels)
      alone.taken.push_back(level.is_memory() ? level.memory().reserved_words : std::array<Count, kRoles>{});
    add_proofs(rows, alone, best.proofs[i], certificate);
  }
  return certificate;
}

}  // namespace pliant
