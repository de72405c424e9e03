// SPDX-License-Identifier: Apache-2.0
// What chips send each other, and how long that takes at least. docs/serving.md has the equations beside measurements.
#pragma once

#include "core/machine_parts.h"

namespace pliant::serving {

enum class Collective : std::uint8_t { kAllReduce, kAllGather, kAllToAll, kSend };
inline constexpr std::array<std::string_view, 4> kCollectiveNames{"all_reduce", "all_gather", "all_to_all", "send"};

struct Sent {
  double seconds = 0;
  double energy_pj = 0;  ///< of all chips together
};

/// Among `chips` chips. Of an all-reduce `bytes` is the size of the tensor that every chip has; of an all-gather that
/// of the result; of an all-to-all what one chip has for all others and itself; of a send what goes from one to the
/// next. The algorithms that send least: no chip sends what it need not, and chips alone add (an all-reduce is a
/// reduce-scatter and an all-gather). None of that kind is faster.
Sent collective(const Links& links, Collective what, double bytes, Count chips);

}  // namespace pliant::serving
