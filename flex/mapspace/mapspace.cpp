// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/mapspace.h"

#include <cmath>

#include "flex/mapspace/space_walk.h"

namespace pliant {

MapSpace::MapSpace(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                   Factorization rule)
    : rules_(std::make_shared<const SpaceRules>(layer, accelerator, flexibility, rule)) {}

std::vector<Violation> MapSpace::violations(const Mapping& mapping) const {
  return check_legality(layer(), accelerator(), flexibility(), factorization(), mapping);
}

bool MapSpace::enumerate(const std::function<bool(const Mapping&)>& visit) const {
  return for_each_legal_mapping(*rules_, visit);
}

std::optional<BigCount> MapSpace::count(const LegalCountLimits& limits) const {
  if (factorization() != Factorization::kPadding)
    return count_legal_mappings(layer(), accelerator(), flexibility(), factorization(), limits);
  std::uint64_t found = 0;
  const bool all = enumerate([&](const Mapping&) { return ++found <= limits.tiles; });
  if (!all) return std::nullopt;
  return BigCount(found);
}

CountEstimate MapSpace::estimate(std::uint64_t tries, std::uint64_t seed) const {
  SpaceSampler sampler(rules_);
  std::mt19937_64 random(seed);
  CountEstimate result;
  result.tries = tries;
  for (std::uint64_t i = 0; i < tries; ++i) result.accepted += sampler.try_once(random).has_value() ? 1 : 0;
  const auto n = static_cast<double>(tries);
  const double p = static_cast<double>(result.accepted) / n;
  constexpr double kZ = 1.959963984540054;  // 95 % of a normal distribution
  const double middle = (p + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double reach = kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  result.value = p * sampler.outcomes();
  result.low = std::max(0.0, middle - reach) * sampler.outcomes();
  result.high = std::min(1.0, middle + reach) * sampler.outcomes();
  return result;
}

}  // namespace pliant
