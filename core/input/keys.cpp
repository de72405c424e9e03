// SPDX-License-Identifier: Apache-2.0
#include "core/input/keys.h"

namespace pliant {

const std::vector<KeyTable>& known_keys() {
  static const std::vector<KeyTable> tables{
      {"accelerator.json", "", keys::kAccelerator},
      {"accelerator.json", "/$defs/memory", keys::kMemory},
      {"accelerator.json", "/$defs/fanout", keys::kFanout},
      {"accelerator.json", "/$defs/compute", keys::kCompute},
      {"accelerator.json", "/properties/area", keys::kArea},
      {"accelerator.json", "/properties/area/properties/flexibility_um2", keys::kAxes},
      {"accelerator.json", "/properties/hints", keys::kHints},
      {"accelerator.json", "/properties/vector", keys::kVector},
      {"accelerator.json", "/properties/vector/properties/ops", keys::kVectorOps},
      {"accelerator.json", "/properties/links", keys::kLinks},
      {"accelerator.json", "/properties/prediction", keys::kPrediction},
      {"accelerator.json", "/properties/flexibility", keys::kFlexibility},
      {"accelerator.json", "/properties/baseline", keys::kBaseline},
      {"accelerator.json", "/properties/partial", keys::kPartial},
      {"flexibility.json", "", keys::kFlexibilityFile},
      {"flexibility.json", "/$defs/family", keys::kAxisRules},
      {"flexibility.json", "/$defs/classAxes", keys::kClassAxes},
      {"accelerator.json", "/properties/partial/properties/variants/additionalProperties", keys::kVariant},
      {"flexibility.json", "/$defs/fusionRule", keys::kFusionRule},
      {"flexibility.json", "/$defs/tileRule", keys::kTileRule},
      {"flexibility.json", "/$defs/partition", keys::kRoleNames},
      {"flexibility.json", "/$defs/parallelRule", keys::kParallelRule},
      {"flexibility.json", "/$defs/assignment", keys::kAssignment},
      {"flexibility.json", "/$defs/shapeRule", keys::kShapeRule},
      {"layer.json", "", keys::kLayer},
      {"layer.json", "/$defs/conv", keys::kConv},
      {"layer.json", "/$defs/depthwise", keys::kDepthwise},
      {"layer.json", "/$defs/gemm", keys::kGemm},
      {"layer.json", "/$defs/einsum", keys::kEinsum},
      {"layer.json", "/$defs/tensor", keys::kTensor},
      {"workload.json", "", keys::kWorkload},
      {"workload.json", "/$defs/entry", keys::kWorkloadEntry},
      {"workload.json", "/$defs/graphLayer", keys::kGraphLayer},
      {"workload.json", "/$defs/graphOperator", keys::kGraphOperator},
      {"workload.json", "/$defs/graphBlock", keys::kGraphBlock},
      {"mapping.json", "", keys::kMapping},
      {"mapping.json", "/$defs/level", keys::kMappingLevel},
      {"technology.json", "", keys::kTechnology},
      {"technology.json", "/$defs/point", keys::kTechnologyPoint},
      {"technology.json", "/properties/area", keys::kTechnologyArea},
      {"technology.json", "/properties/leakage", keys::kTechnologyLeakage},
      {"technology.json", "/$defs/mac", keys::kTechnologyCompute},
      {"technology.json", "/properties/off_chip", keys::kTechnologyOffChip},
  };
  return tables;
}

}  // namespace pliant
