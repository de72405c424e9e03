// SPDX-License-Identifier: Apache-2.0
// The shape study of the flexibility paper (its Fig. 11): 1024 PEs, input channels over rows, output channels over
// columns, and only the shape of the array is free. Cycles come from the model, with remainders.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/input/load.h"
#include "costmodel/report.h"

namespace pliant {
namespace {

constexpr Count kUnits = 1024;

class ShapeStudy : public ::testing::Test {
 protected:
  /// C over `rows`, M over what is left; a depthwise layer spreads its channels over both sides.
  Mapping mapping(const Layer& layer, Count rows) const {
    Mapping m = empty_mapping(layer, accelerator_);
    const Count cols = kUnits / rows;
    std::map<int, Count> spread;
    const auto spatial = [&](const char* name, Count units, Side side) {
      const int d = layer.find_dim(name);
      const Count done = spread.contains(d) ? spread[d] : 1;
      const Count bound = std::min(units, (layer.dims[d].size + done - 1) / done);
      if (bound > 1) m.levels[2].spatial.push_back({d, bound, side});
      spread[d] = done * bound;
    };
    spatial("C", rows, Side::kRows);
    spatial(layer.find_dim("M") >= 0 ? "M" : "C", cols, Side::kCols);
    for (int d = 0; d < static_cast<int>(layer.dims.size()); ++d) {
      const Count tile = spread.contains(d) ? spread[d] : 1;
      const Count rounds = (layer.dims[d].size + tile - 1) / tile;
      if (rounds > 1) m.levels[0].temporal.push_back({d, rounds});
    }
    return m;
  }

  double cycles(const Layer& layer, Count rows) const {
    const Problem problem(layer, accelerator_);
    Nest nest(problem);
    nest.load(flatten(problem, mapping(layer, rows)));
    return nest.steps();
  }

  /// Fewest cycles over the shapes with these numbers of rows; the shape is priced in full.
  double best(const Layer& layer, const std::vector<Count>& shapes, Count* chosen = nullptr) const {
    Count at = shapes.front();
    double least = cycles(layer, at);
    for (const Count rows : shapes) {
      const double now = cycles(layer, rows);
      if (now < least) least = now, at = rows;
    }
    EXPECT_EQ(price(layer, accelerator_, mapping(layer, at)).totals.cycles, least);
    if (chosen != nullptr) *chosen = at;
    return least;
  }

  static std::vector<Count> multiples(Count step, Count last) {
    std::vector<Count> all;
    for (Count r = step; r <= last; r += step) all.push_back(r);
    return all;
  }

  const Library library_{PLIANT_SOURCE_DIR "/configs"};
  const Accelerator accelerator_ = load_accelerator(library_, "flexref", {{"rows", "1024"}, {"cols", "1"}});
  const Workload mnasnet_ = load_workload(library_, "flexpaper_mnasnet");
  const std::vector<Count> in_flex_{32}, a_ = multiples(16, 64), b_ = multiples(4, 256), full_ = multiples(1, 1024);
};

TEST_F(ShapeStudy, LayersOfFigure11) {
  struct Row {
    const char* layer;
    std::array<double, 4> folds;  // InFlex, 16x16 blocks, 4x4 blocks, free
    std::array<Count, 4> rows;
  };
  // Where several shapes tie, the smallest number of rows is chosen.
  for (const Row& row : {Row{"L15", {6, 4, 3, 3}, {32, 48, 24, 24}}, Row{"L16", {8, 6, 5, 5}, {32, 16, 40, 40}},
                         Row{"L25", {45, 40, 40, 39}, {32, 16, 16, 27}}}) {
    const Layer& layer = mnasnet_.find(row.layer)->layer;
    const double positions =
        static_cast<double>(layer.macs()) /
        static_cast<double>(layer.dims[layer.find_dim("M")].size * layer.dims[layer.find_dim("C")].size);
    const std::array<const std::vector<Count>*, 4> sets{&in_flex_, &a_, &b_, &full_};
    for (int i = 0; i < 4; ++i) {
      Count chosen = 0;
      EXPECT_EQ(best(layer, *sets[i], &chosen), row.folds[i] * positions) << row.layer << " set " << i;
      EXPECT_EQ(cycles(layer, row.rows[i]), row.folds[i] * positions) << row.layer << " rows " << row.rows[i];
    }
  }
}

TEST_F(ShapeStudy, WholeModel) {
  double in_flex = 0, a = 0, b = 0, full = 0;
  ASSERT_EQ(mnasnet_.layers.size(), 52);
  for (const Workload::Entry& entry : mnasnet_.layers) {
    in_flex += best(entry.layer, in_flex_);
    a += best(entry.layer, a_);
    b += best(entry.layer, b_);
    full += best(entry.layer, full_);
  }
  EXPECT_NEAR(a / in_flex, 0.9764, 0.00005);
  EXPECT_NEAR(b / in_flex, 0.9593, 0.00005);
  EXPECT_NEAR(full / in_flex, 0.9585, 0.00005);
  EXPECT_NEAR(in_flex / full, 1.043, 0.0005);
  EXPECT_NEAR(a / full, 1.019, 0.0005);
  EXPECT_NEAR(b / full, 1.0008, 0.00005);
}

TEST_F(ShapeStudy, DepthwiseLayersSpreadChannelsOverBothSides) {
  const Layer& layer = mnasnet_.find("L29")->layer;  // 480 channels, 14 x 14, 5 x 5
  for (const Count rows : {16, 32, 64}) EXPECT_EQ(cycles(layer, rows), 14 * 14 * 25);
}

}  // namespace
}  // namespace pliant
