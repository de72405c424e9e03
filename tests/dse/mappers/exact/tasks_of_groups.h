// SPDX-License-Identifier: Apache-2.0
// Tasks under rules that leave remainders in time, with more tiles than groups have nodes, or tiles that leave units
// idle.
#pragma once

#include <string>

#include "dse/mappers/exact/truth_by_choice.h"
#include "support/draw.h"

namespace pliant::exact {

inline bool has_temporal_remainders(const Task& task) { return may_be_imperfect(task.factorization, false); }

/// One or two long dims, so that groups have many tiles: with windows or without, on units or not.
inline Task task_of_long_dims(std::uint64_t seed) {
  tests::Draw draw(seed);
  const auto between = [&](int least, int most) { return std::to_string(draw.from(least, most)); };
  const bool windows = draw.chance(0.5), lanes = draw.chance(0.3);
  const std::string sides = std::string("{rows: [], cols: [") + (windows ? "P" : "M") + "]}";
  const std::string accelerator = R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 9, write_pj: 9, read_bandwidth: 2}
  - {fanout: PEs, cols: )" + between(1, 5) +
                                  ", multicast: " + (draw.chance(0.5) ? "true" : "false") + R"(}
  - {memory: Reg, capacity: )" + between(6, 60) +
                                  R"( words, read_pj: 1, write_pj: 1, write_bandwidth: 0.5}
)" + (lanes ? "  - {fanout: Lanes, cols: 3}\n" : "") +
                                  R"(  - {compute: MAC, mac_pj: 0}
flexibility:
  parallel: {PEs: )" + sides + (lanes ? ", Lanes: " + sides : "") +
                                  "}\n";
  const std::string plain = outer_product("M: " + between(8, 60) + ", B: " + between(1, 3), "B");
  const std::string window = "  dims: {P: " + between(8, 40) + ", R: " + between(1, 3) + R"(}
  tensors:
    - {name: W, role: weights, projection: [R]}
    - {name: X, role: inputs, projection: [)" +
                             between(1, 2) + R"(*P + R]}
    - {name: O, role: outputs, projection: [P]}
)";
  Task task = task_of(accelerator, windows ? window : plain);
  task.factorization = draw.chance(0.7) ? Factorization::kRuby : Factorization::kRubyT;
  return task;
}

/// 150 on 4 units in tiles of 5 come in the fewest rounds and take 40 steps; 38 steps allow tiles of 2 only. Of 141 the
/// last tile is a single one: 36 steps, the fewest there are.
inline Task task_of_tiles_and_steps(const std::string& size) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_pj: 1}
  - {fanout: PEs, cols: 4}
  - {memory: Reg, capacity: 11 words, read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  parallel: {PEs: {rows: [], cols: [M]}}
)",
                      outer_product("M: " + size + ", B: 7", "B"));
  task.factorization = Factorization::kRuby;
  task.objective = Objective::kEdp;
  return task;
}

// One dim over rows and columns of one fanout and over another one inside it. Four tiles leave two of 2 x 3 cores idle,
// and X is brought to fewer of them, in more steps.
inline Task task_of_units_on_units(std::uint64_t seed) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_pj: 1}
  - {fanout: Cores, rows: 2, cols: 3}
  - {memory: SRAM, capacity: unbounded, read_pj: 0, write_pj: 1}
  - {fanout: Array, cols: 2}
  - {compute: MAC, mac_pj: 0}
flexibility: {orders: {DRAM: [[N, M]]}, loops: {SRAM: [M]}, parallel: {Cores: {rows: [M], cols: [M]}, Array: {cols: [M]}}}
)",
                      outer_product("M: " + std::to_string(17 + seed % 10) + ", N: 2", "N"));
  task.factorization = Factorization::kRuby;
  return task;
}

/// Tiles of two memories that both leave units idle, of one dim.
inline Task task_of_units_twice(std::uint64_t seed) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_pj: 1}
  - {fanout: Cores, cols: 3}
  - {memory: SRAM, capacity: unbounded, read_pj: 0, write_pj: 1}
  - {fanout: Array, cols: 2}
  - {memory: Reg, capacity: unbounded, read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  orders: {DRAM: [[N, M]]}
  loops: {SRAM: [M], Reg: [M]}
  parallel: {Cores: {rows: [], cols: [M]}, Array: {rows: [], cols: [M]}}
)",
                      outer_product("M: " + std::to_string(11 + seed % 10) + ", N: 2", "N"));
  task.factorization = Factorization::kRuby;
  return task;
}

}  // namespace pliant::exact
