// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/mean_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pliant {
namespace {

/// Samples of a distribution whose mean is known: the interval must hold it in 19 of 20 cases, also with a long tail.
TEST(MeanInterval, HoldsTheMeanNineteenTimesOfTwenty) {
  for (const double sigma : {0.1, 0.5, 1.0, 1.5}) {
    const double mean = std::exp(sigma * sigma / 2);
    for (const int size : {10, 50, 400}) {
      std::mt19937_64 random(7);
      std::lognormal_distribution<double> times(0, sigma);
      int held = 0;
      constexpr int kCases = 1000;
      for (int c = 0; c < kCases; ++c) {
        std::vector<double> sample;
        for (int i = 0; i < size; ++i) sample.push_back(times(random));
        const MeanInterval found = mean_interval(sample);
        EXPECT_LE(found.low, found.mean);
        EXPECT_LE(found.mean, found.high);
        held += found.low <= mean && mean <= found.high ? 1 : 0;
      }
      EXPECT_GE(held, kCases * 94 / 100) << "sigma " << sigma << ", " << size << " values";
    }
  }
}

}  // namespace
}  // namespace pliant
