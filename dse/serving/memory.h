// SPDX-License-Identifier: Apache-2.0
// What a served model takes of a chip's memory, and how many sequences fit.
#pragma once

#include <optional>
#include <string>

#include "dse/serving/request.h"

namespace pliant::serving {

/// Bytes of the busiest chip.
struct MemoryNeed {
  std::string memory;                    ///< the outermost that keeps weights
  std::optional<double> capacity_bytes;  ///< nullopt = unbounded
  double weights_bytes = 0;
  double cache_bytes_per_sequence = 0;  ///< keys and values of prompt and output
  double cache_bytes = 0;               ///< of the batch
  double activations_bytes = 0;         ///< inputs and outputs of the layer that has most of them
  std::optional<Count> largest_batch;   ///< nullopt = unbounded; 0 = the weights alone are too much
  double all_bytes() const { return weights_bytes + cache_bytes + activations_bytes; }
  bool fits() const { return !capacity_bytes || all_bytes() <= *capacity_bytes; }
};

MemoryNeed memory_need(const Request& request);

/// Bits of a parameter, and of an element of the cache.
int weight_bits(const Request& request);
int cache_bits(const Request& request);

/// Bytes that a sequence of so many tokens has in the cache of one chip, all its layers together.
double cache_bytes(const LanguageModel& shard, Count tokens, int bits);

/// What would fit: fewer sequences, narrower words, more chips. Of a request that does not fit.
std::string what_would_fit(const Request& request, const MemoryNeed& need);

}  // namespace pliant::serving
