// SPDX-License-Identifier: Apache-2.0
// The exact mapper's speed goals, one thread, CPU time: QuickFlow's 60 map-spaces under two conventions and GOMA's 192
// GEMMs, each solved once with proof. The slowest and the peak memory are printed beside them.
//
//     exact_speed [--benchmark_filter=goma]

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/answers/shipped_configs.h"
#include "dse/mappers/mapper.h"

namespace {

using namespace pliant;

const Library& library() {
  static const Library shipped(shipped_configs().value_or("configs"));
  return shipped;
}

void add_tasks(const std::string& accelerator, const std::string& workload, const char* conventions,
               std::vector<Task>& all) {
  Task task;
  task.accelerator = load_accelerator(library(), accelerator);
  if (conventions != nullptr) task.accelerator.conventions = *Conventions::preset(conventions);
  for (const Workload::Entry& entry : load_workload(library(), workload).layers) {
    task.layer = entry.layer;
    task.flexibility = task.accelerator.flexibility_of(task.layer);
    all.push_back(task);
  }
}

std::vector<Task> quickflow60(const char* conventions) {
  std::vector<Task> all;
  for (const char* name : {"eyeriss", "simba", "tpuv1"}) add_tasks(name, "quickflow_kernels", conventions, all);
  return all;
}

std::vector<Task> goma192() {
  std::vector<Task> all;
  for (const char* length : {"1k", "8k", "32k"})
    for (const char* model : {"goma_qwen3_0_6b", "goma_llama3_2_1b"})
      for (const char* name : {"goma_eyeriss", "goma_gemmini"})
        add_tasks(name, std::string(model) + "_" + length, nullptr, all);
  for (const char* length : {"2k", "32k", "128k"})
    for (const char* model : {"goma_qwen3_32b", "goma_llama3_3_70b"})
      for (const char* name : {"goma_a100", "goma_tpuv1"})
        add_tasks(name, std::string(model) + "_" + length, nullptr, all);
  return all;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void solve_all(benchmark::State& state, const std::vector<Task>& tasks) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  std::vector<double> seconds;
  double slowest = 0;
  int certified = 0;
  for (auto _ : state) {
    for (const Task& task : tasks) {
      const double start = cpu_seconds();
      const SearchResult found = exact->search(task, {});
      seconds.push_back(cpu_seconds() - start);
      certified += found.certified;
      if (seconds.back() > slowest) {
        slowest = seconds.back();
        state.SetLabel("slowest " + task.accelerator.name + " " + task.layer.name);
      }
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::sort(seconds.begin(), seconds.end());
  state.counters["certified"] = certified;
  state.counters["median_ms"] = 1e3 * (seconds[(seconds.size() - 1) / 2] + seconds[seconds.size() / 2]) / 2;
  state.counters["longest_ms"] = 1e3 * slowest;
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void quickflow60_quickflow(benchmark::State& state) { solve_all(state, quickflow60("quickflow")); }
void quickflow60_physical(benchmark::State& state) { solve_all(state, quickflow60("physical")); }
void goma192(benchmark::State& state) { solve_all(state, goma192()); }

BENCHMARK(quickflow60_quickflow)->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(quickflow60_physical)->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(goma192)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
