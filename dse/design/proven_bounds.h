// SPDX-License-Identifier: Apache-2.0
// What a search has proven of layers, in the order of its proofs: a certificate names what its boxes rest on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/mapping.h"
#include "dse/design/hardware_box.h"
#include "dse/results/task_result.h"

namespace pliant {

/// On the ideal design of a box, or on one design, no mapping of a layer is below.
struct ProvenBound {
  HardwareBox box;
  std::int64_t design_id = -1;  ///< -1: the box
  std::size_t rule = 0, layer = 0;
  Objective objective = Objective::kEdp;
  double least = 0;    ///< infinite: the layer has no mapping there
  bool floor = false;  ///< known without a search
};

/// A layer of a design that was mapped.
struct MappedOnDesign {
  std::int64_t design_id = 0;
  std::size_t layer = 0;
  std::shared_ptr<const Accelerator> accelerator;
  Factorization rule = Factorization::kPerfect;
  std::shared_ptr<const TaskResult> result;
};

/// What a closed box, or a closed design, rests on: numbers in ProvenBounds.
struct BoxProof {
  std::vector<std::int32_t> bounds, mapped;
  std::vector<double> least;  ///< by goal: what follows from them
};

/// Kept only where a certificate is asked for.
class ProvenBounds {
 public:
  /// The number of the new one.
  std::int32_t add(ProvenBound bound) {
    bounds_.push_back(std::move(bound));
    return static_cast<std::int32_t>(bounds_.size()) - 1;
  }
  std::int32_t add(MappedOnDesign mapped) {
    mapped_.push_back(std::move(mapped));
    return static_cast<std::int32_t>(mapped_.size()) - 1;
  }
  const std::vector<ProvenBound>& bounds() const { return bounds_; }
  const std::vector<MappedOnDesign>& mapped() const { return mapped_; }

 private:
  std::vector<ProvenBound> bounds_;
  std::vector<MappedOnDesign> mapped_;
};

}  // namespace pliant
