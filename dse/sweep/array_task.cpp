// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/array_task.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace pliant {
namespace {

constexpr std::array<ArrayEngine, 7> kEngines{{
    {"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "", "SLURM_ARRAY_TASK_STEP"},
    {"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", "", "", ""},
    {"Grid Engine", "SGE_TASK_ID", "", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE"},
    {"LSF", "LSB_JOBINDEX", "", "", "LSB_JOBINDEX_END", "LSB_JOBINDEX_STEP"},
    {"PBS", "PBS_ARRAY_INDEX", "", "", "", ""},
    {"Torque", "PBS_ARRAYID", "", "", "", ""},
    {"Kubernetes", "JOB_COMPLETION_INDEX", "", "", "", ""},
}};

/// LSF counts from 1 and does not say so; 0 is its index of a job that is no array.
int first_of(const ArrayEngine& engine) { return engine.name == "LSF" ? 1 : 0; }

}  // namespace

std::span<const ArrayEngine> array_engines() { return kEngines; }

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::optional<ArrayTask> array_task(const Environment& environment) {
  const auto number = [&](std::string_view name) -> std::optional<int> {
    const auto text = name.empty() ? std::nullopt : environment(name);
    if (!text) return std::nullopt;
    int value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    return error == std::errc() && end == text->data() + text->size() && value >= 0 ? std::optional(value)
                                                                                    : std::nullopt;
  };
  for (const ArrayEngine& engine : kEngines) {
    const auto index = number(engine.index);  // Grid Engine says `undefined` outside of an array
    const int first = number(engine.first).value_or(first_of(engine)), step = number(engine.step).value_or(1);
    if (!index || *index < first || step < 1) continue;
    ArrayTask task{engine.name, (*index - first) / step, number(engine.count), ""};
    if (const auto last = number(engine.last)) task.count = (*last - first) / step + 1;
    if ((*index - first) % step != 0 || (task.count && task.index >= *task.count))
      task.problem = fmt::format("{}={} of an array with gaps: its tasks are not numbered one after the other",
                                 engine.index, *index);
    return task;
  }
  return std::nullopt;
}

}  // namespace pliant
