// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dse/mappers/mapper.h"

namespace pliant {

/// The certified global optimum; see docs/mappers.md.
std::unique_ptr<Mapper> make_exact_mapper();

}  // namespace pliant
