// SPDX-License-Identifier: Apache-2.0
#include "dse/validation/timeloop_vectors.h"

#include <cmath>

#include <fmt/format.h>

#include "core/diagnostics.h"
#include "costmodel/report.h"

namespace pliant {

namespace {

using nlohmann::json;

Accelerator read_accelerator(const json& record) {
  Accelerator accelerator;
  accelerator.name = record.at("name");
  accelerator.conventions = Conventions::timeloop();
  for (const json& item : record.at("levels")) {
    Level level;
    level.name = item.at("name");
    const std::string kind = item.at("kind");
    if (kind == "memory") {
      Memory memory;
      if (!item.at("size_words").is_null()) memory.capacity_words = item.at("size_words").get<Count>();
      if (!item.at("read_bw").is_null()) memory.read_words_per_cycle = item.at("read_bw").get<double>();
      if (!item.at("write_bw").is_null()) memory.write_words_per_cycle = item.at("write_bw").get<double>();
      memory.read_pj = item.at("energy_pj").at("read");
      memory.write_pj = item.at("energy_pj").at("write");
      memory.update_pj = item.at("energy_pj").at("update");
      memory.may_bypass = {true, true, true};
      level.part = memory;
    } else if (kind == "fanout") {
      Fanout fanout;
      fanout.cols = item.at("x");
      fanout.rows = item.at("y");
      level.part = fanout;
    } else {
      Compute compute;
      compute.mac_pj = item.at("energy_pj").at("compute");
      level.part = compute;
    }
    accelerator.levels.push_back(std::move(level));
  }
  accelerator.flexibility.levels.resize(accelerator.levels.size());
  return accelerator;
}

Layer read_layer(const json& record) {
  Layer layer;
  layer.name = record.at("name");
  for (const auto& [name, size] : record.at("dims").items()) layer.dims.push_back({name, size.get<Count>()});
  for (const json& item : record.at("tensors")) {
    Tensor tensor;
    tensor.name = item.at("name");
    tensor.role = item.at("output").get<bool>() ? Role::kOutput
                  : tensor.name == "Weights"    ? Role::kWeight
                                                : Role::kInput;
    for (const json& rank : item.at("projection")) {
      Rank terms;
      for (const json& term : rank)
        terms.terms.push_back({layer.find_dim(term.at(0).get<std::string>()), term.at(1).get<Count>()});
      tensor.ranks.push_back(std::move(terms));
    }
    layer.tensors.push_back(std::move(tensor));
  }
  return layer;
}

Mapping read_mapping(const json& record, const Layer& layer, const Accelerator& accelerator) {
  Mapping mapping;
  mapping.levels.resize(accelerator.levels.size());
  for (const json& item : record) {
    const int l = accelerator.find_level(item.at("level").get<std::string>());
    for (const json& keep : item.at("keep"))
      mapping.levels[l].keeps |= TensorSet{1} << layer.find_tensor(keep.get<std::string>());
    for (const json& loop : item.at("temporal"))
      mapping.levels[l].temporal.push_back(
          {layer.find_dim(loop.at("dim").get<std::string>()), loop.at("bound").get<Count>()});
    for (const json& loop : item.at("spatial"))
      mapping.levels[l + 1].spatial.push_back({layer.find_dim(loop.at("dim").get<std::string>()),
                                               loop.at("bound").get<Count>(),
                                               loop.at("axis") == "X" ? Side::kCols : Side::kRows});
  }
  return mapping;
}

}  // namespace

void validate_timeloop_vector(const json& record, ValidationResult& result) {
  const std::string id = record.at("id");
  Accelerator accelerator = read_accelerator(record.at("arch"));
  // The plain results walk two iterations of every loop; the full walk is given where it was run and differs.
  if (!record.contains("results_full_walk")) accelerator.conventions.halo = Conventions::Halo::kTwoIterations;
  const Layer layer = read_layer(record.at("problem"));
  const Mapping mapping = read_mapping(record.at("mapping"), layer, accelerator);
  const CostReport report = price(layer, accelerator, mapping);
  const json& expected = record.contains("results_full_walk") ? record.at("results_full_walk") : record.at("results");
  const bool perfect = record.at("factorization") == "perfect";
  const std::string imperfect_at =
      record.at("imperfect_at").is_null() ? "" : record.at("imperfect_at").get<std::string>();
  const bool computes_exact = record.at("computes_exact");
  const bool temporal = imperfect_at == "temporal" || imperfect_at == "both";

  // Why a difference in this quantity is the reference's artefact and not ours; "" = it is not.
  const auto excuse = [&](const std::string& kind) -> std::string {
    if (perfect) return "";
    if (!computes_exact) return "the reference miscounts its own operations here (computes_exact is false)";
    if (temporal && (kind == "cycles" || kind == "utilization"))
      return "the reference multiplies temporal bounds and ignores that last iterations are shorter";
    if (kind == "fills" || kind == "energy")
      return "the reference averages fills over the full fanout, then multiplies by the average active instances";
    if (temporal) return "the reference follows instance 0 and its remainders only; ours is the walked loop nest";
    return "";
  };
  bool wrong = false, excused = false;
  const auto compare = [&](const std::string& quantity, const std::string& kind, double theirs, double ours,
                           double tolerance) {
    ++result.compared;
    if (std::abs(theirs - ours) <= tolerance * std::max(1.0, std::abs(theirs))) return;
    Mismatch mismatch{id, quantity, theirs, ours, excuse(kind)};
    if (mismatch.excuse.empty()) {
      wrong = true;
      result.mismatches.push_back(std::move(mismatch));
    } else {
      excused = true;
      result.excused.push_back(std::move(mismatch));
    }
  };

  compare("computes", "computes", expected.at("computes"), report.macs, 0);
  compare("cycles", "cycles", expected.at("cycles"), report.totals.cycles, 0);
  compare("compute_cycles", "cycles", expected.at("compute_cycles"), report.totals.steps, 0);
  compare("utilization", "utilization", expected.at("utilization"), report.totals.utilization, 1e-9);
  compare("compute_energy_pj", "computes", expected.at("compute_energy_pj"), report.mac_energy_pj, 1e-9);
  for (const json& item : expected.at("levels")) {
    const std::string name = item.at("level");
    const int l = accelerator.find_level(name);
    if (l < 0 || !report.levels[l].memory) continue;
    const LevelCost& level = report.levels[l];
    compare(name + ".energy_pj", "energy", item.at("energy_pj"), level.energy_pj, 1e-9);
    for (const auto& [tensor_name, counts] : item.at("tensors").items()) {
      const int x = layer.find_tensor(tensor_name);
      const TensorCost& tensor = level.tensors[x];
      const std::string prefix = name + "." + tensor_name + ".";
      compare(prefix + "kept", "kept", counts.at("kept").get<bool>() ? 1 : 0, tensor.kept ? 1 : 0, 0);
      if (!tensor.kept) continue;
      // The reference rounds to whole words per instance before it multiplies.
      const double instances = level.instances_average;
      const double rounding = perfect ? 0 : 0.5;
      const auto count = [&](const char* kind, double ours) {
        const double theirs = counts.at(kind);
        const double slack = (rounding + 1e-9 * theirs) / std::max(1.0, theirs);
        compare(prefix + kind, kind, theirs, ours / instances, perfect ? 0 : slack);
      };
      count("reads", tensor.reads);
      count("fills", tensor.fills);
      count("updates", tensor.updates);
      compare(prefix + "tile_size", "tile_size", counts.at("tile_size"), tensor.tile_words, 0);
      compare(prefix + "instances", "instances", counts.at("instances"), instances, 1e-9);
    }
  }
  compare("energy_pj", "energy", expected.at("energy_pj"), report.totals.energy_pj, 1e-9);
  ++result.vectors;
  if (wrong)
    ++result.mismatched_vectors;
  else if (excused)
    ++result.excused_vectors;
}

}  // namespace pliant
