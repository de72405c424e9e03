// SPDX-License-Identifier: Apache-2.0
// The auditor of networks whose layers pass tiles on, against the enumeration of all stacks, held tiles and mappings of
// random networks; and its floor of a run against all mappings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/audit/network_audit.h"
#include "dse/audit/run_floor.h"
#include "dse/mappers/layer_floor.h"
#include "dse/mappers/network_proof.h"
#include "flex/mapspace/enumerate.h"
#include "support/enumerated_fusion.h"

namespace pliant {
namespace {

double least_of(const tests::Pairs& all, Objective objective) {
  double best = kInfinity;
  for (const auto& [energy, cycles] : all) best = std::min(best, network_value(objective, energy, cycles));
  return best;
}

struct AuditCounts {
  int clean = 0, groups = 0, networks = 0, refused = 0;
};

/// The claim is clean, what follows is no more than the truth, and the optimum with whole tensors is refused where
/// tiles are better.
void audit_one(const Workload& workload, const std::vector<Task>& rows, const tests::Pairs& all, AuditCounts& counts) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  SearchOptions options;
  options.record_parts = true;
  fusion::Search search(*exact, workload, rows, options);
  residency::Search whole(*exact, workload, rows, options);
  ++counts.networks;
  for (const Objective objective : {Objective::kEdp, Objective::kEnergy, Objective::kRuntime}) {
    SCOPED_TRACE(to_string(objective));
    const NetworkGoal goal{objective};
    const fusion::Optimum best = search.run(goal);
    ASSERT_TRUE(best.found());
    const audit::NetworkCertificate claim = network_certificate(workload, rows, goal, search, best);
    const audit::NetworkAuditReport report = audit::audit_network(claim, {});
    EXPECT_TRUE(report.clean()) << (report.wrong.empty() ? "" : report.wrong.front())
                                << (report.undecided.empty() ? "" : report.undecided.front());
    const double truth = least_of(all, objective);
    EXPECT_LE(report.lower_bound, truth * (1 + 1e-9));
    EXPECT_GE(report.lower_bound, claim.lower_bound * (1 - 1e-9));
    counts.clean += report.clean() ? 1 : 0;
    counts.groups += best.groups.empty() ? 0 : 1;
    const residency::Optimum before = whole.run(goal, true);
    if (!before.found() || before.value <= truth * (1 + 1e-6)) continue;
    audit::NetworkCertificate wrong = network_certificate(workload, rows, goal, true, whole, before);
    wrong.task.tiles = true;
    wrong.slopes = claim.slopes;
    wrong.proofs.insert(wrong.proofs.end(), claim.proofs.begin(), claim.proofs.end());
    EXPECT_FALSE(audit::audit_network(wrong, {}).wrong.empty());
    ++counts.refused;
  }
}

std::uint64_t cases_asked(std::uint64_t otherwise) {
  const char* text = std::getenv("PLIANT_CASES");
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void audit_chain(std::uint64_t seed, AuditCounts& counts) {
  const tests::RandomChain chain = tests::random_chain(seed);
  SCOPED_TRACE(chain.text);
  const tests::EveryFusion every = tests::every_fusion(chain);
  if (!every.all.empty()) audit_one(chain.workload, chain.rows, every.all, counts);
}

TEST(FusedAudit, BoundsOfRandomChainsHoldForAllChoices) {
  AuditCounts counts;
  const std::uint64_t cases = cases_asked(8);
  audit_chain(900324, counts);  // a window that is made in its first round
  for (std::uint64_t seed = 1; counts.networks < static_cast<int>(cases) && !HasFailure(); ++seed)
    audit_chain(seed, counts);
  std::cout << counts.networks << " chains, " << counts.clean << " claims clean, " << counts.groups << " with groups, "
            << counts.refused << " optima with whole tensors refused" << std::endl;
  EXPECT_GE(counts.groups, static_cast<int>(cases) / 4);
  EXPECT_GE(counts.refused, static_cast<int>(cases) / 8);
}

TEST(FusedAudit, BoundsOfRandomNetworksHoldForAllChoices) {
  AuditCounts counts;
  const std::uint64_t cases = cases_asked(8);
  for (std::uint64_t seed = 1; counts.networks < static_cast<int>(cases) && !HasFailure(); ++seed) {
    const tests::RandomGraph graph = tests::random_graph(seed);
    if (graph.workload.layers.size() > 4) continue;
    SCOPED_TRACE(graph.text);
    const tests::Pairs every = tests::every_choice_of_graph(graph);
    if (!every.empty()) audit_one(graph.workload, graph.rows, every, counts);
  }
  std::cout << counts.networks << " networks, " << counts.clean << " claims clean, " << counts.groups
            << " with groups, " << counts.refused << " optima with whole tensors refused" << std::endl;
  EXPECT_GE(counts.groups, static_cast<int>(cases) / 8);
}

/// No mapping is below the floor of a run, and it is not below the mapper's own, which closes most runs.
TEST(FusedAudit, NoMappingIsBelowTheFloorOfItsRun) {
  int mappings = 0, layers = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const tests::RandomChain chain = tests::random_chain(seed);
    for (Task task : chain.rows) {
      SCOPED_TRACE(chain.text);
      task.objective = Objective::kEnergy;
      std::vector<Count> sizes;
      for (const Dim& dim : task.layer.dims) sizes.push_back(dim.size);
      const audit::RunFloor::Least least = audit::RunFloor(task).of(sizes);
      const LayerFloor of_mapper = layer_floor(task);
      EXPECT_GE(least.energy_pj, of_mapper.energy_pj * (1 - 1e-12));
      EXPECT_GE(least.cycles, of_mapper.cycles * (1 - 1e-12));
      ++layers;
      for_each_mapping(task.layer, task.accelerator, task.flexibility, task.factorization, [&](const Mapping& mapping) {
        if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty())
          return !HasFailure();
        const Totals totals = price(task.layer, task.accelerator, mapping).totals;
        EXPECT_GE(totals.energy_pj, least.energy_pj * (1 - 1e-12));
        EXPECT_GE(totals.cycles, least.cycles * (1 - 1e-12));
        return ++mappings < 200'000 && !HasFailure();
      });
    }
  }
  EXPECT_GT(layers, 300);
  EXPECT_GT(mappings, 10'000);
}

}  // namespace
}  // namespace pliant
