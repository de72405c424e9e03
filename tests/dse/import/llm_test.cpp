// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "core/input/load.h"
#include "dse/import/llm/model.h"
#include "dse/import/open.h"
#include "support/import_texts.h"
#include "support/temporary_folder.h"

#include <fstream>

namespace pliant {
namespace {

// Configurations written out from the published shapes of the models.
constexpr std::string_view kLlama1B = R"({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192,
  "vocab_size": 128256, "tie_word_embeddings": true, "hidden_act": "silu"})";
constexpr std::string_view kLlama8B = R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
  "tie_word_embeddings": false})";
constexpr std::string_view kLlama70B = R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
  "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256,
  "tie_word_embeddings": false})";
constexpr std::string_view kQwen06B = R"({"model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28,
  "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072,
  "vocab_size": 151936, "tie_word_embeddings": true, "sliding_window": null})";
constexpr std::string_view kQwen32B = R"({"model_type": "qwen3", "hidden_size": 5120, "num_hidden_layers": 64,
  "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 25600,
  "vocab_size": 151936, "tie_word_embeddings": false})";
constexpr std::string_view kMixtral = R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
  "num_local_experts": 8, "num_experts_per_tok": 2, "tie_word_embeddings": false})";
constexpr std::string_view kDeepSeekV3 = R"({"model_type": "deepseek_v3", "hidden_size": 7168,
  "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
  "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
  "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "vocab_size": 129280,
  "tie_word_embeddings": false})";
constexpr std::string_view kGpt2 = R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
  "n_positions": 1024, "vocab_size": 50257})";

constexpr std::string_view kMistral7B = R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
  "sliding_window": 4096, "tie_word_embeddings": false})";
constexpr std::string_view kGemma2 = R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26,
  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216, "vocab_size": 256000,
  "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 4096, "_name_or_path": "google/gemma-2-2b"})";
constexpr std::string_view kGemma3Small = R"({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26,
  "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912, "vocab_size": 262144,
  "sliding_window": 512, "sliding_window_pattern": 6})";
constexpr std::string_view kGemma3 = R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
  "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
  "intermediate_size": 10240, "sliding_window": 1024}})";

ParameterCounts parameters(std::string_view text) {
  ImportLog log(false);
  const auto model = read_language_model({"config.json", std::string(text)}, log);
  log.problems().throw_if_any();
  return count_parameters(*model);
}

TEST(LanguageModel, ParametersAreThePublishedOnes) {
  EXPECT_EQ(parameters(kLlama1B).total, 1'235'814'400);
  EXPECT_EQ(parameters(kLlama8B).total, 8'030'261'248);
  EXPECT_EQ(parameters(kLlama70B).total, 70'553'706'496);
  EXPECT_EQ(parameters(kMixtral).total, 46'702'792'704);
  EXPECT_EQ(parameters(kGpt2).total, 124'439'808);
  EXPECT_EQ(parameters(kMistral7B).total, 7'241'732'096);
  EXPECT_EQ(parameters(kGemma2).total, 2'614'341'888);
  EXPECT_EQ(parameters(kGemma3Small).total, 999'885'952);
  // Published rounded: 0.6 G with 0.44 G beside the embeddings; 32.8 G with 31.2 G.
  const ParameterCounts small = parameters(kQwen06B), large = parameters(kQwen32B);
  EXPECT_NEAR(static_cast<double>(small.total), 0.6e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(small.total - small.embeddings), 0.44e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(large.total), 32.8e9, 0.05e9);
  EXPECT_NEAR(static_cast<double>(large.total - large.embeddings), 31.2e9, 0.05e9);
  // 671 G, 37 G of them active, without the multi-token prediction module.
  const ParameterCounts deepseek = parameters(kDeepSeekV3);
  EXPECT_NEAR(static_cast<double>(deepseek.total), 671e9, 0.5e9);
  EXPECT_NEAR(static_cast<double>(deepseek.active), 37e9, 0.6e9);
}

/// Name -> (M, N, K, count).
using Table = std::map<std::string, std::vector<Count>>;
Table table(const Workload& workload) {
  Table all;
  for (const auto& [layer, count] : workload.layers) {
    std::vector<Count> row;
    for (const Dim& dim : layer.dims) row.push_back(dim.size);
    row.push_back(count);
    all[layer.name] = row;
  }
  return all;
}

TEST(LanguageModel, TheEightGemmsOfTheShippedTablesComeOut) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const struct {
    std::string_view configuration, shipped;
    Count tokens;
  } cases[] = {{kLlama1B, "llm_llama3_2_1b_1k", 1024},     {kLlama1B, "llm_llama3_2_1b_8k", 8192},
               {kLlama1B, "llm_llama3_2_1b_32k", 32768},   {kLlama70B, "llm_llama3_3_70b_2k", 2048},
               {kLlama70B, "llm_llama3_3_70b_32k", 32768}, {kLlama70B, "llm_llama3_3_70b_128k", 131072},
               {kQwen06B, "llm_qwen3_0_6b_1k", 1024},      {kQwen06B, "llm_qwen3_0_6b_8k", 8192},
               {kQwen06B, "llm_qwen3_0_6b_32k", 32768},    {kQwen32B, "llm_qwen3_32b_2k", 2048},
               {kQwen32B, "llm_qwen3_32b_32k", 32768},     {kQwen32B, "llm_qwen3_32b_128k", 131072}};
  for (const auto& [configuration, shipped, tokens] : cases) {
    const Imported imported = import_text("auto", "config.json", configuration, {.prefill = tokens});
    EXPECT_EQ(table(imported.workloads.at(0)), table(load_workload(library, shipped))) << shipped;
  }
}

TEST(LanguageModel, DecodeReadsEveryKeyOnceForItsGroupOfQueries) {
  const Imported imported = import_text("llm", "c.json", kLlama8B, {.decode = 32768, .batch = 8});
  const Table rows = table(imported.workloads.at(0));
  EXPECT_EQ(rows.at("attn_q_proj"), (std::vector<Count>{8, 4096, 4096, 32}));
  EXPECT_EQ(rows.at("attn_score"), (std::vector<Count>{4, 32768, 128, 8 * 32 * 8}));
  EXPECT_EQ(rows.at("attn_context"), (std::vector<Count>{4, 128, 32768, 8 * 32 * 8}));
  EXPECT_EQ(rows.at("lm_head"), (std::vector<Count>{8, 128256, 4096, 1}));
}

TEST(LanguageModel, TokensAreSpreadEvenlyOverExperts) {
  // 3 tokens go to 2 of 8 experts each: 6 experts get one, 2 get none.
  const Table few = table(import_text("llm", "c.json", kMixtral, {.decode = 100, .batch = 3}).workloads.at(0));
  EXPECT_EQ(few.at("expert_gate_up"), (std::vector<Count>{1, 14336, 4096, 2 * 6 * 32}));
  EXPECT_FALSE(few.contains("expert_less_gate_up"));
  // 5 tokens: 10 = 2 experts with two, 6 with one.
  const Table more = table(import_text("llm", "c.json", kMixtral, {.decode = 100, .batch = 5}).workloads.at(0));
  EXPECT_EQ(more.at("expert_down"), (std::vector<Count>{2, 4096, 14336, 2 * 32}));
  EXPECT_EQ(more.at("expert_less_down"), (std::vector<Count>{1, 4096, 14336, 6 * 32}));
  EXPECT_EQ(more.at("moe_router"), (std::vector<Count>{5, 8, 4096, 32}));
}

TEST(LanguageModel, LatentAttention) {
  const Table prefill = table(import_text("llm", "c.json", kDeepSeekV3, {.prefill = 512}).workloads.at(0));
  EXPECT_EQ(prefill.at("attn_q_up"), (std::vector<Count>{512, 128 * 192, 1536, 61}));
  EXPECT_EQ(prefill.at("attn_kv_down"), (std::vector<Count>{512, 576, 7168, 61}));
  EXPECT_EQ(prefill.at("attn_score"), (std::vector<Count>{512, 512, 192, 128 * 61}));
  EXPECT_EQ(prefill.at("mlp_down"), (std::vector<Count>{512, 7168, 18432, 3}));
  EXPECT_EQ(prefill.at("expert_shared_down"), (std::vector<Count>{512, 7168, 2048, 58}));
  const Table decode = table(import_text("llm", "c.json", kDeepSeekV3, {.decode = 4096}).workloads.at(0));
  EXPECT_EQ(decode.at("attn_score"), (std::vector<Count>{128, 4096, 576, 61}));
  EXPECT_EQ(decode.at("attn_context"), (std::vector<Count>{128, 512, 4096, 61}));
}

/// What a prompt leaves for the steps after it is written out, although the prompt itself reads it.
TEST(LanguageModel, APromptLeavesItsCache) {
  const auto given = [](const Workload& net) {
    std::map<std::string, Count> words;
    for (const WorkloadGraph::Node& node : net.graph->nodes)
      if (!node.is_layer() && node.name.ends_with("_cache")) words[node.name] = node.words;
    return words;
  };
  using Words = std::map<std::string, Count>;
  // 8 key and value heads of 128 words each; DeepSeek keeps a latent vector of 512 and a rotated key of 64.
  EXPECT_EQ(given(import_text("llm", "c.json", kMixtral, {.prefill = 512}).workloads.at(0)),
            (Words{{"attn_k_cache", 512 * 1024}, {"attn_v_cache", 512 * 1024}}));
  EXPECT_TRUE(given(import_text("llm", "c.json", kMixtral, {.decode = 512}).workloads.at(0)).empty());
  const Words latent = given(import_text("llm", "c.json", kDeepSeekV3, {.prefill = 512}).workloads.at(0));
  EXPECT_EQ(latent.at("attn_latent_cache"), 512 * 512);
  EXPECT_EQ(latent.at("attn_rope_cache"), 512 * 64);
}

TEST(LanguageModel, AWindowCapsTheContext) {
  // A prompt that the window covers, and a cache that it does not.
  const Table covered = table(import_text("llm", "c.json", kMistral7B, {.prefill = 2048}).workloads.at(0));
  EXPECT_EQ(covered.at("attn_score"), (std::vector<Count>{2048, 2048, 128, 32 * 32}));
  const Table decode = table(import_text("llm", "c.json", kMistral7B, {.decode = 32768}).workloads.at(0));
  EXPECT_EQ(decode.at("attn_score_window"), (std::vector<Count>{4, 4096, 128, 8 * 32}));
  EXPECT_FALSE(decode.contains("attn_score"));
  // 16 blocks of 1024 queries, each with its own keys and the 4096 before them.
  const Table prefill = table(import_text("llm", "c.json", kMistral7B, {.prefill = 16384}).workloads.at(0));
  EXPECT_EQ(prefill.at("attn_score_window"), (std::vector<Count>{1024, 5120, 128, 16 * 32 * 32}));
  EXPECT_EQ(prefill.at("attn_context_window"), (std::vector<Count>{1024, 128, 5120, 16 * 32 * 32}));
}

TEST(LanguageModel, LayersWithAndWithoutAWindowAlternate) {
  const Workload second = import_text("llm", "c.json", kGemma2, {.decode = 8192}).workloads.at(0);
  EXPECT_EQ(second.name, "gemma-2-2b_decode_8k");
  EXPECT_EQ(table(second).at("attn_score"), (std::vector<Count>{2, 8192, 256, 4 * 13}));
  EXPECT_EQ(table(second).at("attn_score_window"), (std::vector<Count>{2, 4096, 256, 4 * 13}));
  // Five of six have it; of 34 layers 29.
  const Imported third = import_text("llm", "some/where/config.json", kGemma3, {.decode = 8192});
  EXPECT_EQ(third.workloads.at(0).name, "where_decode_8k");
  const Table rows = table(third.workloads.at(0));
  EXPECT_EQ(rows.at("attn_score_window"), (std::vector<Count>{2, 1024, 256, 4 * 29}));
  EXPECT_EQ(rows.at("attn_score"), (std::vector<Count>{2, 8192, 256, 4 * 5}));
  EXPECT_EQ(rows.at("lm_head"), (std::vector<Count>{1, 262208, 2560, 1}));
  // A list of the layers' types says more than the family.
  const Table listed =
      table(import_text("llm", "c.json", R"({"model_type": "gemma2", "hidden_size": 64, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "intermediate_size": 8, "vocab_size": 10,
        "sliding_window": 32, "layer_types": ["full_attention", "full_attention", "sliding_attention"]})",
                        {.decode = 64})
                .workloads.at(0));
  EXPECT_EQ(listed.at("attn_score").back(), 4 * 2);
  EXPECT_EQ(listed.at("attn_score_window").back(), 4);
}

TEST(LanguageModel, TheGraphIsTheShippedOne) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Workload shipped = load_workload(library, "llm_llama3_2_1b_decode_1k");
  const Workload made = import_text("llm", "c.json", kLlama1B, {.decode = 1024}).workloads.at(0);
  EXPECT_EQ(made.layers, shipped.layers);
  EXPECT_EQ(made.graph, shipped.graph);
  EXPECT_EQ(made.pass, shipped.pass);
  for (const auto& [length, tokens] : {std::pair{"1k", 1024}, {"8k", 8192}, {"32k", 32768}}) {
    const Workload prompt = load_workload(library, std::string("llm_llama3_2_1b_prefill_") + length);
    const Workload read = import_text("llm", "c.json", kLlama1B, {.prefill = tokens}).workloads.at(0);
    EXPECT_EQ(read.layers, prompt.layers);
    EXPECT_EQ(read.graph, prompt.graph);
    EXPECT_EQ(read.pass, prompt.pass);
  }
}

TEST(LanguageModel, EveryGraphIsOneOfOurFormat) {
  for (const std::string_view model :
       {kLlama8B, kQwen06B, kMixtral, kDeepSeekV3, kGpt2, kMistral7B, kGemma2, kGemma3}) {
    for (const ImportOptions& pass : {ImportOptions{.prefill = 96}, {.decode = 5000, .batch = 3}, {.prefill = 10000}}) {
      const Workload made = import_text("llm", "c.json", model, pass).workloads.at(0);
      ASSERT_TRUE(made.graph.has_value());
      // The reader checks every edge: shapes fit, and rows stand as often as the table says.
      const Workload read = parse_workload_text(write_workload(made), "written.yaml");
      EXPECT_EQ(read.graph, made.graph) << made.description;
      EXPECT_EQ(read.layers, made.layers);
    }
  }
}

TEST(LanguageModel, BadConfigurationsHaveAPlace) {
  EXPECT_NE(import_error("llm", "c.json", kLlama8B).find("a model needs a length"), std::string::npos);
  EXPECT_NE(import_error("llm", "c.json", R"({"model_type": "lama", "num_hidden_layers": 2})", {.prefill = 8})
                .find("c.json:1:16: model_type: unknown model_type `lama`; expected one of llama,"),
            std::string::npos);
  EXPECT_NE(import_error("llm", "c.json", R"({"model_type": "llama",
  "num_hidden_layers": 1e15, "hidden_size": 64, "num_attention_heads": 3, "intermediate_size": 8, "vocab_size": 10})",
                         {.prefill = 8})
                .find("c.json:2:24: num_hidden_layers:"),
            std::string::npos);
  EXPECT_NE(import_error("llm", "c.json", R"({"model_type": "llama")", {.prefill = 8}).find("not valid YAML"),
            std::string::npos);
}

TEST(LanguageModel, AConfigurationIsNamedWithItsLength) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "config.json";
  std::ofstream(file) << kLlama1B;
  const Library library(PLIANT_SOURCE_DIR "/configs");
  EXPECT_EQ(table(open_workload(library, file + ":prefill=1024")), table(load_workload(library, "llm_llama3_2_1b_1k")));
  EXPECT_THROW(open_workload(library, file), InputError);
  EXPECT_THROW(open_workload(library, file + ":length=4"), InputError);
}

}  // namespace
}  // namespace pliant
