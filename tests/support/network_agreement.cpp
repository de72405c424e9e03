// SPDX-License-Identifier: Apache-2.0
#include "support/network_agreement.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/legality.h"
#include "costmodel/report.h"
#include "flex/mapspace/enumerate.h"
#include "support/campaign.h"
#include "support/campaign_cases.h"
#include "support/draw.h"
#include "support/shrink.h"

namespace pliant::tests {

namespace {

/// Sums of the same products in different orders differ by less.
constexpr double kSame = 1e-9;

/// Combinations of factors, orders and kept tensors of a layer at most: then a network takes a few milliseconds.
constexpr std::uint64_t kMostOfALayer = 3000;

std::optional<Pairs> every_mapping(const Task& task, std::uint64_t most) {
  Pairs all;
  std::uint64_t seen = 0;
  const bool complete =
      for_each_mapping(task.layer, task.accelerator, task.flexibility, task.factorization, [&](const Mapping& mapping) {
        if (++seen > most) return false;
        if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty())
          return true;
        const Totals totals = price(task.layer, task.accelerator, mapping).totals;
        all.emplace_back(totals.energy_pj, totals.cycles);
        return true;
      });
  return complete ? std::optional(without_beaten(std::move(all))) : std::nullopt;
}

/// Both tasks with the factorization that is asked for.
std::vector<NetworkLayer> network_of(std::uint64_t seed, Factorization factorization) {
  std::vector<NetworkLayer> layers;
  for (std::uint64_t i = 0; i < 2; ++i) {
    Task task = campaign_task(2 * seed + i);
    task.factorization = factorization;
    if (mixes_conventions(task)) task.accelerator.conventions = Conventions::physical();
    layers.push_back({std::move(task), static_cast<Count>(1 + (seed + i) % 3)});
  }
  return layers;
}

/// What is wrong with an answer, if anything.
std::optional<std::string> wrong(const residency::Optimum& found, double truth) {
  if (found.infeasible || !found.found())
    return found.infeasible && truth < kInfinity ? std::optional<std::string>("proven infeasible") : std::nullopt;
  if (truth == kInfinity) return "mappings where there are none";
  if (found.value < truth * (1 - kSame)) return "a value below the least of all combinations";
  if (found.lower_bound > truth * (1 + kSame)) return "a lower bound above the optimum";
  if (found.certified && found.value > truth * (1 + kSame)) return "a wrong certificate";
  return std::nullopt;
}

}  // namespace

Unrelated::Unrelated(const std::vector<NetworkLayer>& layers) {
  workload.name = "unrelated";
  for (const NetworkLayer& layer : layers) {
    workload.layers.push_back({layer.task.layer, layer.count});
    rows.push_back(layer.task);
  }
}

residency::Optimum Unrelated::best(const NetworkGoal& goal) const {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  return residency::Search(*exact, workload, rows, options).run(goal, false);
}

std::optional<Pairs> every_combination(const std::vector<NetworkLayer>& layers, std::uint64_t most) {
  Pairs sums{{0, 0}};
  for (const NetworkLayer& layer : layers) {
    const std::optional<Pairs> own = every_mapping(layer.task, most);
    if (!own) return std::nullopt;
    for (Count k = 0; k < layer.count; ++k) {
      Pairs next;
      for (const auto& [energy, cycles] : sums)
        for (const auto& [e, t] : *own) next.emplace_back(energy + e, cycles + t);
      sums = without_beaten(std::move(next));
    }
  }
  return sums;
}

double best_of(const Pairs& all, Objective objective, double most_cycles) {
  double best = kInfinity;
  for (const auto& [energy, cycles] : all)
    if (cycles <= most_cycles) best = std::min(best, network_value(objective, energy, cycles));
  return best;
}

Judgement compare_network_with_combinations(std::uint64_t seed) {
  Draw draw(seed * 0x9E3779B97F4A7C15ULL + 13);
  const auto factorization = static_cast<Factorization>(draw.from(0, 4));
  const std::vector<NetworkLayer> layers = network_of(seed, factorization);
  const std::optional<Pairs> all = every_combination(layers, kMostOfALayer);
  if (!all) return {Outcome::kTooLarge, ""};
  const double fastest = all->empty() ? 1 : all->back().second, slowest = all->empty() ? 1 : all->front().second;
  const double share = static_cast<double>(draw.from(0, 5)) / 4;  // above 1: the deadline excludes nothing
  const Unrelated network(layers);
  bool open = false;
  for (const NetworkGoal& goal :
       {NetworkGoal{Objective::kRuntime}, NetworkGoal{Objective::kEnergy}, NetworkGoal{Objective::kEdp},
        NetworkGoal{Objective::kEd2p}, NetworkGoal{Objective::kEnergy, fastest + share * (slowest - fastest)},
        NetworkGoal{Objective::kEdp, fastest + share * (slowest - fastest)}}) {
    const residency::Optimum found = network.best(goal);
    const double truth = best_of(*all, goal.objective, goal.most_cycles);
    open |= !found.certified && !found.infeasible;
    if (const std::optional<std::string> what = wrong(found, truth))
      return {Outcome::kDiffers,
              fmt::format("{} for {} within {} cycles: value {}, bound {}, of all combinations {}\n{}{}", *what,
                          to_string(goal.objective), goal.most_cycles, found.value, found.lower_bound, truth,
                          as_commands(layers[0].task), as_commands(layers[1].task))};
  }
  return {open ? Outcome::kOpen : Outcome::kAgrees, ""};
}

}  // namespace pliant::tests
