// SPDX-License-Identifier: Apache-2.0
// Small pieces of YAML text that every writer needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// The text as a YAML scalar: plain when it is a simple word or number, else in double quotes.
std::string yaml_text(std::string_view text);
/// Shortest text that reads back as the same number.
std::string yaml_number(double value);
/// "[a, b]", each item already YAML.
std::string yaml_list(const std::vector<std::string>& items);
/// "{a: 1, b: 2}", each item already "key: value".
std::string yaml_map(const std::vector<std::string>& items);

}  // namespace pliant
