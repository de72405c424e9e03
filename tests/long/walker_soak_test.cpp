// SPDX-License-Identifier: Apache-2.0
// The comparison of tests/costmodel/walker_test.cpp with larger layers and fresh seeds: PLIANT_SOAK_ROUNDS (40 by
// default) of 720 cases each. PLIANT_SOAK_SEED picks the first seed.
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
  const long rounds = setting("PLIANT_SOAK_ROUNDS", 40);
  auto seed = static_cast<std::uint64_t>(setting("PLIANT_SOAK_SEED", 1000));
  long cases = 0;
  for (long round = 0; round < rounds; ++round) {
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
