// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/shard_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace pliant {

namespace {

constexpr const char* kShardForms = "I/N with I from 0 to N-1, such as 0/8, auto, or auto/N";

std::optional<int> as_int(std::string_view text) {
  int value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && at == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string engine_variables() {
  std::vector<std::string_view> names;
  for (const ArrayEngine& engine : array_engines()) names.push_back(engine.index);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The engine's index, of as many as the engine or `count` says.
Shard engine_shard(const Arguments& arguments, const std::optional<ArrayTask>& task, std::optional<int> count) {
  if (!task)
    throw arguments.bad("--shard", "no engine runs this as part of an array", "one of " + engine_variables() + " set");
  if (!task->problem.empty())
    throw arguments.bad("--shard", task->problem, "an array without gaps, or --shard I/N in each task");
  const auto shards = count ? count : task->count;
  if (!shards)
    throw arguments.bad("--shard", fmt::format("{} does not say how many tasks its array has", task->engine),
                        "auto/N, with an array whose indices run from 0 to N-1");
  if (task->index >= *shards)
    throw arguments.bad("--shard", fmt::format("this is task {} of {} {}", task->index, *shards, task->engine),
                        fmt::format("an array whose indices run from 0 to {}", *shards - 1));
  return {task->index, *shards};
}

Shard parse_shard(const Arguments& arguments, const std::string& text, const Environment& environment) {
  const std::size_t slash = text.find('/');
  const std::string left = text.substr(0, slash);
  const auto count = slash == std::string::npos ? std::nullopt : as_int(std::string_view(text).substr(slash + 1));
  const bool whole = slash == std::string::npos || (count && *count >= 1);
  if (left == "auto" && whole) return engine_shard(arguments, array_task(environment), count);
  const auto index = as_int(left);
  if (!index || !count || *count < 1 || *index < 0 || *index >= *count)
    throw arguments.bad("--shard", fmt::format("`{}` is not a shard", text), kShardForms);
  return {*index, *count};
}

}  // namespace

Shard shard_of(const Arguments& arguments, const Environment& environment) {
  if (const auto text = arguments.text("shard")) return parse_shard(arguments, *text, environment);
  const auto task = array_task(environment);
  return task && task->count ? engine_shard(arguments, task, std::nullopt) : Shard{};
}

}  // namespace pliant
