// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/future_designs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dse/studies/flexibility_paper.h"
#include "dse/studies/flexible_cycles.h"
#include "dse/studies/inflexible_cost.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

constexpr std::size_t kSeeds = 20;  ///< of the genetic search

/// Cycles of the networks on a design, geometric mean.
double mean_cycles(const std::vector<InflexibleNetwork>& networks, const InflexibleDesign& design,
                   const InflexibleHardware& hardware) {
  double sum = 0;
  for (const InflexibleNetwork& network : networks) sum += std::log(network.cycles(design, hardware));
  return std::exp(sum / static_cast<double>(networks.size()));
}

}  // namespace

std::vector<InflexibleNetwork> seven_networks(const StudyContext& context) {
  std::vector<InflexibleNetwork> networks;
  for (const FutureNetwork& network : kFutureNetworks)
    networks.emplace_back(load_workload(context.library, network.workload));
  return networks;
}

InflexibleHardware hardware_under(const StudyContext& context, const std::string& bandwidth) {
  const Accelerator reference = load_accelerator(context.library, "flexref");
  const Memory& buffer = reference.levels[static_cast<std::size_t>(reference.find_level("Buffer"))].memory();
  // Half of the bandwidth is for reads, half for writes.
  return {reference.macs_units(), *buffer.capacity_words, bandwidth == kNoLimit ? 0 : std::stod(bandwidth) / 2};
}

InflexibleDesign shipped_alexnet_design() {
  InflexibleDesign design;
  design.row_dim = kP;
  design.col_dim = kM;
  design.rows = 16;
  design.cols = 64;
  design.tile = {64, 16, 27, 16, 5, 5};
  design.order = {kP, kQ, kM, kC, kR, kS};
  return design;
}

InflexibleDesign best_design(const StudyContext& context, const InflexibleNetwork& network,
                             const std::string& bandwidth) {
  const InflexibleDesign best =
      network.best(hardware_under(context, bandwidth), [&] { return context.stop.stop_requested(); });
  if (context.stop.stop_requested()) throw StudyInterrupted();
  return best;
}

AlexnetOptima alexnet_optima(const StudyContext& context, const std::string& bandwidth) {
  const InflexibleHardware hardware = hardware_under(context, bandwidth);
  const std::vector<InflexibleNetwork> networks = seven_networks(context);
  AlexnetOptima optima;
  optima.cycles = best_design(context, networks.front(), bandwidth).cycles;
  std::vector<InflexibleDesign> all;
  std::vector<double> means;
  networks.front().for_each_tie(hardware, optima.cycles, [&](const InflexibleDesign& design) {
    all.push_back(design);
    means.push_back(mean_cycles(networks, design, hardware));
    const auto runs = [&](std::size_t dim) { return design.row_dim == dim || design.col_dim == dim; };
    optima.y_and_k += runs(kP) && runs(kM) ? 1 : 0;
  });
  optima.count = static_cast<double>(all.size());
  optima.least_cycles = std::ranges::min(means);
  optima.most_cycles = std::ranges::max(means);
  optima.design = middle_design(all, means);
  optima.some = evenly_spaced(all, kTiesLookedAt);
  return optima;
}

InflexibleDesign middle_design(const std::vector<InflexibleDesign>& designs, const std::vector<double>& cost) {
  std::vector<std::size_t> order(designs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return cost[i]; });
  return designs[order[(order.size() - 1) / 2]];
}

std::vector<std::vector<double>> gains_by_design(const StudyContext& context,
                                                 const std::vector<InflexibleNetwork>& networks,
                                                 const std::string& bandwidth,
                                                 const std::vector<InflexibleDesign>& designs,
                                                 const std::vector<std::string>& classes) {
  const InflexibleHardware hardware = hardware_under(context, bandwidth);
  std::vector<std::vector<double>> gains(classes.size(), std::vector<double>(designs.size(), 0));
  for_each_task(context, fmt::format("designs that are as good{}", under(bandwidth)), classes.size(),
                [&](std::size_t c, const StudyContext&) {
                  const FreeAxes free = free_axes(classes[c]);
                  for (const InflexibleNetwork& network : networks) {
                    FlexibleCycles flexible(network, hardware);
                    for (std::size_t i = 0; i < designs.size(); ++i)
                      gains[c][i] += std::log(network.cycles(designs[i], hardware) / flexible.cycles(designs[i], free));
                  }
                  for (double& gain : gains[c]) gain = std::exp(gain / static_cast<double>(networks.size()));
                });
  return gains;
}

AlexnetSearched alexnet_by_genetic_search(const StudyContext& context, const std::string& bandwidth, double optimum) {
  const InflexibleHardware hardware = hardware_under(context, bandwidth);
  const std::vector<InflexibleNetwork> networks = seven_networks(context);
  AlexnetSearched searched;
  std::vector<double> over(kSeeds);
  searched.mean_cycles.resize(kSeeds);
  for_each_task(context, fmt::format("designs by genetic search{}", under(bandwidth)), kSeeds,
                [&](std::size_t i, const StudyContext&) {
                  const InflexibleDesign design = networks.front().genetic(hardware, i + 1);
                  over[i] = design.cycles / optimum;
                  searched.mean_cycles[i] = mean_cycles(networks, design, hardware);
                });
  searched.worst = std::ranges::max(over);
  std::ranges::sort(searched.mean_cycles);
  return searched;
}

}  // namespace pliant
