// SPDX-License-Identifier: Apache-2.0
// `--set KEY=VALUE` and `parameters:` as changes of an accelerator's tree. A value set goes through the same reader as
// a value in the file, so it is checked the same way; its position is the option itself.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input/yaml_node.h"

namespace pliant {

/// One `--set KEY=VALUE`.
using Setting = std::pair<std::string, std::string>;
/// Splits "KEY=VALUE"; InputError when there is no `=` or no key.
Setting parse_setting(std::string_view text);

/// KEY is a parameter (`rows`), a level's key (`GLB.capacity`, `GLB.partition`) or a key of the file
/// (`conventions`, `hints.min_utilization`).
void apply_setting(YamlNode& root, const Setting& setting, int stage, Diagnostics& problems);

/// Positions of the levels that a setting of this tree may change; nullopt when it may change all of them.
std::optional<std::vector<std::size_t>> levels_reached(const YamlNode& root, const Setting& setting);

/// Replaces every `$name` by the parameter's value and gives the parameters used. Those that the file itself or a
/// setting gives and nothing uses are noted; `used_before` are those used before the settings.
std::set<std::string> substitute_parameters(YamlNode& root, std::string_view main_file,
                                            const std::set<std::string>& used_before, Diagnostics& problems);

}  // namespace pliant
