// SPDX-License-Identifier: Apache-2.0
// The rules of QuickFlow's model written down a second time, loop by loop, and compared with the `quickflow` preset on
// random mappings of its accelerators and kernels: the shipped vectors cover 8 of the 20 kernels, this covers all.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/input/load.h"
#include "costmodel/report.h"

namespace pliant {
namespace {

struct OneLoop {
  int level, dim;
  Count bound;
  bool spatial;
};

/// Distinct values of a rank, by listing them.
double distinct(const Rank& rank, const std::vector<Count>& tile) {
  std::set<Count> values{0};
  for (const Term& term : rank.terms) {
    std::set<Count> next;
    for (const Count value : values)
      for (Count i = 0; i < tile[term.dim]; ++i) next.insert(value + term.coefficient * i);
    values.swap(next);
  }
  return static_cast<double>(values.size());
}

struct Counts {
  double reads = 0, writes = 0;
};

/// reads and writes of [level][tensor].
std::vector<std::vector<Counts>> by_the_rules(const Layer& layer, const Accelerator& accelerator,
                                              const Mapping& mapping) {
  const int levels = static_cast<int>(accelerator.levels.size()) - 1;
  std::vector<OneLoop> loops;  // outermost first
  int innermost_memory = 0;
  for (int l = 0; l < levels; ++l) {
    if (accelerator.levels[l].is_memory()) innermost_memory = l;
    for (const Loop& loop : mapping.levels[l].temporal) loops.push_back({l, loop.dim, loop.bound, false});
    for (const SpatialLoop& loop : mapping.levels[l].spatial) loops.push_back({l, loop.dim, loop.bound, true});
  }
  std::vector<std::vector<Counts>> counts(levels, std::vector<Counts>(layer.tensors.size()));
  for (int x = 0; x < static_cast<int>(layer.tensors.size()); ++x) {
    const Tensor& tensor = layer.tensors[x];
    const DimSet coupled = layer.coupled(x);
    const auto is_coupled = [&](int dim) { return (coupled >> dim & 1U) != 0; };
    std::vector<int> keepers;
    for (int l = 0; l < levels; ++l)
      if ((mapping.levels[l].keeps >> x & 1U) != 0) keepers.push_back(l);
    double writes_of_parent = 0;  // of outputs, its own fills included
    for (std::size_t k = 0; k < keepers.size(); ++k) {
      const int p = keepers[k], c = k + 1 < keepers.size() ? keepers[k + 1] : levels;
      std::vector<Count> tile(layer.dims.size(), 1);
      std::vector<OneLoop> outside;  // temporal, innermost first
      double between_coupled = 1, between_uncoupled = 1, outside_parent = 1;
      for (const OneLoop& loop : loops) {
        if (loop.level >= c) {
          tile[loop.dim] *= loop.bound;
        } else if (!loop.spatial) {
          outside.insert(outside.begin(), loop);
        } else if (loop.level < p) {
          outside_parent *= static_cast<double>(loop.bound);
        } else {
          (is_coupled(loop.dim) ? between_coupled : between_uncoupled) *= static_cast<double>(loop.bound);
        }
      }
      // Rules 1 and 2: the run.
      std::vector<OneLoop> remaining;
      std::size_t i = 0;
      bool run = true;
      if (c == levels) {
        while (i < outside.size() && outside[i].level == innermost_memory) {
          run &= !is_coupled(outside[i].dim);
          remaining.push_back(outside[i++]);
        }
      }
      while (run && i < outside.size() && outside[i].level >= p && !is_coupled(outside[i].dim)) ++i;
      // Rule 3: one loop of a window joins the tile.
      if (c < levels && i < outside.size() && outside[i].level >= p) {
        for (const Rank& rank : tensor.ranks)
          for (const Term& term : rank.terms)
            if (rank.terms.size() > 1 && i < outside.size() && term.dim == outside[i].dim) {
              tile[term.dim] *= outside[i].bound;
              ++i;
              goto joined;
            }
      }
    joined:
      remaining.insert(remaining.end(), outside.begin() + static_cast<std::ptrdiff_t>(i), outside.end());
      // Rule 4: words.
      double words = between_coupled * outside_parent, sweeps = 1;
      for (const Rank& rank : tensor.ranks) words *= distinct(rank, tile);
      for (const OneLoop& loop : remaining) {
        words *= static_cast<double>(loop.bound);
        if (!is_coupled(loop.dim)) sweeps *= static_cast<double>(loop.bound);
      }
      if (!tensor.is_output()) {
        counts[p][x].reads += words;
        if (c < levels) counts[c][x].writes += words * between_uncoupled;
        continue;
      }
      // Rule 5: outputs.
      const double back = words - words / sweeps;
      counts[p][x].writes += words;
      counts[p][x].reads += back;
      writes_of_parent += words;
      if (c == levels) continue;
      counts[c][x].writes += back * between_uncoupled;
      counts[c][x].reads += writes_of_parent * between_uncoupled;
      writes_of_parent = back * between_uncoupled;
    }
  }
  return counts;
}

/// Every prime of every dim to a random slot with room for it, orders at random; capacities do not matter here.
Mapping random_mapping(const Layer& layer, const Accelerator& accelerator, std::mt19937& random) {
  Mapping mapping = empty_mapping(layer, accelerator);
  const std::size_t levels = accelerator.levels.size() - 1;
  std::vector<std::vector<Count>> bound(levels, std::vector<Count>(layer.dims.size(), 1));
  std::vector<Count> used(levels, 1);
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    Count rest = layer.dims[d].size;
    for (Count prime = 2; rest > 1; ++prime)
      for (; rest % prime == 0; rest /= prime) {
        std::size_t l = random() % levels;
        const bool fanout = accelerator.levels[l].is_fanout();
        if (fanout && used[l] * prime > accelerator.levels[l].fanout().units()) l = 0;
        used[l] *= prime;
        bound[l][d] *= prime;
      }
  }
  for (std::size_t l = 0; l < levels; ++l) {
    std::vector<int> order(layer.dims.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
    std::shuffle(order.begin(), order.end(), random);
    for (const int d : order) {
      if (bound[l][d] == 1) continue;
      if (accelerator.levels[l].is_memory()) {
        mapping.levels[l].temporal.push_back({d, bound[l][d]});
      } else {
        mapping.levels[l].spatial.push_back({d, bound[l][d], Side::kCols});
      }
    }
  }
  return mapping;
}

TEST(QuickflowPreset, FollowsTheRulesOnEveryKernelAndAccelerator) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Workload kernels = load_workload(library, "quickflow_kernels");
  std::mt19937 random(7);
  for (const char* name : {"eyeriss", "simba", "tpuv1", "gemmini"}) {
    Accelerator accelerator = load_accelerator(library, name);
    accelerator.conventions = Conventions::quickflow();
    for (const Workload::Entry& entry : kernels.layers) {
      for (int i = 0; i < 25; ++i) {
        const Mapping mapping = random_mapping(entry.layer, accelerator, random);
        const CostReport report = price(entry.layer, accelerator, mapping);
        const auto expected = by_the_rules(entry.layer, accelerator, mapping);
        for (std::size_t l = 0; l < report.levels.size(); ++l)
          for (std::size_t x = 0; x < entry.layer.tensors.size(); ++x) {
            const TensorCost& tensor = report.levels[l].tensors[x];
            const auto where = [&] {
              return std::string(name) + " " + entry.layer.name + " " + report.levels[l].name + " " +
                     entry.layer.tensors[x].name + "\n" + to_loop_nest(entry.layer, accelerator, mapping);
            };
            // Counts beyond 2^53 are rounded in another order.
            ASSERT_NEAR(tensor.reads, expected[l][x].reads, 1e-12 * expected[l][x].reads) << where();
            ASSERT_NEAR(tensor.fills + tensor.updates, expected[l][x].writes, 1e-12 * expected[l][x].writes) << where();
          }
      }
    }
  }
}

}  // namespace
}  // namespace pliant
