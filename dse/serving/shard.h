// SPDX-License-Identifier: Apache-2.0
// The part of a model that one chip has: a smaller model, so that a shard of a layer is an ordinary layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dse/serving/request.h"

namespace pliant::serving {

/// Why a model cannot be divided like this; nullopt when it can.
std::optional<std::string> cannot_divide(const LanguageModel& model, const Division& division);

/// What a chip of a stage has: heads, widths, vocabulary and experts divided, its layers alone. The busiest one: where
/// something does not divide, the larger part.
LanguageModel shard_of(const LanguageModel& model, const Division& division, Count stage);
bool is_last_stage(const Division& division, Count stage);

/// All divisions of so many chips that a model allows.
std::vector<Division> divisions_of(const LanguageModel& model, Count chips);

}  // namespace pliant::serving
