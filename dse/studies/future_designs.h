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
  InflexibleDesign design;  ///< the one that serves the seven best, the first of several
};
AlexnetOptima alexnet_optima(const StudyContext& context, const std::string& bandwidth);

/// What the paper's search finds instead: 20 seeds.
struct AlexnetSearched {
  double worst = 0;                 ///< cycles of AlexNet over the optimum
  std::vector<double> mean_cycles;  ///< over the seven networks, ascending
};
AlexnetSearched alexnet_by_genetic_search(const StudyContext& context, const std::string& bandwidth, double optimum);

}  // namespace pliant
