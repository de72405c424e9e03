// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fnmatch.h>

#include <string>

namespace pliant {

/// `*` stands for any characters, `?` for any one.
inline bool matches_pattern(const std::string& pattern, const std::string& text) {
  return pattern == text || ::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace pliant
