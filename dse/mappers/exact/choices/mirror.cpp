// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/mirror.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

DimSet mirrored(DimSet dims, const Mirror& mirror) {
  DimSet image = 0;
  for (std::size_t d = 0; d < mirror.size(); ++d)
    if (contains(dims, d)) image |= only(mirror[d]);
  return image;
}

/// A tensor's ranks in an order that does not depend on how they were written.
using Ranks = std::vector<std::vector<std::pair<int, Count>>>;
Ranks sorted_ranks(const std::vector<Rank>& ranks, const Mirror& mirror) {
  Ranks all;
  for (const Rank& rank : ranks) {
    auto& terms = all.emplace_back();
    for (const Term& term : rank.terms)
      terms.emplace_back(mirror[static_cast<std::size_t>(term.dim)], term.coefficient);
    std::sort(terms.begin(), terms.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool leaves_layer(const Layer& layer, const Mirror& mirror, const Mirror& none) {
  for (std::size_t d = 0; d < layer.dims.size(); ++d)
    if (layer.dims[d].size != layer.dims[static_cast<std::size_t>(mirror[d])].size) return false;
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    const std::vector<Rank>& ranks = layer.tensors[x].ranks;
    const std::vector<Rank> joint = layer.independent_ranks(static_cast<int>(x));
    if (sorted_ranks(ranks, mirror) != sorted_ranks(ranks, none)) return false;
    if (sorted_ranks(joint, mirror) != sorted_ranks(joint, none)) return false;
  }
  return true;
}

bool leaves_rules(const MapSpaceRules& rules, const Mirror& mirror) {
  for (const MemoryRules& memory : rules.memories) {
    if (!memory.orders.any_order() || mirrored(memory.may_loop, mirror) != memory.may_loop) return false;
    for (std::size_t d = 0; d < mirror.size(); ++d)
      if (memory.fixed[d] != memory.fixed[static_cast<std::size_t>(mirror[d])]) return false;
  }
  for (const FanoutRules& fanout : rules.fanouts)
    for (const FanoutRules::Sides& sides : fanout.assignments) {
      const auto image = std::tuple(mirrored(sides.rows, mirror), mirrored(sides.cols, mirror));
      if (std::ranges::none_of(fanout.assignments, [&](const FanoutRules::Sides& other) {
            return std::tuple(other.rows, other.cols) == image && other.rows_idle == sides.rows_idle &&
                   other.cols_idle == sides.cols_idle;
          }))
        return false;
    }
  return true;
}

}  // namespace

std::optional<Mirror> find_mirror(const Layer& layer, const MapSpaceRules& rules) {
  Mirror none{};
  for (std::size_t d = 0; d < none.size(); ++d) none[d] = static_cast<int>(d);
  std::vector<Mirror> pairs;
  for (std::size_t a = 0; a < layer.dims.size(); ++a)
    for (std::size_t b = a + 1; b < layer.dims.size(); ++b) {
      if (layer.dims[a].size != layer.dims[b].size) continue;
      Mirror& pair = pairs.emplace_back(none);
      std::swap(pair[a], pair[b]);
    }
  const auto will_do = [&](const Mirror& mirror) {
    bool moves = false;  // dims of one iteration never loop
    for (std::size_t d = 0; d < layer.dims.size(); ++d) moves |= mirror[d] != none[d] && layer.dims[d].size > 1;
    return moves && sure<"L9.3">(leaves_layer(layer, mirror, none) && leaves_rules(rules, mirror));
  };
  for (const Mirror& pair : pairs)
    if (will_do(pair)) return pair;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Mirror both = none;
      bool apart = true;
      for (std::size_t d = 0; d < both.size(); ++d) {
        apart &= pairs[i][d] == none[d] || pairs[j][d] == none[d];
        both[d] = pairs[i][d] != none[d] ? pairs[i][d] : pairs[j][d];
      }
      if (apart && will_do(both)) return both;
    }
  return std::nullopt;
}

}  // namespace pliant::exact
