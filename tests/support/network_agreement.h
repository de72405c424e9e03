// SPDX-License-Identifier: Apache-2.0
// Networks without a graph against all combinations of all mappings of their layers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dse/mappers/network.h"
#include "dse/mappers/residency/residency.h"
#include "support/campaign.h"
#include "support/random_graphs.h"

namespace pliant::tests {

/// A workload that does not say which layers read what; each may have its own machine.
struct Unrelated {
  explicit Unrelated(const std::vector<NetworkLayer>& layers);
  residency::Optimum best(const NetworkGoal& goal) const;

  Workload workload;
  std::vector<Task> rows;
};

/// Energy and cycles of every combination, a mapping for each repetition of each layer; those that no other beats, the
/// least energy first. Nothing where a layer has more than so many combinations of factors, orders and kept tensors.
std::optional<Pairs> every_combination(const std::vector<NetworkLayer>& layers, std::uint64_t most);

/// The least of them within a deadline, or infinity.
double best_of(const Pairs& all, Objective objective, double most_cycles);

/// A network of two tasks of the campaign, each with its own machine, under every factorization and for all objectives
/// of networks and a deadline: what the search of networks proves against every combination.
Judgement compare_network_with_combinations(std::uint64_t seed);

}  // namespace pliant::tests
