// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/network_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/arithmetic.h"
#include "dse/mappers/network_lines.h"

namespace pliant {

namespace {

/// What is asked, and what is claimed of it.
template <class Optimum>
audit::NetworkCertificate claim_of(const Workload& workload, const std::vector<Task>& rows, const NetworkGoal& goal,
                                   bool stay, const Optimum& best) {
  audit::NetworkCertificate certificate;
  certificate.task = {workload,
                      rows.front().accelerator,
                      rows.front().factorization,
                      goal.objective,
                      stay,
                      std::is_same_v<Optimum, fusion::Optimum>,
                      goal.most_cycles};
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

/// Where tensors live, the mappings of steps by themselves, and what is proven of their variants.
template <class Search, class Optimum>
void add_steps(const std::vector<Task>& rows, const Search& search, const Optimum& best,
               audit::NetworkCertificate& certificate) {
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
}

/// By a layer of the chain that has it as a dim of its own.
audit::GroupClaim::LoopClaim loop_claim(const fusion::Chain& chain, const fusion::TileLoop& loop) {
  audit::GroupClaim::LoopClaim claim;
  claim.tile = loop.tile;
  claim.groups = loop.axis == chain.groups;
  for (std::size_t l = 0; l < chain.layers.size() && claim.dim < 0; ++l) {
    const fusion::Place& place = chain.place(loop.axis, static_cast<int>(l));
    if (place.dim < 0 || place.step != 1 || place.slides) continue;
    claim.layer = l;
    claim.dim = place.dim;
  }
  return claim;
}

audit::GroupClaim group_claim(const fusion::GroupChoice& group) {
  audit::GroupClaim claim;
  for (const int step : group.steps) claim.steps.push_back(static_cast<std::size_t>(step));
  claim.home = group.setting.home;
  for (const fusion::Stack& stack : group.plan.stacks) {
    claim.stacks.emplace_back();
    for (const fusion::TileLoop& loop : stack) claim.stacks.back().push_back(loop_claim(*group.setting.chain, loop));
  }
  for (const fusion::Held& held : group.plan.held)
    claim.held.push_back({static_cast<std::size_t>(held.layer), held.tensor, held.depth});
  for (const fusion::RunChoice& run : group.runs) {
    claim.runs.push_back({static_cast<std::size_t>(run.layer), {}, run.mapping});
    for (const Dim& dim : run.task.layer.dims) claim.runs.back().sizes.push_back(dim.size);
  }
  return claim;
}

}  // namespace

audit::NetworkCertificate network_certificate(const Workload& workload, const std::vector<Task>& rows,
                                              const NetworkGoal& goal, bool stay, const residency::Search& search,
                                              const residency::Optimum& best) {
  audit::NetworkCertificate certificate = claim_of(workload, rows, goal, stay, best);
  add_steps(rows, search, best, certificate);
  return certificate;
}

audit::NetworkCertificate network_certificate(const Workload& workload, const std::vector<Task>& rows,
                                              const NetworkGoal& goal, const fusion::Search& search,
                                              const fusion::Optimum& best) {
  audit::NetworkCertificate certificate = claim_of(workload, rows, goal, true, best);
  add_steps(rows, search, best, certificate);
  for (const fusion::GroupChoice& group : best.groups) certificate.groups.push_back(group_claim(group));
  const fusion::TileLines& tiles = search.tiles();
  for (int piece = 0; piece < tiles.count(); ++piece) {
    const fusion::RunShape& shape = tiles.shape_of(piece);
    const audit::LayerVariant variant{static_cast<int>(shape.layer - rows.data()),
                                      shape.homes,
                                      tiles.reserved(piece),
                                      shape.sizes,
                                      shape.sums,
                                      shape.sums_in};
    add_proofs(rows, variant, tiles.proofs(piece), certificate);
  }
  return certificate;
}

audit::NetworkAuditReport audit_told(const audit::NetworkCertificate& certificate, double lower_bound,
                                     const audit::AuditOptions& options) {
  audit::NetworkAuditReport report = audit::audit_network(certificate, options);
  if (certificate.lower_bound < lower_bound * (1 - kNetworkRounding))
    report.undecided.push_back(
        fmt::format("the lower bound {:.12g} was told, and the certificate's lines prove {:.12g}", lower_bound,
                    certificate.lower_bound));
  return report;
}

}  // namespace pliant
