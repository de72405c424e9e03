// SPDX-License-Identifier: Apache-2.0
// How long fused chains take to be proven, in one process: the 22 of tests/data/accelforge_fused_chains.csv, one
// thread, CPU time of the search with tiles alone. The counters are the median and the worst chain in milliseconds, and
// how many were certified and no worse than the public tool's optimum. A second row is a block of GPT-3 175B on that
// tool's TPU v4i, whose energy and time must be no more than it reports.
//
//     fused_speed      (in the source folder)

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/answers/shipped_configs.h"
#include "dse/mappers/fusion/fusion.h"
#include "dse/mappers/mapper.h"

namespace {

using namespace pliant;

struct Chain {
  Workload workload;
  std::vector<Task> rows;
  NetworkGoal goal;
  double tool = 0;  ///< its optimum
};

std::vector<std::string> cells_of(const std::string& line, char by) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, by);) cells.push_back(cell);
  return cells;
}

std::string layers_of(const std::string& kind, const std::vector<Count>& n) {
  std::vector<std::string> layers;
  if (kind == "gemms") {
    for (std::size_t i = 1; i + 1 < n.size(); ++i)
      layers.push_back(fmt::format("gemm: {{M: {}, N: {}, K: {}}}", n[0], n[i + 1], n[i]));
  } else {
    layers = {fmt::format("conv: {{M: {}, C: {}, P: {}, Q: {}, R: 1, S: 1}}", n[2], n[1], n[0] + 2, n[0] + 2),
              fmt::format("conv: {{M: {0}, C: {0}, P: {1}, Q: {1}, R: 3, S: 3, groups: {0}}}", n[2], n[0]),
              fmt::format("conv: {{M: {}, C: {}, P: {}, Q: {}, R: 1, S: 1}}", n[1], n[2], n[0], n[0])};
  }
  std::string text = "pliant: workload\nname: chain\nlayers:\n", graph = "graph:\n";
  for (std::size_t i = 0; i < layers.size(); ++i) {
    text += fmt::format("  - {{layer: l{}, {}}}\n", i, layers[i]);
    graph += i == 0 ? "  - {layer: l0}\n" : fmt::format("  - {{layer: l{}, from: l{}}}\n", i, i - 1);
  }
  return text + graph;
}

std::vector<Chain> read_chains() {
  const Library library(shipped_configs().value_or("configs"));
  std::ifstream in("tests/data/accelforge_fused_chains.csv");
  std::vector<Chain> all;
  bool header = true;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    if (header) {
      header = false;
      continue;
    }
    const std::vector<std::string> cells = cells_of(line, ',');
    std::vector<Count> sizes;
    for (const std::string& size : cells_of(cells[1], 'x')) sizes.push_back(std::stoll(size));
    const std::string limit = cells[3].empty() ? "" : fmt::format(", bandwidth: {} words/cycle", cells[3]);
    const Accelerator machine = parse_accelerator_text(
        library,
        fmt::format("pliant: accelerator\nname: two_memories\nword_bits: 8\nconventions: physical\nlevels:\n"
                    "  - {{memory: Main, capacity: unbounded, read_pj: 800, write_pj: 800{}}}\n"
                    "  - {{memory: Buffer, capacity: {}, read_pj: 8, write_pj: 8}}\n  - {{compute: MAC, mac_pj: 1}}\n",
                    limit, cells[2]),
        "machine.yaml");
    Chain& chain = all.emplace_back();
    chain.workload = parse_workload_text(layers_of(cells[0], sizes), "chain.yaml");
    for (const Workload::Entry& entry : chain.workload.layers)
      chain.rows.push_back({entry.layer, machine, machine.flexibility_of(entry.layer)});
    chain.goal.objective = *parse_objective(cells[4]);
    chain.tool = std::stod(cells[7]) * (cells[4] == "edp" ? std::stod(cells[8]) : 1);
  }
  return all;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void fused_chains(benchmark::State& state) {
  const std::vector<Chain> chains = read_chains();
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  std::vector<double> best(chains.size(), 1e9);
  int good = 0;
  for (auto _ : state) {
    good = 0;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      const double start = cpu_seconds();
      fusion::Search search(*exact, chains[c].workload, chains[c].rows, options);
      const fusion::Optimum found = search.run(chains[c].goal);
      best[c] = std::min(best[c], 1e3 * (cpu_seconds() - start));
      good += found.certified && found.value <= chains[c].tool * (1 + 1e-9) ? 1 : 0;
    }
  }
  std::ranges::sort(best);
  state.counters["chains"] = static_cast<double>(chains.size());
  state.counters["certified_and_no_worse"] = good;
  if (best.empty()) return;
  state.counters["median_ms"] = best[best.size() / 2];
  state.counters["worst_ms"] = best.back();
}
BENCHMARK(fused_chains)->Unit(benchmark::kMillisecond);

std::string text_of(const char* file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void fused_gpt3_block(benchmark::State& state) {
  const Library library(shipped_configs().value_or("configs"));
  const Accelerator machine =
      parse_accelerator_text(library, text_of("tests/data/tpu_v4i_16bit.yaml"), "tpu_v4i_16bit.yaml");
  Chain block;
  block.workload = parse_workload_text(text_of("tests/data/gpt3_175b_block.yaml"), "gpt3_175b_block.yaml");
  for (const Workload::Entry& entry : block.workload.layers)
    block.rows.push_back({entry.layer, machine, machine.flexibility_of(entry.layer)});
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  for (auto _ : state) {
    fusion::Search search(*exact, block.workload, block.rows, options);
    const fusion::Optimum found = search.run({Objective::kEdp});
    const double joules = found.energy_pj * 1e-12, seconds = found.cycles / *machine.clock_hz;
    state.counters["joules"] = joules;
    state.counters["seconds"] = seconds;
    state.counters["certified_and_no_worse"] =
        found.certified && joules <= 1.175130027562791 && seconds <= 0.056330591440200806 ? 1 : 0;
  }
}
BENCHMARK(fused_gpt3_block)->Unit(benchmark::kMillisecond);

}  // namespace
