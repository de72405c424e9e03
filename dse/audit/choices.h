// SPDX-License-Identifier: Apache-2.0
// All choices of a map-space, counted again from its rules: what the parts of a certificate must cover.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "dse/audit/certificate.h"
#include "dse/audit/space_rules.h"

namespace pliant::audit {

struct Choices {
  std::vector<Factors> unrollings;   ///< ascending
  std::vector<std::uint64_t> alike;  ///< by unrolling: for how many it stands
  std::uint64_t listed = 0;          ///< all of these together
  std::uint64_t unlisted = 0;        ///< how many more there are, all of them slow
  std::vector<Kept> keeps;
  std::uint64_t count() const { return unrollings.size() * keeps.size(); }  ///< of those listed
};

/// Unrollings that are listed at most, unless more are asked for.
inline constexpr std::size_t kMostUnrollings = 2'000'000;

/// With perfect factors exactly the unrollings that fit the fanouts and divide the dims; with remainders or padding all
/// that fit, some of which no mapping may have. Those that are slow beside `below` steps are not listed, but counted.
/// nullopt: more than `most` of them. `merge`: where only the products of several fanouts count, one unrolling stands
/// for all that have the same.
std::optional<Choices> list_choices(const Task& task, const SpaceRules& rules, std::size_t most = kMostUnrollings,
                                    double below = std::numeric_limits<double>::infinity(), bool merge = false);

/// Has an unrolling of so many steps at least the `least`?
bool is_slow(double least, double steps);

/// Makes every part say how many choices it has, counted from the rules of the map-space, where it does not: then
/// nothing can be taken out of a certificate unnoticed. A part that turns out to have none goes. Parts stay as they are
/// where there are too many unrollings.
void state_sizes(const Task& task, std::vector<Part>& parts);

/// Loops over rows and columns that give a fanout these factors (by dim) within its rules; perfect factors. Empty
/// where nothing is spread, or nothing fits.
std::vector<SpatialLoop> layout_of(const FanoutRules& fanout, std::span<const Count> factors);

/// The choice that a mapping belongs to.
Factors unrolling_of(const SpaceRules& rules, const Mapping& mapping);
Kept kept_of(const SpaceRules& rules, const Mapping& mapping);

}  // namespace pliant::audit
