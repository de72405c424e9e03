// SPDX-License-Identifier: Apache-2.0
// The best inflexible design, found in two ways: by `pliant design`, which bounds boxes of wired-in choices by searches
// of mappings, and by the closed form of the future-proofing study, which never sees a mapping.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dse/design/design_search.h"
#include "dse/design/run_design.h"
#include "dse/studies/inflexible_design.h"

namespace pliant {
namespace {

double least_cycles(const Library& library, const Sweep& sweep) {
  DesignSearchOptions options;
  options.threads = 2;
  const DesignFrontier found = search_designs(library, sweep, options, nullptr);
  EXPECT_EQ(found.progress.decided, found.progress.designs);
  EXPECT_EQ(found.frontier.size(), 1U);
  return found.frontier.empty() ? 0 : found.opened[found.frontier.front()].values.front();
}

TEST(WiredDesigns, TheBestForAlexNetIsThatOfTheStudy) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  SweepOverrides overrides;
  overrides.most_designs = kMostDesignsOfSearch;
  const Sweep sweep = load_sweep(library, PLIANT_SOURCE_DIR "/configs/sweeps/inflexible_alexnet.yaml", overrides);
  const InflexibleNetwork network(load_workload(library, "flexpaper_alexnet"));
  const InflexibleDesign best = network.best({1024, 100 * 1024, 0}, [] { return false; });
  EXPECT_DOUBLE_EQ(least_cycles(library, sweep), best.cycles);
}

/// Every order, pair, shape and tile, as `vary:` lists them.
std::string all_choices(const InflexibleNetwork& network, Count units) {
  std::vector<std::string> pairs, shapes, orders;
  for (const char* row : InflexibleDesign::kDims)
    for (const char* col : InflexibleDesign::kDims)
      if (row != col) pairs.push_back(fmt::format("[[{}], [{}]]", row, col));
  for (Count rows = 1; rows <= units; ++rows) shapes.push_back(fmt::format("[{}, {}]", rows, units / rows));
  std::vector<std::string> order(InflexibleDesign::kDims.begin(), InflexibleDesign::kDims.end());
  std::ranges::sort(order);
  do orders.push_back(fmt::format("[{}]", fmt::join(order, ", ")));
  while (std::ranges::next_permutation(order).found);
  std::string text = fmt::format(
      "vary:\n  - pairs: {{keys: [row_dim, col_dim], values: [{}]}}\n  - pairs: {{keys: [rows, cols], values: [{}]}}\n"
      "  - order: [{}]\n",
      fmt::join(pairs, ", "), fmt::join(shapes, ", "), fmt::join(orders, ", "));
  for (std::size_t d = 0; d < 6; ++d)
    text += fmt::format("  - tile_{}: [{}]\n", "mcpqrs"[d], fmt::join(network.tiles(d), ", "));
  return text;
}

TEST(WiredDesigns, OrdersThatBindAreFoundToo) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  SweepOverrides overrides;
  overrides.most_designs = kMostDesignsOfSearch;
  Workload layers;
  layers.layers = {{make_conv("a", {.M = 6, .C = 4, .P = 4, .Q = 2, .R = 3}), 1},
                   {make_conv("b", {.M = 4, .C = 6, .P = 2, .Q = 4}), 1}};
  const InflexibleNetwork network(layers);
  for (const Count words : {60, 110}) {
    const Sweep sweep = parse_sweep_text(
        library,
        fmt::format("accelerator: flexref_wired\nflexion: false\nobjective: runtime\nfactorization: ruby-s\n"
                    "set: {{DRAM.read_bandwidth: 1.5, DRAM.write_bandwidth: 1.5, Buffer.capacity: {}}}\n"
                    "workloads:\n  - {{name: net, layers: [\"conv:M=6,C=4,P=4,Q=2,R=3,S=1\", "
                    "\"conv:M=4,C=6,P=2,Q=4,R=1,S=1\"]}}\nflexibility: InFlex-0000\nminimize: runtime_cycles\n",
                    words) +
            all_choices(network, 12),
        "space", overrides);
    const InflexibleDesign best = network.best({12, words, 1.5}, [] { return false; });
    EXPECT_DOUBLE_EQ(least_cycles(library, sweep), best.cycles) << words;
  }
}

}  // namespace
}  // namespace pliant
