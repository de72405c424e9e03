// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/arithmetic.h"
#include "core/workload_graph.h"
#include "dse/import/llm/model.h"

namespace pliant {
namespace {

using Operator = WorkloadGraph::Operator;

/// Layers of a model that are alike.
struct LayerKind {
  bool windowed = false, experts = false;
  bool operator==(const LayerKind&) const = default;
};

/// The layers [first, first + layers) follow one another `rounds` times.
struct Rounds {
  std::size_t first = 0, layers = 1;
  Count rounds = 1;
};

/// Writes a list of layers as repeated patterns; of those that reach equally far the shortest.
std::vector<Rounds> repeated(const std::vector<LayerKind>& kinds) {
  constexpr std::size_t kLongest = 16;
  std::vector<Rounds> all;
  for (std::size_t at = 0; at < kinds.size();) {
    Rounds best{at, 1, 1};
    for (std::size_t period = 1; period <= kLongest && at + period <= kinds.size(); ++period) {
      std::size_t end = at + period;
      while (end < kinds.size() && kinds[end] == kinds[end - period]) ++end;
      const auto rounds = static_cast<Count>((end - at) / period);
      if (rounds > 1 && static_cast<std::size_t>(rounds) * period > best.layers * static_cast<std::size_t>(best.rounds))
        best = {at, period, rounds};
    }
    all.push_back(best);
    at += best.layers * static_cast<std::size_t>(best.rounds);
  }
  return all;
}

/// The largest number of at most `most` that divides `value`.
Count largest_divisor(Count value, Count most) {
  for (Count d = std::min(value, most); d > 1; --d)
    if (value % d == 0) return d;
  return 1;
}

/// Builds rows and graph of a pass, layer by layer.
class Decoder {
 public:
  Decoder(const LanguageModel& model, std::string name, const ModelPass& pass)
      : m_(model), pass_(pass), tokens_(pass.is_prefill ? pass.length * pass.batch : pass.batch) {
    workload_.name = std::move(name);
    workload_.pass = {pass.batch, tokens_};
  }

  Workload build() {
    std::vector<LayerKind> kinds;
    for (std::size_t l = 0; l < static_cast<std::size_t>(m_.layers); ++l)
      kinds.push_back({m_.window > 0 && m_.window < pass_.cached + pass_.length && m_.windowed[l],
                       m_.experts && m_.experts->in[l]});
    int last = WorkloadGraph::kNetworkInput;
    for (const Rounds& block : repeated(kinds)) {
      const auto first = static_cast<int>(graph_.nodes.size());
      rounds_ = block.rounds;
      int input = block.rounds > 1 ? WorkloadGraph::kRoundBefore : last;
      for (std::size_t l = 0; l < block.layers; ++l) input = layer(kinds[block.first + l], input);
      if (block.rounds > 1)
        graph_.blocks.push_back({first, static_cast<int>(graph_.nodes.size()) - first, block.rounds, last});
      last = input;
    }
    rounds_ = 1;
    if (pass_.has_head) {
      // Only the last token of each sequence is projected to the vocabulary.
      const int norm = op(Operator::kNorm, "last_norm", {last}, pass_.batch * m_.hidden);
      product("lm_head", "lm_head", pass_.batch, m_.vocabulary, m_.hidden, 1, {norm});
    }
    workload_.graph = std::move(graph_);
    return std::move(workload_);
  }

 private:
  /// A node; the number of the node that it became.
  int take(WorkloadGraph::Node node, const std::string& name) {
    node.name = names_(name);
    extents_.push_back(extents_made(workload_, node, extents_));
    node.words = extents_.back().words;
    graph_.nodes.push_back(std::move(node));
    return static_cast<int>(graph_.nodes.size()) - 1;
  }

  /// `count` products of one shape that make something together; rows of one name are one entry of the table.
  int product(const std::string& row, const std::string& name, Count M, Count N, Count K, Count count,
              const std::vector<int>& from) {
    const auto known = std::ranges::find(workload_.layers, row, [](const Workload::Entry& e) { return e.layer.name; });
    WorkloadGraph::Node node;
    node.layer = static_cast<int>(known - workload_.layers.begin());
    if (known == workload_.layers.end()) {
      workload_.layers.push_back({make_gemm(row, {.M = M, .N = N, .K = K}), count * rounds_});
    } else {
      known->count += count * rounds_;
    }
    node.count = count;
    const Layer& layer = workload_.layers[static_cast<std::size_t>(node.layer)].layer;
    std::vector<int> operands;
    for (std::size_t x = 0; x < layer.tensors.size(); ++x)
      if (!layer.tensors[x].is_output()) operands.push_back(static_cast<int>(x));
    for (std::size_t i = 0; i < from.size(); ++i) node.from.push_back({from[i], operands[i]});
    return take(std::move(node), name);
  }

  int op(Operator work, const std::string& name, const std::vector<int>& from, Count words) {
    WorkloadGraph::Node node;
    node.work = work;
    node.words = words;
    for (std::size_t i = 0; i < from.size(); ++i) node.from.push_back({from[i], static_cast<int>(i)});
    return take(std::move(node), name);
  }

  int layer(const LayerKind& kind, int input) {
    const Count words = tokens_ * m_.hidden;
    const int norm = op(Operator::kNorm, "attn_norm", {input}, words);
    int attended = m_.latent ? latent_attention(norm) : attention(norm, kind.windowed);
    attended = product("attn_output", "attn_output", tokens_, m_.hidden,
                       m_.heads * (m_.latent ? m_.latent->value_dim : m_.head_dim), 1, {attended});
    if (m_.norms_after) attended = op(Operator::kNorm, "attn_norm_after", {attended}, words);
    const int sum = op(Operator::kAdd, "attn_add", {input, attended}, words);
    const int mlp_norm = op(Operator::kNorm, "mlp_norm", {sum}, words);
    int fed = kind.experts ? experts(mlp_norm) : feed_forward("mlp", mlp_norm, tokens_, m_.width, 1);
    if (m_.norms_after) fed = op(Operator::kNorm, "mlp_norm_after", {fed}, words);
    return op(Operator::kAdd, "mlp_add", {sum, fed}, words);
  }

  int attention(int norm, bool windowed) {
    const Count queries = m_.heads * m_.head_dim, keys = m_.kv_heads * m_.head_dim;
    int q = product("attn_q_proj", "attn_q_proj", tokens_, queries, m_.hidden, 1, {norm});
    int k = product("attn_kv_proj", "attn_k_proj", tokens_, keys, m_.hidden, 1, {norm});
    const int v = product("attn_kv_proj", "attn_v_proj", tokens_, keys, m_.hidden, 1, {norm});
    if (m_.query_key_norm) {
      q = op(Operator::kNorm, "attn_q_norm", {q}, tokens_ * queries);
      k = op(Operator::kNorm, "attn_k_norm", {k}, tokens_ * keys);
    }
    if (pass_.is_prefill) {
      op(Operator::kOutput, "attn_k_cache", {k}, tokens_ * keys);
      op(Operator::kOutput, "attn_v_cache", {v}, tokens_ * keys);
      if (pass_.cached > 0) return attend(rows_in_view(windowed), m_.heads * pass_.batch, m_.head_dim, m_.head_dim, q);
      return attend(rows_in_view(windowed), m_.heads * pass_.batch, m_.head_dim, m_.head_dim, q, k, v);
    }
    // The cache comes from outside. Query heads that share a key/value head read the same part of it: they are the rows
    // of one product.
    return attend({.queries = m_.heads / m_.kv_heads,
                   .keys = windowed ? m_.window : pass_.length,
                   .suffix = windowed ? "_window" : ""},
                  m_.kv_heads * pass_.batch, m_.head_dim, m_.head_dim, q);
  }

  /// The scores of one head: `blocks` of so many queries, each with so many keys.
  struct View {
    Count queries = 0, keys = 0, blocks = 1;
    std::string suffix{};
  };

  /// Under a window a block of queries sees its own keys and as many before them as the window is long. Blocks are at
  /// most a quarter of it, so at most that much more is counted than the window asks for; they divide both lengths, so
  /// all blocks together read every key equally often.
  View rows_in_view(bool windowed) const {
    const Count length = pass_.length;
    // A part of a prompt is short: its queries see what is cached, or as much of it as the window holds.
    if (pass_.cached > 0)
      return {length, length + (windowed ? std::min(m_.window, pass_.cached) : pass_.cached), 1,
              windowed ? "_window" : ""};
    if (!windowed) return {length, length, 1, ""};
    const Count block = largest_divisor(std::gcd(length, m_.window), std::max<Count>(1, m_.window / 4));
    return {block, m_.window + block, length / block, "_window"};
  }

  int attend(const View& view, Count products, Count key_dim, Count value_dim, int q,
             int k = WorkloadGraph::kNetworkInput, int v = WorkloadGraph::kNetworkInput) {
    const Count count = products * view.blocks;
    const auto operands = [](int first, int second) {
      return second >= 0 ? std::vector<int>{first, second} : std::vector<int>{first};
    };
    const int score =
        product("attn_score" + view.suffix, "attn_score", view.queries, view.keys, key_dim, count, operands(q, k));
    const int weights = op(Operator::kSoftmax, "attn_weights", {score}, count * view.queries * view.keys);
    graph_.nodes.back().online = true;
    return product("attn_context" + view.suffix, "attn_context", view.queries, value_dim, view.keys, count,
                   operands(weights, v));
  }

  int latent_attention(int norm) {
    const LatentAttention& a = *m_.latent;
    int q = norm;
    if (a.query_rank > 0) {
      q = product("attn_q_down", "attn_q_down", tokens_, a.query_rank, m_.hidden, 1, {norm});
      q = op(Operator::kNorm, "attn_q_norm", {q}, tokens_ * a.query_rank);
    }
    q = product("attn_q_up", "attn_q_up", tokens_, m_.heads * a.key_dim(), a.query_rank > 0 ? a.query_rank : m_.hidden,
                1, {q});
    const int down =
        product("attn_kv_down", "attn_kv_down", tokens_, a.key_value_rank + a.rope_dim, m_.hidden, 1, {norm});
    const int latent = op(Operator::kNorm, "attn_kv_norm", {down}, tokens_ * a.key_value_rank);
    op(Operator::kPart, "attn_rope_cache", {down}, tokens_ * a.rope_dim);
    if (!pass_.is_prefill) return absorbed_attention(q);
    op(Operator::kOutput, "attn_latent_cache", {latent}, tokens_ * a.key_value_rank);
    if (pass_.cached > 0) {
      // Keys and values of the whole cache are made again from their latent vectors.
      product("attn_kv_up", "attn_kv_up", (pass_.cached + pass_.length) * pass_.batch,
              m_.heads * (a.nope_dim + a.value_dim), a.key_value_rank, 1, {});
      return attend(rows_in_view(false), m_.heads * pass_.batch, a.key_dim(), a.value_dim, q);
    }
    const int up = product("attn_kv_up", "attn_kv_up", tokens_, m_.heads * (a.nope_dim + a.value_dim), a.key_value_rank,
                           1, {latent});
    const int keys = op(Operator::kConcat, "attn_keys", {up, down}, tokens_ * m_.heads * a.key_dim());
    const int values = op(Operator::kPart, "attn_values", {up}, tokens_ * m_.heads * a.value_dim);
    return attend(rows_in_view(false), m_.heads * pass_.batch, a.key_dim(), a.value_dim, q, keys, values);
  }

  /// The cache holds the latent vectors; their up-projections are absorbed into queries and outputs, head by head.
  int absorbed_attention(int q) {
    const LatentAttention& a = *m_.latent;
    const Count batch = pass_.batch;
    const int nope = op(Operator::kPart, "attn_q_nope", {q}, batch * m_.heads * a.nope_dim);
    const int absorbed =
        product("attn_q_absorb", "attn_q_absorb", batch, a.key_value_rank, a.nope_dim, m_.heads, {nope});
    const int queries =
        op(Operator::kConcat, "attn_queries", {absorbed, q}, batch * m_.heads * (a.key_value_rank + a.rope_dim));
    const int context = attend({.queries = m_.heads, .keys = pass_.length}, batch, a.key_value_rank + a.rope_dim,
                               a.key_value_rank, queries);
    return product("attn_v_absorb", "attn_v_absorb", batch, a.value_dim, a.key_value_rank, m_.heads, {context});
  }

  /// `count` such parts, each of so many tokens.
  int feed_forward(const std::string& name, int input, Count tokens, Count width, Count count) {
    const Count words = tokens * width * count;
    int inside = 0;
    if (m_.gated) {
      int gate = product(name + "_gate_up", name + "_gate", tokens, width, m_.hidden, count, {input});
      gate = op(Operator::kActivation, name + "_activation", {gate}, words);
      const int up = product(name + "_gate_up", name + "_up", tokens, width, m_.hidden, count, {input});
      inside = op(Operator::kAdd, name + "_product", {gate, up}, words);
    } else {
      inside = product(name + "_up", name + "_up", tokens, width, m_.hidden, count, {input});
      inside = op(Operator::kActivation, name + "_activation", {inside}, words);
    }
    return product(name + "_down", name + "_down", tokens, m_.hidden, width, count, {inside});
  }

  /// Each expert is sent its own copies.
  int experts(int norm) {
    const Experts& e = *m_.experts;
    const int router = product("moe_router", "moe_router", tokens_, e.routed, m_.hidden, 1, {norm});
    std::vector<int> parts{router};
    const std::vector<ExpertLoad> loads =
        expert_loads(e, pass_.routed_tokens > 0 ? pass_.routed_tokens : tokens_, pass_.skew);
    for (std::size_t i = 0; i < loads.size(); ++i) {
      const std::string name = i == 0 ? "expert" : i == 1 ? "expert_less" : fmt::format("expert_less_{}", i);
      const int input = op(Operator::kPool, name + "_input", {norm}, loads[i].tokens * loads[i].experts * m_.hidden);
      parts.push_back(feed_forward(name, input, loads[i].tokens, e.width, loads[i].experts));
    }
    if (e.shared_width > 0) parts.push_back(feed_forward("expert_shared", norm, tokens_, e.shared_width, 1));
    return op(Operator::kAdd, "expert_sum", parts, tokens_ * m_.hidden);
  }

  const LanguageModel& m_;
  ModelPass pass_;
  Count tokens_ = 0;  ///< of all sequences together
  Count rounds_ = 1;  ///< of the block at hand
  Workload workload_;
  WorkloadGraph graph_;
  std::vector<TensorExtents> extents_;  ///< by node
  UniqueNames names_;
};

}  // namespace

std::vector<ExpertLoad> expert_loads(const Experts& experts, Count tokens, double skew) {
  const Count sent = tokens * experts.per_token;
  std::vector<Count> each(static_cast<std::size_t>(experts.routed));
  double weights = 0, carried = 0;
  for (Count r = 1; r <= experts.routed; ++r) weights += std::pow(static_cast<double>(r), -skew);
  for (Count r = 0; r < experts.routed; ++r) {
    Count& own = each[static_cast<std::size_t>(r)];
    own = sent / experts.routed + (r < sent % experts.routed ? 1 : 0);
    if (skew == 0) continue;
    // What one expert cannot take, and what rounding leaves, goes to the next.
    const double share = std::pow(static_cast<double>(r + 1), -skew) / weights;
    const double asked = share * static_cast<double>(sent) + carried;
    own = std::clamp<Count>(static_cast<Count>(std::floor(asked + 0.5)), 0, tokens);
    carried = asked - static_cast<double>(own);
    Count unit = 1;
    while (own / unit >= 16) unit *= 2;
    own = std::min(tokens, ceil_div(own, unit) * unit);
  }
  std::ranges::sort(each, std::greater{});
  std::vector<ExpertLoad> loads;
  for (std::size_t r = 0; r < each.size() && each[r] > 0; r += static_cast<std::size_t>(experts.chips)) {
    if (loads.empty() || loads.back().tokens != each[r]) loads.push_back({each[r], 0});
    ++loads.back().experts;
  }
  return loads;
}

Workload pass_workload(const LanguageModel& model, std::string name, const ModelPass& pass) {
  return Decoder(model, std::move(name), pass).build();
}

}  // namespace pliant
