// SPDX-License-Identifier: Apache-2.0
// What a word may be, for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Edit distance with transpositions (optimal string alignment), letters compared without case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "one of a, b, c"; of a long list only how many there are and the five that come nearest to the word:
/// "one of 54, such as a, b, c, d, e".
std::string one_of(std::string_view word, const std::vector<std::string>& known);

}  // namespace pliant
