// SPDX-License-Identifier: Apache-2.0
// The best inflexible design, found in two ways: by `pliant design`, which bounds boxes of wired-in choices by searches
// of mappings, and by the closed form of the future-proofing study, which never sees a mapping.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

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

/// Choices of a small network, by hand and as axes of a sweep.
struct Choices {
  std::vector<std::pair<int, int>> pairs = {{0, 1}, {1, 0}, {2, 0}, {0, 2}, {3, 0}, {2, 3}};
  std::vector<std::pair<Count, Count>> shapes = {{1, 12}, {2, 6}, {3, 4}, {4, 3}, {6, 2}};
  std::vector<std::array<int, 6>> orders = {
      {0, 1, 2, 3, 4, 5}, {2, 3, 0, 1, 4, 5}, {1, 4, 5, 2, 3, 0}, {1, 2, 3, 4, 5, 0}, {4, 0, 2, 1, 3, 5}};

  std::string axes(const InflexibleNetwork& network) const {
    const auto name = [](int dim) { return InflexibleDesign::kDims[static_cast<std::size_t>(dim)]; };
    std::vector<std::string> on, sizes, nests;
    for (const auto& [row, col] : pairs) on.push_back(fmt::format("[[{}], [{}]]", name(row), name(col)));
    for (const auto& [rows, cols] : shapes) sizes.push_back(fmt::format("[{}, {}]", rows, cols));
    for (const auto& order : orders) {
      std::vector<std::string> names;
      for (const int dim : order) names.emplace_back(name(dim));
      nests.push_back(fmt::format("[{}]", fmt::join(names, ", ")));
    }
    std::string text = fmt::format(
        "vary:\n  - pairs: {{keys: [row_dim, col_dim], values: [{}]}}\n  - pairs: {{keys: [rows, cols], values: "
        "[{}]}}\n  - order: [{}]\n",
        fmt::join(on, ", "), fmt::join(sizes, ", "), fmt::join(nests, ", "));
    for (std::size_t d = 0; d < 6; ++d)
      text += fmt::format("  - tile_{}: [{}]\n", "mcpqrs"[d], fmt::join(network.tiles(d), ", "));
    return text;
  }

  /// As the accelerator checks its rules: a convolution of this tile, and one in which C has the tile of M and there is
  /// one output channel, which is what it knows of the rule for depthwise layers.
  static bool fits(const std::array<Count, 6>& t, Count words) {
    const Count window = (t[2] + t[4] - 1) * (t[3] + t[5] - 1), outputs = t[2] * t[3], filter = t[4] * t[5];
    return t[1] * window + t[0] * t[1] * filter + t[0] * outputs <= words &&
           t[0] * window + t[0] * filter + outputs <= words;
  }

  /// By the closed form, all of them.
  double least(const InflexibleNetwork& network, const InflexibleHardware& hardware) const {
    double least = 1e300;
    InflexibleDesign design;
    const auto try_tiles = [&](const auto& self, std::size_t dim) -> void {
      if (dim < 6) {
        for (const Count size : network.tiles(dim)) {
          design.tile[dim] = size;
          self(self, dim + 1);
        }
        return;
      }
      if (!fits(design.tile, hardware.buffer_words)) return;
      for (const auto& order : orders) {
        design.order = order;
        least = std::min(least, network.cycles(design, hardware));
      }
    };
    for (const auto& [row, col] : pairs) {
      for (const auto& [rows, cols] : shapes) {
        design.row_dim = static_cast<std::size_t>(row);
        design.col_dim = static_cast<std::size_t>(col);
        design.rows = rows;
        design.cols = cols;
        try_tiles(try_tiles, 0);
      }
    }
    return least;
  }
};

TEST(WiredDesigns, OrdersThatBindAreFoundToo) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  Workload layers;
  layers.layers = {{make_conv("a", {.M = 6, .C = 4, .P = 4, .Q = 2, .R = 3}), 1},
                   {make_conv("b", {.M = 4, .C = 6, .P = 2, .Q = 4}), 1}};
  const InflexibleNetwork network(layers);
  const Choices choices;
  for (const Count words : {60, 110}) {
    const Sweep sweep = parse_sweep_text(
        library,
        fmt::format("accelerator: flexref_wired\nflexion: false\nobjective: runtime\nfactorization: ruby-s\n"
                    "set: {{DRAM.read_bandwidth: 1.5, DRAM.write_bandwidth: 1.5, Buffer.capacity: {}, tile_m: 1, "
                    "tile_c: 1, tile_p: 1, tile_q: 1, tile_r: 1, tile_s: 1}}\n"
                    "workloads:\n  - {{name: net, layers: [\"conv:M=6,C=4,P=4,Q=2,R=3,S=1\", "
                    "\"conv:M=4,C=6,P=2,Q=4,R=1,S=1\"]}}\nflexibility: InFlex-0000\nminimize: runtime_cycles\n",
                    words) +
            choices.axes(network),
        "space");
    EXPECT_DOUBLE_EQ(least_cycles(library, sweep), choices.least(network, {12, words, 1.5})) << words;
  }
}

}  // namespace
}  // namespace pliant
