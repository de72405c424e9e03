// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/input/cursor.h"
#include "core/input/source_text.h"
#include "dse/import/llm/model.h"

namespace pliant {
namespace {

/// Sizes beyond these are no model's. With them every count of parameters stays below 2^62:
/// layers * experts * 3 * hidden * width < 2^58.
constexpr Count kMostRepeats = Count{1} << 10;  ///< layers, experts
constexpr Count kMostHeads = Count{1} << 12;    ///< heads, and the dim of one
constexpr Count kWidest = Count{1} << 18;       ///< hidden size, feed-forward width, ranks
constexpr Count kMostTokens = Count{1} << 24;   ///< vocabulary, positions

/// What a family of models leaves unsaid in its configuration.
struct Family {
  std::string_view type;
  bool gated, query_key_norm, qkv_bias, gpt_names;
  bool norms_after = false;
  Count window_every = 0;  ///< every so many-th layer has none of the window; 1 = every layer has it; 0 = none
  Count heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;  ///< 0 = always said
};
constexpr std::array<Family, 18> kFamilies{{
    {"llama", true, false, false, false},
    {"mistral", true, false, false, false, false, 1},
    {"mixtral", true, false, false, false, false, 1},
    {"qwen2", true, false, true, false},
    {"qwen2_moe", true, false, true, false},
    {"qwen3", true, true, false, false},
    {"qwen3_moe", true, true, false, false},
    {"deepseek_v2", true, false, false, false},
    {"deepseek_v3", true, false, false, false},
    {"phi3", true, false, false, false, false, 1},
    {"gemma", true, false, false, false},
    {"gemma2", true, false, false, false, true, 2},
    {"gemma3", true, true, false, false, true, 6, 8, 4, 256, 262208},
    {"gemma3_text", true, true, false, false, true, 6, 8, 4, 256, 262208},
    {"olmoe", true, true, false, false},
    {"gpt2", false, false, true, true},
    {"gpt_bigcode", false, false, true, true},
    {"opt", false, false, true, false},
}};

class ModelReader {
 public:
  ModelReader(const YamlNode& tree, ImportLog& log) : root_(tree, "", log.problems()), log_(log) {}

  std::optional<LanguageModel> read() {
    if (!root_.expect_map("a model configuration: hidden_size, num_hidden_layers, ...")) return std::nullopt;
    enter_decoder();
    read_family();
    model_.hidden = required({"hidden_size", "n_embd", "d_model"}, kWidest);
    model_.layers = required({"num_hidden_layers", "n_layer", "num_layers"}, kMostRepeats);
    model_.heads = required({"num_attention_heads", "n_head"}, kMostHeads, family_.heads);
    model_.vocabulary = required({"vocab_size"}, kMostTokens, family_.vocabulary);
    model_.kv_heads =
        optional({"num_key_value_heads"}, kMostHeads).value_or(family_.kv_heads > 0 ? family_.kv_heads : model_.heads);
    model_.width =
        optional({"intermediate_size", "n_inner", "ffn_dim"}, kWidest).value_or(model_.gated ? 0 : 4 * model_.hidden);
    if (model_.width == 0) required({"intermediate_size"}, kWidest);
    model_.tied = flag("tie_word_embeddings").value_or(family_.gpt_names || model_.type.starts_with("gemma"));
    model_.qkv_bias = flag("attention_bias").value_or(family_.qkv_bias);
    // Llama puts a bias on the output projection as well; Qwen2 has one on queries, keys and values only.
    model_.output_bias = flag("attention_bias").value_or(!model_.gated);
    model_.mlp_bias = flag("mlp_bias").value_or(!model_.gated);
    model_.norm_bias = !model_.gated;
    if (family_.gpt_names) model_.positions = optional({"n_positions"}, kMostTokens).value_or(0);
    read_heads();
    read_latent_attention();
    read_experts();
    read_windows();
    refuse_what_has_no_counterpart();
    if (!log_.problems().empty()) return std::nullopt;
    return model_;
  }

 private:
  /// Models that also see or hear keep their decoder in a part of the file.
  void enter_decoder() {
    if (const auto name = root_.find("_name_or_path"); name && name->node().is_scalar())
      model_.name = name->node().text;
    const auto text = root_.find("text_config");
    if (!text || !text->node().is_map()) return;
    for (const char* key : {"vision_config", "audio_config"})
      if (const auto other = root_.find(key); other && !other->node().is_null())
        log_.choice(other->node().at, key,
                    "left out: text_config is the decoder, and the workload is of the decoder alone");
    root_ = *text;
  }

  void read_family() {
    const auto type = root_.find("model_type");
    model_.type = type && type->node().is_scalar() ? type->node().text : "";
    for (const Family& family : kFamilies) {
      if (family.type == model_.type) family_ = family;
    }
    if (family_.type.empty()) {
      const auto activation = root_.find("hidden_act");
      if (!activation || activation->node().text != "silu") {
        std::vector<std::string> known;
        for (const Family& family : kFamilies) known.emplace_back(family.type);
        (type ? *type : root_)
            .problem(model_.type.empty() ? "no model_type"
                                         : fmt::format("unknown model_type `{}`", shorten(model_.type, 40)),
                     "one of " + join(known) + "; or another with hidden_act silu", nearest(model_.type, known));
        return;
      }
      family_ = {model_.type, true, false, false, false};
      log_.choice(root_.node().at, "model_type",
                  fmt::format("`{}` is not known: taken as a gated decoder like llama", shorten(model_.type, 40)));
    }
    model_.gated = family_.gated;
    model_.query_key_norm = family_.query_key_norm;
    model_.norms_after = family_.norms_after;
  }

  /// Which layers attend to a window only.
  void read_windows() {
    const auto window = optional({"sliding_window"}, kMostTokens);
    if (!window || !flag("use_sliding_window").value_or(true)) return;
    model_.window = *window;
    model_.windowed.assign(static_cast<std::size_t>(model_.layers), false);
    const auto layers = [&](auto has_window) {
      for (Count l = 0; l < model_.layers; ++l) model_.windowed[static_cast<std::size_t>(l)] = has_window(l);
    };
    if (const auto types = root_.find("layer_types"); types && types->node().is_sequence())
      return read_layer_types(*types);
    const Count every =
        optional({"sliding_window_pattern", "_sliding_window_pattern"}, kMostRepeats).value_or(family_.window_every);
    if (every > 1) {
      layers([&](Count l) { return (l + 1) % every != 0; });
    } else if (every == 1) {
      layers([](Count) { return true; });
    } else if (const auto full = optional({"max_window_layers"}, kMostRepeats, 0)) {
      layers([&](Count l) { return l >= *full; });
    } else if (flag("use_sliding_window").value_or(false)) {
      layers([](Count) { return true; });
    } else {
      log_.choice(root_.find("sliding_window")->node().at, "sliding_window",
                  "not used: neither the file nor its family says which layers have it");
    }
  }

  void read_layer_types(const Cursor& types) {
    const std::vector<Cursor> items = types.items();
    if (items.size() != model_.windowed.size())
      return types.problem(fmt::format("{} types for {} layers", items.size(), model_.layers), "one for each layer");
    for (std::size_t l = 0; l < items.size(); ++l) {
      const auto type = items[l].text("the type of a layer's attention");
      if (!type) return;
      model_.windowed[l] = *type == "sliding_attention";
      if (!model_.windowed[l] && *type != "full_attention")
        return log_.unsupported(items[l].node().at, "layer_types", fmt::format("`{}`", shorten(*type, 40)),
                                "full_attention or sliding_attention");
    }
  }

  void read_heads() {
    auto head = optional({"head_dim"}, kMostHeads);
    if (!head && family_.head_dim > 0) head = family_.head_dim;
    if (!head && model_.heads > 0 && model_.hidden % model_.heads != 0) {
      root_.problem(fmt::format("{} heads do not divide hidden_size {}", model_.heads, model_.hidden), "head_dim");
    }
    model_.head_dim = head.value_or(model_.heads > 0 ? model_.hidden / model_.heads : 1);
    if (model_.kv_heads < 1 || model_.heads % model_.kv_heads != 0) {
      root_.problem(fmt::format("{} key/value heads do not divide {} heads", model_.kv_heads, model_.heads),
                    "num_key_value_heads that divides num_attention_heads");
    }
  }

  void read_latent_attention() {
    if (!optional({"kv_lora_rank"}, kWidest)) return;
    LatentAttention latent;
    latent.query_rank = optional({"q_lora_rank"}, kWidest).value_or(0);
    latent.key_value_rank = required({"kv_lora_rank"}, kWidest);
    latent.nope_dim = required({"qk_nope_head_dim"}, kMostHeads);
    latent.rope_dim = required({"qk_rope_head_dim"}, kMostHeads);
    latent.value_dim = required({"v_head_dim"}, kMostHeads);
    model_.latent = latent;
  }

  void read_experts() {
    const auto routed = optional({"num_local_experts", "n_routed_experts", "num_experts"}, kMostRepeats);
    if (!routed) return;
    Experts experts;
    experts.routed = *routed;
    experts.per_token = required({"num_experts_per_tok"}, kMostRepeats);
    experts.width = optional({"moe_intermediate_size"}, kWidest).value_or(model_.width);
    if (experts.per_token > experts.routed) {
      root_.problem(fmt::format("{} experts per token of {}", experts.per_token, experts.routed),
                    "at most all of them");
    }
    if (const auto shared = optional({"n_shared_experts"}, kMostRepeats))
      experts.shared_width = *shared * experts.width;
    if (const auto width = optional({"shared_expert_intermediate_size"}, kWidest)) {
      experts.shared_width = *width;
      experts.shared_gate = true;
    }
    experts.routing_bias = model_.type == "deepseek_v3";
    experts.in = expert_layers();
    model_.experts = experts;
  }

  /// Some layers keep one feed-forward part although the model has experts.
  std::vector<bool> expert_layers() {
    const Count first = optional({"first_k_dense_replace"}, kMostRepeats, 0).value_or(0);
    const Count step = optional({"decoder_sparse_step", "moe_layer_freq"}, kMostRepeats).value_or(1);
    std::vector<bool> dense(static_cast<std::size_t>(model_.layers));
    for (std::size_t l = 0; l < dense.size(); ++l) {
      // Qwen counts (l + 1) % step, DeepSeek l % step; with the published step of 1 both mean every layer.
      const auto layer = static_cast<Count>(l);
      dense[l] = layer < first || (root_.find("decoder_sparse_step") ? layer + 1 : layer) % step != 0;
    }
    if (const auto only = root_.find("mlp_only_layers"); only && only->node().is_sequence()) {
      for (const Cursor& item : only->items()) {
        const auto layer = item.count(0, static_cast<Count>(dense.size()) - 1);
        if (layer) dense[static_cast<std::size_t>(*layer)] = true;
      }
    }
    dense.flip();
    return dense;
  }

  void refuse_what_has_no_counterpart() {
    for (const char* key : {"encoder_layers", "vision_config", "audio_config"})
      if (const auto found = root_.find(key); found && !found->node().is_null())
        log_.unsupported(found->node().at, key, "a part beside the decoder");
  }

  /// The first of the keys that is given; null counts as not given.
  std::optional<Count> optional(std::initializer_list<const char*> keys, Count most, Count least = 1) {
    for (const char* key : keys) {
      const auto found = root_.find(key);
      if (found && !found->node().is_null()) return found->count(least, most).value_or(1);
    }
    return std::nullopt;
  }
  /// `otherwise` is what the family means when it says nothing; 0 = it must say it.
  Count required(std::initializer_list<const char*> keys, Count most, Count otherwise = 0) {
    const auto value = optional(keys, most);
    if (!value && otherwise > 0) {
      log_.choice(root_.node().at, *keys.begin(),
                  fmt::format("{}, as {} has it when it says nothing", otherwise, model_.type));
      return otherwise;
    }
    if (!value) root_.require(*keys.begin(), "a size");
    return value.value_or(1);
  }
  std::optional<bool> flag(const char* key) {
    const auto found = root_.find(key);
    if (!found || found->node().is_null()) return std::nullopt;
    return found->flag();
  }

  Cursor root_;
  ImportLog& log_;
  Family family_{};
  LanguageModel model_;
};

}  // namespace

std::optional<LanguageModel> read_language_model(const SourceFile& file, ImportLog& log) {
  // JSON is YAML, and our YAML knows where everything stands.
  const YamlNode tree = parse_yaml(file.text, file.name, log.problems());
  return ModelReader(tree, log).read();
}

}  // namespace pliant
