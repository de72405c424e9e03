// SPDX-License-Identifier: Apache-2.0
// The comparison of tests/costmodel/walker_test.cpp with larger layers and fresh seeds, until PLIANT_SOAK_SECONDS (120
// by default) are over. PLIANT_SOAK_SEED picks the first seed.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "support/agreement.h"

namespace pliant {
namespace {

using reference::Comparison;
using reference::Kind;

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

TEST(WalkerSoak, AgreesWithTheModel) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(setting("PLIANT_SOAK_SECONDS", 120));
  auto seed = static_cast<std::uint64_t>(setting("PLIANT_SOAK_SEED", 1000));
  long cases = 0;
  while (std::chrono::steady_clock::now() < end) {
    for (const Kind kind : {Kind::kGemm, Kind::kConv, Kind::kEinsum}) {
      for (const bool special_networks : {false, true}) {
        for (const Factorization rule :
             {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby}) {
          for (const char* preset : {"physical", "timeloop", "quickflow"}) {
            // The other presets are walked for perfect factors only.
            if (preset != std::string("physical") && rule != Factorization::kPerfect) continue;
            const Comparison comparison =
                reference::compare_random(seed++, 20, kind, rule, *Conventions::preset(preset), special_networks, 1500);
            cases += comparison.cases;
            ASSERT_EQ(comparison.differing, 0) << preset << " " << to_string(rule) << ", " << comparison.first;
          }
        }
      }
    }
  }
  std::cout << cases << " random cases agree\n";
}

}  // namespace
}  // namespace pliant
