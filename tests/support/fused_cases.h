// SPDX-License-Identifier: Apache-2.0
// Chains of layers whose optimum with fused tiles a public tool reports: tests/data/accelforge_fused_chains.csv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
#include "costmodel/task.h"

namespace pliant::tests {

/// A machine of two memories and one MAC, with energies for each word of 8 bits.
Accelerator two_memories(Count buffer_words, std::optional<double> main_words_per_cycle = std::nullopt);
/// T0[M, N0] W0[N0, N1], then T1[M, N1] W1[N1, N2], and so on: `sizes` are M, N0, N1, ..
Workload gemm_chain(const std::vector<Count>& sizes);
std::vector<Task> tasks_of(const Workload& workload, const Accelerator& accelerator);

struct FusedCase {
  std::string text;  ///< the line of the file
  Workload workload;
  std::vector<Task> rows;
  Objective objective = Objective::kEnergy;
  double unfused = 0, fused = 0;  ///< what the tool reports, of the objective
  bool upper_bound = false;       ///< it tried one fused loop only
};
std::vector<FusedCase> fused_cases(const std::string& file);

}  // namespace pliant::tests
