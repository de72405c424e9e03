// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/shard.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/arithmetic.h"

namespace pliant::serving {

std::string to_string(const Division& division) {
  std::string text = fmt::format("TP {}", division.tp);
  if (division.pp > 1) text += fmt::format(" x PP {}", division.pp);
  if (division.ep > 1) text += fmt::format(" x EP {}", division.ep);
  return text;
}

std::optional<std::string> cannot_divide(const LanguageModel& m, const Division& d) {
  if (d.tp < 1 || d.pp < 1 || d.ep < 1) return "a model has at least one part";
  if (m.heads % d.tp != 0) return fmt::format("{} heads do not divide among {} chips", m.heads, d.tp);
  if (!m.latent && m.kv_heads % d.tp != 0 && d.tp % m.kv_heads != 0)
    return fmt::format("{} key/value heads do not divide among {} chips", m.kv_heads, d.tp);
  if (m.dense_layers() > 0 && m.width % d.tp != 0)
    return fmt::format("a feed-forward width of {} does not divide among {} chips", m.width, d.tp);
  if (d.pp > m.layers) return fmt::format("{} layers are fewer than {} stages", m.layers, d.pp);
  if (!m.experts)
    return d.ep > 1 ? std::optional<std::string>("a model without experts has none to divide") : std::nullopt;
  const Experts& e = *m.experts;
  if (e.width % d.tp != 0) return fmt::format("an expert's width of {} does not divide among {} chips", e.width, d.tp);
  if (e.shared_width % d.tp != 0)
    return fmt::format("shared experts of width {} do not divide among {} chips", e.shared_width, d.tp);
  if (e.routed % d.ep != 0) return fmt::format("{} experts do not divide among {} chips", e.routed, d.ep);
  return std::nullopt;
}

bool is_last_stage(const Division& division, Count stage) { return stage + 1 == division.pp; }

LanguageModel shard_of(const LanguageModel& model, const Division& d, Count stage) {
  LanguageModel shard = model;
  shard.heads /= d.tp;
  shard.kv_heads = std::max<Count>(1, model.kv_heads / d.tp);
  shard.width = ceil_div(model.width, d.tp);
  shard.vocabulary = ceil_div(model.vocabulary, d.tp);
  // The first stages have one layer more where the layers do not divide; the last has the vocabulary besides.
  const Count more = model.layers % d.pp, each = model.layers / d.pp;
  const Count first = stage * each + std::min(stage, more);
  shard.layers = each + (stage < more ? 1 : 0);
  const auto slice = [&](const std::vector<bool>& all) {
    return std::vector<bool>(all.begin() + first, all.begin() + first + shard.layers);
  };
  if (!model.windowed.empty()) shard.windowed = slice(model.windowed);
  if (shard.experts) {
    shard.experts->in = slice(model.experts->in);
    shard.experts->width /= d.tp;
    shard.experts->shared_width /= d.tp;
    shard.experts->chips = d.ep;
  }
  return shard;
}

std::vector<Division> divisions_of(const LanguageModel& model, Count chips) {
  std::vector<Division> all;
  for (Count tp = 1; tp <= chips; ++tp) {
    if (chips % tp != 0) continue;
    for (Count pp = 1; pp <= chips / tp; ++pp) {
      if (chips / tp % pp != 0) continue;
      const Division division{tp, pp, chips / tp / pp};
      if (!cannot_divide(model, division)) all.push_back(division);
    }
  }
  return all;
}

}  // namespace pliant::serving
