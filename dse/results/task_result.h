// SPDX-License-Identifier: Apache-2.0
// What a sweep keeps of one solved task: the mapping, what it costs, and what is proven about it. The same for every
// layer and design that ask the same question, so it names neither.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/mapping.h"
#include "dse/mappers/mapper.h"

namespace pliant {

enum class TaskStatus : std::uint8_t {
  kSolved,
  kNoLegalMapping,  ///< proven: the layer fits nowhere
  kNothingFound,    ///< the search ended without a legal mapping, and without a proof that there is none
  kInvalidDesign,   ///< the design itself contradicts a rule
  kFailed,          ///< the mapper reported an error of its own
};
std::string_view to_string(TaskStatus status);  ///< "solved", "no_legal_mapping", ...
std::optional<TaskStatus> parse_task_status(std::string_view text);

struct TaskResult {
  TaskStatus status = TaskStatus::kNothingFound;
  std::string reason;  ///< why there is no mapping; empty when solved

  // Only when solved.
  Mapping mapping;
  double energy_pj = 0, runtime_cycles = 0, compute_cycles = 0, utilization = 0;
  std::string bound_by;
  struct LevelEnergy {
    std::string level;
    double energy_pj = 0;  ///< accesses (or MACs) and leakage
    bool operator==(const LevelEnergy&) const = default;
  };
  std::vector<LevelEnergy> energy_by_level;
  /// What happens at one memory; counts are words summed over all instances.
  struct Memory {
    int level = 0;  ///< in the accelerator
    double instances = 0, capacity_words = 0, used_words = 0, read_cycles = 0, write_cycles = 0, bus_cycles = 0,
           leakage_pj = 0;
    struct Traffic {
      int tensor = 0;                            ///< in the layer
      double reads = 0, fills = 0, updates = 0;  ///< elements
      double words_read = 0, words_written = 0;  ///< of the memory, as wide as they are
      double energy_pj = 0;
      bool operator==(const Traffic&) const = default;
    };
    std::vector<Traffic> tensors;  ///< those it keeps
    bool operator==(const Memory&) const = default;
  };
  std::vector<Memory> memories;

  // The certificate.
  double value = 0, lower_bound = 0, gap = 0;
  bool certified = false;
  std::string mappings_covered;  ///< decimal; empty when nothing is covered
  std::uint64_t evaluations = 0;
  EndedBy ended_by = EndedBy::kNothing;

  /// Of a whole network whose tensors may stay on chip, instead of a mapping: the run step by step.
  struct Network {
    struct Room {
      int level = 0;  ///< in the accelerator
      std::int64_t words = 0;
      bool operator==(const Room&) const = default;
    };
    struct Step {
      double energy_pj = 0, runtime_cycles = 0;                  ///< of all its repetitions
      double outside_energy_pj = 0, outside_runtime_cycles = 0;  ///< when every tensor lives outside
      std::vector<Room> taken;                                   ///< by tensors that live on chip meanwhile
      std::string bound_by;                                      ///< what takes its time; empty of operators
      std::string under;  ///< loops around a layer that passes tiles on, in words; empty of others
      bool operator==(const Step&) const = default;
    };
    struct Tensor {
      int level = -1;                           ///< where it lives; -1 = outside
      std::int64_t made_by = 0, last_read = 0;  ///< steps
      std::int64_t elements = 0;
      bool tiles = false;  ///< it is passed on there in tiles
      bool operator==(const Tensor&) const = default;
    };
    struct Weights {
      int level = 0;          ///< where they stay across inferences
      std::int64_t step = 0;  ///< whose they are
      bool operator==(const Weights&) const = default;
    };
    std::vector<Step> steps;
    std::vector<Tensor> tensors;
    std::vector<Weights> weights;                              ///< those that stay
    double loads_energy_pj = 0, loads_runtime_cycles = 0;      ///< the share of one inference in loading them
    double outside_energy_pj = 0, outside_runtime_cycles = 0;  ///< the optimum with every tensor outside; 0 = none
    double whole_energy_pj = 0, whole_runtime_cycles = 0;      ///< where tiles may pass, the optimum without; 0 = none
    bool operator==(const Network&) const = default;
  };
  Network network;

  double solve_seconds = 0;  ///< of the run that solved it; in no table, for it differs from run to run
  bool operator==(const TaskResult&) const = default;
};

/// Appends bytes for this kind of machine; every number reads back as the same number.
void append_task_result(const TaskResult& result, std::string& bytes);
/// nullopt when the bytes are no task result.
std::optional<TaskResult> parse_task_result(std::string_view bytes);

}  // namespace pliant
