// SPDX-License-Identifier: Apache-2.0
// The auditor of networks against the enumeration of all places and all mappings of random networks.
#include "dse/audit/network_audit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "dse/mappers/network_proof.h"
#include "support/random_graphs.h"

namespace pliant {
namespace {

double enumerated_best(const tests::Pairs& all, Objective objective) {
  double best = kInfinity;
  for (const auto& [energy, cycles] : all) best = std::min(best, network_value(objective, energy, cycles));
  return best;
}

/// Written and read again. Some random machines are such as no file may describe: outputs wider than their sums, shares
/// of memories for what they do not keep.
audit::NetworkCertificate as_a_file(const audit::NetworkCertificate& certificate, int& read) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  try {
    audit::NetworkCertificate again =
        audit::read_network_certificate(library, audit::write_network_certificate(certificate), "proof.json");
    ++read;
    return again;
  } catch (const InputError&) {
    return certificate;
  }
}

TEST(NetworkAudit, BoundsOfRandomNetworksHoldForAllChoices) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  SearchOptions options;
  options.record_parts = true;
  int clean = 0, better = 0, read = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const tests::RandomGraph graph = tests::random_graph(seed);
    SCOPED_TRACE(graph.text);
    const tests::Pairs all = tests::every_choice(graph, true), outside = tests::every_choice(graph, false);
    if (all.empty()) continue;
    residency::Search search(*exact, graph.workload, graph.rows, options);
    for (const Objective objective : {Objective::kEdp, Objective::kEnergy, Objective::kRuntime}) {
      const NetworkGoal goal{objective, kInfinity};
      const residency::Optimum best = search.run(goal, true);
      const audit::NetworkCertificate staying =
          as_a_file(network_certificate(graph.workload, graph.rows, goal, true, search, best), read);
      const audit::NetworkAuditReport report = audit::audit_network(staying, {});
      EXPECT_TRUE(report.clean()) << (report.wrong.empty() ? "" : report.wrong.front())
                                  << (report.undecided.empty() ? "" : report.undecided.front());
      const double truth = enumerated_best(all, objective);
      EXPECT_LE(report.lower_bound, truth * (1 + 1e-9));
      EXPECT_GE(report.lower_bound, staying.lower_bound * (1 - 1e-9));
      clean += report.clean() ? 1 : 0;
      // With every tensor outside it is an optimum of its own, but not one of all choices.
      const residency::Optimum apart = search.run(goal, false);
      if (!apart.found()) continue;
      audit::NetworkCertificate claimed = network_certificate(graph.workload, graph.rows, goal, false, search, apart);
      const audit::NetworkAuditReport without = audit::audit_network(as_a_file(claimed, read), {});
      EXPECT_TRUE(without.clean()) << (without.wrong.empty() ? "" : without.wrong.front());
      EXPECT_LE(without.lower_bound, enumerated_best(outside, objective) * (1 + 1e-9));
      if (apart.value <= truth * (1 + 1e-6)) continue;
      claimed.task.stay = true;
      claimed.slopes = staying.slopes;
      claimed.proofs.insert(claimed.proofs.end(), staying.proofs.begin(), staying.proofs.end());
      EXPECT_FALSE(audit::audit_network(claimed, {}).wrong.empty());
      ++better;
    }
  }
  EXPECT_GT(clean, 50);
  EXPECT_GT(better, 10);
  EXPECT_GT(read, 50);
}

}  // namespace
}  // namespace pliant
