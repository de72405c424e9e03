// SPDX-License-Identifier: Apache-2.0
// Engines that run one command many times as an array: which of how many is this process? One table of variables.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pliant {

/// Names of variables, empty where the engine has none.
struct ArrayEngine {
  std::string_view name, index, count, first, last, step;
};
std::span<const ArrayEngine> array_engines();

struct ArrayTask {
  std::string_view engine;
  int index = 0;             ///< from 0
  std::optional<int> count;  ///< nullopt: the engine does not say how many there are
  std::string problem;       ///< not empty: the tasks of this array cannot be shards, and why
};

/// A variable's value, nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
Environment process_environment();

/// nullopt: no engine started this process as part of an array.
std::optional<ArrayTask> array_task(const Environment& environment);

}  // namespace pliant
