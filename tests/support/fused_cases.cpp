// SPDX-License-Identifier: Apache-2.0
#include "support/fused_cases.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "core/input/load.h"

namespace pliant::tests {

namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

/// A 1x1 convolution of N to T channels, a depthwise 3x3, a 1x1 back to N; P x P results.
Workload pointwise_chain(Count P, Count N, Count T) {
  return parse_workload_text(fmt::format(R"(name: pointwise
layers:
  - {{layer: l0, conv: {{M: {2}, C: {1}, P: {3}, Q: {3}, R: 1, S: 1}}}}
  - {{layer: l1, conv: {{M: {2}, C: {2}, P: {0}, Q: {0}, R: 3, S: 3, groups: {2}}}}}
  - {{layer: l2, conv: {{M: {1}, C: {2}, P: {0}, Q: {0}, R: 1, S: 1}}}}
graph:
  - {{layer: l0}}
  - {{layer: l1, from: l0}}
  - {{layer: l2, from: l1}}
)",
                                         P, N, T, P + 2),
                             "pointwise.yaml");
}

}  // namespace

Accelerator two_memories(Count buffer_words, std::optional<double> main_words_per_cycle) {
  Accelerator machine;
  machine.name = "two_memories";
  machine.conventions = Conventions::physical();
  Memory main;
  main.word_bits = 8;
  main.read_pj = main.write_pj = main.update_pj = 800;
  main.bus_words_per_cycle = main_words_per_cycle;
  Memory buffer;
  buffer.word_bits = 8;
  buffer.capacity_words = buffer_words;
  buffer.read_pj = buffer.write_pj = buffer.update_pj = 8;
  machine.levels = {{"Main", main}, {"Buffer", buffer}, {"MAC", Compute{1}}};
  machine.flexibility.levels.resize(machine.levels.size());
  return machine;
}

Workload gemm_chain(const std::vector<Count>& sizes) {
  std::string layers, graph;
  for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
    layers +=
        fmt::format("  - {{layer: l{}, gemm: {{M: {}, N: {}, K: {}}}}}\n", i, sizes[0], sizes[i + 2], sizes[i + 1]);
    graph += i == 0 ? "  - {layer: l0}\n" : fmt::format("  - {{layer: l{}, from: l{}}}\n", i, i - 1);
  }
  return parse_workload_text("name: gemms\nlayers:\n" + layers + "graph:\n" + graph, "gemms.yaml");
}

std::vector<Task> tasks_of(const Workload& workload, const Accelerator& accelerator) {
  std::vector<Task> rows;
  for (const Workload::Entry& entry : workload.layers)
    rows.push_back({entry.layer, accelerator, accelerator.flexibility_of(entry.layer)});
  return rows;
}

std::vector<FusedCase> fused_cases(const std::string& file) {
  std::ifstream in(file);
  std::vector<FusedCase> all;
  bool header = true;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    if (std::exchange(header, false)) continue;
    const std::vector<std::string> cells = split(line, ',');
    std::vector<Count> sizes;
    for (const std::string& size : split(cells.at(1), 'x')) sizes.push_back(std::stoll(size));
    FusedCase one;
    one.text = line;
    one.workload = cells[0] == "gemms" ? gemm_chain(sizes) : pointwise_chain(sizes.at(0), sizes.at(1), sizes.at(2));
    one.rows = tasks_of(
        one.workload,
        two_memories(std::stoll(cells.at(2)), cells.at(3).empty() ? std::nullopt : std::optional(std::stod(cells[3]))));
    const bool edp = cells.at(4) == "edp";
    one.objective = edp ? Objective::kEdp : Objective::kEnergy;
    one.unfused = std::stod(cells.at(5)) * (edp ? std::stod(cells.at(6)) : 1);
    one.fused = std::stod(cells.at(7)) * (edp ? std::stod(cells.at(8)) : 1);
    one.upper_bound = cells.at(9) == "one";
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace pliant::tests
