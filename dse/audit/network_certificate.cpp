// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/network_certificate.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "core/workload_graph.h"
#include "dse/audit/certificate_json.h"

namespace pliant::audit {

namespace {

using nlohmann::json;

constexpr std::string_view kNetworkKind = "network-certificate";
constexpr int kNetworkSchema = 1;
constexpr const char* kElsewhereName = "outside";

std::string place_name(const Accelerator& accelerator, Place place) {
  return place == kElsewhere ? kElsewhereName : accelerator.levels[static_cast<std::size_t>(place)].name;
}

json sizes_json(const Layer& layer, const std::vector<Count>& sizes) {
  json out = json::object();
  for (std::size_t d = 0; d < sizes.size(); ++d) out[layer.dims[d].name] = sizes[d];
  return out;
}

/// It is another layer then.
Layer cut_layer(Layer layer, const std::vector<Count>& sizes) {
  for (std::size_t d = 0; d < sizes.size(); ++d) layer.dims[d].size = sizes[d];
  layer.written_as.clear();
  return layer;
}

json variant_json(const NetworkTask& task, const LayerVariant& variant) {
  json places = json::object(), taken = json::object();
  for (std::size_t r = 0; r < kRoles; ++r)
    if (variant.places[r] != kElsewhere)
      places[std::string(kRoleNames[r])] = place_name(task.accelerator, variant.places[r]);
  for (std::size_t l = 0; l < variant.taken.size(); ++l)
    for (std::size_t r = 0; r < kRoles; ++r)
      if (variant.taken[l][r] > 0)
        taken[task.accelerator.levels[l].name][std::string(kRoleNames[r])] = variant.taken[l][r];
  const Layer& layer = task.workload.layers[static_cast<std::size_t>(variant.row)].layer;
  json out{{"layer", layer.name}, {"places", std::move(places)}, {"taken", std::move(taken)}};
  if (!variant.sizes.empty()) out["sizes"] = sizes_json(layer, variant.sizes);
  if (variant.sums) out["sums"] = true;
  if (variant.sums_in != kElsewhere) out["sums_in"] = place_name(task.accelerator, variant.sums_in);
  return out;
}

/// Texts of mappings, each once.
class MappingTexts {
 public:
  explicit MappingTexts(const NetworkTask& task) : task_(task) {}
  std::size_t number(const Layer& layer, const Mapping& mapping) {
    const std::string text = write_mapping(layer, task_.accelerator, mapping, task_.factorization);
    const auto [at, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) texts_.emplace_back(text);
    return at->second;
  }
  const std::vector<json>& texts() const { return texts_; }

 private:
  const NetworkTask& task_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<json> texts_;
};

json group_json(const NetworkTask& task, const std::vector<int>& row_of, const GroupClaim& group,
                MappingTexts& mappings) {
  const auto layer = [&](std::size_t l) -> const Layer& {
    return task.workload.layers[static_cast<std::size_t>(row_of[group.steps[l]])].layer;
  };
  json tiles = json::array(), held = json::array(), runs = json::array();
  for (const auto& stack : group.stacks) {
    json loops = json::array();
    for (const GroupClaim::LoopClaim& loop : stack) {
      json one{{"tile", loop.tile}};
      if (loop.dim < 0)
        one["counts"] = loop.groups ? "groups" : "layers";
      else
        one.update({{"layer", loop.layer}, {"dim", layer(loop.layer).dims[static_cast<std::size_t>(loop.dim)].name}});
      loops.push_back(std::move(one));
    }
    tiles.push_back(std::move(loops));
  }
  for (const GroupClaim::HeldClaim& one : group.held)
    held.push_back({{"layer", one.layer},
                    {"tensor", layer(one.layer).tensors[static_cast<std::size_t>(one.tensor)].name},
                    {"loops", one.loops}});
  for (const GroupClaim::RunClaim& run : group.runs)
    runs.push_back({{"layer", run.layer},
                    {"sizes", sizes_json(layer(run.layer), run.sizes)},
                    {"mapping", mappings.number(cut_layer(layer(run.layer), run.sizes), run.mapping)}});
  return {{"steps", group.steps},
          {"home", place_name(task.accelerator, group.home)},
          {"tiles", std::move(tiles)},
          {"held", std::move(held)},
          {"runs", std::move(runs)}};
}

class NetworkReader {
 public:
  NetworkReader(const Library& library, std::string file) : library_(library), file_(std::move(file)) {}

  NetworkCertificate read(std::string_view text) {
    json root;
    try {
      root = json::parse(text);
    } catch (const json::parse_error& error) {
      throw wrong("", fmt::format("is no JSON: {}", error.what()));
    }
    if (!root.is_object() || root.value("pliant", "") != kNetworkKind)
      throw wrong("pliant", fmt::format("is not `{}`", kNetworkKind));
    if (root.value("schema", 0) != kNetworkSchema) throw wrong("schema", fmt::format("is not {}", kNetworkSchema));
    try {
      return read_root(root);
    } catch (const json::exception& error) {
      throw wrong("", fmt::format("is not a certificate of a network: {}", error.what()));
    }
  }

 private:
  InputError wrong(const std::string& key, const std::string& what) const {
    return InputError(Diagnostic{.file = file_,
                                 .key = key,
                                 .what = what,
                                 .expected = "what `pliant map --network --certificate` wrote",
                                 .did_you_mean = {}});
  }

  NetworkCertificate read_root(const json& root) {
    NetworkCertificate out;
    read_task(root.at("task"), out.task);
    rows_ = out.task.rows();
    const json& claim = root.at("claim");
    out.value = bound_from(claim.at("value"));
    out.lower_bound = bound_from(claim.at("lower_bound"));
    out.energy_pj = claim.at("energy_pj").get<double>();
    out.cycles = claim.at("cycles").get<double>();
    out.certified = claim.at("certified").get<bool>();
    read_steps(claim.at("steps"), root.at("mappings"), out);
    if (out.task.tiles)
      for (const json& group : claim.at("groups")) read_group(group, root.at("mappings"), out);
    for (const json& slope : root.at("slopes")) out.slopes.push_back(slope_from(slope));
    for (const json& variant : root.at("variants")) read_variant(variant, out);
    return out;
  }

  double slope_from(const json& value) const {
    const double slope = bound_from(value);
    if (!(slope >= 0)) throw wrong("slope", "is below 0");
    return slope;
  }

  void read_task(const json& in, NetworkTask& task) const {
    task.workload = parse_workload_text(in.at("workload").get<std::string>(), file_ + ": task.workload");
    task.accelerator =
        parse_accelerator_text(library_, in.at("accelerator").get<std::string>(), file_ + ": task.accelerator");
    const auto rule = parse_factorization(in.at("factorization").get<std::string>());
    const auto objective = parse_objective(in.at("objective").get<std::string>());
    if (!rule) throw wrong("task.factorization", "is unknown");
    if (!objective || *objective == Objective::kEdpOverUtilization) throw wrong("task.objective", "is not a network's");
    task.factorization = *rule;
    task.objective = *objective;
    task.stay = in.at("tensors_stay").get<bool>();
    task.tiles = in.value("tiles", false);
    if (in.contains("most_cycles")) task.most_cycles = in.at("most_cycles").get<double>();
  }

  void read_steps(const json& steps, const json& mappings, NetworkCertificate& out) const {
    const std::vector<int> row_of = rows_of_steps(out.task.workload);
    if (steps.size() != row_of.size())
      throw wrong("claim.steps", fmt::format("are {}, the run has {}", steps.size(), row_of.size()));
    for (std::size_t s = 0; s < steps.size(); ++s) {
      StepClaim& claim = out.steps.emplace_back();
      claim.made = place_from(out.task.accelerator, steps[s].at("made_in").get<std::string>());
      if (row_of[s] < 0) continue;
      if (out.task.tiles && !steps[s].contains("mappings")) continue;  // of a group
      const Task& row = rows_[static_cast<std::size_t>(row_of[s])];
      for (const json& part : steps[s].at("mappings"))
        claim.parts.push_back({mapping_from(mappings, part.at(0), row.layer), part.at(1).get<Count>()});
    }
  }

  Mapping mapping_from(const json& mappings, const json& number, const Layer& layer) const {
    return parse_mapping_text(mappings.at(number.get<std::size_t>()).get<std::string>(), file_ + ": mappings", layer,
                              rows_.front().accelerator)
        .mapping;
  }

  std::vector<Count> sizes_from(const json& in, const Layer& layer) const {
    std::vector<Count> sizes;
    if (in.size() != layer.dims.size()) throw wrong("sizes", "are not those of the layer's dims");
    for (const Dim& dim : layer.dims) {
      sizes.push_back(in.at(dim.name).get<Count>());
      if (sizes.back() < 1 || sizes.back() > dim.size) throw wrong("sizes", fmt::format("of {} are none", dim.name));
    }
    return sizes;
  }

  void read_group(const json& in, const json& mappings, NetworkCertificate& out) const {
    const std::vector<int> row_of = rows_of_steps(out.task.workload);
    GroupClaim& group = out.groups.emplace_back();
    for (const json& step : in.at("steps")) {
      group.steps.push_back(step.get<std::size_t>());
      if (group.steps.back() >= row_of.size() || row_of[group.steps.back()] < 0)
        throw wrong("claim.groups", fmt::format("step {} is no layer", group.steps.back()));
    }
    const auto place = [&](const json& number) {
      const auto l = number.get<std::size_t>();
      if (l >= group.steps.size()) throw wrong("claim.groups", fmt::format("it has no layer {}", l));
      return l;
    };
    const auto layer = [&](std::size_t l) -> const Layer& {
      return rows_[static_cast<std::size_t>(row_of[group.steps[l]])].layer;
    };
    const auto known = [&](int index, const std::string& name) {
      if (index < 0) throw wrong("claim.groups", fmt::format("no dim or tensor `{}`", name));
      return index;
    };
    group.home = level_of(out.task.accelerator, in.at("home").get<std::string>());
    for (const json& loops : in.at("tiles")) {
      auto& stack = group.stacks.emplace_back();
      for (const json& loop : loops) {
        GroupClaim::LoopClaim& one = stack.emplace_back();
        one.tile = loop.at("tile").get<Count>();
        one.groups = loop.value("counts", "") == "groups";
        if (loop.contains("counts")) continue;
        one.layer = place(loop.at("layer"));
        const auto name = loop.at("dim").get<std::string>();
        one.dim = known(layer(one.layer).find_dim(name), name);
      }
    }
    for (const json& held : in.at("held")) {
      const std::size_t l = place(held.at("layer"));
      const auto name = held.at("tensor").get<std::string>();
      group.held.push_back({l, known(layer(l).find_tensor(name), name), held.at("loops").get<std::size_t>()});
    }
    for (const json& run : in.at("runs")) {
      const std::size_t l = place(run.at("layer"));
      const std::vector<Count> sizes = sizes_from(run.at("sizes"), layer(l));
      group.runs.push_back({l, sizes, mapping_from(mappings, run.at("mapping"), cut_layer(layer(l), sizes))});
    }
  }

  Place place_from(const Accelerator& accelerator, const std::string& name) const {
    if (name == kElsewhereName) return kElsewhere;
    return level_of(accelerator, name);
  }
  int level_of(const Accelerator& accelerator, const std::string& name) const {
    for (std::size_t l = 0; l < accelerator.levels.size(); ++l)
      if (accelerator.levels[l].name == name && accelerator.levels[l].is_memory()) return static_cast<int>(l);
    throw wrong("places", fmt::format("the accelerator has no memory `{}`", name));
  }
  std::size_t role_of(const std::string& name) const {
    for (std::size_t r = 0; r < kRoles; ++r)
      if (kRoleNames[r] == name) return r;
    throw wrong("places", fmt::format("no role is called `{}`", name));
  }

  void read_variant(const json& in, NetworkCertificate& out) const {
    const Accelerator& accelerator = out.task.accelerator;
    LayerVariant variant;
    const auto name = in.at("layer").get<std::string>();
    const auto& layers = out.task.workload.layers;
    while (static_cast<std::size_t>(variant.row) < layers.size() &&
           layers[static_cast<std::size_t>(variant.row)].layer.name != name)
      ++variant.row;
    if (static_cast<std::size_t>(variant.row) == layers.size())
      throw wrong("variants.layer", fmt::format("the workload has no layer `{}`", name));
    for (const auto& [role, place] : in.at("places").items())
      variant.places[role_of(role)] = level_of(accelerator, place.get<std::string>());
    variant.taken.assign(accelerator.levels.size(), {});
    for (const auto& [level, by_role] : in.at("taken").items())
      for (const auto& [role, words] : by_role.items()) {
        Count& taken = variant.taken[static_cast<std::size_t>(level_of(accelerator, level))][role_of(role)];
        taken = words.get<Count>();
        if (taken < 0) throw wrong("variants.taken", "is below 0");
      }
    if (in.contains("sizes"))
      variant.sizes = sizes_from(in.at("sizes"), rows_[static_cast<std::size_t>(variant.row)].layer);
    variant.sums = in.value("sums", false);
    if (in.contains("sums_in")) variant.sums_in = level_of(accelerator, in.at("sums_in").get<std::string>());
    for (const json& one : in.at("proofs")) {
      const double slope = slope_from(one.at("slope"));
      Task task = line_task(rows_[static_cast<std::size_t>(variant.row)], variant, slope);
      out.proofs.push_back({variant, slope, read_proof(one, std::move(task), file_ + ": variants.proofs")});
    }
  }

  const Library& library_;
  std::string file_;
  std::vector<Task> rows_;
};

}  // namespace

std::vector<Task> NetworkTask::rows() const {
  std::vector<Task> rows;
  for (const auto& [layer, count] : workload.layers)
    rows.push_back({layer, accelerator, accelerator.flexibility_of(layer), factorization, objective, kInfinity});
  return rows;
}

Task line_task(const Task& row, const LayerVariant& variant, double slope) {
  Task task = row;
  task.most_cycles = kInfinity;
  task.objective = std::isinf(slope) ? Objective::kRuntime : Objective::kEnergy;
  if (!variant.sizes.empty()) task.layer = cut_layer(task.layer, variant.sizes);
  std::vector<Level>& levels = task.accelerator.levels;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (!levels[l].is_memory()) continue;
    Memory& memory = levels[l].memory();
    memory.reserved_words = variant.taken[l];
    for (std::size_t r = 0; r < kRoles; ++r) {
      const auto at = static_cast<int>(l);
      if (at == variant.places[r]) memory.resident[r] = true;
      if (at >= variant.places[r]) continue;
      // Outside the place of a tensor nothing is seen of it.
      memory.may_keep[r] = memory.may_bypass[r] = false;
      memory.bandwidth_of[r] = {};
    }
    // Sums that another run adds to are never finished; where they come back to is not left out.
    constexpr auto outputs = static_cast<std::size_t>(Role::kOutput);
    if (variant.sums) memory.bits.of[outputs] = row.accelerator.partial_sum_bits(static_cast<int>(l), row.layer);
    if (variant.sums_in == static_cast<int>(l)) memory.may_bypass[outputs] = false;
  }
  // A cycle costs so much more energy: at the outermost level, of which there is one.
  if (!std::isinf(slope)) levels.front().memory().leak_pj_per_cycle += slope;
  return task;
}

std::vector<int> rows_of_steps(const Workload& workload) {
  const WorkloadGraph graph = workload.graph ? *workload.graph : unrelated_layers(workload);
  std::vector<int> rows;
  for (const GraphStep& step : run_of(graph)) rows.push_back(graph.nodes[static_cast<std::size_t>(step.node)].layer);
  return rows;
}

bool is_network_certificate(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  return root.is_object() && root.value("pliant", "") == kNetworkKind;
}

std::string write_network_certificate(const NetworkCertificate& certificate) {
  const NetworkTask& task = certificate.task;
  const std::vector<int> row_of = rows_of_steps(task.workload);
  Accelerator machine = without_classes(task.accelerator);
  if (task.tiles) machine.fusion = task.accelerator.fusion;
  json about{{"workload", write_workload(task.workload)},
             {"accelerator", write_accelerator(machine)},
             {"factorization", to_string(task.factorization)},
             {"objective", to_string(task.objective)},
             {"tensors_stay", task.stay}};
  if (std::isfinite(task.most_cycles)) about["most_cycles"] = task.most_cycles;
  if (task.tiles) about["tiles"] = true;
  MappingTexts mappings(task);
  json steps = json::array(), groups = json::array();
  for (std::size_t s = 0; s < certificate.steps.size(); ++s) {
    json step{{"made_in", place_name(task.accelerator, certificate.steps[s].made)}};
    for (const StepClaim::Part& part : certificate.steps[s].parts) {
      const Layer& layer = task.workload.layers[static_cast<std::size_t>(row_of[s])].layer;
      step["mappings"].push_back({mappings.number(layer, part.mapping), part.count});
    }
    steps.push_back(std::move(step));
  }
  json claim{{"value", bound_json(certificate.value)}, {"lower_bound", bound_json(certificate.lower_bound)},
             {"energy_pj", certificate.energy_pj},     {"cycles", certificate.cycles},
             {"certified", certificate.certified},     {"steps", std::move(steps)}};
  for (const GroupClaim& group : certificate.groups) groups.push_back(group_json(task, row_of, group, mappings));
  if (task.tiles) claim["groups"] = std::move(groups);
  json slopes = json::array();
  for (const double slope : certificate.slopes) slopes.push_back(bound_json(slope));
  std::map<LayerVariant, json> variants;
  for (const VariantProof& of : certificate.proofs) {
    json one = proof_json(of.proof);
    one["slope"] = bound_json(of.slope);
    json& proofs = variants.try_emplace(of.variant, json::array()).first->second;
    proofs.push_back(std::move(one));
  }
  std::string lines;
  for (auto& [variant, proofs] : variants) {
    json one = variant_json(task, variant);
    one["proofs"] = std::move(proofs);
    lines += (lines.empty() ? "\n    " : ",\n    ") + one.dump();
  }
  return fmt::format(
      "{{\n  \"pliant\": \"{}\",\n  \"schema\": {},\n  \"task\": {},\n  \"claim\": {},\n  \"mappings\": {},\n"
      "  \"slopes\": {},\n  \"variants\": [{}\n  ]\n}}\n",
      kNetworkKind, kNetworkSchema, about.dump(), claim.dump(), json(mappings.texts()).dump(), slopes.dump(), lines);
}

NetworkCertificate read_network_certificate(const Library& library, std::string_view text, const std::string& file) {
  return NetworkReader(library, file).read(text);
}

}  // namespace pliant::audit
