// SPDX-License-Identifier: Apache-2.0
// Files that are part of the program: those of dse/report/page and Vega's bundle, turned into a source file by
// cmake/embed_files.py.
#pragma once

#include <string>
#include <string_view>

namespace pliant {

/// By its path in dse/report/page, or "vega.js". std::logic_error when there is none.
std::string resource(std::string_view name);

}  // namespace pliant
