// SPDX-License-Identifier: Apache-2.0
// Every option of every command, one row each: the command line, --help and docs/options.md are made of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

enum class OptionKind : std::uint8_t {
  kFlag,
  kText,
  kTexts,     ///< may be given several times
  kWhole,     ///< 0 or more
  kReal,      ///< 0 or more
  kDuration,  ///< a number with ms, s, m or h; seconds without a unit; 0 = no limit
  kShare,     ///< 1% or 0.01; 0 or more and below 1
  kThreads,   ///< 0 = all cores
};

struct OptionInfo {
  std::string_view name;
  OptionKind kind = OptionKind::kFlag;
  std::string_view fallback;  ///< the default; empty = none
  std::string_view commands;  ///< that take it, with spaces between them
  std::string_view help;
  std::string_view json_key = {};  ///< under `task` in the JSON of a result, or in a sweep file; empty = in neither
  char letter = '\0';              ///< -o
};

std::span<const OptionInfo> option_table();

/// The rows of one command, in the order of the table.
std::vector<OptionInfo> options_of(std::string_view command);

/// The JSON key of a command's option; empty when it has none.
std::string_view json_key_of(std::string_view command, std::string_view option);

/// What a value looks like: "N", "DURATION", "TEXT"; empty for flags.
std::string_view placeholder(OptionKind kind);

}  // namespace pliant
