// SPDX-License-Identifier: Apache-2.0
// Is every hardware point of a space in exactly one box?
#pragma once

#include <string>
#include <vector>

#include "dse/audit/design_certificate.h"

namespace pliant::audit {

/// Empty when the boxes are a partition of the space into parts that come from splitting it; else what is wrong.
/// `lines`: where each box stands in its file.
std::string cover_problem(const Box& space, const std::vector<Box>& boxes, const std::vector<std::size_t>& lines);

}  // namespace pliant::audit
