// SPDX-License-Identifier: Apache-2.0
// The inflexible designs of the future-proofing study, and what the choice between equally good ones and the search
// that finds them contribute to the gain of flexibility.
#pragma once

#include <array>
#include <map>
#include <string>

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

/// The best inflexible design for AlexNet under a bandwidth. Found on the way: its cycles, how many designs are as
/// good, how much these differ on the seven networks, and how near a genetic search comes.
InflexibleDesign alexnet_designs(const StudyContext& context, const std::string& bandwidth, StudyResult& result);

/// Without a limit of bandwidth: gains of FullFlex-1111 as they depend on which of the designs that are all optimal for
/// AlexNet is taken, and over designs that a genetic search finds. `full`: cycles of FullFlex-1111 by network, proven.
void gains_over_other_designs(const StudyContext& context, const std::map<std::string, double>& full,
                              StudyResult& result);

}  // namespace pliant
