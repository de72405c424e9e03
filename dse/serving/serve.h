// SPDX-License-Identifier: Apache-2.0
// Time, energy and memory of serving a batch of requests: its prompts, then one token after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dse/serving/memory.h"
#include "dse/serving/stage.h"

namespace pliant::serving {

/// Prompts of a batch, or all its decode steps.
struct PhaseSpent {
  std::string name;              ///< "prefill", "decode"
  Count steps = 0;               ///< parts of a prompt, or tokens after the first
  Spent spent;                   ///< from the first to the last cycle; energy of all chips
  std::vector<KindSpent> kinds;  ///< of all stages one after the other
  double gap(Objective objective) const;
};

/// A decode step with so many tokens in the cache.
struct StepAt {
  Count keys = 0;
  Spent spent;
};

struct Served {
  MemoryNeed memory;
  PhaseSpent prefill, decode;
  double longest_part_s = 0;  ///< of a prompt in parts: how long a decode step waits for one
  std::vector<StepAt> steps;  ///< the first, the middle, the last, and those that were asked for
  std::uint64_t searches = 0, searches_a_layer = 0;
  std::size_t points = 0;  ///< contexts that were searched

  double ttft_s = 0, ttft_bound_s = 0;
  std::optional<double> tpot_s, tpot_bound_s;  ///< nothing of a single token
  double tokens_per_s = 0, tokens_per_s_per_user = 0, tokens_per_j = 0, energy_j = 0;
  double gap = 0;  ///< the larger of the phases'
};

/// Throws InputError for what cannot be asked, NoMapping for a layer that does not fit. Says nothing about whether the
/// memory suffices: Served::memory does.
Served serve(const Request& request, const std::vector<Count>& contexts = {});
/// The same with costs that several requests on one accelerator share; `costs` must be of that request.
Served serve(RowCosts& costs, const std::vector<Count>& contexts = {});

/// InputError for a request that makes no sense; `command` as in "pliant serve".
void check_request(const Request& request, std::string_view command);

}  // namespace pliant::serving
