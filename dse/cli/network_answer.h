// SPDX-License-Identifier: Apache-2.0
// What a search for a whole network found, as text for people and as JSON for scripts.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/physical.h"
#include "dse/cli/task_options.h"
#include "dse/mappers/network.h"

namespace pliant {

struct NetworkAnswer {
  bool found = false;
  std::string text;             ///< or why nothing was found
  nlohmann::ordered_json json;  ///< `network` of `pliant map --network --json`
};

/// Layers that have nothing to do with one another. Of a search that was stopped nothing may be told.
NetworkAnswer network_answer(const Mapper& mapper, const std::vector<ReadTask>& tasks, const NetworkGoal& goal,
                             const SearchOptions& options);

/// What is proven about a network and its sums, whatever was searched.
struct NetworkVerdict {
  const std::vector<ReadTask>& tasks;
  const NetworkGoal& goal;
  double value, lower_bound, gap;
  bool certified;
  double energy_pj, cycles;
  std::uint64_t searches;

  /// `of`: "the network".
  std::string text(std::string_view of) const;
  nlohmann::ordered_json json(std::string_view mapper) const;

 private:
  std::optional<Physical> in_time() const;
};

/// A layer that fits nowhere (null: none), or a deadline that is too short.
NetworkAnswer no_network(const Task* without_mapping, const NetworkGoal& goal, double fastest_cycles);

}  // namespace pliant
