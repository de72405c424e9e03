// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/stage.h"

#include <algorithm>

#include "dse/mappers/residency/operator_cost.h"
#include "dse/serving/collectives.h"
#include "dse/serving/shard.h"

namespace pliant::serving {

namespace {

bool reads_cache(const Layer& layer) {
  return layer.name.starts_with("attn_score") || layer.name.starts_with("attn_context");
}

/// Grows with the context: attention, and the keys that a latent cache is turned into for a part of a prompt.
bool grows(const Layer& layer, const ModelPass& pass) {
  return reads_cache(layer) || (pass.is_prefill && layer.name == "attn_kv_up");
}

/// Of layers that all attend to everything: windows shorten the context instead.
LanguageModel without_windows(LanguageModel model) {
  model.window = 0;
  model.windowed.clear();
  return model;
}

}  // namespace

void add_kind(std::vector<KindSpent>& kinds, const KindSpent& more) {
  const auto known = std::ranges::find(kinds, more.kind, &KindSpent::kind);
  if (known == kinds.end()) {
    kinds.push_back(more);
  } else {
    known->count += more.count;
    known->spent += more.spent;
  }
}

Spent sum_of(const std::vector<KindSpent>& kinds) {
  Spent sum;
  for (const KindSpent& one : kinds) sum += one.spent;
  return sum;
}

Stage::Stage(RowCosts& costs, Count stage, Count sequences)
    : costs_(costs),
      request_(costs.request()),
      shard_(shard_of(request_.model, request_.division, stage)),
      sequences_(sequences),
      last_(is_last_stage(request_.division, stage)) {}

ModelPass Stage::pass(Count tokens, bool is_prefill) const {
  ModelPass pass{.is_prefill = is_prefill, .length = tokens, .batch = sequences_};
  pass.routed_tokens = sequences_ * request_.division.ep * (is_prefill ? tokens : 1);
  pass.skew = request_.skew;
  pass.has_head = last_;
  return pass;
}

Count Stage::full_layers() const {
  return shard_.window > 0 ? shard_.layers - std::ranges::count(shard_.windowed, true) : shard_.layers;
}

Spent Stage::of_all_chips(Spent one) const {
  const auto chips = static_cast<double>(request_.division.tp * request_.division.ep);
  one.energy_pj *= chips;
  if (request_.objective == Objective::kEnergy) one.least *= chips;
  return one;
}

std::vector<KindSpent> Stage::prompt(Count tokens) { return cost(shard_, pass(tokens, true), true); }

std::vector<KindSpent> Stage::without_attention(Count tokens, bool is_prefill) {
  return cost(without_windows(shard_), pass(tokens, is_prefill), false);
}

std::vector<KindSpent> Stage::cost(const LanguageModel& model, const ModelPass& pass, bool with_attention) {
  const Workload workload = pass_workload(model, "", pass);
  std::vector<KindSpent> kinds;
  for (const auto& [layer, count] : workload.layers) {
    if (!with_attention && grows(layer, pass)) continue;
    const Spent& one = costs_.of(costs_.with_widths(layer, reads_cache(layer)));
    kinds.push_back({layer.name, count, of_all_chips(one * static_cast<double>(count))});
  }
  kinds.push_back(operators(workload, with_attention));
  const Count tokens = sequences_ * (pass.is_prefill ? pass.length : 1);
  if (request_.accelerator.vector) kinds.push_back(rotary_and_sampling(tokens));
  if (request_.division.chips() > 1) kinds.push_back(links(tokens));
  return kinds;
}

/// Every operator by itself, its operands and results outside.
KindSpent Stage::operators(const Workload& workload, bool with_softmax) const {
  std::vector<Task> rows;
  for (const auto& [layer, count] : workload.layers) {
    Task task;
    task.layer = layer;
    task.accelerator = request_.accelerator;
    task.flexibility = request_.accelerator.flexibility_of(layer);
    rows.push_back(std::move(task));
  }
  const residency::LiveTensors live = residency::live_tensors(workload, rows);
  KindSpent all{"operators", 0, {}};
  for (const residency::Step& step : live.steps) {
    if (step.row >= 0) continue;
    const WorkloadGraph::Node& node = workload.graph->nodes[static_cast<std::size_t>(step.node)];
    if (!with_softmax && node.work == WorkloadGraph::Operator::kSoftmax) continue;
    all.count += step.count;
    all.spent += spent(residency::operator_cost(rows, step, live, std::vector(step.reads.size(), residency::kOutside),
                                                residency::kOutside));
  }
  all.spent = of_all_chips(all.spent);
  return all;
}

Spent Stage::spent(const residency::OperatorCost& cost) const {
  Spent one{cost.cycles, cost.energy_pj, 0};
  one.least = one.value(request_.objective);
  return one;
}

KindSpent Stage::rotary_and_sampling(Count tokens) const {
  const VectorUnit& unit = *request_.accelerator.vector;
  const Count turned =
      shard_.latent ? shard_.latent->rope_dim * (shard_.heads + 1) : shard_.head_dim * (shard_.heads + shard_.kv_heads);
  const auto worked = [&](double ops) { return spent(residency::with_vector_work(request_.accelerator, {}, ops)); };
  Spent all = worked(static_cast<double>(tokens * turned) * static_cast<double>(shard_.layers) * unit.rotary_ops);
  if (last_) all += worked(static_cast<double>(sequences_ * shard_.vocabulary) * unit.sampling_ops);
  return {"rotary and sampling", shard_.layers + (last_ ? 1 : 0), of_all_chips(all)};
}

KindSpent Stage::links(Count tokens) const {
  const Links& links = *request_.accelerator.links;
  const Division& d = request_.division;
  const int level = residency::outside_level(request_.accelerator, Role::kOutput);
  const double bytes = request_.accelerator.element_bits(level, Role::kOutput) / 8.0;
  const double stream = static_cast<double>(tokens * shard_.hidden) * bytes;
  KindSpent all{"links", 0, {}};
  const auto add = [&](Collective what, double size, Count among, double times, double groups) {
    if (among <= 1 || times == 0) return;
    const Sent sent = collective(links, what, size, among);
    all.count += static_cast<Count>(times);
    all.spent.cycles += sent.seconds * *request_.accelerator.clock_hz * times;
    all.spent.energy_pj += sent.energy_pj * times * groups;
  };
  const auto layers = static_cast<double>(shard_.layers);
  // What attention and feed-forward part give is summed over the chips that share their matrices.
  add(Collective::kAllReduce, stream, d.tp, 2 * layers, static_cast<double>(d.ep));
  if (shard_.experts)
    add(Collective::kAllToAll, stream * static_cast<double>(shard_.experts->per_token), d.ep,
        2 * static_cast<double>(shard_.expert_layers()), static_cast<double>(d.tp));
  if (last_)
    add(Collective::kAllGather, static_cast<double>(sequences_ * request_.model.vocabulary) * bytes, d.tp, 1,
        static_cast<double>(d.ep));
  if (!last_) {
    const Sent sent = collective(links, Collective::kSend, stream / static_cast<double>(d.tp), 2);
    all.count += 1;
    all.spent.cycles += sent.seconds * *request_.accelerator.clock_hz;
    all.spent.energy_pj += sent.energy_pj * static_cast<double>(d.tp * d.ep);
  }
  all.spent.energy_pj +=
      all.spent.cycles * residency::leak_pj_per_cycle(request_.accelerator) * static_cast<double>(d.tp * d.ep);
  all.spent.least = all.spent.value(request_.objective);
  return all;
}

std::vector<ContextRow> Stage::attention_rows(Count tokens, bool is_prefill) const {
  // Of a context that is no other size of the pass; the sizes themselves do not matter.
  LanguageModel one = without_windows(shard_);
  one.layers = 1;
  if (one.experts) one.experts->in.assign(1, false);
  ModelPass shape = pass(is_prefill ? tokens : 1, is_prefill);
  if (is_prefill) shape.cached = tokens;
  std::vector<ContextRow> rows;
  for (const auto& [layer, count] : pass_workload(one, "", shape).layers) {
    if (!grows(layer, shape)) continue;
    ContextRow row{costs_.with_widths(layer, reads_cache(layer)), 0, 1, count};
    const bool scores = layer.name == "attn_score", values = layer.name == "attn_context";
    row.dim = layer.find_dim(scores ? "N" : values ? "K" : "M");
    if (!scores && !values) row.factor = sequences_;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::function<Spent(Count)> Stage::softmax(Count tokens, bool is_prefill) const {
  const std::vector<ContextRow> rows = attention_rows(tokens, is_prefill);
  const auto scores = std::ranges::find_if(rows, [](const ContextRow& row) { return row.layer.name == "attn_score"; });
  const Layer& layer = scores->layer;
  const auto elements =
      static_cast<double>(scores->count * layer.dims[static_cast<std::size_t>(layer.find_dim("M"))].size);
  const Accelerator& chip = request_.accelerator;
  const int in = residency::outside_level(chip, Role::kInput), out = residency::outside_level(chip, Role::kOutput);
  const auto words = [&](int level, int bits) {
    return elements * bits / chip.levels[static_cast<std::size_t>(level)].memory().word_bits;
  };
  const double read = words(in, chip.element_bits(in, layer, layer.output())),
               written = words(out, chip.element_bits(out, Role::kOutput));
  const double ops =
      chip.vector ? elements * chip.vector->ops_of(WorkloadGraph::Operator::kSoftmax) : 0;  // for each key
  return [this, in, out, read, written, ops](Count keys) {
    const auto times = static_cast<double>(keys);
    residency::WordsByLevel at;
    at[in].read += read * times;
    at[out].written += written * times;
    const Accelerator& here = request_.accelerator;
    return spent(
        residency::with_vector_work(here, residency::moving_cost(here, at, Role::kInput, Role::kOutput), ops * times));
  };
}

}  // namespace pliant::serving
