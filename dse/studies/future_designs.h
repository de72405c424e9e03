// SPDX-License-Identifier: Apache-2.0
// The inflexible designs of the future-proofing study: the best ones for AlexNet under a bandwidth, of which there are
// many, and those that the paper's own search finds.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dse/studies/inflexible_design.h"
#include "dse/studies/study.h"

namespace pliant {

struct FutureNetwork {
  const char* name;  ///< as the paper calls it
  const char* workload;
};
/// The paper's seven; the first is the one that the design is made for, the first four are CNNs.
inline constexpr std::array kFutureNetworks = {FutureNetwork{"AlexNet", "flexpaper_alexnet"},
                                               FutureNetwork{"MnasNet", "flexpaper_mnasnet"},
                                               FutureNetwork{"ResNet50", "flexpaper_resnet50"},
                                               FutureNetwork{"MobileNetV2", "flexpaper_mobilenet_v2"},
                                               FutureNetwork{"BERT", "flexpaper_bert"},
                                               FutureNetwork{"DLRM", "flexpaper_dlrm"},
                                               FutureNetwork{"NCF", "flexpaper_ncf"}};

/// The hardware of flexref under a bandwidth in bytes per cycle, as written in a sweep.
InflexibleHardware hardware_under(const StudyContext& context, const std::string& bandwidth);

/// `flexref_alexnet_opt` as it is shipped.
InflexibleDesign shipped_alexnet_design();

/// The proven optimum; StudyInterrupted after Ctrl-C.
InflexibleDesign best_design(const StudyContext& context, const InflexibleNetwork& network,
                             const std::string& bandwidth);

/// All inflexible designs that are optimal for AlexNet under a bandwidth. Means are geometric, over the seven networks.
struct AlexnetOptima {
  double cycles = 0;       ///< of AlexNet, proven
  double count = 0;        ///< designs, as InflexibleNetwork::for_each_tie counts them
  double y_and_k = 0;      ///< how many of them run Y and K in parallel
  double most_cycles = 0;  ///< mean on the design that serves the seven worst
  double least_cycles = 0;
  /// The one in the middle when they are ordered by that mean, the earlier of equal ones first: whoever builds for
  /// AlexNet cannot know what comes later, so neither the best nor the worst is what to expect.
  InflexibleDesign design;
  std::vector<InflexibleDesign> some;  ///< at most kTiesLookedAt of them, evenly spaced
};
inline constexpr std::size_t kTiesLookedAt = 1000;
AlexnetOptima alexnet_optima(const StudyContext& context, const std::string& bandwidth);

/// The design in the middle, by `cost` of each, the earlier of equal ones first.
InflexibleDesign middle_design(const std::vector<InflexibleDesign>& designs, const std::vector<double>& cost);

/// Some classes of flexibility, built into each of some designs: speedups over that design on some networks, geometric
/// mean, by class (its bits, "1010") and design. In closed form.
std::vector<std::vector<double>> gains_by_design(const StudyContext& context,
                                                 const std::vector<InflexibleNetwork>& networks,
                                                 const std::string& bandwidth,
                                                 const std::vector<InflexibleDesign>& designs,
                                                 const std::vector<std::string>& classes);
/// The classes that distributions over ties are shown for.
inline constexpr std::array<const char*, 7> kTieClasses = {"1000", "0100", "0010", "0001", "0011", "1010", "1111"};

std::vector<InflexibleNetwork> seven_networks(const StudyContext& context);

/// What the paper's search finds instead: 20 seeds.
struct AlexnetSearched {
  double worst = 0;                 ///< cycles of AlexNet over the optimum
  std::vector<double> mean_cycles;  ///< over the seven networks, ascending
};
AlexnetSearched alexnet_by_genetic_search(const StudyContext& context, const std::string& bandwidth, double optimum);

}  // namespace pliant
