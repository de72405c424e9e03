// SPDX-License-Identifier: Apache-2.0
// The independent judge: says whether a mapping is legal, or names every violated limit with needed and available
// amounts. It shares no code with anything that generates or prices mappings, words of a tile included.
#pragma once

#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

struct Violation {
  enum class Rule {
    kShape,          ///< mapping does not fit the chain of levels (wrong count, loops at the wrong kind of level, ...)
    kCoverage,       ///< bounds of a dim do not cover its size, or overshoot it
    kFactorization,  ///< an imperfect bound in a slot where the rule wants a perfect one
    kKeep,           ///< a tensor kept where it may not be, bypassed where it may not be, or without outermost keeper
    kCapacity,
    kFanout,      ///< more units needed than a side (or the whole fanout) has
    kTile,        ///< T: not the fixed tile; or a tensor over its hard partition
    kOrder,       ///< O: no allowed order matches
    kLoops,       ///< a dim loops at a memory where it may not
    kParallel,    ///< P: a dim on a side where no assignment puts it
    kArrayShape,  ///< S: no allowed array shape holds the spatial loops
  };
  Rule rule;
  std::string level, tensor, dim;  ///< what it is about; empty where not applicable
  double needed = 0, available = 0;
  std::string message;
};
std::string_view to_string(Violation::Rule rule);

std::vector<Violation> check_legality(const Layer& layer, const Accelerator& accelerator,
                                      const Flexibility& flexibility, Factorization rule, const Mapping& mapping);

}  // namespace pliant
