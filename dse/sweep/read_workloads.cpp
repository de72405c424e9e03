// SPDX-License-Identifier: Apache-2.0
// `workloads:` of a sweep file: networks, some of their layers, layers written in place, batch sizes.
#include <fmt/format.h>

#include <algorithm>

#include "core/arithmetic.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/open.h"
#include "dse/serving/models.h"
#include "dse/serving/shard.h"
#include "dse/sweep/name_pattern.h"
#include "dse/sweep/sweep_keys.h"
#include "dse/sweep/sweep_reading.h"

namespace pliant {
namespace {

constexpr Count kMostBatch = Count{1} << 20;

/// The layer for a batch of inputs. A convolution gets B. A matrix product whose weights serve all inputs gets more
/// rows of inputs and outputs (M); independent products (B > 1) become more of them. nullopt for free einsums, which do
/// not say which dim is the batch.
std::optional<Layer> with_batch(const Layer& layer, Count batch) {
  if (layer.operation == Operation::kEinsum || layer.written_as.empty()) return std::nullopt;
  const bool shares_weights = layer.operation == Operation::kGemm && layer.find_dim("B") < 0;
  const std::string grown = shares_weights ? "M=" : "B=";
  std::string text = layer.written_as;
  const std::size_t at = std::min(text.find(":" + grown), text.find("," + grown));
  if (at == std::string::npos) {
    text += fmt::format(",{}{}", grown, batch);
  } else {
    const std::size_t value = at + 1 + grown.size(), end = std::min(text.find(',', value), text.size());
    text.replace(value, end - value, fmt::format("{}", std::stoll(text.substr(value, end - value)) * batch));
  }
  Layer grown_layer = parse_layer(text, "batch");
  grown_layer.bits = layer.bits;
  grown_layer.name = layer.name;
  return grown_layer;
}

std::optional<Workload> find_workload(SweepReading& reading, const Cursor& c) {
  const auto name = c.text("a shipped name or a file");
  if (!name) return std::nullopt;
  try {
    return open_workload(reading.library, reading.beside(*name));
  } catch (const InputError& error) {
    reading.relay(c, error);
    return std::nullopt;
  }
}

/// Layers written in place.
bool write_layers(const Cursor& list, const std::string& file, Workload& workload) {
  for (const Cursor& item : list.items()) {
    const auto text = item.text("a layer in place, such as gemm:M=64,N=64,K=64");
    if (!text) return false;
    try {
      Layer layer = parse_layer(*text, file);
      layer.name = fmt::format("layer{}", workload.layers.size() + 1);
      workload.layers.push_back({std::move(layer), 1});
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics())
        item.problem(d.key.empty() ? d.what : fmt::format("{}: {}", d.key, d.what), d.expected, d.did_you_mean);
      return false;
    }
  }
  return true;
}

/// Names or patterns of the workload's layers, in its order.
bool choose_layers(const Cursor& list, Workload& workload) {
  std::vector<std::string> names;
  for (const Workload::Entry& entry : workload.layers) names.push_back(entry.layer.name);
  std::set<std::size_t> chosen;
  for (const Cursor& item : list.items()) {
    const auto text = item.text("a layer's name, a pattern such as conv2*, or a layer in place");
    if (!text) return false;
    bool found = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!matches_pattern(*text, names[i])) continue;
      chosen.insert(i);
      found = true;
    }
    if (found) continue;
    item.problem(fmt::format("{} has no layer `{}`", workload.name, shorten(*text, 40)), "a layer's name or pattern",
                 nearest(*text, names));
    return false;
  }
  std::vector<Workload::Entry> layers;
  for (const std::size_t i : chosen) layers.push_back(workload.layers[i]);
  workload.layers = std::move(layers);
  workload.graph.reset();  // of the whole network
  return true;
}

/// One workload for each size of `batch:`, named NAME_batchN.
std::vector<Workload> with_batches(const Cursor& batch, const Workload& workload) {
  std::vector<Workload> all;
  for (const Cursor& item : one_or_list(batch)) {
    const auto size = item.count(1, kMostBatch);
    if (!size) return {};
    Workload grown = workload;
    grown.name = fmt::format("{}_batch{}", workload.name, *size);
    grown.pass.inferences *= *size;
    if (grown.pass.tokens) *grown.pass.tokens *= *size;
    for (Workload::Entry& entry : grown.layers) {
      try {
        const auto layer = with_batch(entry.layer, *size);
        if (!layer)
          return item.problem(entry.layer.name + " does not say which dim is the batch",
                              "a workload without free einsums"),
                 std::vector<Workload>{};
        entry.layer = *layer;
      } catch (const InputError& error) {
        const Diagnostic& d = error.diagnostics().front();
        return item.problem(fmt::format("{}: {}", entry.layer.name, d.what), d.expected), std::vector<Workload>{};
      }
    }
    if (grown.graph)
      for (WorkloadGraph::Node& node : grown.graph->nodes)
        node.words = checked_multiply(node.words, *size).value_or(kMaxCount - 1);
    all.push_back(std::move(grown));
  }
  if (all.empty()) batch.problem("no batch size", "at least one");
  return all;
}

/// Ways to divide a served model: the one that is written, or all of so many chips that have what is written.
std::vector<serving::Division> read_divisions(const Cursor& item, const LanguageModel& model) {
  constexpr Count kMostChips = 4096;
  const auto said = [&](const char* key) {
    const auto c = item.find(key);
    return c ? c->count(1, kMostChips) : std::nullopt;
  };
  const auto tp = said("tp"), pp = said("pp"), ep = said("ep");
  const auto chips = item.find("chips");
  if (!chips) {
    const serving::Division one{tp.value_or(1), pp.value_or(1), ep.value_or(1)};
    const auto why = serving::cannot_divide(model, one);
    if (!why) return {one};
    item.find(ep ? "ep" : pp ? "pp" : "tp")->problem(*why, "numbers of chips that divide the model");
    return {};
  }
  std::vector<serving::Division> all = serving::divisions_of(model, chips->count(1, kMostChips).value_or(1));
  std::erase_if(all, [&](const serving::Division& way) {
    return tp.value_or(way.tp) != way.tp || pp.value_or(way.pp) != way.pp || ep.value_or(way.ep) != way.ep;
  });
  if (all.empty()) chips->problem("no way to divide the model among so many", "numbers of chips that divide the model");
  return all;
}

std::string division_suffix(const serving::Division& way) {
  if (way.chips() == 1) return "";
  std::string text = fmt::format("_tp{}", way.tp);
  if (way.pp > 1) text += fmt::format("_pp{}", way.pp);
  if (way.ep > 1) text += fmt::format("_ep{}", way.ep);
  return text;
}

/// The prompts of a batch: of several chips, what one of the first stage has of them.
Workload served_prompts(const serving::Request& ask, const std::string& name, bool is_prefill) {
  ModelPass pass{.is_prefill = is_prefill, .length = is_prefill ? ask.prompt : ask.prompt + ask.output};
  pass.batch = ceil_div(ask.batch, ask.division.ep);
  pass.routed_tokens = pass.batch * ask.division.ep * (is_prefill ? ask.prompt : 1);
  pass.skew = ask.skew;
  pass.has_head = serving::is_last_stage(ask.division, 0);
  return pass_workload(serving::shard_of(ask.model, ask.division, 0), name, pass);
}

/// A language model that is served: its workload is the prompts of a batch, and every design says besides what serving
/// costs. One for each size of `batch:` and each way to divide it among chips.
std::vector<Workload> read_served(SweepReading& reading, const Cursor& item, const Cursor& named) {
  const auto name = named.text("a shipped model or a config.json");
  if (!name) return {};
  serving::Request ask;
  try {
    serving::NamedModel model = serving::load_model(reading.library, reading.beside(*name));
    ask.model_name = model.name;
    ask.model = std::move(model.model);
  } catch (const InputError& error) {
    reading.relay(named, error);
    return {};
  }
  if (const auto c = item.find("prompt")) ask.prompt = c->count(1, kMostBatch).value_or(1);
  if (const auto c = item.find("output")) ask.output = c->count(1, kMostBatch).value_or(1);
  if (const auto c = item.find("chunk")) ask.chunk = c->count(1, kMostBatch).value_or(1);
  if (const auto c = item.find("weight_bits")) ask.weight_bits = static_cast<int>(c->count(1, 64).value_or(8));
  if (const auto c = item.find("kv_bits")) ask.kv_bits = static_cast<int>(c->count(1, 64).value_or(8));
  if (const auto c = item.find("memory")) {
    const Parsed<Count> bytes = parse_bytes(c->text().value_or(""));
    if (const auto* error = std::get_if<UnitError>(&bytes)) {
      c->problem(error->what, error->expected, error->did_you_mean);
    } else {
      ask.memory_bytes = static_cast<double>(std::get<Count>(bytes));
    }
  }
  if (const auto c = item.find("skew")) ask.skew = c->real().value_or(0);
  std::vector<Workload> all;
  std::vector<Count> batches{1};
  if (const auto batch = item.find("batch")) {
    batches.clear();
    for (const Cursor& size : one_or_list(*batch)) batches.push_back(size.count(1, kMostBatch).value_or(1));
  }
  const auto given = item.find("name");
  const std::string base =
      given ? given->name().value_or("") : fmt::format("{}_serve_{}_{}", ask.model_name, ask.prompt, ask.output);
  const std::vector<serving::Division> ways = read_divisions(item, ask.model);
  for (const Count batch : batches) {
    ask.batch = batch;
    for (const serving::Division& way : ways) {
      if (ways.size() > 1 && batch < way.ep) continue;  // a group would have no sequence
      ask.division = way;
      std::string own = batches.size() > 1 || batch > 1 ? fmt::format("{}_batch{}", base, batch) : base;
      own += division_suffix(way);
      all.push_back(served_prompts(ask, own, true));
      // What a decode step is made of tells models apart whose prompts are the same.
      reading.note_input(
          "served", own,
          fmt::format("{} {} {} {} {} {} {} {}\n{}", ask.output, ask.chunk, ask.weight_bits.value_or(0),
                      ask.kv_bits.value_or(0), ask.memory_bytes.value_or(0), batch, serving::to_string(way), ask.skew,
                      write_workload(served_prompts(ask, own, false))));
      reading.sweep.served.emplace(std::move(own), ask);
    }
  }
  return all;
}

std::vector<Workload> read_workload(SweepReading& reading, const Cursor& item) {
  if (item.node().is_scalar()) {
    const auto found = find_workload(reading, item);
    return found ? std::vector<Workload>{*found} : std::vector<Workload>{};
  }
  if (!item.only_keys(keys::kSweepWorkload, "a name, or {workload: NAME, layers: [...]}")) return {};
  const auto named = item.find("workload");
  const auto layers = item.find("layers");
  const auto served = item.find("serve");
  if (served && (named || layers))
    return served->problem("beside a workload or layers", "one of them"), std::vector<Workload>{};
  if (served) return read_served(reading, item, *served);
  for (const char* key :
       {"prompt", "output", "chunk", "weight_bits", "kv_bits", "memory", "skew", "chips", "tp", "pp", "ep"})
    if (const auto c = item.find(key)) c->problem("of a workload that is not served", "serve: MODEL beside it");
  if (!named && !layers) return item.require("workload", "a shipped name or a file"), std::vector<Workload>{};
  std::optional<Workload> workload = named ? find_workload(reading, *named) : Workload{"layers", "", {}, {}};
  if (!workload) return {};
  if (layers) {
    if (!layers->expect_list("a list of layers")) return {};
    const bool good = named ? choose_layers(*layers, *workload) : write_layers(*layers, reading.file, *workload);
    if (!good) return {};
    if (workload->layers.empty()) return layers->problem("no layers", "at least one"), std::vector<Workload>{};
  }
  if (const auto name = item.find("name")) workload->name = name->name().value_or("");
  if (const auto batch = item.find("batch")) return with_batches(*batch, *workload);
  return {*workload};
}

}  // namespace

void read_workloads(SweepReading& reading, const Cursor& workloads) {
  const std::vector<Cursor> items = one_or_list(workloads);
  if (items.empty()) workloads.problem("no workloads", "at least one");
  std::set<std::string> names;
  for (const Cursor& item : items) {
    for (Workload& workload : read_workload(reading, item)) {
      if (!names.insert(workload.name).second)
        item.problem(fmt::format("a second workload named {}", workload.name), "a name of its own: {workload, name}");
      reading.note_input("workload", workload.name, write_workload(workload));
      reading.sweep.workloads.push_back(std::move(workload));
    }
  }
}

}  // namespace pliant
