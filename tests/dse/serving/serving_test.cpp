// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/input/load.h"
#include "core/input/machine_parts.h"
#include "dse/mappers/residency/residency.h"
#include "dse/serving/best_division.h"
#include "dse/serving/collectives.h"
#include "dse/serving/models.h"
#include "dse/serving/serve.h"
#include "dse/serving/shard.h"

namespace pliant::serving {
namespace {

const Library& shipped() {
  static const Library library(PLIANT_SOURCE_DIR "/configs");
  return library;
}

Request npu_request(std::string_view model = "llama3_2_1b") {
  Request request;
  const NamedModel named = load_model(shipped(), model);
  request.model_name = named.name;
  request.model = named.model;
  request.accelerator = load_accelerator(shipped(), "npu");
  request.prompt = 512;
  request.output = 32;
  return request;
}

/// Two layers of a narrow model: everything is searched in milliseconds.
Request small_request() {
  Request request = npu_request();
  request.model.layers = 2;
  request.model.hidden = 256;
  request.model.width = 512;
  request.model.vocabulary = 1024;
  request.model.heads = 8;
  request.model.kv_heads = 2;
  request.model.head_dim = 32;
  request.prompt = 64;
  request.output = 17;
  return request;
}

TEST(ServingMemory, LlamasCacheIsWhatItsSizesSay) {
  // 16 layers, 8 key/value heads of 64: 2 * 8 * 64 * 16 bytes a token.
  const LanguageModel model = load_model(shipped(), "llama3_2_1b").model;
  EXPECT_EQ(cache_bytes(model, 1000, 8), 16'384.0 * 1000);
  EXPECT_EQ(cache_bytes(model, 1000, 4), 8'192.0 * 1000);
  // 80 layers, 8 heads of 128, 16 bits: 327,680 bytes a token; an eighth of that on each of eight chips.
  const LanguageModel large = load_model(shipped(), "llama3_3_70b").model;
  EXPECT_EQ(cache_bytes(large, 1, 16), 327'680);
  EXPECT_EQ(cache_bytes(shard_of(large, {8, 1, 1}, 0), 1, 16), 40'960);
  // DeepSeek-V3 keeps 512 + 64 numbers a token and layer, on every chip.
  const LanguageModel latent = load_model(shipped(), "deepseek_v3").model;
  EXPECT_EQ(cache_bytes(latent, 1, 16), 576.0 * 61 * 2);
  EXPECT_EQ(cache_bytes(shard_of(latent, {8, 1, 1}, 0), 1, 16), 576.0 * 61 * 2);
}

TEST(ServingMemory, TheLargestBatchIsTheLastThatFits) {
  Request request = npu_request();
  request.prompt = 1000;
  request.output = 24;
  request.memory_bytes = 2e9;
  const MemoryNeed need = memory_need(request);
  EXPECT_EQ(need.weights_bytes, 1'235'814'400);
  EXPECT_EQ(need.cache_bytes_per_sequence, 16'384.0 * 1024);
  // The most activations are those of gate and up: 2048 in, 8192 out for each of 1000 tokens (the vocabulary has one
  // token a sequence only).
  EXPECT_EQ(need.activations_bytes, 1000.0 * (2048 + 8192));
  const double sequence = 16'384.0 * 1024 + 1000.0 * (2048 + 8192);
  EXPECT_EQ(*need.largest_batch, static_cast<Count>((2e9 - 1'235'814'400) / sequence));
  request.batch = *need.largest_batch;
  EXPECT_TRUE(memory_need(request).fits());
  ++request.batch;
  EXPECT_FALSE(memory_need(request).fits());
}

TEST(ServingMemory, WeightsOfPartsAddUpToTheModel) {
  for (const char* name : {"llama3_3_70b", "qwen3_30b_a3b", "mixtral_8x7b"}) {
    Request request = npu_request(name);
    const double whole = memory_need(request).weights_bytes;
    EXPECT_EQ(whole, static_cast<double>(count_parameters(request.model).total)) << name;
    request.division = {4, 1, 1};
    // Norms are on every chip, everything else on one.
    EXPECT_NEAR(memory_need(request).weights_bytes, whole / 4, whole * 0.001) << name;
    if (!request.model.experts) continue;
    request.division = {1, 1, 4};
    const Experts& e = *request.model.experts;
    const double experts =
        static_cast<double>(request.model.expert_layers() * e.routed * 3 * request.model.hidden * e.width);
    EXPECT_EQ(memory_need(request).weights_bytes, whole - experts * 3 / 4) << name;
  }
}

TEST(ServingMemory, WhatWouldFitDoesFit) {
  Request request = npu_request("llama3_3_70b");
  request.memory_bytes = 80e9;
  request.weight_bits = 16;
  const MemoryNeed need = memory_need(request);
  EXPECT_FALSE(need.fits());
  EXPECT_EQ(*need.largest_batch, 0);
  EXPECT_EQ(what_would_fit(request, need), "--weight-bits 8, or 2 chips (TP 1 x PP 2)");
  request.weight_bits = 8;
  EXPECT_TRUE(memory_need(request).fits());
}

TEST(ServingPass, AWholePromptCostsWhatTheNetworkCosts) {
  // The network with every tensor outside, found by the search for networks: the same sum.
  const Request request = small_request();
  RowCosts costs(request);
  const Spent prompt = sum_of(Stage(costs, 0, 1).prompt(request.prompt));
  const Workload workload = pass_workload(request.model, "prompt", {.length = request.prompt});
  std::vector<Task> rows;
  for (const auto& [layer, count] : workload.layers)
    rows.push_back({layer, request.accelerator, request.accelerator.flexibility_of(layer), request.factorization,
                    Objective::kRuntime});
  const auto mapper = make_mapper("exact");
  SearchOptions options;
  residency::Search search(*mapper, workload, rows, options);
  const residency::Optimum best = search.run({Objective::kRuntime}, false);
  EXPECT_TRUE(best.certified);
  EXPECT_NEAR(prompt.cycles, best.cycles, 1e-9 * best.cycles);
  EXPECT_NEAR(prompt.least, best.cycles, 1e-9 * best.cycles);
}

TEST(ServingPass, ADecodeStepCostsWhatTheNetworkCosts) {
  Request request = small_request();
  request.prompt = 63;  // the one decode step has 64 keys
  request.output = 2;
  request.batch = 3;
  const Served served = serve(request);
  const Workload workload =
      pass_workload(request.model, "step", {.is_prefill = false, .length = 64, .batch = request.batch});
  std::vector<Task> rows;
  for (const auto& [layer, count] : workload.layers)
    rows.push_back({layer, request.accelerator, request.accelerator.flexibility_of(layer), request.factorization,
                    Objective::kRuntime});
  const auto mapper = make_mapper("exact");
  SearchOptions options;
  residency::Search search(*mapper, workload, rows, options);
  const residency::Optimum best = search.run({Objective::kRuntime}, false);
  EXPECT_NEAR(served.decode.spent.cycles, best.cycles, 1e-9 * best.cycles);
  EXPECT_LE(served.decode.spent.least, best.cycles * (1 + 1e-12));
}

TEST(ServingPass, BoundsOfContextsHoldAtEveryContext) {
  // Every context by itself, with remainders allowed: no bound is above, no answer below what is found there.
  for (const Objective objective : {Objective::kRuntime, Objective::kEnergy}) {
    Request request = small_request();
    request.objective = objective;
    RowCosts costs(request);
    Request free = request;
    free.factorization = Factorization::kRuby;
    RowCosts exact(free);
    Stage stage(costs, 0, 1);
    const std::vector<ContextRow> rows = stage.attention_rows(1, false);
    ContextCurve curve(
        rows, [](Count) { return Spent{}; }, costs);
    curve.settle({65, 96, 1}, 0, 0.01);
    for (Count keys = 65; keys <= 96; ++keys) {
      double least = 0;
      for (ContextRow row : rows) {
        row.layer.dims[static_cast<std::size_t>(row.dim)].size = keys;
        least += exact.of(row.layer).least * static_cast<double>(row.count);
      }
      const Spent at = curve.at(keys);
      EXPECT_LE(at.least, least * (1 + 1e-9)) << keys;
      EXPECT_GE(at.value(objective), least * (1 - 1e-9)) << keys;
    }
  }
}

TEST(ServingPass, WindowsShortenTheContextOfTheirLayers) {
  Request request = small_request();
  request.model.window = 32;
  request.model.windowed = {true, false};
  const Served half = serve(request, {16, 1024});
  EXPECT_LT(half.gap, 0.02);
  request.model.windowed = {false, false};
  const Served full = serve(request);
  request.model.windowed = {true, true};
  const Served none = serve(request);
  EXPECT_NEAR(half.decode.spent.cycles, (full.decode.spent.cycles + none.decode.spent.cycles) / 2,
              0.02 * half.decode.spent.cycles);
  EXPECT_LT(none.decode.spent.cycles, full.decode.spent.cycles);
  for (const StepAt& one : half.steps)
    EXPECT_LT(one.spent.cycles - one.spent.least, 0.02 * one.spent.cycles) << one.keys;
}

TEST(ServingChips, HandExamplesOfCollectives) {
  const Links ring{Links::Topology::kRing, 100, 1, 2};
  // 8 MB among 4: each sends 2 * 3/4 of it at 100 GB/s, and two links lie between the furthest, there and back.
  const Sent sum = collective(ring, Collective::kAllReduce, 8e6, 4);
  EXPECT_DOUBLE_EQ(sum.seconds, 2 * 0.75 * 8e6 / 100e9 + 4e-6);
  EXPECT_DOUBLE_EQ(sum.energy_pj, 2 * 3 * 8e6 * 8 * 2);
  const Links through{Links::Topology::kSwitch, 100, 1, 0};
  EXPECT_DOUBLE_EQ(collective(through, Collective::kAllGather, 8e6, 8).seconds, 7e6 / 100e9 + 1e-6);
  EXPECT_DOUBLE_EQ(collective(through, Collective::kAllToAll, 8e6, 8).seconds, 7e6 / 100e9 + 1e-6);
  // On a ring of 8 a quarter of 64 MB crosses the middle, where two links of 50 GB/s are.
  EXPECT_DOUBLE_EQ(collective(ring, Collective::kAllToAll, 8e6, 8).seconds, 16e6 / 100e9 + 4e-6);
  EXPECT_EQ(collective(ring, Collective::kAllReduce, 8e6, 1).seconds, 0);
}

TEST(ServingChips, PartsOfAModelHaveItsWork) {
  Request request = small_request();
  const auto macs = [](const LanguageModel& model, bool head) {
    Count sum = 0;
    for (const auto& [layer, count] : pass_workload(model, "", {.length = 64, .has_head = head}).layers)
      sum += layer.macs() * count;
    return sum;
  };
  const Count whole = macs(request.model, true);
  EXPECT_EQ(2 * macs(shard_of(request.model, {2, 1, 1}, 0), true), whole);
  EXPECT_EQ(macs(shard_of(request.model, {1, 2, 1}, 0), false) + macs(shard_of(request.model, {1, 2, 1}, 1), true),
            whole);
}

TEST(ServingChips, TheBestDivisionIsThatOfAllSearched) {
  Request request = small_request();
  request.accelerator.links = Links{Links::Topology::kSwitch, 50, 1, 1};
  const std::vector<Count> batches{1, 2, 4, 8};
  const BestDivision best = best_division(request, 2, batches, {});
  ASSERT_TRUE(best.best);
  double most = 0;
  for (const Division& division : divisions_of(request.model, 2))
    for (const Count batch : batches) {
      Request one = request;
      one.division = division;
      one.batch = batch;
      most = std::max(most, serve(one).tokens_per_s);
    }
  const double found = best.ways[*best.best].served->tokens_per_s;
  EXPECT_DOUBLE_EQ(found, most);
  EXPECT_GE(best.bound, most);
  EXPECT_LT(best.searches, 1000u);
}

TEST(ServingChips, LimitsLeaveOutWhatIsTooSlow) {
  Request request = small_request();
  request.accelerator.links = Links{Links::Topology::kSwitch, 50, 1, 1};
  const BestDivision free = best_division(request, 2, {1, 8, 64}, {});
  const double tpot = *free.ways[*free.best].served->tpot_s;
  const BestDivision limited = best_division(request, 2, {1, 8, 64}, {std::nullopt, tpot * 0.8});
  ASSERT_TRUE(limited.best);
  EXPECT_LE(*limited.ways[*limited.best].served->tpot_s, tpot * 0.8);
  EXPECT_FALSE(best_division(request, 2, {1}, {std::nullopt, 1e-9}).best);
}

TEST(ServingExperts, LoadsAreThoseOfTheRouting) {
  Experts experts;
  experts.routed = 8;
  experts.per_token = 2;
  const auto sent = [&](const std::vector<ExpertLoad>& loads) {
    Count sum = 0;
    for (const ExpertLoad& load : loads) sum += load.tokens * load.experts;
    return sum;
  };
  // 3 tokens, 6 of 8 experts get one each.
  EXPECT_EQ(expert_loads(experts, 3, 0).size(), 1u);
  EXPECT_EQ(expert_loads(experts, 3, 0)[0].experts, 6);
  EXPECT_EQ(sent(expert_loads(experts, 100, 0)), 200);
  // Skewed: none gets more than all tokens, and rounding adds at most a sixteenth... of each.
  const auto skewed = expert_loads(experts, 100, 1);
  EXPECT_GT(skewed.front().tokens, skewed.back().tokens);
  EXPECT_LE(skewed.front().tokens, 100);
  EXPECT_GE(sent(skewed), 199);
  EXPECT_LE(sent(skewed), 200 * 9 / 8);
  // One token goes to two experts, whatever the skew.
  EXPECT_EQ(sent(expert_loads(experts, 1, 2)), 2);
  // Of two chips the busier has every other expert, from the first.
  experts.chips = 2;
  EXPECT_EQ(sent(expert_loads(experts, 100, 0)), 100);
}

TEST(ServingPrompt, PartsOfAPromptSeeWhatIsBeforeThem) {
  Request request = small_request();
  request.output = 1;
  const Served whole = serve(request);
  request.chunk = 16;
  const Served parts = serve(request);
  EXPECT_EQ(parts.prefill.steps, 4);
  // Scores of 16 queries with 16, 32, 48 and 64 keys instead of 64 with 64: five eighths of the MACs.
  EXPECT_GT(parts.longest_part_s, parts.ttft_s / 4);
  EXPECT_LT(parts.longest_part_s, whole.ttft_s);
  EXPECT_FALSE(parts.tpot_s.has_value());
}

TEST(ServingRequest, ImpossibleWishesAreNamed) {
  const auto said = [](const Request& request) -> std::string {
    try {
      check_request(request, "pliant serve");
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  Request request = npu_request();
  EXPECT_EQ(said(request), "");
  request.division = {3, 1, 1};
  EXPECT_NE(said(request).find("32 heads do not divide among 3 chips"), std::string::npos);
  request.division = {2, 1, 1};
  EXPECT_NE(said(request).find("no links between them"), std::string::npos);
  request.division = {1, 1, 2};
  EXPECT_NE(said(request).find("without experts"), std::string::npos);
  request = npu_request();
  request.accelerator.clock_hz.reset();
  EXPECT_NE(said(request).find("no clock"), std::string::npos);
  request = npu_request();
  request.objective = Objective::kEdp;
  EXPECT_NE(said(request).find("runtime or energy"), std::string::npos);
}

TEST(ServingRequest, PartsOfAMachineAreReadWithTheirPlace) {
  const VectorUnit unit = parse_vector_unit("{lanes: 64, ops: {softmax: 7}}", "--vector");
  EXPECT_EQ(unit.lanes, 64);
  EXPECT_EQ(unit.ops[4], 7);
  EXPECT_THROW(parse_links("{gb_per_s: 0}", "--links"), InputError);
  EXPECT_THROW(parse_links("{gbps: 1}", "--links"), InputError);
  EXPECT_THROW(parse_links("{gb_per_s: 1, topology: star}", "--links"), InputError);
}

TEST(ServingRequest, PartsOfAMachineFollowSettings) {
  EXPECT_EQ(load_accelerator(shipped(), "h200").links->gb_per_s, 450);
  const Accelerator set = load_accelerator(shipped(), "h200", {{"links.gb_per_s", "900"}, {"vector.lanes", "64"}});
  EXPECT_EQ(set.links->gb_per_s, 900);
  EXPECT_TRUE(set.links->sums);
  EXPECT_EQ(set.vector->lanes, 64);
  EXPECT_FALSE(load_accelerator(shipped(), "npu").links);
  EXPECT_EQ(parse_accelerator_text(shipped(), write_accelerator(set), "again.yaml"), set);
}

TEST(ServingVector, WorkOnAVectorUnitTakesItsTime) {
  Request request = small_request();
  request.output = 1;
  const Served without = serve(request);
  request.accelerator.vector = VectorUnit{};
  request.accelerator.vector->lanes = 1e12;
  const Served fast = serve(request);
  // Activations, positions and the choice of a token move no words: each takes a cycle and not none.
  EXPECT_NEAR((fast.ttft_s - without.ttft_s) * *request.accelerator.clock_hz, 4, 1e-3);
  request.accelerator.vector->lanes = 1;
  // One lane: every operation of every element takes a cycle, longer than any word moves.
  double ops = 0;
  const double t = 64, layers = 2, hidden = 256, width = 512, heads = 8, kv = 2, dim = 32;
  ops += layers * 4 * 2 * t * hidden + 4 * hidden;        // two norms a layer, one at the end for the last token
  ops += layers * 2 * t * hidden;                         // residual sums
  ops += layers * (1 + 4) * t * width;                    // gates
  ops += layers * 5 * heads * t * t;                      // softmax
  ops += layers * 3 * t * (heads + kv) * dim + 2 * 1024;  // rotary positions, and the choice of a word
  const Served slow = serve(request);
  const double layers_alone = (slow.ttft_s * 1e9 - ops);
  EXPECT_GT(layers_alone, 0);
  double macs_part = 0;
  for (const KindSpent& one : slow.prefill.kinds)
    if (one.kind != "operators" && one.kind != "rotary and sampling") macs_part += one.spent.cycles;
  EXPECT_NEAR(layers_alone, macs_part, 1e-6 * macs_part);
}

}  // namespace
}  // namespace pliant::serving
