// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dse/mappers/mapper.h"

namespace pliant {

/// The certified global optimum; see docs/mappers.md.
std::unique_ptr<Mapper> make_exact_mapper();

/// The same from a mapping that is known, if it is legal: with perfect factors the proof begins with its value.
SearchResult prove_from(const Task& task, const Mapping& start, const SearchOptions& options);

}  // namespace pliant
