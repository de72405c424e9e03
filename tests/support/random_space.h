// SPDX-License-Identifier: Apache-2.0
// Small random layers, accelerators and flexibilities: spaces of which every mapping can be looked at.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant::testing {

class RandomSpaces {
 public:
  explicit RandomSpaces(std::uint64_t seed) : random_(seed) {}

  Count below(Count n) { return static_cast<Count>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  Layer layer(Count largest) {
    const auto size = [&] { return 1 + below(largest); };
    switch (below(3)) {
      case 0: return make_gemm("gemm", {.M = size(), .N = size(), .K = size()});
      case 1:
        return make_conv("conv", {.M = 1 + below(2),
                                  .C = 1 + below(2),
                                  .P = size(),
                                  .Q = 1,
                                  .R = 1 + below(3),
                                  .S = 1,
                                  .stride_p = 1 + below(2)});
      default: return make_conv("depthwise", {.M = 2, .C = 2, .P = size(), .Q = 1, .R = 1 + below(2), .groups = 2});
    }
  }

  Accelerator accelerator() {
    Accelerator result;
    result.name = "random";
    const auto memory = [&](std::string name, std::optional<Count> capacity) {
      Memory part;
      part.capacity_words = capacity;
      result.levels.push_back({std::move(name), part});
    };
    memory("DRAM", std::nullopt);
    memory("Buffer", 3 + below(60));
    if (chance(40)) result.levels.back().memory().may_bypass[static_cast<std::size_t>(below(3))] = true;
    if (chance(20)) result.levels.back().memory().buffers = 2;
    Fanout array;
    array.rows = 1 + below(4);
    array.cols = 1 + below(4);
    result.levels.push_back({"PEs", array});
    if (chance(40)) memory("Registers", 3 + below(12));
    result.levels.push_back({"MAC", Compute{}});
    if (chance(30)) result.conventions = Conventions::timeloop();
    result.flexibility.levels.resize(result.levels.size());
    return result;
  }

  Flexibility flexibility(const Layer& layer, const Accelerator& accelerator) {
    Flexibility result;
    result.levels.resize(accelerator.levels.size());
    for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
      LevelFlexibility& rules = result.levels[k];
      if (accelerator.levels[k].is_memory()) {
        if (k > 0 && chance(25))
          for (const Dim& dim : layer.dims)
            if (chance(60)) rules.tile.fixed.push_back({dim.name, 1 + below(5)});
        if (k > 0 && rules.tile.fixed.empty() && chance(30))
          rules.tile.partition = {{1.0 + static_cast<double>(below(2)), 1.0, 1.0 + static_cast<double>(below(2))}};
        while (chance(35)) rules.order.allowed.push_back(pattern(layer));
        if (k > 0 && chance(25)) {
          auto& dims = rules.loops.dims.emplace();
          for (const Dim& dim : layer.dims)
            if (chance(50)) dims.push_back(dim.name);
        }
      } else if (accelerator.levels[k].is_fanout()) {
        while (chance(40)) rules.parallel.assignments.push_back({some_dims(layer), some_dims(layer)});
        if (chance(30)) rules.parallel.max_dims_per_side = 1;
        if (chance(30)) rules.shape.kind = ShapeRule::Kind::kFree;
        if (chance(20)) rules.shape = {ShapeRule::Kind::kBlocks, accelerator.levels[k].fanout().rows, 1};
      }
    }
    return result;
  }

  enum class Loosen { kTiles, kOrders, kLoops, kParallel, kShape };
  /// The same rules with one kind of them taken away at every level.
  static Flexibility loosened(Flexibility flexibility, Loosen what) {
    for (LevelFlexibility& rules : flexibility.levels) {
      switch (what) {
        case Loosen::kTiles: rules.tile = {}; break;
        case Loosen::kOrders: rules.order = {}; break;
        case Loosen::kLoops: rules.loops = {}; break;
        case Loosen::kParallel: rules.parallel = {}; break;
        case Loosen::kShape: rules.shape.kind = ShapeRule::Kind::kFree; break;
      }
    }
    return flexibility;
  }

  Factorization factorization() {
    constexpr std::array kRules{Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                Factorization::kRuby, Factorization::kPadding};
    return kRules[static_cast<std::size_t>(below(5))];
  }

  std::mt19937_64& engine() { return random_; }

 private:
  std::vector<std::string> some_dims(const Layer& layer) {
    std::vector<std::string> names;
    for (const Dim& dim : layer.dims)
      if (chance(40)) names.push_back(dim.name);
    return names;
  }

  OrderPattern pattern(const Layer& layer) {
    if (chance(30)) return {{}, static_cast<Role>(below(3))};
    std::vector<std::string> names;
    for (const Dim& dim : layer.dims) names.push_back(dim.name);
    std::shuffle(names.begin(), names.end(), random_);
    if (chance(40)) names.resize(std::max<std::size_t>(2, names.size() / 2));
    return {names, std::nullopt};
  }

  std::mt19937_64 random_;
};

/// Loops in an order of their own, so that equal mappings compare equal.
inline Mapping canonical(Mapping mapping) {
  for (LevelMapping& level : mapping.levels) {
    std::erase_if(level.temporal, [](const Loop& loop) { return loop.bound == 1; });
    std::erase_if(level.spatial, [](const SpatialLoop& loop) { return loop.bound == 1; });
    std::sort(level.spatial.begin(), level.spatial.end(), [](const SpatialLoop& a, const SpatialLoop& b) {
      return std::pair(a.side, a.dim) < std::pair(b.side, b.dim);
    });
  }
  return mapping;
}

/// A text that tells mappings apart.
inline std::string key(const Mapping& mapping) {
  std::string text;
  for (const LevelMapping& level : canonical(mapping).levels) {
    for (const Loop& loop : level.temporal) text += "t" + std::to_string(loop.dim) + "x" + std::to_string(loop.bound);
    for (const SpatialLoop& loop : level.spatial)
      text += (loop.side == Side::kRows ? "r" : "c") + std::to_string(loop.dim) + "x" + std::to_string(loop.bound);
    text += "k" + std::to_string(level.keeps) + "|";
  }
  for (const Count padded : mapping.padded) text += "p" + std::to_string(padded);
  return text;
}

}  // namespace pliant::testing
