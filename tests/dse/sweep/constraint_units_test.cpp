// SPDX-License-Identifier: Apache-2.0
// Numbers with units in conditions count in the unit that the column's name says.
#include <gtest/gtest.h>

#include <string>

#include "dse/sweep/constraint.h"

namespace pliant {
namespace {

/// Does it hold when every name has this value?
bool holds(const std::string& text, double value) {
  const auto parsed = Constraint::parse(text);
  if (const auto* what = std::get_if<std::string>(&parsed)) ADD_FAILURE() << text << ": " << *what;
  return std::get<Constraint>(parsed).holds([&](const std::string&) { return value; }).value();
}

std::string refusal(const std::string& text) {
  const auto parsed = Constraint::parse(text);
  const auto* what = std::get_if<std::string>(&parsed);
  return what == nullptr ? "" : *what;
}

TEST(ConstraintUnits, NumbersCountInTheUnitOfTheColumn) {
  // Exactly as the plain number: the decimal point moves.
  for (const auto& [text, plain] : {std::pair{"latency_s == 5 ms", 0.005},
                                    {"latency_s == 5ms", 0.005},
                                    {"latency_s == 1.7 us", 1.7e-6},
                                    {"energy_pj == 0.3 mJ", 0.3e9},
                                    {"energy_mj == 2.5 J", 2500},
                                    {"area_um2 == 1.5mm2", 1.5e6},
                                    {"power_w == 250 mW", 0.25},
                                    {"clock_hz == 1.2 GHz", 1.2e9},
                                    {"tops == 900 GOPS", 0.9},
                                    {"3 ms == latency_s", 0.003}}) {
    EXPECT_TRUE(holds(text, plain)) << text;
    EXPECT_FALSE(holds(text, plain * 1.0001)) << text;
  }
  EXPECT_TRUE(holds("latency_s <= 2e3 us", 0.0019));
  EXPECT_TRUE(holds("latency_s + latency_s <= 5 ms + 1 ms", 0.0029));
  EXPECT_TRUE(holds("set_sram <= 64 KiB", 65536));
}

TEST(ConstraintUnits, AUnitThatNothingIsMeasuredInIsRefused) {
  EXPECT_EQ(refusal("energy_pj <= 5 ms"), "`5 ms`: no name here is measured in ms");
  EXPECT_EQ(refusal("inferences_per_s >= 5 s"), "`5 s`: no name here is measured in s");
  EXPECT_EQ(refusal("energy_pj + energy_mj <= 5 J"), "`5 J` beside columns in different units");
  EXPECT_EQ(refusal("latency_s <= 5 parsecs"), "`parsecs` is left over");
}

}  // namespace
}  // namespace pliant
