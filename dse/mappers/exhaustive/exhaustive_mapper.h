// SPDX-License-Identifier: Apache-2.0
// Every legal mapping of a small map-space, priced one by one: the ground truth for the other mappers.
#pragma once

#include <memory>

#include "dse/mappers/mapper.h"

namespace pliant {

/// Options: limit=N (largest number of mappings it agrees to visit; default 50 million). A larger space is an
/// InputError that says how large it is.
std::unique_ptr<Mapper> make_exhaustive_mapper();

}  // namespace pliant
