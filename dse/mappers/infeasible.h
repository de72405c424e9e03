// SPDX-License-Identifier: Apache-2.0
// Why nothing fits: an irreducible set of limits that conflict, and what the nearest mapping needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/legality.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// One limit of the accelerator or rule of its flexibility that can be lifted by itself.
struct Limit {
  std::string level;
  std::string rule;  ///< as to_string(Violation::Rule): "capacity", "tile", "loops", ...
  std::string text;  ///< "GLB holds 64 words"
};

struct Infeasibility {
  /// Together they rule out every mapping; lifting any one of them makes some mapping legal.
  std::vector<Limit> conflict;
  /// What the mapping with the smallest tiles still violates, with needed and available amounts.
  std::vector<Violation> nearest_miss;
  std::optional<Mapping> nearest;
};

/// Windows of outputs overlap (a transposed convolution), so a memory that takes no partial sums takes them only where
/// all that overlap fit into a memory inside it. The limit that rules out every mapping, if one does.
std::optional<Limit> overlapping_outputs(const Task& task);

/// nullopt when some mapping is legal. The task's layer and accelerator may be of any size: whether a mapping exists is
/// decided from the smallest tiles each dim can have, and only where those are not enough by a search.
std::optional<Infeasibility> why_nothing_fits(const Task& task);

}  // namespace pliant
