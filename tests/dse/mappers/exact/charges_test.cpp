// SPDX-License-Identifier: Apache-2.0
// Windows that slide (docs/dev/proof, L5), in tasks made for it: what the tables charge before the loop that moves
// a tensor and what after it. Random tasks seldom have only one order, and with several the tables find a way around.
#include <gtest/gtest.h>

#include <string>

#include "dse/mappers/exact/words_of_transfers.h"
#include "support/draw.h"

namespace pliant::exact {
namespace {

/// The words of every transfer by itself, and the energy of all: a path that is cheap for one tensor may be dear for
/// another.
void compare(const Task& task, int& equal) {
  const Truth truth(task);
  ASSERT_TRUE(truth.complete);
  const ResolvedTask resolved(truth.task, truth.problem);
  compare_words(truth, resolved, equal);
  for (const Choice& choice : truth.choices) {
    Bounded bounded(resolved, choice);
    ASSERT_TRUE(bounded.lattice.build());
    const double least = choice.least([](const Priced& m) { return m.energy; });
    const double bound = bounded.lattice.solve(bounded.lattice.energy(), kInfinity).best;
    EXPECT_TRUE(at_most(bound, least)) << "energy " << bound << " " << least;
  }
}

// Along a loop over A the window of X (A + B) slides and W (3*A) moves as a whole. Only A loops at the outer memory, so
// no path of the tables charges W along a loop that leaves X in place. Under boxes a tile of W grows by three words for
// each further A, while its child gets one word after the other: X is cheapest after the loop, W before it.
TEST(Lemma, OneTensorSlidesAndAnotherIsChargedBeforeTheLoop) {
  int equal = 0;
  for (const char* a : {"2", "4", "6"})
    for (const char* b : {"2", "3"})
      for (const char* preset : {"timeloop", "physical"}) {
        Task task = task_of("conventions: {preset: " + std::string(preset) + R"(, footprint: bounding-box}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 3}
  - {memory: Buffer, capacity: 24, read_pj: 1, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                            "  dims: {A: " + std::string(a) + ", B: " + b + R"(}
  tensors:
    - {name: O, role: outputs, projection: [B]}
    - {name: X, role: inputs, projection: ["A + B"]}
    - {name: W, role: weights, projection: ["3*A"]}
)");
        task.flexibility.levels[0].loops.dims = {{"A"}};
        SCOPED_TRACE(std::string("A ") + a + ", B " + b + ", " + preset);
        compare(task, equal);
      }
  EXPECT_GT(equal, 10);  // outputs have no windows
}

// The buffer keeps X, the innermost memory does not, so X stays at the units through the loops over C. Each unit has
// one B. The outer memory loops over A only, and nothing else moves X: its window of all B slides in the buffer, which
// gets what is new of it, while the operand stays at the units.
TEST(Lemma, AWindowSlidesWhileItsOperandStaysAtTheUnits) {
  int equal = 0;
  for (const char* dims : {"{A: 4, B: 3, C: 2}", "{A: 2, B: 3, C: 3}", "{A: 6, B: 3, C: 1}"})
    for (const char* stride : {"", "2*"}) {
      Task task = task_of(R"(
conventions: {preset: physical, compute-reuse: outside-innermost-memory}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 8}
  - {memory: Buffer, capacity: unbounded, keeps: [inputs], read_pj: 1}
  - {fanout: PEs, cols: 3}
  - {memory: Reg, capacity: unbounded, keeps: [weights, outputs], read_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                          "  dims: " + std::string(dims) + R"(
  tensors:
    - {name: O, role: outputs, projection: [A, C]}
    - {name: X, role: inputs, projection: [")" +
                              stride + R"(A + B"]}
    - {name: W, role: weights, projection: [B, C]}
)");
      task.flexibility.levels[0].loops.dims = {{"A"}};
      task.flexibility.levels[1].loops.dims = {{"C"}};
      task.flexibility.levels[3].loops.dims = {{"C"}};
      SCOPED_TRACE(std::string(dims) + ", " + stride + "A");
      compare(task, equal);
    }
  EXPECT_GT(equal, 10);
}

// Four units take a tile of one P each. Outside them P goes on: the window of a unit jumps past its neighbours, and
// what it keeps from before is what a neighbour asks for, because of the holes of P + 4*R. That every
// value is served once is all that is certain.
TEST(Lemma, AWindowSlidesPastItsNeighbours) {
  int equal = 0;
  for (const char* rule : {"pfm", "ruby-s"})
    for (const char* coefficient : {"", "2*", "4*"}) {
      Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: PEs, cols: 4}
  - {memory: Reg, capacity: unbounded, read_pj: 0, write_pj: 0}
  - {compute: MAC, mac_pj: 0}
)",
                          R"(  dims: {P: 8, Q: 2, R: 3}
  tensors:
    - {name: X, role: inputs, projection: ["P + )" +
                              std::string(coefficient) + R"(R"]}
    - {name: O, role: outputs, projection: [Q]}
)");
      task.flexibility.levels[2].tile.fixed = {{"Q", 4}, {"P", 4}};
      task.factorization = std::string(rule) == "pfm" ? Factorization::kPerfect : Factorization::kRubyS;
      SCOPED_TRACE(std::string(rule) + ", P + " + coefficient + "R");
      compare(task, equal);
    }
  EXPECT_GT(equal, 10);
}

// W comes from the outer memory past a buffer that does not keep it, whose loop over K moves it. Outside that loop the
// units share each word: the outer memory serves it once, however many units there are.
TEST(Lemma, AFanoutOutsideTheLoopSharesWhatIsServed) {
  int equal = 0;
  for (const char* dims : {"{K: 4, N: 2}", "{K: 2, N: 4}", "{K: 3, N: 3}"})
    for (const char* multicast : {"true", "false"}) {
      Task task = task_of(
          "levels:\n  - {memory: DRAM, capacity: unbounded, read_pj: 1}\n  - {fanout: PEs, cols: 4, multicast: " +
              std::string(multicast) + R"(}
  - {memory: Buffer, capacity: unbounded, keeps: [outputs], read_pj: 1}
  - {memory: Reg, capacity: unbounded, keeps: [weights], read_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
          "  dims: " + std::string(dims) + R"(
  tensors:
    - {name: O, role: outputs, projection: [N]}
    - {name: W, role: weights, projection: [K]}
)");
      task.flexibility.levels[0].loops.dims = {{"N"}};
      task.flexibility.levels[2].loops.dims = {{"K", "N"}};
      task.flexibility.levels[3].loops.dims = {{"N"}};
      SCOPED_TRACE(std::string(dims) + ", multicast " + multicast);
      compare(task, equal);
    }
  EXPECT_GT(equal, 10);
}

// X slides from the middle memory to the inner one along the loop of A there, and on along that of the outer memory.
// Moving both loops out would cost more: within one level a loop outside the middle memory slides nothing; and Y, which
// uses A in two indices and so never slides, would come in smaller tiles. The capacity keeps them from moving in.
TEST(Lemma, ASlideThatGoesOnFurtherOutBringsEveryValueOnce) {
  int equal = 0;
  for (const char* size : {"4", "6", "5", "7"})
    for (const bool within : {true, false})
      for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyT}) {
        Task task = task_of("conventions: {preset: physical, stationarity: " +
                                std::string(within ? "within-level" : "across-levels") + R"(}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0, write_pj: 0}
  - {memory: L2, capacity: 12, keeps: )" +
                                (within ? "[inputs, weights]" : "[weights]") + R"(, read_pj: 0, write_pj: 1}
  - {memory: L1, capacity: unbounded, keeps: [inputs], read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                            "  dims: {A: " + std::string(size) + R"(, B: 3, C: 2, D: 2}
  tensors:
    - {name: X, role: inputs, projection: ["A + B"]}
    - {name: Y, role: weights, projection: )" +
                                (within ? "[A, C, D]" : R"(["A + C", "D"])") + R"(}
    - {name: O, role: outputs, projection: [B]}
)");
        task.factorization = rule;
        if (!within) task.layer.tensors[1].ranks[1].terms.push_back({0, 1});  // readers ask for one index of each dim
        task.flexibility.levels[0].loops.dims = {{"A"}};
        task.flexibility.levels[1].loops.dims = {{"A"}};
        task.flexibility.levels[2].loops.dims = {{"B", "C", "D"}};
        SCOPED_TRACE(std::string("A ") + size + (within ? ", within-level" : ", across-levels"));
        compare(task, equal);
      }
}

// Sums stay at two units that do not reduce. The loop of the innermost memory repeats them, the last time at one unit.
TEST(Lemma, RepetitionsAtTheUnitsHaveNotAllUnitsUnderRubyS) {
  int equal = 0;
  for (const char* dims : {"{C: 3, D: 3}", "{C: 2, D: 5}", "{C: 4, D: 3}"}) {
    Task task = task_of(R"(conventions: {preset: physical, compute-reuse: outside-innermost-memory}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 16, write_pj: 0}
  - {memory: L1, capacity: unbounded, keeps: [inputs, weights], read_pj: 1, write_pj: 0}
  - {fanout: PEs, cols: 2, reduction: false}
  - {compute: MAC, mac_pj: 0}
)",
                        "  dims: " + std::string(dims) + R"(
  tensors:
    - {name: X, role: inputs, projection: [D]}
    - {name: W, role: weights, projection: [C]}
    - {name: O, role: outputs, projection: []}
)");
    task.factorization = Factorization::kRubyS;
    SCOPED_TRACE(dims);
    compare(task, equal);
  }
}

// Two units have every second P. Rules about tiles put its loops at two memories, and the window of seven R goes on
// through both: together the units get every value, but either gets less than all of them.
TEST(Lemma, UnitsDivideASlideThatGoesOn) {
  int equal = 0;
  for (const char* kernel : {"3", "7"}) {
    Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {memory: Buffer, capacity: unbounded, read_pj: 1, write_pj: 1}
  - {fanout: PEs, cols: 2}
  - {memory: Reg, capacity: unbounded, keeps: [inputs], read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                        "  dims: {P: 16, R: " + std::string(kernel) + R"(}
  tensors:
    - {name: X, role: inputs, projection: ["P + R"]}
    - {name: O, role: outputs, projection: [P]}
)");
    task.flexibility.levels[0].loops.dims = {{"P"}};
    task.flexibility.levels[1].loops.dims = {{"P"}};
    task.flexibility.levels[3].loops.dims = {{"R"}};
    task.flexibility.levels[1].tile.fixed = {{"P", 4}};
    SCOPED_TRACE(std::string("R ") + kernel);
    compare(task, equal);
  }
}

// All loops stand at the outer memory. Where displacements are remembered, the loop over K leaves the window of X at
// the inner memory in place, although it lies outside the buffer that serves it: nothing comes again.
TEST(Lemma, ARememberedDisplacementIsNotRepeatedOutsideTheParent) {
  int equal = 0, compared = 0;
  for (const char* halo : {"displacement", "two-iterations"})
    for (const char* dims : {"{K: 2, P: 3, R: 2, C: 1}", "{K: 3, P: 2, R: 3, C: 1}", "{K: 3, P: 2, R: 2, C: 1}"}) {
      Task task =
          task_of("conventions: {preset: physical, stationarity: within-level, halo: " + std::string(halo) + R"(}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0, write_pj: 0}
  - {memory: Buffer, capacity: unbounded, read_pj: 1, write_pj: 0}
  - {memory: Reg, capacity: unbounded, read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                  "  dims: " + std::string(dims) + R"(
  tensors:
    - {name: X, role: inputs, projection: ["P + R"]}
    - {name: O, role: outputs, projection: [K, C]}
)");
      task.flexibility.levels[1].loops.dims = {{"C"}};
      task.flexibility.levels[2].loops.dims = {{"C"}};
      SCOPED_TRACE(std::string(dims) + ", " + halo);
      compare(task, equal);
      ++compared;
    }
  EXPECT_EQ(compared, 6);
}

}  // namespace
}  // namespace pliant::exact
