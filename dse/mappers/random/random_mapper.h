// SPDX-License-Identifier: Apache-2.0
// Ruby's search: uniform samples of the legal mappings, until many in a row bring no improvement.
#pragma once

#include <memory>

#include "dse/mappers/mapper.h"

namespace pliant {

/// Options: victory=N (stop after N valid mappings in a row without improvement; default 3000), tries=N (stop after N
/// illegal draws in a row; default 2 million). SearchOptions::budget.evaluations bounds the valid mappings priced.
std::unique_ptr<Mapper> make_random_mapper();

}  // namespace pliant
