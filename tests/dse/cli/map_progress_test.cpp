// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/map_progress.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

#include "support/driven_clock.h"

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

TEST(MapProgress, DrawsWhatTakesLongAndTakesItAway) {
  std::ostringstream err;
  tests::DrivenClock clock(0);
  MapProgress progress(err, 2, true, clock);
  progress.begin("a");
  clock.wait(0.2);
  progress.draw();
  EXPECT_EQ(err.str(), "");
  clock.wait(1);
  progress.draw();
  EXPECT_EQ(err.str(), "\r1 of 2: a, 1 s");
  progress.clear();
  EXPECT_EQ(err.str(), "\r1 of 2: a, 1 s\r" + std::string(14, ' ') + "\r");
}

TEST(MapProgress, IsSilentWhereThereIsNoTerminal) {
  std::ostringstream err;
  {
    tests::DrivenClock clock(0);
    MapProgress progress(err, 2, false, clock);
    progress.begin("a");
    clock.wait(10);
    progress.draw();
  }
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace pliant
