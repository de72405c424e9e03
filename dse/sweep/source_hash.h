// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace pliant {

// Hash of all sources that can change an answer to a task: what reads input, prices, searches and proves, and keeps
// results. Made by the build (cmake/PliantSources.cmake), so no repair depends on somebody raising a number. Caches and
// datasets hold it: what other code found is neither answered from a cache nor mixed with what this code finds.
std::string_view source_hash();

}  // namespace pliant
