// SPDX-License-Identifier: Apache-2.0
// Windows that slide (docs/proof.md, lemma 5), in tasks made for it: what the tables charge before the loop that moves
// a tensor and what after it. Random tasks seldom have only one order, and with several the tables find a way around.
#include <gtest/gtest.h>

#include <string>

#include "core/input/load.h"
#include "dse/mappers/exact/words_of_transfers.h"
#include "support/draw.h"

namespace pliant::exact {
namespace {

Task task_of(const std::string& accelerator, const std::string& einsum) {
  Task task;
  task.accelerator = parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"),
                                            "pliant: accelerator\nname: small\n" + accelerator, "accelerator.yaml");
  task.layer = parse_layer_text("pliant: layer\nlayer: small\neinsum:\n" + einsum, "layer.yaml");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  return task;
}

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

}  // namespace
}  // namespace pliant::exact
