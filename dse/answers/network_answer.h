// SPDX-License-Identifier: Apache-2.0
// What a search for a whole network found, as text for people and as JSON for scripts.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dse/answers/network_totals.h"
#include "dse/answers/task_options.h"
#include "dse/audit/network_certificate.h"
#include "dse/mappers/network.h"

namespace pliant {

struct NetworkAnswer {
  bool found = false;
  std::string text;                                        ///< or why nothing was found
  nlohmann::ordered_json json;                             ///< `network` of `pliant map --json`
  nlohmann::ordered_json total;                            ///< `total`, as layers mapped one by one have it
  std::optional<audit::NetworkCertificate> certificate{};  ///< where parts are recorded
};

/// Which layers read what is not known: layers that have nothing to do with one another. Of a search that was stopped
/// nothing may be told.
NetworkAnswer network_answer(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                             const NetworkGoal& goal, const SearchOptions& options, bool ascii = false);

/// What is proven about a network and its sums, whatever was searched.
struct NetworkVerdict {
  const std::vector<ReadTask>& tasks;
  const NetworkGoal& goal;
  double value, lower_bound, gap;
  bool certified;
  const NetworkTotals& totals;
  std::uint64_t searches;
  std::string_view ended_by{};  ///< where something else than the proof or the budget ended the search

  /// `of`: "the network".
  std::string text(std::string_view of) const;
  nlohmann::ordered_json json(std::string_view mapper) const;
};

/// A layer that fits nowhere (null: none), or a deadline that is too short.
NetworkAnswer no_network(const Task* without_mapping, const NetworkGoal& goal, double fastest_cycles);

}  // namespace pliant
