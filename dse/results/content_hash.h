// SPDX-License-Identifier: Apache-2.0
// SHA-256 of texts: what names a task, an input file and a sweep.
#pragma once

#include <string>
#include <string_view>

namespace pliant {

/// 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace pliant
