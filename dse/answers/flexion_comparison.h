// SPDX-License-Identifier: Apache-2.0
// Flexions of the designs that a question is about, and their JSON: what `pliant flexion` and the Python package
// answer.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "dse/mappers/fusion/fusion_flexion.h"
#include "flex/flexion/flexion.h"

namespace pliant {

struct FlexionComparison {
  /// What one row of the comparison is about.
  struct Design {
    std::string name;
    FlexibilityClass its_class;
    Accelerator accelerator;
    WorkloadFlexion flexion;
    std::optional<fusion::FusionFlexion> fusion;  ///< F, of a workload whose graph is known
  };
  Workload workload;
  std::vector<Design> designs;
  bool compares = false;  ///< In, Part and Full on every axis, each design about its own axis

  /// Whether the measure is one that the design is about.
  bool shows(const Design& design, Measure measure) const;
  bool shows_fusion(const Design& design) const { return design.fusion && (!compares || design.its_class.fusion); }
  nlohmann::ordered_json json() const;
};

/// The design with the flexibility named, or else, of an accelerator with a baseline, InFlex, PartFlex and FullFlex on
/// each axis. Without `tile_tuples` the tile axis is not counted over tuples, which takes most of the time.
FlexionComparison compare_flexion(const Library& library, const Accelerator& accelerator, Workload workload,
                                  const std::optional<std::string>& flexibility, bool tile_tuples);

/// H-F and W-F of the flexible axes together: means over the layers.
std::pair<double, double> class_means(const FlexionComparison::Design& design);

}  // namespace pliant
