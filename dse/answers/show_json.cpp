// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/show_json.h"
#include "dse/answers/json_schema.h"

#include <array>

#include "core/partial_sums.h"
#include "core/workload_graph.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

constexpr std::array<Role, kRoles> kAllRoles{Role::kInput, Role::kWeight, Role::kOutput};
constexpr std::array<const char*, 4> kAxes{"T", "O", "P", "S"};

ordered_json optional_number(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// What is said of widths.
ordered_json bits(const ElementBits& said) {
  ordered_json json = ordered_json::object();
  for (std::size_t r = 0; r < kRoles; ++r)
    if (said.of[r]) json[std::string(kRoleNames[r])] = *said.of[r];
  if (said.partial_sums == kNoPartialSums)
    json["partial_sums"] = "none";
  else if (said.partial_sums)
    json["partial_sums"] = *said.partial_sums;
  return json;
}

ordered_json roles(const std::array<bool, kRoles>& set) {
  ordered_json list = ordered_json::array();
  for (const Role role : kAllRoles) {
    if (set[static_cast<std::size_t>(role)]) list.push_back(to_string(role));
  }
  return list;
}

ordered_json level_json(const Accelerator& a, std::size_t k) {
  const Level& level = a.levels[k];
  ordered_json json;
  json["name"] = level.name;
  json["kind"] = level.is_memory() ? "memory" : (level.is_fanout() ? "fanout" : "compute");
  json["copies"] = a.instances(static_cast<int>(k));
  if (level.is_memory()) {
    const Memory& m = level.memory();
    json["capacity_words"] = m.capacity_words ? ordered_json(*m.capacity_words) : ordered_json(nullptr);
    json["word_bits"] = m.word_bits;
    if (m.bits != ElementBits{}) json["bits"] = bits(m.bits);
    json["buffers"] = m.buffers;
    json["keeps"] = roles(m.may_keep);
    json["may_bypass"] = roles(m.may_bypass);
    json["read_pj"] = m.read_pj;
    json["write_pj"] = m.write_pj;
    json["update_pj"] = m.update_pj;
    json["read_words_per_cycle"] = optional_number(m.read_words_per_cycle);
    json["write_words_per_cycle"] = optional_number(m.write_words_per_cycle);
    json["bus_words_per_cycle"] = optional_number(m.bus_words_per_cycle);
    for (std::size_t r = 0; r < kRoles; ++r) {
      const Bandwidth& own = m.bandwidth_of[r];
      if (own == Bandwidth{}) continue;
      json["ports"][std::string(kRoleNames[r])] = {{"read_words_per_cycle", optional_number(own.read)},
                                                   {"write_words_per_cycle", optional_number(own.write)},
                                                   {"bus_words_per_cycle", optional_number(own.bus)}};
    }
    json["leak_pj_per_cycle"] = m.leak_pj_per_cycle;
    json["area_um2"] = m.area_um2;
    json["technology"] = m.technology;
  } else if (level.is_fanout()) {
    const Fanout& f = level.fanout();
    json["rows"] = f.rows;
    json["cols"] = f.cols;
    json["multicast"] = f.multicast;
    json["reduction"] = f.reduction;
    for (const auto& [side, name] : {std::pair{Side::kRows, "rows"}, {Side::kCols, "cols"}})
      if (f.sums_along(side)) json["sums_along"].push_back(name);
    json["partial_multicast"] = f.partial_multicast;
    json["area_um2"] = f.area_um2;
  } else {
    const Compute& c = level.compute();
    json["mac_pj"] = c.mac_pj;
    json["cycles_per_mac"] = c.cycles_per_mac;
    json["leak_pj_per_cycle"] = c.leak_pj_per_cycle;
    json["area_um2"] = c.area_um2;
  }
  return json;
}

ordered_json order_json(const OrderRule& rule) {
  ordered_json list = ordered_json::array();
  for (const OrderPattern& pattern : rule.allowed) {
    list.push_back(pattern.stationary ? ordered_json{{"stationary", to_string(*pattern.stationary)}}
                                      : ordered_json(pattern.dims));
  }
  return list;
}

ordered_json parallel_json(const ParallelRule& rule) {
  ordered_json json;
  json["any_of"] = ordered_json::array();
  for (const Assignment& one : rule.assignments) json["any_of"].push_back({{"rows", one.rows}, {"cols", one.cols}});
  json["max_dims_per_side"] = rule.max_dims_per_side;
  return json;
}

/// Only rules that limit something; an absent level or axis is unrestricted (arrays: as built).
ordered_json flexibility_json(const Accelerator& a, const Flexibility& flexibility) {
  ordered_json json = ordered_json::object();
  if (!flexibility.name.empty()) json["class"] = flexibility.name;
  for (std::size_t k = 0; k < flexibility.levels.size(); ++k) {
    const LevelFlexibility& rule = flexibility.levels[k];
    const std::string& name = a.levels[k].name;
    for (const TileRule::Tile& tile : rule.tile.fixed) json["tiles"][name]["fixed"][tile.dim] = tile.size;
    if (rule.tile.partition) {
      for (const Role role : kAllRoles) {
        json["tiles"][name]["partition"][std::string(to_string(role))] =
            (*rule.tile.partition)[static_cast<std::size_t>(role)];
      }
    }
    if (rule.tile.burst > 1) json["tiles"][name]["burst"] = rule.tile.burst;
    if (!rule.order.allowed.empty()) json["orders"][name] = order_json(rule.order);
    if (rule.loops.dims) json["loops"][name] = *rule.loops.dims;
    if (!(rule.parallel == ParallelRule{})) json["parallel"][name] = parallel_json(rule.parallel);
    if (rule.shape.kind == ShapeRule::Kind::kFree) json["shape"][name] = "free";
    if (rule.shape.kind == ShapeRule::Kind::kBlocks) {
      json["shape"][name]["block"] = {rule.shape.block_rows, rule.shape.block_cols};
    }
  }
  return json;
}

ordered_json fusion_json(const Accelerator& a) {
  ordered_json json = ordered_json::object();
  for (std::size_t k = 0; k < a.fusion.size(); ++k) {
    if (!a.levels[k].is_memory()) continue;
    const FusionRule& rule = a.fusion[k];
    ordered_json one = rule.tiles ? "any" : "none";
    if (rule.tiles && (rule.dims || rule.depth > 0)) one = ordered_json::object();
    if (rule.dims) one["dims"] = *rule.dims;
    if (rule.depth > 0) one["depth"] = rule.depth;
    json[a.levels[k].name] = std::move(one);
  }
  return json;
}

ordered_json layer_fields(const Layer& layer) {
  ordered_json json;
  json["name"] = layer.name;
  json["operation"] = to_string(layer.operation);
  json["written_as"] = layer.written_as;
  json["macs"] = layer.macs();
  if (layer.bits != ElementBits{}) json["bits"] = bits(layer.bits);
  for (const Dim& dim : layer.dims) json["dims"][dim.name] = dim.size;
  json["tensors"] = ordered_json::array();
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    const Tensor& tensor = layer.tensors[x];
    ordered_json indices = ordered_json::array();
    for (const Rank& rank : tensor.ranks) {
      ordered_json terms = ordered_json::object();
      for (const Term& term : rank.terms) terms[layer.dims[static_cast<std::size_t>(term.dim)].name] = term.coefficient;
      indices.push_back(terms);
    }
    json["tensors"].push_back({{"name", tensor.name},
                               {"role", to_string(tensor.role)},
                               {"words", layer.tensor_words(static_cast<int>(x))},
                               {"indices", indices}});
  }
  return json;
}

ordered_json graph_json(const Workload& workload, const WorkloadGraph& graph) {
  const auto name_of = [&](int node) -> std::string {
    if (node == WorkloadGraph::kNetworkInput) return "input";
    if (node == WorkloadGraph::kRoundBefore) return "previous";
    return graph.nodes[static_cast<std::size_t>(node)].name;
  };
  ordered_json json;
  json["nodes"] = ordered_json::array();
  for (const WorkloadGraph::Node& node : graph.nodes) {
    ordered_json item{{"name", node.name}};
    const Layer* layer = node.is_layer() ? &workload.layers[static_cast<std::size_t>(node.layer)].layer : nullptr;
    if (layer)
      item["layer"] = layer->name;
    else
      item["op"] = to_string(node.work);
    if (node.online) item["online"] = true;
    item["count"] = node.count;
    item["words"] = node.words;
    item["from"] = ordered_json::array();
    for (const WorkloadGraph::Edge& edge : node.from) {
      ordered_json read{{"node", name_of(edge.node)}};
      if (layer) read["tensor"] = layer->tensors[static_cast<std::size_t>(edge.tensor)].name;
      item["from"].push_back(std::move(read));
    }
    json["nodes"].push_back(std::move(item));
  }
  json["blocks"] = ordered_json::array();
  for (const WorkloadGraph::Block& block : graph.blocks)
    json["blocks"].push_back(
        {{"first", block.first}, {"nodes", block.nodes}, {"rounds", block.rounds}, {"from", name_of(block.from)}});
  return json;
}

ordered_json vector_json(const VectorUnit& unit) {
  ordered_json json{{"lanes", unit.lanes}, {"pj_per_op", unit.pj_per_op}};
  for (std::size_t i = 0; i < kOperatorNames.size(); ++i) json["ops"][std::string(kOperatorNames[i])] = unit.ops[i];
  json["ops"]["rotary"] = unit.rotary_ops;
  json["ops"]["sampling"] = unit.sampling_ops;
  return json;
}

}  // namespace

ordered_json show_json(const Accelerator& a) {
  ordered_json json;
  json["schema"] = kJsonSchema;
  json["kind"] = "accelerator";
  json["name"] = a.name;
  json["description"] = a.description;
  json["conventions"]["preset"] = a.conventions.name();
  const auto& options = convention_options();
  for (std::size_t i = 0; i < options.size(); ++i) {
    json["conventions"][std::string(options[i].key)] = options[i].values[get_convention(a.conventions, i)];
  }
  if (a.bits != ElementBits{}) json["bits"] = bits(a.bits);
  json["mac_units"] = a.macs_units();
  json["levels"] = ordered_json::array();
  for (std::size_t k = 0; k < a.levels.size(); ++k) json["levels"].push_back(level_json(a, k));
  json["clock_hz"] = a.clock_hz ? ordered_json(*a.clock_hz) : ordered_json();
  if (a.vector) json["vector"] = vector_json(*a.vector);
  if (a.links)
    json["links"] = {{"topology", kTopologyNames[static_cast<std::size_t>(a.links->topology)]},
                     {"gb_per_s", a.links->gb_per_s},
                     {"us", a.links->us},
                     {"pj_per_bit", a.links->pj_per_bit},
                     {"sums", a.links->sums}};
  json["base_area_um2"] = a.base_area_um2;
  for (std::size_t i = 0; i < kAxes.size(); ++i) json["flexibility_area_um2"][kAxes[i]] = a.flexibility_area_um2[i];
  json["flexibility_area_from"] = a.flexibility_area_from;
  json["flexibility"] = flexibility_json(a, a.flexibility);
  if (!a.fusion.empty()) json["flexibility"]["fusion"] = fusion_json(a);
  for (const auto& [operation, own] : a.flexibility_for) {
    json["flexibility_for"][std::string(to_string(operation))] = flexibility_json(a, own);
  }
  json["hints"]["min_utilization"] = a.hints.min_utilization;
  return json;
}

ordered_json show_json(const Workload& workload) {
  ordered_json json;
  json["schema"] = kJsonSchema;
  json["kind"] = "workload";
  json["name"] = workload.name;
  json["description"] = workload.description;
  json["layers"] = ordered_json::array();
  for (const auto& [layer, count] : workload.layers) {
    ordered_json entry = layer_fields(layer);
    entry["count"] = count;
    json["layers"].push_back(std::move(entry));
  }
  if (workload.graph) json["graph"] = graph_json(workload, *workload.graph);
  return json;
}

ordered_json show_json(const Layer& layer) {
  ordered_json json;
  json["schema"] = kJsonSchema;
  json["kind"] = "layer";
  json.update(layer_fields(layer));
  return json;
}

}  // namespace pliant
