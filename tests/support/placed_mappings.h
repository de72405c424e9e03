// SPDX-License-Identifier: Apache-2.0
// Every mapping of a GEMM some of whose operands live in memories, in the room that tensors leave.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "support/random_graphs.h"

namespace pliant::tests {

/// What lives in a memory while a step runs, by role of its use.
struct Living {
  std::map<int, std::array<Count, kRoles>> words;  ///< by level
  std::array<int, kRoles> homes{-1, -1, -1};       ///< of the layer's operands; -1 = outside
};

class PlacedMappings {
 public:
  explicit PlacedMappings(const std::vector<Task>& rows) : rows_(rows), machine_(rows.front().accelerator) {}
  /// Energy and cycles of those that no other beats.
  const Pairs& all(int row, const Living& now);
  int width(int l, Role role, const Layer* of) const;
  int sum_width(int l, const Layer& of) const;

 private:
  const Memory& memory_at(int level) const { return machine_.levels[static_cast<std::size_t>(level)].memory(); }
  bool holds(const Task& task, const Living& now, const Mapping& mapping) const;

  const std::vector<Task>& rows_;
  const Accelerator& machine_;
  std::map<std::tuple<int, std::array<int, kRoles>, std::map<int, std::array<Count, kRoles>>>, Pairs> priced_;
};

}  // namespace pliant::tests
