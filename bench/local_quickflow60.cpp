// SPDX-License-Identifier: Apache-2.0
// The local mapper on QuickFlow's 60 map-spaces, preset `quickflow`, one thread: EDP against the published technique's
// and against the optimum, and the time. A table is printed first; the benchmark proper times all 60 together.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/answers/shipped_configs.h"
#include "dse/mappers/mapper.h"

namespace {

using namespace pliant;

struct Reference {
  double peer = 0;  ///< EDP of the published technique, J x cycles, under the true capacity rule
};

std::map<std::string, Reference> references() {
  std::map<std::string, Reference> all;
  std::ifstream in(shipped_configs().value_or("configs").parent_path() / "tests/data/quickflow_optima.csv");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("arch,")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() >= 9) all[cells[0] + " " + cells[1]] = {std::stod(cells[8])};
  }
  return all;
}

std::vector<Task> tasks() {
  const Library library(shipped_configs().value_or("configs"));
  std::vector<Task> all;
  for (const char* name : {"eyeriss", "simba", "tpuv1"}) {
    Task task;
    task.accelerator = load_accelerator(library, name);
    task.accelerator.conventions = Conventions::quickflow();
    for (const Workload::Entry& entry : load_workload(library, "quickflow_kernels").layers) {
      task.layer = entry.layer;
      task.flexibility = task.accelerator.flexibility_of(task.layer);
      all.push_back(task);
    }
  }
  return all;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void print_table() {
  const std::map<std::string, Reference> known = references();
  const std::unique_ptr<Mapper> local = make_mapper("local"), exact = make_mapper("exact");
  std::printf("%-8s %-9s %14s %9s %9s %9s %9s\n", "arch", "kernel", "EDP J*cycles", "/peer", "/optimum", "ms",
              "exact ms");
  double total = 0, worst = 0;
  int optimal = 0, beaten = 0, count = 0;
  for (const Task& task : tasks()) {
    const double start = cpu_seconds();
    const SearchResult found = run_mapper(*local, task, {});
    const double middle = cpu_seconds();
    const SearchResult best = run_mapper(*exact, task, {});
    const double end = cpu_seconds();
    const auto reference = known.find(task.accelerator.name + " " + task.layer.name);
    const double edp = found.totals.edp() * 1e-12, ratio = found.value / best.value;
    std::string peer = "-";
    if (reference != known.end()) {
      char text[32];
      std::snprintf(text, sizeof text, "%.4f", edp / reference->second.peer);
      peer = text;
      beaten += edp <= reference->second.peer * (1 + 1e-6);
      ++count;
    }
    std::printf("%-8s %-9s %14.7g %9s %9.4f %9.1f %9.1f\n", task.accelerator.name.c_str(), task.layer.name.c_str(), edp,
                peer.c_str(), ratio, (middle - start) * 1e3, (end - middle) * 1e3);
    total += middle - start;
    worst = std::max(worst, ratio);
    optimal += ratio < 1 + 1e-6;
  }
  std::printf(
      "local: %.2f CPU seconds for all; %d of 60 optimal, at most %.4f of the optimum; at least as good as the "
      "peer in %d of %d known cases\n",
      total, optimal, worst, beaten, count);
}

void LocalQuickflow60(benchmark::State& state) {
  static const bool printed = (print_table(), true);
  benchmark::DoNotOptimize(printed);
  const std::vector<Task> all = tasks();
  const std::unique_ptr<Mapper> local = make_mapper("local");
  for (auto _ : state)
    for (const Task& task : all) benchmark::DoNotOptimize(local->search(task, {}).value);
}
BENCHMARK(LocalQuickflow60)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
