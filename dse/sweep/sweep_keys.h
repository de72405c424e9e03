// SPDX-License-Identifier: Apache-2.0
// Every key of a sweep file, block by block. The reader refuses what is not here; configs/schema/sweep.json is compared
// with it by a test.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/input/keys.h"

namespace pliant {

namespace keys {

inline constexpr std::array<std::string_view, 23> kSweep{
    "pliant",         "name",        "description",   "accelerator", "set",      "workloads",
    "vary",           "flexibility", "factorization", "objective",   "mapper",   "constraints",
    "budget_seconds", "gap",         "seed",          "flexion",     "minimize", "mix",
    "maximize",       "network",     "residency",     "inferences",  "fusion"};
inline constexpr std::array<std::string_view, 16> kSweepWorkload{
    "workload",    "layers",  "name",   "batch", "serve", "prompt", "output", "chunk",
    "weight_bits", "kv_bits", "memory", "skew",  "chips", "tp",     "pp",     "ep"};
inline constexpr std::array<std::string_view, 2> kSweepMapper{"name", "options"};
inline constexpr std::array<std::string_view, 2> kSweepGoal{"column", "workload"};
inline constexpr std::array<std::string_view, 2> kSweepMix{"of", "weights"};
inline constexpr std::array<std::string_view, 4> kRange{"from", "to", "step", "times"};
inline constexpr std::array<std::string_view, 2> kPairs{"keys", "values"};
inline constexpr std::array<std::string_view, 4> kShapes{"units", "rows", "cols", "min_side"};

}  // namespace keys

inline const std::vector<KeyTable>& sweep_keys() {
  static const std::vector<KeyTable> tables{
      {"sweep.json", "", keys::kSweep},
      {"sweep.json", "/$defs/workload", keys::kSweepWorkload},
      {"sweep.json", "/$defs/mapper", keys::kSweepMapper},
      {"sweep.json", "/$defs/goal", keys::kSweepGoal},
      {"sweep.json", "/$defs/mix", keys::kSweepMix},
      {"sweep.json", "/$defs/range", keys::kRange},
      {"sweep.json", "/$defs/pairs", keys::kPairs},
      {"sweep.json", "/$defs/shapes", keys::kShapes},
  };
  return tables;
}

}  // namespace pliant
