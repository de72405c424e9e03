// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/shard_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>

namespace pliant {

namespace {

std::optional<int> as_int(const char* text) {
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::char_traits<char>::length(text);
  const auto [at, error] = std::from_chars(text, end, value);
  return error == std::errc() && at == end && at != text ? std::optional(value) : std::nullopt;
}

Shard parse_shard(const Arguments& arguments, const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = as_int(text.substr(0, slash).c_str());
  const auto count = slash == std::string::npos ? std::nullopt : as_int(text.c_str() + slash + 1);
  if (!index || !count || *count < 1 || *index < 0 || *index >= *count)
    throw arguments.bad("--shard", fmt::format("`{}` is not a shard", text), "I/N with I from 0 to N-1, such as 0/8");
  return {*index, *count};
}

/// SLURM_ARRAY_TASK_ID runs from MIN in steps of STEP, COUNT times.
Shard slurm_shard() {
  const auto id = as_int(std::getenv("SLURM_ARRAY_TASK_ID")), count = as_int(std::getenv("SLURM_ARRAY_TASK_COUNT"));
  if (!id || !count || *count < 1) return {};
  const int least = as_int(std::getenv("SLURM_ARRAY_TASK_MIN")).value_or(0);
  const int step = std::max(1, as_int(std::getenv("SLURM_ARRAY_TASK_STEP")).value_or(1));
  const Shard shard{(*id - least) / step, *count};
  return shard.index >= 0 && shard.index < shard.count ? shard : Shard{};
}

}  // namespace

Shard shard_of(const Arguments& arguments) {
  const auto text = arguments.text("shard");
  return text ? parse_shard(arguments, *text) : slurm_shard();
}

}  // namespace pliant
