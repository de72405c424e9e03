// SPDX-License-Identifier: Apache-2.0
// The campaign against the exact mapper: its certificate against the enumeration of all mappings, and relations between
// tasks that hold whatever the optimum is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dse/mappers/mapper.h"

namespace pliant::tests {

enum class Outcome : std::uint8_t { kTooLarge, kAgrees, kOpen, kDiffers };

struct Judgement {
  Outcome outcome = Outcome::kAgrees;
  std::string what;  ///< of a difference
};

/// Are the conventions no preset? Then `exact` claims nothing.
bool mixes_conventions(const Task& task);

/// The exact mapper against the exhaustive one. kOpen: no certificate, and a bound that holds.
Judgement compare_with_enumeration(const Task& task);

/// A changed task whose optimum is known from that of the first, by the number of a relation and a seed; what is wrong,
/// if anything. Both optima are those of the exact mapper.
inline constexpr int kRelations = 8;
std::optional<std::string> broken_relation(const Task& task, int relation, std::uint64_t seed);

/// The task with a deadline (Task::most_cycles) near what its mappings take: some meet it, or one, or none.
Task with_deadline(Task task, std::uint64_t seed);

/// The least predicted value against the frontier of all mappings, with overhead, power limit, idle power and shares of
/// bandwidths drawn around what the task's mappings take.
Judgement compare_prediction(const Task& task, std::uint64_t seed);

struct CampaignReport {
  std::uint64_t drawn = 0, compared = 0, open = 0, relations = 0, differing = 0;
  std::uint64_t deadlines = 0;  ///< of those compared, at most
  /// Compared with the frontier of all mappings, and with all combinations; of those the ones without a certificate.
  std::uint64_t predictions = 0, open_predictions = 0, networks = 0, open_networks = 0;
  std::string first;  ///< the first difference, shrunk, as files and commands
};

/// Draws tasks from `seed` on until so many were compared, stops at the first difference.
CampaignReport run_campaign(std::uint64_t seed, std::uint64_t cases);

/// The tasks of so many seeds, up to the first difference.
CampaignReport run_seeds(std::uint64_t first, std::uint64_t count);

}  // namespace pliant::tests
