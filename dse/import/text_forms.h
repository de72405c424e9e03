// SPDX-License-Identifier: Apache-2.0
// Forms of a text that the readers of foreign files compare: without blanks, in one case, trimmed.
#pragma once

#include <string>
#include <string_view>

namespace pliant {

std::string without_blanks(std::string_view text);
std::string upper(std::string text);
std::string lower(std::string text);
std::string trimmed(std::string_view text);

}  // namespace pliant
