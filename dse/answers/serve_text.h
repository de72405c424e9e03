// SPDX-License-Identifier: Apache-2.0
// What serving costs, for people.
#pragma once

#include <string>

#include "dse/serving/best_division.h"

namespace pliant {

std::string serving_text(const serving::Request& request, const serving::Served& served);
/// Why a request does not fit into the memory: by how much, and what would.
std::string does_not_fit_text(const serving::Request& request, const serving::MemoryNeed& need);
std::string best_division_text(const serving::Request& request, const serving::BestDivision& all);

}  // namespace pliant
