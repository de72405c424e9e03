// SPDX-License-Identifier: Apache-2.0
// The set of legal mappings of a layer on an accelerator with given flexibility, under a factorization rule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/accelerator.h"
#include "core/big_count.h"
#include "core/layer.h"
#include "core/legality.h"
#include "core/mapping.h"
#include "flex/mapspace/legal_count.h"
#include "flex/mapspace/space_sampler.h"

namespace pliant {

/// A size that only sampling can tell: the interval holds it with the stated confidence.
struct CountEstimate {
  double value = 0;
  double low = 0, high = 0;
  double confidence = 0.95;
  std::uint64_t tries = 0, accepted = 0;
};

/// Contract: contains, enumerate, count and sample speak about one and the same set. Two mappings are the same when
/// their loops of bound > 1 and their kept tensors are; the order of loops that run in parallel does not matter.
class MapSpace {
 public:
  MapSpace(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
           Factorization rule = Factorization::kPerfect);

  const Layer& layer() const { return rules_->layer; }
  const Accelerator& accelerator() const { return rules_->accelerator; }
  const Flexibility& flexibility() const { return rules_->flexibility; }
  Factorization factorization() const { return rules_->rule; }

  /// As the independent checker judges.
  bool contains(const Mapping& mapping) const { return violations(mapping).empty(); }
  std::vector<Violation> violations(const Mapping& mapping) const;

  /// Each mapping once, in an order that never changes. visit returns false to stop, and so does the function then.
  bool enumerate(const std::function<bool(const Mapping&)>& visit) const;

  /// Exact; nullopt when the space is beyond the limits (see flex/mapspace/legal_count.h). With padding, by
  /// enumeration.
  std::optional<BigCount> count(const LegalCountLimits& limits = {}) const;
  /// From random tries; the interval is Wilson's.
  CountEstimate estimate(std::uint64_t tries, std::uint64_t seed) const;

  /// A sampler of its own for every thread; same seed, same mappings.
  SpaceSampler sampler() const { return SpaceSampler(rules_); }

 private:
  std::shared_ptr<const SpaceRules> rules_;
};

}  // namespace pliant
