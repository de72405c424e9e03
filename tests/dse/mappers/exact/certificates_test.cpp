// SPDX-License-Identifier: Apache-2.0
// Small map-spaces in which a certificate was wrong once, or in which an argument that is nearly right would show. Each
// says why the bound holds. Every value is that of the enumeration of all mappings.
#include <gtest/gtest.h>

#include <string>

#include "core/input/load.h"
#include "dse/mappers/mapper.h"
#include "support/driven_clock.h"

namespace pliant {
namespace {

Task task_of(const std::string& accelerator, const std::string& layer) {
  Task task;
  task.accelerator = parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"),
                                            "pliant: accelerator\nname: small\n" + accelerator, "accelerator.yaml");
  task.layer = layer.starts_with("einsum:") ? parse_layer_text("pliant: layer\nlayer: small\n" + layer, "layer.yaml")
                                            : parse_layer(layer, "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  return task;
}

/// The value of both mappers, or -1 where both prove that nothing is legal. The search itself, for what it says under
/// mixed conventions is not claimed.
double agreed_value(const Task& task, const SearchOptions& options = {}) {
  const SearchResult truth = run_mapper(*make_mapper("exhaustive"), task, {});
  const SearchResult exact = make_mapper("exact")->search(task, options);
  EXPECT_EQ(exact.infeasible, truth.infeasible);
  EXPECT_EQ(exact.certified, truth.certified);
  if (!truth.mapping || !exact.mapping) return truth.mapping || exact.mapping ? -2 : -1;
  EXPECT_NEAR(exact.value, truth.value, 1e-9 * truth.value);
  return exact.value;
}

// An index 4*A under bounding boxes: a tile of both values of A is a box of 5 words, two tiles of one are 2. A tensor
// whose window does not slide is charged with the tile that its child holds before the loop that moves it, not with
// what the loop covers. Outputs 2 + inputs 2 words written to the buffer.
TEST(Certificates, IndexWithACoefficientIsChargedBeforeTheLoopThatMovesIt) {
  Task task = task_of(R"(
conventions: timeloop
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0}
  - {memory: Buffer, capacity: unbounded, read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                      R"(einsum:
  dims: {A: 2}
  tensors:
    - {name: O, role: outputs, projection: [A]}
    - {name: X, role: inputs, projection: ["4*A"]}
)");
  task.objective = Objective::kEnergy;
  EXPECT_EQ(agreed_value(task), 4);
}

// The same where another tensor slides along the loop that moves it: A+B slides along A, 3*A does not.
TEST(Certificates, OneTensorSlidesAlongTheLoopThatMovesAnotherAsAWhole) {
  for (const char* preset : {"timeloop", "physical", "quickflow"}) {
    Task task = task_of("conventions: {preset: " + std::string(preset) + R"(, footprint: bounding-box}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 3, read_bandwidth: 2}
  - {memory: Buffer, capacity: 11, read_pj: 1, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                        R"(einsum:
  dims: {A: 4, B: 2, C: 2}
  tensors:
    - {name: O, role: outputs, projection: [C]}
    - {name: X, role: inputs, projection: ["A + B"]}
    - {name: W, role: weights, projection: ["3*A", C]}
)");
    for (const Objective objective : {Objective::kEnergy, Objective::kEdp, Objective::kRuntime}) {
      task.objective = objective;
      EXPECT_GT(agreed_value(task), 0) << preset;
    }
  }
}

// An index used in two ranks, under boxes: the two units differ in one way, not in two times two.
/// A tensor that one dim indexes twice: the reader refuses it in a file, the library takes it.
void index_twice(Tensor& tensor) { tensor.ranks.push_back(tensor.ranks.front()); }

TEST(Certificates, UnitsUnderAnIndexOfTwoRanksAreCountedOnce) {
  Task task = task_of(R"(
conventions: {preset: physical, footprint: bounding-box, drain: free}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_pj: 0}
  - {memory: Buffer, capacity: unbounded, keeps: [weights, outputs], may_bypass: [weights], read_pj: 0}
  - {fanout: PEs, cols: 2}
  - {memory: Reg, capacity: unbounded, read_pj: 0.125, write_pj: 0}
  - {compute: MAC, mac_pj: 0}
)",
                      R"(einsum:
  dims: {A: 2}
  tensors:
    - {name: O, role: outputs, projection: []}
    - {name: W, role: weights, projection: [A]}
)");
  index_twice(task.layer.tensors[1]);
  task.objective = Objective::kEnergy;
  EXPECT_EQ(agreed_value(task), 2.25);
  // The same where a network may serve them as one.
  task = task_of(R"(
conventions: {preset: physical, footprint: bounding-box}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0.5, write_pj: 0}
  - {fanout: PEs, rows: 2, cols: 2, partial_multicast: true}
  - {memory: Reg, capacity: unbounded, keeps: [inputs], read_pj: 0, write_pj: 0}
  - {compute: MAC, mac_pj: 0}
)",
                 R"(einsum:
  dims: {A: 4}
  tensors:
    - {name: O, role: outputs, projection: []}
    - {name: X, role: inputs, projection: [A]}
)");
  index_twice(task.layer.tensors[1]);
  task.objective = Objective::kEnergy;
  EXPECT_GT(agreed_value(task), 0);
}

// Demands of ports are divided by the steps and rounded up: 21 words on four units of 0.75 words a cycle take 7 cycles
// over 6 steps, and 8 over 4.5, by the error of the division. So a wider bound than needed may be the best.
TEST(Certificates, AWiderBoundMaySaveACycleUnderDemandRatio) {
  Task task = task_of(R"(
conventions: {preset: physical, stall-rounding: demand-ratio}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0}
  - {fanout: PEs, cols: 4}
  - {memory: Buffer, capacity: unbounded, read_pj: 0, write_bandwidth: 0.75}
  - {compute: MAC, mac_pj: 0, cycles_per_mac: 0.75}
)",
                      R"(einsum:
  dims: {C: 5, R: 3}
  tensors:
    - {name: I, role: inputs, projection: [R]}
    - {name: O, role: outputs, projection: []}
    - {name: W, role: weights, projection: [C]}
)");
  task.layer.tensors.pop_back();  // no file may have a dim that no tensor uses
  task.factorization = Factorization::kRubyT;
  task.objective = Objective::kRuntime;
  EXPECT_EQ(agreed_value(task), 7);
}

// One loop of windows that do not overlap, under boxes: their union has no holes between them. The table takes the
// distinct values, which no union of boxes goes below.
TEST(Certificates, WindowsOfOneLoopSlideUnderBoundingBoxes) {
  Task task = task_of(R"(
conventions: {preset: timeloop, halo: one-loop}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {memory: Buffer, capacity: unbounded, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                      "conv:M=1,C=1,P=4,Q=1,R=1,S=1,stride=2");
  task.objective = Objective::kEnergy;
  EXPECT_EQ(agreed_value(task), 26);
}

// A stationarity of a role that no tensor has asks for nothing.
TEST(Certificates, StationarityOfARoleThatIsNotThere) {
  const Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  orders: {DRAM: [weight-stationary]}
)",
                            R"(einsum:
  dims: {A: 1, C: 2}
  tensors:
    - {name: O, role: outputs, projection: [A]}
    - {name: X, role: inputs, projection: [A, C]}
)");
  EXPECT_EQ(agreed_value(task), 10);
}

// A stationarity of a role that two tensors have asks for both: dims of one only and dims of the other only cannot both
// loop.
TEST(Certificates, StationarityOfTwoTensorsExcludesLoops) {
  const std::string tensors = R"(
  tensors:
    - {name: O, role: outputs, projection: [A, B]}
    - {name: X, role: inputs, projection: [A]}
    - {name: Y, role: inputs, projection: [B]}
)";
  const std::string one_memory = R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  orders: {DRAM: [input-stationary]}
)";
  EXPECT_EQ(agreed_value(task_of(one_memory, "einsum:\n  dims: {A: 2, B: 2}" + tensors)), -1);
  EXPECT_GT(agreed_value(task_of(one_memory, "einsum:\n  dims: {A: 2, B: 1}" + tensors)), 0);
  // Two memories of which each may have one of the loops.
  const std::string two_memories = R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 9, read_bandwidth: 1}
  - {memory: Buffer, capacity: 6, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  einsum:
    orders: {DRAM: [input-stationary], Buffer: [input-stationary, [A, B]]}
)";
  const std::string sharing = R"(
  tensors:
    - {name: O, role: outputs, projection: [A, B]}
    - {name: X, role: inputs, projection: [A, C]}
    - {name: Y, role: inputs, projection: [B, C]}
)";
  // One of A and B is whole in the buffer, and so is its share of the output: 3 + 1 + 3 words at least.
  EXPECT_EQ(agreed_value(task_of(two_memories, "einsum:\n  dims: {A: 4, B: 3, C: 2}" + sharing)), -1);
  EXPECT_GT(agreed_value(task_of(two_memories, "einsum:\n  dims: {A: 2, B: 6, C: 3}" + sharing)), 0);
}

// Dims that an order does not name may stand anywhere between those it names.
TEST(Certificates, OrdersThatNameSomeDims) {
  const std::string levels = R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 9, read_bandwidth: 0.5}
  - {memory: Buffer, capacity: 9, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
)";
  for (const char* orders :
       {"  gemm: {orders: {DRAM: [[M, K]]}}", "  gemm: {orders: {DRAM: [[K], [N, M]], Buffer: [[K, N]]}}",
        "  gemm: {orders: {DRAM: [[K, M, N]], Buffer: [[N]]}}"})
    for (const char* layer : {"gemm:M=4,N=3,K=4", "gemm:M=2,N=6,K=3", "gemm:B=2,M=2,N=3,K=4"})
      EXPECT_GT(agreed_value(task_of(levels + orders, layer)), 0) << orders << " " << layer;
}

// Steps of half a cycle: cycles are whole only where a port decides. A lower bound rounds up to the next whole cycle or
// the next multiple of cycles_per_mac, whichever comes first.
TEST(Certificates, StepsNeedNotBeWholeCycles) {
  for (const char* cycles : {"0.5", "0.25", "1.5", "2.5"}) {
    for (const char* bandwidth : {"8", "3", "1.25"}) {
      Task task = task_of(std::string(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_bandwidth: )") +
                              bandwidth + R"(}
  - {fanout: PEs, cols: 6}
  - {compute: MAC, mac_pj: 0, cycles_per_mac: )" +
                              cycles + "}\n",
                          "conv:M=1,C=1,P=3,Q=1,R=4,S=1,dilation_r=2,transposed");
      for (const Objective objective : {Objective::kRuntime, Objective::kEdp, Objective::kEd2p}) {
        task.objective = objective;
        for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby}) {
          task.factorization = rule;
          EXPECT_GT(agreed_value(task), 0) << cycles << " " << bandwidth << " " << to_string(objective);
        }
      }
    }
  }
}

// An order that names 6 of 12 dims: the others stand anywhere, which must not cost a list of all ways to do so. The
// budget is kept.
TEST(Certificates, ManyDimsThatAnOrderDoesNotNameKeepTheBudget) {
  const Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 100}
  - {memory: Buffer, capacity: 64, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  einsum:
    orders: {DRAM: [[A, B, C, D, E, F]]}
)",
                            R"(einsum:
  dims: {A: 2, B: 2, C: 2, D: 2, E: 2, F: 2, G: 2, H: 2, I: 2, J: 2, K: 2, L: 2}
  tensors:
    - {name: Out, role: outputs, projection: [A, B, C, D, E, F]}
    - {name: X, role: inputs, projection: [A, B, C, G, H, I]}
    - {name: W, role: weights, projection: [D, E, F, G, H, I, J, K, L]}
)");
  const tests::DrivenClock clock(1e-4);
  SearchOptions options;
  options.clock = &clock;
  options.budget.seconds = 1;
  const SearchResult result = run_mapper(*make_mapper("exact"), task, options);
  EXPECT_TRUE(result.mapping);
  EXPECT_LE(clock.seconds(), 1.1);
}

// The enumeration counts its work in each of its two passes by itself.
TEST(Certificates, EnumerationWithALimitThatTheSpaceMeets) {
  const Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {memory: Buffer, capacity: unbounded, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  orders: {DRAM: [[M, N, K]], Buffer: [[M, N, K]]}
)",
                            "gemm:M=4,N=4,K=4");
  SearchOptions options;
  options.extra = {{"limit", "30"}};
  const SearchResult result = run_mapper(*make_mapper("exhaustive"), task, options);
  EXPECT_TRUE(result.certified);
  EXPECT_EQ(result.evaluations, 27U);
  EXPECT_EQ(to_string(result.ended_by), "proof");
}

// Drains pass a port under every stall rule. Each of the 20 MACs reads three words of Reg: an input, a weight, and a
// sum or, for the first of each output, one that leaves. One word a cycle, so no mapping takes fewer than 60 cycles;
// the rule of demands once left the drains out, and a mapping of 55 cycles was priced below the certificate.
TEST(Certificates, DrainsPassThePortUnderDemandRatio) {
  Task task = task_of(R"(
conventions: {preset: physical, stall-rounding: demand-ratio}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0}
  - {memory: Buffer, capacity: 4, keeps: [weights, outputs], read_pj: 0, write_pj: 1, update_pj: 0}
  - {memory: Reg, capacity: unbounded, read_pj: 1, write_pj: 0, read_bandwidth: 1}
  - {compute: MAC, mac_pj: 0}
)",
                      "conv:M=1,C=1,P=5,Q=1,R=4,S=1");
  task.factorization = Factorization::kRubyT;
  task.objective = Objective::kRuntime;
  EXPECT_EQ(agreed_value(task), 60);
  task.objective = Objective::kEnergy;
  const double energy = agreed_value(task);
  EXPECT_GE(energy, 60);
  task.objective = Objective::kEdp;
  EXPECT_EQ(agreed_value(task), 60 * energy);  // the least energy has no words to spare, so the least cycles too
}

// Five iterations of K on 4 units take two rounds, and so they do on 3. But outputs do not use K: every unit starts its
// own sums, which need no fill, so the wider bound is the better one. 15 inputs, 5 weights and 15 sums less 4 x 3 first
// ones are written to Reg; DRAM reads 15 inputs and 5 weights, and gets 2 x 3 sums, 3 of which it must read back.
TEST(Certificates, AWiderBoundStartsMoreSumsAlongADimThatOutputsDoNotUse) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: PEs, cols: 4}
  - {memory: Reg, capacity: 3, read_pj: 0, write_pj: 10, update_pj: 0}
  - {compute: MAC, mac_pj: 0}
flexibility:
  orders: {DRAM: [[K, M, N]]}
  parallel: {PEs: {rows: [], cols: [K]}}
)",
                      "gemm:M=3,N=1,K=5");
  task.factorization = Factorization::kRubyS;
  task.objective = Objective::kEnergy;
  EXPECT_EQ(agreed_value(task), 10 * (15 + 5 + 3) + 15 + 5 + 6 + 3);
}

// 44,838 mappings with every kind of order rule under remembered displacements, within-level runs and remainders: once
// not certified within a minute.
TEST(Certificates, RememberedDisplacementsWithinLevelsAreProven) {
  Task task = task_of(R"(
conventions: {footprint: bounding-box, drain: free, stationarity: within-level, halo: displacement,
  equal-windows: shared, compute-reuse: none, first-time: per-sweep, stall-rounding: exact}
levels:
  - {memory: M0, capacity: unbounded, keeps: [inputs, weights], read_pj: 1625, write_pj: 1375, write_bandwidth: 0.25}
  - {memory: M1, capacity: 36 words, keeps: [inputs, weights], may_bypass: [weights], read_pj: 10, write_pj: 10}
  - {memory: M2, capacity: 22 words, keeps: [inputs, weights], may_bypass: [weights], read_pj: 0.01625,
     write_pj: 0.01625, update_pj: 0.005, read_bandwidth: 0.3, write_bandwidth: 0.3}
  - {fanout: F0, rows: 3, cols: 15}
  - {memory: M3, capacity: 2 words, keeps: [inputs, outputs], may_bypass: [outputs], read_pj: 0, write_pj: 0}
  - {compute: MAC, mac_pj: 0.5}
flexibility:
  einsum:
    orders:
      M0: [[C], [M, A], input-stationary, [C, A, B]]
      M1: [[M, C, A, B], [A, C, B], [B], output-stationary]
      M3: [input-stationary, weight-stationary, [B, M]]
    shape:
      F0: {block: [3, 3]}
)",
                      R"(einsum:
  dims: {A: 7, B: 3, C: 3, M: 1}
  tensors:
    - {name: O, role: outputs, projection: [M, A]}
    - {name: X, role: inputs, projection: [A+3*B+3*C]}
    - {name: W, role: weights, projection: [M, B, C]}
)");
  task.factorization = Factorization::kRubyS;
  const tests::DrivenClock still(0);
  SearchOptions options;
  options.clock = &still;
  options.budget.seconds = 1;  // no other limit, and this one is never reached
  EXPECT_GT(agreed_value(task, options), 0);
}

// A loops twice at L1 and twice outside: the window of X slides on through both, 6 words at 5/32 a cycle. Two tiles of
// W of two words fill the array in 2 * (2 + 8) cycles after 12 steps. With both loops outside, X comes in the same 39
// cycles, but four tiles fill the array in 4 * (1 + 8): so the slide must not be charged as if that were as good.
TEST(Certificates, ASlideThatGoesOnPastASystolicArray) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: PEs, rows: 1, cols: 9, systolic: weights}
  - {memory: L1, capacity: 2, keeps: [weights], read_pj: 1}
  - {memory: L0, capacity: unbounded, keeps: [inputs], read_pj: 1, write_bandwidth: 0.15625}
  - {compute: MAC, mac_pj: 0}
flexibility:
  einsum:
    loops: {DRAM: [A], L1: [A], L0: [B]}
    parallel: {PEs: {rows: [], cols: [C]}}
)",
                      R"(einsum:
  dims: {A: 4, B: 3, C: 1}
  tensors:
    - {name: O, role: outputs, projection: [B, C]}
    - {name: X, role: inputs, projection: [A+B]}
    - {name: W, role: weights, projection: [A]}
)");
  task.objective = Objective::kRuntime;
  EXPECT_EQ(agreed_value(task), 39);
}

}  // namespace
}  // namespace pliant
