// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/map_progress.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace pliant {
namespace {

TEST(MapProgress, SaysTheLayerItsBestAndTheGap) {
  Progress now;
  now.best_value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(progress_text(3, 53, "block2_dw", 2.2, now), "3 of 53: block2_dw, 2 s");
  now.best_value = 2e12;
  now.lower_bound = 1.5e12;
  EXPECT_EQ(progress_text(3, 53, "block2_dw", 2.2, now), "3 of 53: block2_dw, 2 s, best 2e+12, gap 25 %");
  EXPECT_EQ(progress_text(1, 1, "fc", 61, now), "fc, 61 s, best 2e+12, gap 25 %");
}

TEST(MapProgress, IsSilentWhereThereIsNoTerminal) {
  std::ostringstream err;
  {
    MapProgress progress(err, 2);
    progress.begin("a");
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    progress.clear();
  }
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace pliant
