// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/future_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/inflexible_cost.h"

namespace pliant {
namespace {

constexpr std::uint64_t kSeeds = 20;  ///< of the genetic search

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

/// Of all designs that are optimal for AlexNet: how many, and the least and largest mean over the networks.
struct Ties {
  double count = 0, least = kInfinity, largest = 0;
};
Ties ties_of(const std::vector<InflexibleNetwork>& networks, const InflexibleHardware& hardware, double optimum) {
  Ties ties;
  networks.front().for_each_tie(hardware, optimum, [&](const InflexibleDesign& design) {
    const double mean = mean_cycles(networks, design, hardware);
    ++ties.count;
    ties.least = std::min(ties.least, mean);
    ties.largest = std::max(ties.largest, mean);
  });
  return ties;
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

InflexibleDesign alexnet_designs(const StudyContext& context, const std::string& bandwidth, StudyResult& result) {
  const InflexibleHardware hardware = hardware_under(context, bandwidth);
  const std::vector<InflexibleNetwork> networks = seven_networks(context);
  const InflexibleDesign best = best_design(context, networks.front(), bandwidth);
  const Ties ties = ties_of(networks, hardware, best.cycles);
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    worst = std::max(worst, networks.front().genetic(hardware, seed).cycles / best.cycles);
  result.found("AlexNet on its best inflexible design (cycles)" + under(bandwidth), best.cycles);
  result.found("designs that are as good for AlexNet" + under(bandwidth), ties.count);
  result.found("seven networks on the worst of them over the best, geometric mean" + under(bandwidth),
               ties.largest / ties.least);
  result.found("AlexNet on a design of the genetic search over the optimum, worst of 20 seeds" + under(bandwidth),
               worst);
  return best;
}

void gains_over_other_designs(const StudyContext& context, const std::map<std::string, double>& full,
                              StudyResult& result) {
  const InflexibleHardware hardware = hardware_under(context, kNoLimit);
  const std::vector<InflexibleNetwork> networks = seven_networks(context);
  double sum = 0;
  for (const FutureNetwork& network : kFutureNetworks) sum += std::log(full.at(network.name));
  const double flexible = std::exp(sum / static_cast<double>(kFutureNetworks.size()));
  const Ties ties = ties_of(networks, hardware, best_design(context, networks.front(), kNoLimit).cycles);
  result.found("FullFlex-1111 speedup over the AlexNet-optimal design that is best for the seven",
               ties.least / flexible);
  result.found("FullFlex-1111 speedup over the AlexNet-optimal design that is worst for the seven",
               ties.largest / flexible);
  std::vector<double> gains;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    gains.push_back(mean_cycles(networks, networks.front().genetic(hardware, seed), hardware) / flexible);
  std::ranges::sort(gains);
  const std::string over = "FullFlex-1111 speedup over designs of the genetic search, ";
  result.found(over + "least of 20 seeds", gains.front());
  result.found(over + "median of 20 seeds", (gains[kSeeds / 2 - 1] + gains[kSeeds / 2]) / 2);
  result.found(over + "largest of 20 seeds", gains.back());
}

}  // namespace pliant
