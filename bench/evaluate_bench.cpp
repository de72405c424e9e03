// SPDX-License-Identifier: Apache-2.0
// How many mappings per second one thread prices: in full (load + price), and after one change (one dim's bounds, one
// level's order, one memory's bypass). Mappings are drawn beforehand: perfect factors, bounds within the fanouts.
//
//   build/release/bin/evaluate_bench --benchmark_min_time=1
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/input/load.h"
#include "costmodel/nest.h"
#include "dse/answers/shipped_configs.h"
#include "flex/mapspace/factors.h"

namespace {

using namespace pliant;

const std::array<std::pair<const char*, const char*>, 4> kLayers = {
    {{"gemm", "gemm:M=512,N=1024,K=768"},
     {"conv", "conv:M=256,C=128,P=56,Q=56,R=3,S=3"},
     {"strided_dilated", "conv:M=128,C=64,P=54,Q=54,R=3,S=3,stride=2,dilation=2"},
     {"batched", "conv:B=16,M=256,C=128,P=28,Q=28,R=3,S=3"}}};
const std::array<const char*, 3> kAccelerators = {"eyeriss", "simba", "tpuv1"};

using Random = std::mt19937_64;

std::size_t pick(Random& random, std::size_t n) { return random() % n; }

/// Perfect factors at random, spatial ones within the fanouts; random orders; everything kept where it may be.
FlatMapping draw(Random& random, const Problem& problem) {
  FlatMapping flat = flatten(problem, empty_mapping(problem.layer, problem.accelerator));
  std::array<Count, kMaxLevels> room{};
  for (int l = 0; l < problem.levels; ++l) {
    room[l] = problem.is_memory[l] ? 0 : problem.accelerator.levels[static_cast<std::size_t>(l)].fanout().units();
    std::shuffle(flat.order[l].begin(), flat.order[l].begin() + problem.dims, random);
  }
  for (int d = 0; d < problem.dims; ++d) {
    Count left = problem.layer.dims[static_cast<std::size_t>(d)].size;
    for (int l = problem.levels - 1; l >= 0; --l) {
      std::vector<Count> choices = divisors(left);
      if (!problem.is_memory[l]) std::erase_if(choices, [&](Count c) { return c > room[l]; });
      const Count bound = l == 0 ? left : choices[pick(random, choices.size())];
      flat.bound[l][d] = bound;
      left /= bound;
      room[l] /= bound;
    }
  }
  return flat;
}

struct Setup {
  Problem problem;
  std::vector<FlatMapping> mappings;
  Setup(int accelerator, int layer)
      : problem(parse_layer(kLayers[static_cast<std::size_t>(layer)].second, "bench"),
                load_accelerator(Library(shipped_configs().value()),
                                 kAccelerators[static_cast<std::size_t>(accelerator)])) {
    Random random(1);
    for (int i = 0; i < 256; ++i) mappings.push_back(draw(random, problem));
  }
};

void report(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(kAccelerators[static_cast<std::size_t>(state.range(0))]) + " " +
                 kLayers[static_cast<std::size_t>(state.range(1))].first);
}

void Full(benchmark::State& state) {
  const Setup setup(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  Nest nest(setup.problem);
  std::size_t i = 0;
  for (auto _ : state) {
    nest.load(setup.mappings[i++ % setup.mappings.size()]);
    benchmark::DoNotOptimize(nest.price());
  }
  report(state);
}

/// The bounds of one dim after another are taken from other mappings.
void ChangeBounds(benchmark::State& state) {
  const Setup setup(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const Problem& problem = setup.problem;
  struct Change {
    int dim;
    std::array<Count, kMaxLevels> bound;
  };
  std::vector<Change> changes;
  Random random(2);
  for (int i = 0; i < 1024; ++i) {
    Change change{static_cast<int>(pick(random, static_cast<std::size_t>(problem.dims))), {}};
    const FlatMapping& from = setup.mappings[pick(random, setup.mappings.size())];
    for (int l = 0; l < problem.levels; ++l) change.bound[l] = from.bound[l][change.dim];
    changes.push_back(change);
  }
  Nest nest(problem);
  nest.load(setup.mappings.front());
  std::size_t i = 0;
  for (auto _ : state) {
    const Change& change = changes[i++ % changes.size()];
    nest.set_bounds(change.dim, change.bound.data());
    benchmark::DoNotOptimize(nest.price());
  }
  report(state);
}

void ChangeOrder(benchmark::State& state) {
  const Setup setup(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const Problem& problem = setup.problem;
  std::vector<int> memories;
  for (int l = 0; l < problem.levels; ++l)
    if (problem.is_memory[l]) memories.push_back(l);
  Nest nest(problem);
  nest.load(setup.mappings.front());
  std::size_t i = 0;
  for (auto _ : state) {
    const int level = memories[i % memories.size()];
    nest.set_order(level, setup.mappings[i++ % setup.mappings.size()].order[level].data());
    benchmark::DoNotOptimize(nest.price());
  }
  report(state);
}

/// Memories inside the outermost keepers drop one of their tensors and take it up again.
void ChangeKeeps(benchmark::State& state) {
  const Setup setup(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const Problem& problem = setup.problem;
  const FlatMapping& start = setup.mappings.front();
  std::vector<std::pair<int, TensorSet>> changes;
  TensorSet outside = 0;
  for (int l = 0; l < problem.levels; ++l) {
    if (!problem.is_memory[l]) continue;
    for (int x = 0; x < problem.tensors; ++x) {
      const TensorSet bit = TensorSet{1} << x;
      if ((start.keeps[l] & bit) == 0 || (outside & bit) == 0) continue;
      changes.emplace_back(l, start.keeps[l] & ~bit);
      changes.emplace_back(l, start.keeps[l]);
    }
    outside |= start.keeps[l];
  }
  Nest nest(problem);
  nest.load(start);
  std::size_t i = 0;
  for (auto _ : state) {
    const auto& [level, keeps] = changes[i++ % changes.size()];
    nest.set_keeps(level, keeps);
    benchmark::DoNotOptimize(nest.price());
  }
  report(state);
}

void every_case(benchmark::internal::Benchmark* bench) { bench->ArgsProduct({{0, 1, 2}, {0, 1, 2, 3}}); }
BENCHMARK(Full)->Apply(every_case);
BENCHMARK(ChangeBounds)->Apply(every_case);
BENCHMARK(ChangeOrder)->Apply(every_case);
BENCHMARK(ChangeKeeps)->Apply(every_case);

}  // namespace
