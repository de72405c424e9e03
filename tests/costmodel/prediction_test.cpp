// SPDX-License-Identifier: Apache-2.0
// The equations of docs/model.md, "Predictions", by hand.
#include "costmodel/prediction.h"

#include <gtest/gtest.h>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "core/input/prediction_block.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

constexpr const char* kChip = R"(
name: chip
word_bits: 16
clock: 1 GHz
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 10, bandwidth: 8}
  - {memory: Buffer, capacity: 1024, read_pj: 1, read_bandwidth: {inputs: 4}, leak_pj_per_cycle: 5}
  - {compute: MAC, mac_pj: 1, cycles_per_mac: 2, leak_pj_per_cycle: 1}
)";

Accelerator chip() { return parse_accelerator_text(library(), kChip, "chip"); }

// 1,000 cycles at 1 GHz are 1 us; 2 uJ in it are 2 W. A limit of 1 W makes it 2 us. Idle power of 0.5 W leaves 0.5 W
// for the work: 4 us. Overhead comes after, and is paid at idle power.
TEST(Prediction, OverheadPowerLimitAndIdlePowerByHand) {
  Accelerator accelerator = chip();
  for (Level& level : accelerator.levels) {
    if (level.is_memory()) level.memory().leak_pj_per_cycle = 0;
    if (level.is_compute()) level.compute().leak_pj_per_cycle = 0;
  }
  PredictionFigures prediction;
  Predicted said = Predictor(accelerator, prediction).of(2e6, 1000);
  EXPECT_DOUBLE_EQ(said.seconds, 1e-6);
  EXPECT_DOUBLE_EQ(said.joules, 2e-6);
  EXPECT_FALSE(said.throttled);
  prediction.overhead_s = 0.5e-6;
  EXPECT_DOUBLE_EQ(Predictor(accelerator, prediction).of(2e6, 1000).seconds, 1.5e-6);
  prediction.power_limit_w = 1;
  said = Predictor(accelerator, prediction).of(2e6, 1000);
  EXPECT_DOUBLE_EQ(said.seconds, 2.5e-6);
  EXPECT_TRUE(said.throttled);
  prediction.idle_w = 0.5;
  said = Predictor(accelerator, prediction).of(2e6, 1000);
  EXPECT_DOUBLE_EQ(said.seconds, 4.5e-6);
  EXPECT_DOUBLE_EQ(said.joules, 2e-6 + 0.5 * 4.5e-6);
  EXPECT_FALSE(Predictor(accelerator, prediction).of(2e6, 5000).throttled);
  // EDP is of what is predicted: E (T + o), not E T.
  EXPECT_DOUBLE_EQ(Predictor(accelerator, prediction).value(Objective::kEdp, 2e6, 1000), 4.25e6 * 4500);
  prediction.power_limit_w = 0.5;
  EXPECT_THROW(Predictor(accelerator, prediction), InputError);
}

TEST(Prediction, AchievableSharesMakeAnOrdinaryAccelerator) {
  PredictionFigures prediction;
  prediction.achievable = {0.5, 0.25, 0.8};
  const Accelerator real = achievable_accelerator(chip(), prediction);
  EXPECT_DOUBLE_EQ(*real.levels[0].memory().bus_words_per_cycle, 4);
  EXPECT_DOUBLE_EQ(*real.levels[1].memory().bandwidth_of[static_cast<std::size_t>(Role::kInput)].read, 1);
  EXPECT_DOUBLE_EQ(real.levels[2].compute().cycles_per_mac, 2.5);
  EXPECT_EQ(real.levels[1].memory().leak_pj_per_cycle, 0);
  // Leakage stands beside the work: 6 pJ a cycle at 1 GHz; idle power has it in it.
  EXPECT_DOUBLE_EQ(standing_w(chip(), prediction), 6e-3);
  prediction.idle_w = 1;
  EXPECT_DOUBLE_EQ(standing_w(chip(), prediction), 1);
}

TEST(Prediction, BlockIsReadSetAndWritten) {
  const Accelerator h200 = load_accelerator(library(), "h200");
  const auto shipped = load_prediction(library(), "h200", {}, h200);
  ASSERT_TRUE(shipped);
  EXPECT_DOUBLE_EQ(*shipped->power_limit_w, 700);
  const auto set =
      load_prediction(library(), "h200", {{"prediction.overhead", "7 us"}, {"prediction.achievable.L2", "0.5"}}, h200);
  EXPECT_DOUBLE_EQ(set->overhead_s, 7e-6);
  EXPECT_DOUBLE_EQ(set->achievable[1], 0.5);
  EXPECT_DOUBLE_EQ(set->achievable[0], shipped->achievable[0]);
  EXPECT_FALSE(load_prediction(library(), "eyeriss", {}, load_accelerator(library(), "eyeriss")));
  const std::string text =
      std::string(kChip) + "prediction: " + write_prediction(PredictionFigures{3e-6, 9.0, 2, {1, 1, 0.5}}, chip());
  EXPECT_NO_THROW(parse_accelerator_text(library(), text, "chip"));
}

TEST(Prediction, WrongBlocksAreToldWithTheirPlace) {
  const auto told = [](const std::string& block) {
    try {
      parse_accelerator_text(library(), std::string(kChip) + "prediction: " + block + "\n", "chip.yaml");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(told("{overhead: 3}").find("chip.yaml:9:24: prediction.overhead: `3` has no unit"), std::string::npos)
      << told("{overhead: 3}");
  EXPECT_NE(told("{achievable: {DRM: 0.5}}").find("did you mean DRAM"), std::string::npos);
  EXPECT_NE(told("{achievable: {DRAM: 1.5}}").find("more than 1"), std::string::npos);
  EXPECT_NE(told("{power_limit: 2 W, idle_power: 3 W}").find("leaves nothing"), std::string::npos);
  EXPECT_NE(told("{powerlimit: 2 W}").find("power_limit"), std::string::npos);
}

}  // namespace
}  // namespace pliant
