// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/ran_command.h"

namespace pliant {
namespace {

using nlohmann::json;

TEST(ServeCommand, LlamaOnTheNpuIsCertifiedWithinOnePercent) {
  const Ran ran = run({"serve", "llama3_2_1b", "--accelerator", "npu", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_LT(answer["gap"].get<double>(), 0.01);
  EXPECT_LE(answer["ttft_bound_s"].get<double>(), answer["ttft_s"].get<double>());
  EXPECT_LE(answer["tpot_bound_s"].get<double>(), answer["tpot_s"].get<double>());
  // A step reads every parameter and the cache once at 25.6 GB/s.
  EXPECT_GE(answer["tpot_s"].get<double>(), (1'235'814'400 + 16'384.0 * 1024) / 25.6e9 * 0.999);
  double time = 0;
  for (const json& kind : answer["phases"][0]["kinds"]) time += kind["time_s"].get<double>();
  EXPECT_NEAR(time, answer["ttft_s"].get<double>(), 1e-9 * time);
}

TEST(ServeCommand, EightH200ServeLlama70BWithinOnePercent) {
  const Ran ran = run({"serve", "llama3_3_70b", "--accelerator", "h200", "--tp", "8", "--batch", "16", "--prompt",
                       "2048", "--output", "512", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_LT(answer["gap"].get<double>(), 0.01);
  EXPECT_EQ(answer["chips"], 8);
  // 150,109,880,320 bytes less an eighth of the weights, over 2,560 tokens of 40,960 bytes and 2,048 of activations of
  // 8,192 in and 3,584 out, 2 bytes each.
  const double sequence = 2560 * 40'960.0 + 2048 * (8192 + 28672 / 8) * 2.0;
  const double weights = answer["memory"]["weights_bytes"].get<double>();
  EXPECT_NEAR(weights, 70'553'706'496.0 * 2 / 8, 3e6);
  EXPECT_EQ(answer["largest_batch"], static_cast<std::int64_t>((150'109'880'320.0 - weights) / sequence));
}

TEST(ServeCommand, ContextsFromOneToOneHundredAndTwentyEightThousandTakeTwentySearchesALayer) {
  const Ran ran =
      run({"serve", "llama3_2_1b", "--accelerator", "npu", "--output", "130048", "--contexts", "4096,65536", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_LE(answer["searches_a_layer"].get<int>(), 20);
  EXPECT_LT(answer["gap"].get<double>(), 0.01);
  ASSERT_EQ(answer["steps"].size(), 5u);
  for (std::size_t i = 1; i < answer["steps"].size(); ++i)
    EXPECT_LE(answer["steps"][i - 1]["tpot_s"].get<double>(), answer["steps"][i]["tpot_s"].get<double>());
}

TEST(ServeCommand, WhatDoesNotFitEndsWithThree) {
  const Ran ran = run({"serve", "llama3_3_70b", "--accelerator", "npu", "--memory", "80 GB", "--weight-bits", "16"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("61.33 GB more than DRAM holds (80 GB); what would fit: --weight-bits 8, or 2 chips"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST(ServeCommand, TheBestOfEightChipsIsProven) {
  const Ran ran = run({"serve", "llama3_3_70b", "--accelerator", "h200", "--chips", "8", "--batches", "all", "--ttft",
                       "2s", "--tpot", "30ms", "--output", "64", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_LE(answer["ttft_s"].get<double>(), 2);
  EXPECT_LE(answer["tpot_s"].get<double>(), 0.03);
  EXPECT_LT(answer["ways_gap"].get<double>(), 0.01);
  int searched = 0;
  for (const json& way : answer["ways"]) {
    searched += way["end"] == "searched" ? 1 : 0;
    // Nothing that is left could be better by more than the gap.
    if (way["end"] == "bounded") {
      EXPECT_LE(way["bound"].get<double>() * (1 - answer["ways_gap"].get<double>()),
                answer["tokens_per_s"].get<double>() * (1 + 1e-9));
    }
  }
  EXPECT_LT(searched, 5);
  EXPECT_GT(answer["ways"].size(), 20u);
}

TEST(ServeCommand, MistakesAreNamed) {
  const auto said = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"serve", "llama3_2_1b", "--accelerator", "npu"});
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  EXPECT_NE(said({"--links", "{gbs: 3}"}).find("unknown key"), std::string::npos);
  EXPECT_NE(said({"--tp", "2"}).find("no links between them"), std::string::npos);
  EXPECT_NE(said({"--memory", "lots"}).find("--memory"), std::string::npos);
  EXPECT_NE(said({"--contexts", "1k,x"}).find("whole numbers above 0"), std::string::npos);
  EXPECT_NE(said({"--objective", "energy", "--tpot", "1s"}).find("energy beside --ttft or --tpot"), std::string::npos);
  EXPECT_NE(said({"--chunk", "64", "--pp", "2", "--links", "{gb_per_s: 3}"}).find("--chunk"), std::string::npos);
}

}  // namespace
}  // namespace pliant
