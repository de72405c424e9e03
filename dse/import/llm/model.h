// SPDX-License-Identifier: Apache-2.0
// A decoder-only language model as far as its matrix products and its parameters are concerned.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
#include "dse/import/imported.h"

namespace pliant {

/// Multi-head latent attention: queries, keys and values go through narrow projections.
struct LatentAttention {
  Count query_rank = 0;  ///< 0 = queries are projected directly
  Count key_value_rank = 0;
  Count nope_dim = 0, rope_dim = 0;  ///< of a head's query and key: without and with a rotary position
  Count value_dim = 0;
  Count key_dim() const { return nope_dim + rope_dim; }
};

/// Layers whose feed-forward part is a choice of experts.
struct Experts {
  std::vector<bool> in;  ///< by layer of the model
  Count routed = 0, per_token = 0;
  Count width = 0;         ///< of one routed expert
  Count shared_width = 0;  ///< of all shared experts together; 0 = none
  bool shared_gate = false;
  bool routing_bias = false;
  Count chips = 1;  ///< that the routed experts are divided among; what runs here is the share of the busiest
};

struct LanguageModel {
  std::string type;  ///< "llama"
  std::string name;  ///< as its publisher calls it; "" = the file does not say
  Count layers = 0, hidden = 0, vocabulary = 0;
  Count heads = 0, kv_heads = 0, head_dim = 0;
  std::optional<LatentAttention> latent;
  Count width = 0;    ///< of the dense feed-forward part
  bool gated = true;  ///< gate and up, then down; else up and down
  std::optional<Experts> experts;
  bool tied = false;  ///< the vocabulary projection shares the embedding's weights
  bool query_key_norm = false;
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  Count positions = 0;           ///< learned position embeddings
  bool norms_after = false;      ///< what attention and feed-forward part give is normalised once more
  Count window = 0;              ///< tokens that a layer with a window attends to; 0 = none has one
  std::vector<bool> windowed{};  ///< by layer
  bool norm_bias = false;        ///< a layer norm has weight and bias, an RMS norm a weight

  Count expert_layers() const { return experts ? std::ranges::count(experts->in, true) : 0; }
  Count dense_layers() const { return layers - expert_layers(); }
  int norms_per_layer() const { return norms_after ? 4 : 2; }
};

/// Reads a configuration; nothing after noting problems.
std::optional<LanguageModel> read_language_model(const SourceFile& file, ImportLog& log);

struct ParameterCounts {
  Count total = 0;
  Count embeddings = 0;  ///< of these, token and position embeddings and an untied vocabulary projection
  Count active = 0;      ///< used for one token: without the experts it is not sent to
};
ParameterCounts count_parameters(const LanguageModel& model);

/// One pass of `batch` sequences: a prompt of so many tokens, or one more token with so many in the cache.
struct ModelPass {
  bool is_prefill = true;
  Count length = 0, batch = 1;
  Count cached = 0;         ///< of a part of a prompt: tokens of it that are in the cache
  Count routed_tokens = 0;  ///< that experts are chosen for, on all chips together; 0 = those of the pass
  double skew = 0;          ///< the r-th expert is asked for in proportion to r^-skew; 0 = all alike
  bool has_head = true;     ///< ends with the projection to the vocabulary
};

/// How many experts get how many tokens: as evenly as can be, or skewed and then rounded up to four binary digits (so
/// that few sizes occur). Each token goes to different experts, so none gets more than all tokens. Of the experts, in
/// order of their tokens, every `chips`-th one is here.
struct ExpertLoad {
  Count tokens = 0, experts = 0;
};
std::vector<ExpertLoad> expert_loads(const Experts& experts, Count tokens, double skew);
/// The matrix products of a pass, and what they and the operators between them read from each other.
Workload pass_workload(const LanguageModel& model, std::string name, const ModelPass& pass);

}  // namespace pliant
