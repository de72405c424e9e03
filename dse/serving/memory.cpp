// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/arithmetic.h"
#include "dse/mappers/residency/operator_cost.h"
#include "dse/serving/shard.h"

namespace pliant::serving {

namespace {

constexpr Count kLargestBatch = Count{1} << 20;  ///< as importers have it

/// Sequences of the busiest of the groups that attend by themselves.
Count own_sequences(Count batch, const Division& division) { return ceil_div(batch, division.ep); }

/// Parameters of the busiest chip: those of its shard; the experts that are elsewhere are not.
double parameters_here(const LanguageModel& shard, bool first, bool last) {
  LanguageModel part = shard;
  if (part.experts) part.experts->routed = shard.experts->routed / shard.experts->chips;
  const ParameterCounts counts = count_parameters(part);
  auto all = static_cast<double>(counts.total);
  const double embedding = static_cast<double>(shard.vocabulary) * static_cast<double>(shard.hidden);
  if (!first) all -= embedding + static_cast<double>(shard.positions * shard.hidden);
  if (!last && !shard.tied) all -= embedding;
  if (!first && last && shard.tied) all += embedding;
  if (part.experts)  // The router knows all experts.
    all += static_cast<double>(shard.expert_layers()) * static_cast<double>(shard.hidden) *
           static_cast<double>(shard.experts->routed - part.experts->routed);
  return all;
}

double activations_bytes(const Request& request, const LanguageModel& shard, Count batch) {
  const Count tokens = request.chunk > 0 ? std::min(request.chunk, request.prompt) : request.prompt;
  const Workload pass = pass_workload(
      shard, "", {.is_prefill = true, .length = tokens, .batch = batch, .routed_tokens = 0, .skew = request.skew});
  const int level = residency::outside_level(request.accelerator, Role::kInput);
  double most = 0;
  for (const auto& [layer, count] : pass.layers) {
    double bytes = 0;
    for (int x = 0; x < static_cast<int>(layer.tensors.size()); ++x)
      if (layer.tensors[static_cast<std::size_t>(x)].role != Role::kWeight)
        bytes += static_cast<double>(layer.tensor_words(x)) * request.accelerator.element_bits(level, layer, x) / 8;
    most = std::max(most, bytes);
  }
  return most;
}

MemoryNeed need_of_stage(const Request& request, Count stage, Count batch) {
  const LanguageModel shard = shard_of(request.model, request.division, stage);
  const Count own = own_sequences(batch, request.division);
  MemoryNeed need;
  need.weights_bytes =
      parameters_here(shard, stage == 0, is_last_stage(request.division, stage)) * weight_bits(request) / 8;
  need.cache_bytes_per_sequence = cache_bytes(shard, request.prompt + request.output, cache_bits(request));
  need.cache_bytes = need.cache_bytes_per_sequence * static_cast<double>(own);
  need.activations_bytes = activations_bytes(request, shard, own);
  return need;
}

/// Of the stage that needs most.
MemoryNeed need_of(const Request& request, Count batch) {
  MemoryNeed most;
  for (Count stage = 0; stage < request.division.pp; ++stage) {
    MemoryNeed need = need_of_stage(request, stage, batch);
    if (stage == 0 || need.all_bytes() > most.all_bytes()) most = std::move(need);
  }
  return most;
}

}  // namespace

int weight_bits(const Request& request) {
  return request.weight_bits.value_or(
      request.accelerator.element_bits(residency::outside_level(request.accelerator, Role::kWeight), Role::kWeight));
}

int cache_bits(const Request& request) {
  return request.kv_bits.value_or(
      request.accelerator.element_bits(residency::outside_level(request.accelerator, Role::kWeight), Role::kWeight));
}

double cache_bytes(const LanguageModel& shard, Count tokens, int bits) {
  const Count words =
      shard.latent ? shard.latent->key_value_rank + shard.latent->rope_dim : 2 * shard.kv_heads * shard.head_dim;
  double all = 0;
  for (Count l = 0; l < shard.layers; ++l) {
    const bool windowed = shard.window > 0 && !shard.windowed.empty() && shard.windowed[static_cast<std::size_t>(l)];
    all += static_cast<double>(words) * static_cast<double>(windowed ? std::min(tokens, shard.window) : tokens);
  }
  return all * bits / 8;
}

MemoryNeed memory_need(const Request& request) {
  MemoryNeed need = need_of(request, request.batch);
  const int level = residency::outside_level(request.accelerator, Role::kWeight);
  const Level& outside = request.accelerator.levels[static_cast<std::size_t>(level)];
  need.memory = outside.name;
  need.capacity_bytes = request.memory_bytes;
  if (!need.capacity_bytes && outside.memory().capacity_words)
    need.capacity_bytes = static_cast<double>(*outside.memory().capacity_words) * outside.memory().word_bits / 8 *
                          static_cast<double>(request.accelerator.instances(level));
  if (!need.capacity_bytes) return need;
  // More sequences never need less, so the largest batch is found by halving.
  Count fits = 0, too_many = kLargestBatch + 1;
  while (too_many - fits > 1) {
    const Count middle = fits + (too_many - fits) / 2;
    (need_of(request, middle).all_bytes() <= *need.capacity_bytes ? fits : too_many) = middle;
  }
  need.largest_batch = fits;
  return need;
}

std::string what_would_fit(const Request& request, const MemoryNeed& need) {
  std::vector<std::string> ways;
  if (*need.largest_batch > 0) ways.push_back(fmt::format("--batch {}", *need.largest_batch));
  const auto fits = [&](Request other) {
    other.accelerator.links.reset();
    return memory_need(other).fits();
  };
  for (const int bits : {8, 4}) {
    Request narrow = request;
    if (bits >= weight_bits(request)) continue;
    narrow.weight_bits = bits;
    if (!fits(narrow)) continue;
    ways.push_back(fmt::format("--weight-bits {}", bits));
    break;
  }
  for (Count chips = request.division.chips() * 2; chips <= 1024; chips *= 2) {
    const auto all = divisions_of(request.model, chips);
    const auto good = std::ranges::find_if(all, [&](const Division& division) {
      Request more = request;
      more.division = division;
      return fits(more);
    });
    if (good == all.end()) continue;
    ways.push_back(fmt::format("{} chips ({})", chips, to_string(*good)));
    break;
  }
  if (ways.empty()) return "a larger memory (--memory)";
  std::string text = ways.front();
  for (std::size_t i = 1; i < ways.size(); ++i) text += (i + 1 == ways.size() ? ", or " : ", ") + ways[i];
  return text;
}

}  // namespace pliant::serving
