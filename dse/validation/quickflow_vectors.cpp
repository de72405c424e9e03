// SPDX-License-Identifier: Apache-2.0
#include "dse/validation/quickflow_vectors.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "costmodel/report.h"

namespace pliant {

namespace {

using nlohmann::json;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

[[noreturn]] void refuse(const std::string& vector, const std::string& what) {
  throw InputError(Diagnostic{"", 0, 0, vector, what, "", ""});
}

Mapping read_mapping(const json& record, const std::string& id, const Layer& layer, const Accelerator& accelerator) {
  Mapping mapping = empty_mapping(layer, accelerator);
  for (const json& item : record) {
    const std::string name = item.at("level");
    const int l = accelerator.find_level(name);
    if (l < 0) refuse(id, fmt::format("accelerator {} has no level {}", accelerator.name, name));
    const auto dim_of = [&](const std::string& dim) {
      const int d = layer.find_dim(dim);
      if (d < 0) refuse(id, fmt::format("layer {} has no dim {}", layer.name, dim));
      return d;
    };
    const json& factors = item.at("factors");
    if (accelerator.levels[l].is_fanout()) {
      for (const auto& [dim, bound] : factors.items())
        mapping.levels[l].spatial.push_back({dim_of(dim), bound.get<Count>(), Side::kCols});
      continue;
    }
    for (const json& dim : item.at("loop_order_outer_to_inner"))
      mapping.levels[l].temporal.push_back(
          {dim_of(dim.get<std::string>()), factors.at(dim.get<std::string>()).get<Count>()});
  }
  return mapping;
}

}  // namespace

void validate_quickflow_vectors(const json& file, const Library& library, ValidationResult& result) {
  const Workload kernels = load_workload(library, "quickflow_kernels");
  std::map<std::string, Accelerator> accelerators;
  int number = 0;
  for (const json& record : file.at("vectors")) {
    const std::string kernel = record.at("kernel"), arch = lower_case(record.at("arch"));
    const std::string id = fmt::format("{} {}-{}", ++number, record.at("arch").get<std::string>(), kernel);
    if (!accelerators.contains(arch)) {
      accelerators[arch] = load_accelerator(library, arch);
      accelerators[arch].conventions = Conventions::quickflow();
    }
    const Accelerator& accelerator = accelerators[arch];
    const Workload::Entry* entry = kernels.find("QF_" + kernel);
    if (entry == nullptr) refuse(id, "no such kernel");
    const Layer& layer = entry->layer;
    const CostReport report = price(layer, accelerator, read_mapping(record.at("mapping"), id, layer, accelerator));

    bool wrong = false;
    const auto compare = [&](const std::string& quantity, double theirs, double ours, double below, double above) {
      ++result.compared;
      if (ours >= theirs - below && ours <= theirs + above) return;
      result.mismatches.push_back({id, quantity, theirs, ours, ""});
      wrong = true;
    };
    const auto close = [&](const std::string& quantity, double theirs, double ours) {
      compare(quantity, theirs, ours, 1e-9 * std::abs(theirs), 1e-9 * std::abs(theirs));
    };
    // Their cycles are a quotient with its rounding error; ours are the next whole number.
    const auto cycles = [&](const std::string& quantity, double theirs, double ours) {
      compare(quantity, theirs, ours, 1e-12 * theirs, 1);
    };
    close("energy_pj", record.at("energy_pJ"), report.totals.energy_pj);
    cycles("cycles", record.at("latency_cycles"), report.totals.cycles);
    close("utilization", record.at("utilization"), report.macs / (report.totals.steps * report.units));
    // Their latency of a level includes the levels inside it.
    double latency = report.totals.steps;
    const json& accesses = record.at("accesses_words");
    for (auto item = accesses.rbegin(); item != accesses.rend(); ++item) {
      const std::string name = item->at("level");
      const int l = accelerator.find_level(name);
      if (l < 0) refuse(id, fmt::format("accelerator {} has no level {}", arch, name));
      const LevelCost& level = report.levels[l];
      static constexpr std::array<const char*, kRoles> kPrefix = {"in", "w", "out"};
      for (int x = 0; x < static_cast<int>(layer.tensors.size()); ++x) {
        const TensorCost& tensor = level.tensors[x];
        const std::string prefix = kPrefix[static_cast<std::size_t>(layer.tensors[x].role)];
        const double reads = item->at(prefix + "_reads"), writes = item->at(prefix + "_writes");
        compare(name + "." + prefix + "_reads", reads, tensor.reads, 0, 0);
        compare(name + "." + prefix + "_writes", writes, tensor.fills + tensor.updates, 0, 0);
      }
      latency = std::max({latency, level.read_cycles, level.write_cycles});
      cycles(name + ".latency", item->at("latency_cycles"), latency);
    }
    ++result.vectors;
    if (wrong) ++result.mismatched_vectors;
  }
}

}  // namespace pliant
