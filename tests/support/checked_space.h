// SPDX-License-Identifier: Apache-2.0
// A map-space with the questions that tests ask of it: what the checker says, every legal mapping, how many there are.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "core/big_count.h"
#include "core/legality.h"
#include "flex/mapspace/legal_count.h"
#include "flex/mapspace/legal_walk.h"
#include "flex/mapspace/sampler.h"

namespace pliant::testing {

struct CheckedSpace {
  Layer layer;
  Accelerator accelerator;
  Flexibility flexibility;
  Factorization factorization = Factorization::kPerfect;

  /// The independent checker's word.
  std::vector<Violation> violations(const Mapping& mapping) const {
    return check_legality(layer, accelerator, flexibility, factorization, mapping);
  }
  bool contains(const Mapping& mapping) const { return violations(mapping).empty(); }

  MapSpace space() const { return MapSpace(layer, accelerator, flexibility, factorization); }

  /// Each legal mapping once, as the generators see it. visit returns false to stop, and so does the function then.
  bool enumerate(const std::function<bool(const Mapping&)>& visit) const {
    struct Visitor {
      const MapSpace& space;
      const std::function<bool(const Mapping&)>& visit_mapping;
      bool go_on() { return true; }
      Walk chains_placed(const Candidate&, double) { return Walk::kInto; }
      void kept(int, TensorSet) {}
      void ordered(int, const LoopOrder&) {}
      bool visit(const Candidate& candidate) { return visit_mapping(space.mapping(candidate)); }
    };
    const MapSpace walked = space();
    Visitor visitor{walked, visit};
    return LegalWalk(walked, visitor).run();
  }

  /// Padded spaces by enumeration, of at most a million mappings.
  std::optional<BigCount> count() const {
    if (factorization != Factorization::kPadding)
      return count_legal_mappings(layer, accelerator, flexibility, factorization);
    std::uint64_t found = 0;
    if (!enumerate([&](const Mapping&) { return ++found <= 1'000'000; })) return std::nullopt;
    return BigCount(found);
  }
};

/// A legal mapping after at most so many draws.
inline std::optional<Mapping> draw_mapping(const MapSpace& space, Sampler& sampler, std::mt19937_64& random,
                                           int draws = 1'000'000) {
  if (sampler.empty()) return std::nullopt;
  for (; draws > 0; --draws)
    if (sampler.draw(random)) return space.mapping(sampler.candidate());
  return std::nullopt;
}

}  // namespace pliant::testing
