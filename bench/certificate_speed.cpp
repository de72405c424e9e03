// SPDX-License-Identifier: Apache-2.0
// What a certificate costs: QuickFlow's 60 map-spaces solved with proof, one thread, CPU time; then again with the
// parts recorded and the file's text made. The counter `share` is what that adds to the search, 0.2 = 20 %.
//
//     certificate_speed

#include <benchmark/benchmark.h>

#include <ctime>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/answers/shipped_configs.h"
#include "dse/audit/certificate.h"
#include "dse/mappers/mapper.h"

namespace {

using namespace pliant;

std::vector<Task> quickflow60() {
  const Library library(shipped_configs().value_or("configs"));
  std::vector<Task> all;
  for (const char* name : {"eyeriss", "simba", "tpuv1"}) {
    Task task;
    task.accelerator = load_accelerator(library, name);
    for (const Workload::Entry& entry : load_workload(library, "quickflow_kernels").layers) {
      task.layer = entry.layer;
      task.flexibility = task.accelerator.flexibility_of(task.layer);
      all.push_back(task);
    }
  }
  return all;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void certificates(benchmark::State& state) {
  const std::vector<Task> tasks = quickflow60();
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  double plain = 0, recorded = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    for (const Task& task : tasks) {
      const double start = cpu_seconds();
      exact->search(task, {});
      const double between = cpu_seconds();
      SearchOptions options;
      options.record_parts = true;
      const SearchResult found = exact->search(task, options);
      const std::string text = audit::write_certificate(
          {task, found.mapping, found.value, found.lower_bound, found.certified, found.infeasible, found.parts});
      recorded += cpu_seconds() - between;
      plain += between - start;
      bytes = std::max(bytes, text.size());
    }
  }
  state.counters["search_ms"] = 1e3 * plain / static_cast<double>(state.iterations());
  state.counters["with_certificate_ms"] = 1e3 * recorded / static_cast<double>(state.iterations());
  state.counters["share"] = recorded / plain - 1;
  state.counters["largest_kB"] = static_cast<double>(bytes) / 1e3;
}

BENCHMARK(certificates)->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
