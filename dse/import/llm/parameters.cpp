// SPDX-License-Identifier: Apache-2.0
#include "dse/import/llm/model.h"

namespace pliant {
namespace {

Count attention_parameters(const LanguageModel& m) {
  if (m.latent) {
    const LatentAttention& a = *m.latent;
    const Count queries = a.query_rank == 0
                              ? m.hidden * m.heads * a.key_dim()
                              : m.hidden * a.query_rank + a.query_rank + a.query_rank * m.heads * a.key_dim();
    const Count key_values = m.hidden * (a.key_value_rank + a.rope_dim) + a.key_value_rank +
                             a.key_value_rank * m.heads * (a.nope_dim + a.value_dim);
    return queries + key_values + m.heads * a.value_dim * m.hidden;
  }
  const Count queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
  Count all = m.hidden * (queries + 2 * keys) + queries * m.hidden;
  if (m.qkv_bias) all += queries + 2 * keys;
  if (m.output_bias) all += m.hidden;
  if (m.query_key_norm) all += 2 * m.head_dim;
  return all;
}

Count feed_forward_parameters(const LanguageModel& m, Count width) {
  const Count matrices = m.gated ? 3 : 2;
  const Count bias = m.mlp_bias ? (matrices - 1) * width + m.hidden : 0;
  return matrices * m.hidden * width + bias;
}

/// Of one layer with experts, when each token sees `experts` of them.
Count expert_parameters(const LanguageModel& m, Count experts) {
  const Experts& e = *m.experts;
  Count all = m.hidden * e.routed + experts * feed_forward_parameters(m, e.width);
  if (e.shared_width > 0) all += feed_forward_parameters(m, e.shared_width);
  if (e.shared_gate) all += m.hidden;
  if (e.routing_bias) all += e.routed;
  return all;
}

}  // namespace

ParameterCounts count_parameters(const LanguageModel& m) {
  const Count norm = m.norm_bias ? 2 * m.hidden : m.hidden;
  ParameterCounts counts;
  counts.embeddings = m.vocabulary * m.hidden * (m.tied ? 1 : 2) + m.positions * m.hidden;
  const Count common = counts.embeddings + norm + m.layers * (m.norms_per_layer() * norm + attention_parameters(m)) +
                       m.dense_layers() * feed_forward_parameters(m, m.width);
  counts.total = counts.active = common;
  if (m.experts) {
    counts.total += m.expert_layers() * expert_parameters(m, m.experts->routed);
    counts.active += m.expert_layers() * expert_parameters(m, m.experts->per_token);
  }
  return counts;
}

}  // namespace pliant
