// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/future_designs.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/inflexible_cost.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

constexpr std::size_t kSeeds = 20;  ///< of the genetic search

std::vector<InflexibleNetwork> seven_networks(const StudyContext& context) {
  std::vector<InflexibleNetwork> networks;
  for (const FutureNetwork& network : kFutureNetworks)
    networks.emplace_back(load_workload(context.library, network.workload));
  return networks;
}

/// Cycles of the networks on a design, geometric mean.
double mean_cycles(const std::vector<InflexibleNetwork>& networks, const InflexibleDesign& design,
                   const InflexibleHardware& hardware) {
  double sum = 0;
  for (const InflexibleNetwork& network : networks) sum += std::log(network.cycles(design, hardware));
  return std::exp(sum / static_cast<double>(networks.size()));
}

}  // namespace

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
  optima.least_cycles = kInfinity;
  networks.front().for_each_tie(hardware, optima.cycles, [&](const InflexibleDesign& design) {
    const double mean = mean_cycles(networks, design, hardware);
    ++optima.count;
    const auto runs = [&](std::size_t dim) { return design.row_dim == dim || design.col_dim == dim; };
    optima.y_and_k += runs(kP) && runs(kM) ? 1 : 0;
    optima.most_cycles = std::max(optima.most_cycles, mean);
    if (mean < optima.least_cycles) {
      optima.least_cycles = mean;
      optima.design = design;
    }
  });
  return optima;
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
