// SPDX-License-Identifier: Apache-2.0
#include "dse/results/task_result.h"

#include <array>
#include <nlohmann/json.hpp>

namespace pliant {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kStatus = {"solved", "no_legal_mapping", "nothing_found", "invalid_design",
                                                     "failed"};

json write_mapping_levels(const Mapping& mapping) {
  json levels = json::array();
  for (const LevelMapping& level : mapping.levels) {
    json temporal = json::array(), spatial = json::array();
    for (const Loop& loop : level.temporal) temporal.push_back({loop.dim, loop.bound});
    for (const SpatialLoop& loop : level.spatial)
      spatial.push_back({loop.dim, loop.bound, loop.side == Side::kRows ? 0 : 1});
    levels.push_back({std::move(temporal), std::move(spatial), level.keeps});
  }
  return levels;
}

Mapping read_mapping_levels(const json& levels, const json& padded) {
  Mapping mapping;
  for (const json& item : levels) {
    LevelMapping level;
    for (const json& loop : item.at(0)) level.temporal.push_back({loop.at(0).get<int>(), loop.at(1).get<Count>()});
    for (const json& loop : item.at(1)) {
      level.spatial.push_back(
          {loop.at(0).get<int>(), loop.at(1).get<Count>(), loop.at(2).get<int>() == 0 ? Side::kRows : Side::kCols});
    }
    level.keeps = item.at(2).get<TensorSet>();
    mapping.levels.push_back(std::move(level));
  }
  mapping.padded = padded.get<std::vector<Count>>();
  return mapping;
}

}  // namespace

std::string_view to_string(TaskStatus status) { return kStatus[static_cast<std::size_t>(status)]; }

std::optional<TaskStatus> parse_task_status(std::string_view text) {
  for (std::size_t i = 0; i < kStatus.size(); ++i)
    if (kStatus[i] == text) return static_cast<TaskStatus>(i);
  return std::nullopt;
}

std::string write_task_result(const TaskResult& result) {
  json all = {{"status", to_string(result.status)}, {"seconds", result.solve_seconds}};
  all["evaluations"] = result.evaluations;
  all["ended_by"] = result.ended_by;
  all["covered"] = result.mappings_covered;
  if (result.status != TaskStatus::kSolved) {
    all["reason"] = result.reason;
    return all.dump();
  }
  all["levels"] = write_mapping_levels(result.mapping);
  all["padded"] = result.mapping.padded;
  all["energy"] = result.energy_pj;
  all["cycles"] = result.runtime_cycles;
  all["compute"] = result.compute_cycles;
  all["utilization"] = result.utilization;
  all["bound_by"] = result.bound_by;
  json energies = json::array();
  for (const TaskResult::LevelEnergy& level : result.energy_by_level)
    energies.push_back({level.level, level.energy_pj});
  all["energies"] = std::move(energies);
  all["value"] = result.value;
  all["lower_bound"] = result.lower_bound;
  all["gap"] = result.gap;
  all["certified"] = result.certified;
  return all.dump();
}

std::optional<TaskResult> parse_task_result(std::string_view text) {
  try {
    const json all = json::parse(text);
    TaskResult result;
    const auto status = parse_task_status(all.at("status").get<std::string>());
    if (!status) return std::nullopt;
    result.status = *status;
    result.solve_seconds = all.at("seconds").get<double>();
    result.evaluations = all.at("evaluations").get<std::uint64_t>();
    result.ended_by = all.at("ended_by").get<std::string>();
    result.mappings_covered = all.at("covered").get<std::string>();
    if (result.status != TaskStatus::kSolved) {
      result.reason = all.at("reason").get<std::string>();
      return result;
    }
    result.mapping = read_mapping_levels(all.at("levels"), all.at("padded"));
    result.energy_pj = all.at("energy").get<double>();
    result.runtime_cycles = all.at("cycles").get<double>();
    result.compute_cycles = all.at("compute").get<double>();
    result.utilization = all.at("utilization").get<double>();
    result.bound_by = all.at("bound_by").get<std::string>();
    for (const json& level : all.at("energies"))
      result.energy_by_level.push_back({level.at(0).get<std::string>(), level.at(1).get<double>()});
    result.value = all.at("value").get<double>();
    result.lower_bound = all.at("lower_bound").get<double>();
    result.gap = all.at("gap").get<double>();
    result.certified = all.at("certified").get<bool>();
    return result;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace pliant
