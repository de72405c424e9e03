// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "dse/import/llm/model.h"

namespace pliant {
namespace {

/// Adds the products of a model one after the other.
class Products {
 public:
  Products(const LanguageModel& model, std::string name) : model_(model) { workload_.name = std::move(name); }

  void add(std::string name, Count M, Count N, Count K, Count count) {
    if (M > 0 && count > 0) workload_.layers.push_back({make_gemm(std::move(name), {.M = M, .N = N, .K = K}), count});
  }

  /// What stands around the attention scores; `tokens` of all sequences together.
  void query_key_value(Count tokens) {
    const LanguageModel& m = model_;
    if (!m.latent) {
      add("attn_q_proj", tokens, m.heads * m.head_dim, m.hidden, m.layers);
      add("attn_kv_proj", tokens, m.kv_heads * m.head_dim, m.hidden, 2 * m.layers);
      return;
    }
    const LatentAttention& a = *m.latent;
    if (a.query_rank > 0) add("attn_q_down", tokens, a.query_rank, m.hidden, m.layers);
    add("attn_q_up", tokens, m.heads * a.key_dim(), a.query_rank > 0 ? a.query_rank : m.hidden, m.layers);
    add("attn_kv_down", tokens, a.key_value_rank + a.rope_dim, m.hidden, m.layers);
  }

  void output(Count tokens) {
    const LanguageModel& m = model_;
    add("attn_output", tokens, m.hidden, m.heads * (m.latent ? m.latent->value_dim : m.head_dim), m.layers);
  }

  void feed_forward(Count tokens) {
    const LanguageModel& m = model_;
    two_or_three("mlp", tokens, m.width, m.dense_layers());
    if (!m.experts) return;
    const Experts& e = *m.experts;
    add("moe_router", tokens, e.routed, m.hidden, e.layers);
    // Tokens are spread evenly: some experts get one more than the others.
    const Count sent = tokens * e.per_token, less = sent / e.routed, with_more = sent % e.routed;
    two_or_three("expert", less + 1, e.width, with_more * e.layers);
    two_or_three(with_more > 0 ? "expert_less" : "expert", less, e.width, (e.routed - with_more) * e.layers);
    if (e.shared_width > 0) two_or_three("expert_shared", tokens, e.shared_width, e.layers);
  }

  /// Only the last token of each sequence is projected to the vocabulary.
  void vocabulary(Count sequences) { add("lm_head", sequences, model_.vocabulary, model_.hidden, 1); }

  Workload take(const Workload::Pass& pass) {
    workload_.pass = pass;
    return std::move(workload_);
  }

 private:
  void two_or_three(const std::string& name, Count tokens, Count width, Count count) {
    add(name + (model_.gated ? "_gate_up" : "_up"), tokens, width, model_.hidden, (model_.gated ? 2 : 1) * count);
    add(name + "_down", tokens, model_.hidden, width, count);
  }

  const LanguageModel& model_;
  Workload workload_;
};

}  // namespace

Workload prefill_workload(const LanguageModel& m, std::string name, Count tokens, Count batch) {
  Products products(m, std::move(name));
  const Count all = tokens * batch, heads = m.heads * m.layers * batch;
  products.query_key_value(all);
  if (m.latent) {
    products.add("attn_kv_up", all, m.heads * (m.latent->nope_dim + m.latent->value_dim), m.latent->key_value_rank,
                 m.layers);
  }
  products.add("attn_score", tokens, tokens, m.latent ? m.latent->key_dim() : m.head_dim, heads);
  products.add("attn_context", tokens, m.latent ? m.latent->value_dim : m.head_dim, tokens, heads);
  products.output(all);
  products.feed_forward(all);
  products.vocabulary(batch);
  return products.take({batch, all});
}

Workload decode_workload(const LanguageModel& m, std::string name, Count cached, Count batch) {
  Products products(m, std::move(name));
  products.query_key_value(batch);
  if (m.latent) {
    // The cache holds the latent vectors; their up-projections are absorbed into queries and outputs, head by head.
    const LatentAttention& a = *m.latent;
    products.add("attn_q_absorb", batch, a.key_value_rank, a.nope_dim, m.heads * m.layers);
    products.add("attn_score", m.heads, cached, a.key_value_rank + a.rope_dim, batch * m.layers);
    products.add("attn_context", m.heads, a.key_value_rank, cached, batch * m.layers);
    products.add("attn_v_absorb", batch, a.value_dim, a.key_value_rank, m.heads * m.layers);
  } else {
    // Query heads that share a key/value head read the same cache: they are the rows of one product.
    const Count group = m.heads / m.kv_heads, products_of_all = m.kv_heads * m.layers * batch;
    products.add("attn_score", group, cached, m.head_dim, products_of_all);
    products.add("attn_context", group, m.head_dim, cached, products_of_all);
  }
  products.output(batch);
  products.feed_forward(batch);
  products.vocabulary(batch);
  return products.take({batch, batch});
}

}  // namespace pliant
