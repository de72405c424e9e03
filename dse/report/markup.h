// SPDX-License-Identifier: Apache-2.0
// Texts in HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace pliant {

/// The text as it stands between tags or in a quoted attribute: names may hold anything.
std::string markup_text(std::string_view text);

}  // namespace pliant
