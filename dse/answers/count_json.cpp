// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/count_json.h"

#include <fmt/format.h>

#include "core/big_count.h"
#include "core/legality.h"
#include "core/partial_sums.h"
#include "dse/answers/arguments.h"
#include "dse/answers/json_schema.h"
#include "dse/combinations/combinations.h"
#include "flex/mapspace/count.h"
#include "flex/mapspace/enumerate.h"
#include "flex/mapspace/legal_count.h"
#include "flex/mapspace/orders.h"

namespace pliant {

using nlohmann::ordered_json;

namespace {

constexpr Count kMostListed = 20'000'000;

const Flexibility& flexibility_of(const CountedMapSpace& space) {
  return space.accelerator.flexibility_of(space.layer);
}

ordered_json head(const CountedMapSpace& space, std::string_view what, const BigCount& count) {
  ordered_json json;
  json["schema"] = kJsonSchema;
  json["what"] = what;
  json["count"] = count.str();
  json["layer"] = space.layer.written_as.empty() ? space.layer.name : space.layer.written_as;
  if (!space.accelerator.levels.empty()) {
    json["accelerator"] = space.accelerator.name;
    json["factorization"] = to_string(space.rule);
  }
  return json;
}

}  // namespace

ordered_json map_space_json(const CountedMapSpace& space) {
  const MapSpaceSize size = map_space_size(space.layer, space.accelerator, flexibility_of(space), space.rule);
  ordered_json json = head(space, "map-space", size.total());
  for (std::size_t d = 0; d < size.chains.size(); ++d)
    json["factor_chains"][space.layer.dims[d].name] = size.chains[d].str();
  for (std::size_t k = 0; k < space.accelerator.levels.size(); ++k) {
    const Level& level = space.accelerator.levels[k];
    if (!level.is_memory()) continue;
    json["orders"][level.name] = size.orders[k].str();
    json["bypasses"][level.name] = size.bypasses[k].str();
  }
  return json;
}

ordered_json legal_json(const CountedMapSpace& space) {
  check_works(space.command, Traits{Trait::kCount, Trait::kLegal}
                                 .add(TraitGroup::kFactorizations, to_string(space.rule))
                                 .add_if(!takes_partial_sums_everywhere(space.accelerator), Trait::kFinishedOnly));
  const auto count = count_legal_mappings(space.layer, space.accelerator, flexibility_of(space), space.rule);
  if (!count)
    throw bad_option(space.command, "--legal", "this map-space has too many different tiles to walk",
                     "a smaller layer, a stricter factorization rule, or no --legal");
  return head(space, "legal", *count);
}

ordered_json enumerated_json(const CountedMapSpace& space) {
  const BigCount candidates = map_space_size(space.layer, space.accelerator, flexibility_of(space), space.rule).total();
  if (candidates > kMostListed)
    throw bad_option(space.command, "--enumerate",
                     fmt::format("{} candidates are too many to list", readable_size(candidates.str())),
                     fmt::format("at most {}", kMostListed));
  Count visited = 0, legal = 0;
  for_each_mapping(space.layer, space.accelerator, flexibility_of(space), space.rule, [&](const Mapping& mapping) {
    ++visited;
    legal += check_legality(space.layer, space.accelerator, flexibility_of(space), space.rule, mapping).empty();
    return true;
  });
  ordered_json json = head(space, "enumerated", legal);
  json["listed"] = std::to_string(visited);
  return json;
}

ordered_json quickflow_json(const CountedMapSpace& space) {
  return head(space, "quickflow-formula", quickflow_map_space_size(space.layer, space.accelerator));
}

ordered_json orders_json(const CountedMapSpace& space) {
  const Layer& layer = space.layer;
  const BigCount with = count_reuse_distinct_orders(layer), without = count_reuse_distinct_orders(layer, false);
  DimSet looping = 0;
  for (std::size_t d = 0; d < layer.dims.size(); ++d)
    if (layer.dims[d].size > 1) looping |= DimSet{1} << d;
  ordered_json json = head(space, "reuse-distinct-orders", with);
  json["without_halo_reuse"] = without.str();
  json["all_orders"] = count_orders(layer, looping, {}).str();
  return json;
}

std::string readable_size(const std::string& digits) {
  if (digits.size() <= 6) return digits;
  return fmt::format("{} ({:.2e})", digits, BigCount(digits).convert_to<double>());
}

}  // namespace pliant
